import { statfs } from 'node:fs/promises'
import { homedir } from 'node:os'
import type { Check } from '../../doctor/check.ts'
import { command, jsonOption } from '../command.ts'
import { EXIT_FAILED } from '../failure.ts'

/** The middle one of so many passes over a slow start. */
const HOOK_RUNS = 5

export const doctor = command({
  usage: 'doctor',
  group: 'Keep it in shape',
  summary: 'Look at everything that must hold, and say how to mend what does not',
  about:
    'Looks at node and native modules, settings, the data directory and who may read it, the disk, the database, the daemon, ' +
    'what waits, the observer, the embedder, and for each client whether its hooks and tools are registered once, are of ' +
    'this version and really fire. It changes nothing, starts no daemon and asks no model. It runs the hook that is ' +
    'registered, with an event that is passed over; what came with a project and was not installed from here is not run. ' +
    'Exit code 1 where there is a problem (✗); advice (!) is none.',
  examples: [
    ['claude-mem doctor', ''],
    ['claude-mem doctor --deep', 'also reads through the whole database'],
    ['claude-mem doctor --json | jq \'.checks[] | select(.state == "problem")\'', 'for programs'],
  ],
  positionals: {},
  options: {
    deep: { type: 'boolean', describe: 'Also check the whole database, which takes a while for a large one' },
    json: jsonOption,
  },
  run: async ({ deep, json }, cli) => {
    const { diagnose } = await import('../../doctor/index.ts')
    const { projectRoot } = await import('../../memory/project.ts')
    const { checkLines, verdictLine } = await import('../render/doctor.ts')
    const { VERSION } = await import('../../version.ts')
    const around = {
      paths: cli.paths,
      env: cli.env,
      home: homedir(),
      root: projectRoot(process.cwd()),
      dist: cli.dist,
      node: process.execPath,
      now: Date.now(),
      deep: deep === true,
      hookRuns: HOOK_RUNS,
      freeBytes,
    }
    const checks: Check[] = []
    for await (const check of diagnose(around, (title) => cli.progress(`Looking at ${title} …`))) {
      cli.progress('')
      checks.push(check)
      if (json !== true) cli.print(...checkLines(check, cli.look()))
    }
    cli.progress('')
    const isWell = checks.every(({ state }) => state !== 'problem')
    if (json === true) cli.printJson({ ok: isWell, version: VERSION, dataDir: cli.paths.dataDir, checks })
    else cli.print('', verdictLine(checks, cli.look()))
    return isWell ? 0 : EXIT_FAILED
  },
})

/** What somebody without special rights may still use. */
async function freeBytes(directory: string): Promise<number> {
  const { bavail, bsize } = await statfs(directory)
  return bavail * bsize
}
