/** The registered hook, really run: with a payload that it passes over, as the client runs it. */
import { advice, type Examination, type Finding, faultsOr, problem } from './check.ts'
import { commandWords, isNode } from './command-words.ts'
import type { Facts } from './facts.ts'
import { firstOfEach } from './hooks.ts'
import { type Connection, hookEntries } from './installed.ts'
import { programFile } from './program-file.ts'
import { type Run, runOnce } from './run.ts'

/** No client has such an event: nothing of it is kept. */
const EVENT = 'Doctor'
/** A hook costs about a third more than an empty node; at this something is in its way, such as a virus scanner. */
const SLOW_RATIO = 4

export function firing(facts: Facts, name: string, title: string): Examination {
  return {
    id: `hook-run.${name}`,
    title: `${title} firing`,
    look: async () => {
      const connection = (await facts.connections()).find((one) => one.name === name)
      if (connection === undefined) return []
      const entries = hookEntries(connection.files)
      const faults: Finding[] = []
      const ratios: string[] = []
      for (const { command, file } of firstOfEach(entries.filter(({ isOwn }) => isOwn))) {
        const { missing } = await programFile(command, facts.around)
        // Said where the hooks are looked at.
        if (missing.length > 0) continue
        const outcome = await tryCommand(command, facts)
        if (typeof outcome !== 'number') faults.push(failure(command, outcome, connection, file.scope))
        else {
          const ratio = outcome.toFixed(1)
          ratios.push(ratio)
          if (outcome >= SLOW_RATIO) faults.push(slow(ratio))
        }
      }
      const well = [
        ...(ratios.length === 0 ? [] : [`answers, and takes ${ratios.join(' and ')} times as long as an empty node`]),
        ...new Set(entries.filter(({ isOwn }) => !isOwn).map(({ file }) => notRun(file.path))),
      ]
      return faults.length === 0 && well.length === 0 ? [] : faultsOr(faults, well.join('; '))
    },
  }
}

/** Whoever looks into a project that they do not know must not run what it says. */
function notRun(path: string): string {
  return `hooks in ${path} were not installed from here and are not tried`
}

function slow(ratio: string): Finding {
  return advice(
    `it takes ${ratio} times as long as an empty node, and every tool use waits for it`,
    'look again when the machine is idle; then leave the program out of a virus scan, or put it on a local disk',
  )
}

function failure(
  command: string,
  { code, stdout, stderr }: Run,
  connection: Connection,
  scope: 'user' | 'project',
): Finding {
  const said = (stderr.trim() || stdout.trim()).split('\n', 1)[0] || 'nothing'
  const why =
    code === 0 ? 'its answer is not one line of JSON' : code === null ? 'it was killed' : `it ended with ${code}`
  return problem(`${command} does not work: ${why}; it said: ${said}`, connection.installCommand(scope))
}

/** How many times as long as an empty node it takes, or the run that failed. */
async function tryCommand(command: string, { around }: Facts): Promise<number | Run> {
  const { words, program } = commandWords(command)
  const env = { ...around.env, CLAUDE_MEM_DATA_DIR: around.paths.dataDir }
  const input = JSON.stringify({ hook_event_name: EVENT, session_id: 'doctor', cwd: around.root })
  const node = isNode(words[0] ?? '') ? program : `"${around.node}"`
  const hooks: number[] = []
  const empties: number[] = []
  for (let n = 0; n < around.hookRuns; n++) {
    // By turns: a machine that is busy for a moment is busy for both.
    empties.push((await runOnce(`${node} -e 0`, null, '', env)).ms)
    const run = await runOnce(command, null, input, env)
    if (run.code !== 0 || !isOneLineOfJson(run.stdout)) return run
    hooks.push(run.ms)
  }
  return middle(hooks) / middle(empties)
}

function isOneLineOfJson(text: string): boolean {
  if (text.trimEnd().includes('\n')) return false
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
  } catch {
    return false
  }
}

function middle(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}
