/** `claude-mem doctor`: runs all checks and prints how to fix what fails. */
import { statfs } from 'node:fs/promises'
import { homedir } from 'node:os'
import { pluralize } from '../../lib/format.ts'
import type { CheckResult, CheckState } from '../../setup/doctor/check.ts'
import { printResult } from '../cli.ts'
import { defineCommand, EXIT_FAILED } from '../command.ts'
import type { Display, Paint } from '../style.ts'
import { padEnd, terminalSafe, wrapText } from '../text.ts'

/** The hook is timed by the median of so many runs, which a slow first start does not change. */
const HOOK_RUNS = 5

export const doctorCommand = defineCommand({
  usage: 'doctor',
  group: 'Maintenance',
  summary: 'Check the whole installation, and say how to fix what fails',
  about:
    'Checks node and native modules, settings, the data directory and its permissions, the disk, the database, the daemon, ' +
    'the queue, the observer, the embedder, and for each client whether its hooks and tools are registered once, are of ' +
    'this version and really run. It changes nothing, starts no daemon and calls no model. It runs the registered hook ' +
    'with an event that is ignored; hooks that came with a project and were not installed from here are not run. ' +
    'Exit code 1 if there is a problem (✗); advice (!) is not a problem.',
  examples: [
    ['claude-mem doctor', ''],
    ['claude-mem doctor --deep', 'also reads the whole database'],
    ['claude-mem doctor --json | jq \'.checks[] | select(.state == "problem")\'', 'for programs'],
  ],
  options: {
    deep: { type: 'boolean', describe: 'Also check the whole database, which takes a while for a large one' },
  },
  run: async ({ deep }, cli) => {
    const [{ diagnose }, { workingTreeRoot }, { VERSION }] = await Promise.all([
      import('../../setup/doctor/index.ts'),
      import('../../domain/project.ts'),
      import('../../lib/version.ts'),
    ])
    const environment = {
      paths: cli.paths,
      env: cli.env,
      home: homedir(),
      root: workingTreeRoot(process.cwd()),
      dist: cli.dist,
      node: process.execPath,
      now: Date.now(),
      deep,
      hookRuns: HOOK_RUNS,
      freeBytes,
    }
    const checks: CheckResult[] = []
    for await (const check of diagnose(environment, (title) => cli.progress(`Checking ${title} …`))) {
      cli.progress('')
      checks.push(check)
      if (!cli.json) cli.print(...doctorCheckLines(check, cli.display()))
    }
    cli.progress('')
    const ok = checks.every(({ state }) => state !== 'problem')
    const result = { ok, version: VERSION, dataDir: cli.paths.dataDir, checks }
    printResult(cli, result, () => ['', doctorVerdictLine(checks, cli.display())])
    return ok ? 0 : EXIT_FAILED
  },
})

/** Bytes that an unprivileged user can still use. */
async function freeBytes(directory: string): Promise<number> {
  const { bavail, bsize } = await statfs(directory)
  return bavail * bsize
}

const MARKS: Record<CheckState, string> = { ok: '✓', advice: '!', problem: '✗' }
/** As wide as the longest title. */
const TITLE_COLUMNS = 20
const DETAIL_INDENT = ' '.repeat(TITLE_COLUMNS + 3)
/** Minimum width of the details on a narrow terminal. */
const MIN_DETAIL_COLUMNS = 24

export function doctorCheckLines({ title, state, detail, fix }: CheckResult, display: Display): string[] {
  const { style, columns } = display
  const paint: Paint = { ok: style.green, advice: style.yellow, problem: style.red }[state]
  const width =
    columns === null ? Number.POSITIVE_INFINITY : Math.max(MIN_DETAIL_COLUMNS, columns - DETAIL_INDENT.length)
  const [first = '', ...rest] = wrapText(terminalSafe(detail), width)
  const fixLines = fix === null ? [] : wrapText(`→ ${terminalSafe(fix)}`, width)
  return [
    `${paint(MARKS[state])} ${padEnd(terminalSafe(title), TITLE_COLUMNS)} ${first}`,
    ...rest.map((line) => DETAIL_INDENT + line),
    ...fixLines.map((line) => DETAIL_INDENT + style.bold(line)),
  ]
}

export function doctorVerdictLine(checks: readonly CheckResult[], { style }: Display): string {
  const count = (state: CheckState) => checks.filter((check) => check.state === state).length
  const problems = count('problem')
  const advice = count('advice')
  if (problems > 0) return style.red(`${pluralize(problems, 'problem')}; the lines with → say what to do`)
  if (advice > 0) return style.yellow(`It works; ${pluralize(advice, 'thing')} could be better`)
  return style.green('No problems found')
}
