/** The commands of a shell line that do some work, and the one that was its purpose. */
import { wordList } from '../text.ts'
import type { CommandKind } from '../types.ts'
import { commandKind, PIPE_FILTERS, SHELL_BUILTINS } from './command-kind.ts'
import { clipLine, type ShellRun } from './output.ts'
import {
  type CommandJoiner,
  nestedShellLine,
  parseShellLine,
  programName,
  type ShellWord,
  stripCommandPrefixes,
  stripRunnerPrograms,
} from './shell-syntax.ts'

const MAX_SHOWN_CHARS = 200
const MAX_SHOWN_WORDS = 100
const MAX_RUNS = 40
/** Nesting of `sudo bash -c "sh -c '…'"` that is read. */
const MAX_DEPTH = 3

/** The purpose of a line with several commands is the command with the greatest weight. */
const WEIGHT: Record<CommandKind, number> = {
  test: 10,
  commit: 9,
  migration: 9,
  build: 8,
  typecheck: 8,
  lint: 7,
  install: 6,
  server: 6,
  git: 5,
  run: 4,
  look: 1,
}

export interface ShellLine {
  /** In order; never empty. */
  runs: ShellRun[]
  /** The exit code may not be that of the main command: a pipe, a `;` or an `||` follows it. */
  exitHidden: boolean
  /** The line prints `$?`. */
  printsExit: boolean
}

interface Stage extends ShellRun {
  joiner: CommandJoiner
}

export function readShellLine(source: string): ShellLine {
  const stages = readStages(source, 0).slice(0, MAX_RUNS)
  const pipelines: Stage[][] = []
  for (const stage of stages) {
    if (stage.joiner === 'pipe' && pipelines.length > 0) pipelines.at(-1)?.push(stage)
    else pipelines.push([stage])
  }
  const runs = pipelines.map(mainStage).filter((run) => !SHELL_BUILTINS.has(run.program))
  const exitHidden =
    stages.some((stage) => stage.joiner === 'or') ||
    pipelines.some((pipeline) => pipeline.length > 1) ||
    (pipelines.length > 1 && pipelines.at(-1)?.[0]?.joiner === 'then')
  return {
    runs: runs.length > 0 ? runs : [stages.at(-1) ?? emptyRun(source)],
    exitHidden,
    printsExit: /\$\??\{?(?:\?|PIPESTATUS)/.test(source),
  }
}

function emptyRun(source: string): ShellRun {
  const shown = clipLine(source, MAX_SHOWN_CHARS)
  return { kind: 'run', program: '', args: [], shown, key: shown, body: null }
}

function readStages(source: string, depth: number): Stage[] {
  return parseShellLine(source).flatMap(({ words, joiner, body }): Stage[] => {
    const typed = stripCommandPrefixes(words)
    const [head, ...rest] = stripRunnerPrograms(typed)
    if (head === undefined) return []
    const nested = depth < MAX_DEPTH ? nestedShellLine([head, ...rest]) : null
    if (nested !== null) {
      const [first, ...more] = readStages(nested, depth + 1)
      return first === undefined ? [] : [{ ...first, joiner }, ...more]
    }
    const program = programName(head.text)
    const args = rest.map((word) => word.text)
    const kind = commandKind(program, args)
    const shown = clipLine(typed.slice(0, MAX_SHOWN_WORDS).map(shownWord).join(' '), MAX_SHOWN_CHARS)
    return [{ kind, program, args, shown, key: commandKey(kind, program, args, body), body, joiner }]
  })
}

/** Only the first line of a text of several lines. */
function shownWord({ raw }: ShellWord): string {
  const [first = '', ...more] = raw.split('\n')
  const quote = /["']/.exec(first)?.[0] ?? ''
  return clipLine(more.length === 0 ? first : `${first}…${quote}`, 120)
}

/** `cat dump.sql | psql shop | tail` is psql. */
function mainStage(pipeline: Stage[]): ShellRun {
  const [first, ...rest] = pipeline
  if (first === undefined) return emptyRun('')
  const working = heaviest(pipeline.filter((stage) => stage.kind !== 'look'))
  if (working !== null) return working
  return rest.find((stage) => !PIPE_FILTERS.has(stage.program) && SHELL_BUILTINS.has(first.program)) ?? first
}

/** Of equals the last. */
function heaviest(runs: ShellRun[]): ShellRun | null {
  let best: ShellRun | null = null
  for (const run of runs) if (best === null || WEIGHT[run.kind] >= WEIGHT[best.kind]) best = run
  return best
}

/** The command that the line was for. */
export function mainRun(runs: ShellRun[]): ShellRun {
  return heaviest(runs.filter((run) => run.kind !== 'look')) ?? runs[0] ?? emptyRun('')
}

/** Of `a && b && c` the last one whose output was recognised, because nothing runs after a failure. */
export function mainFailedRun(runs: ShellRun[], isRecognised: (run: ShellRun) => boolean): ShellRun {
  const working = runs.filter((run) => run.kind !== 'look')
  // Without any recognised output: the heaviest, and of equals the first.
  return working.findLast(isRecognised) ?? mainRun(working.length > 0 ? working.toReversed() : runs)
}

const MAX_KEY_CHARS = 200
const MAX_KEY_WORDS = 100
const wordSet = (text: string) => new Set(wordList(text))

/** Flags that select what is run: with another value it is another command. */
const SELECTING_FLAGS =
  wordSet(`-k -m -t -g -run --run --grep --filter --test --testNamePattern --testPathPattern --testPathPatterns -p --package --workspace -w
   --tests -Dtest --group --suite --testsuite --project -e --example --only -F --bin --lib --features --target --name
   --test-name-pattern -R --tags --tag -P --config -c -f --file -C`)
/** Flags with a value that only changes presentation or speed. */
const TUNING_FLAGS =
  wordSet(`-n --reporter --reporters --tb --maxfail --timeout --max-workers --maxWorkers --workers -j --jobs --format --output -o --color
   --log-level --cov --cov-report --durations -timeout -count -parallel -coverprofile --retries --bail --seed --logger --verbosity
   --formatter --max-warnings --output-format --message-format --loglevel --console -l --pool --test-reporter --import --loader`)
const OUTPUT_FLAGS =
  /^(?:-[vqsx]+|--verbose|--quiet|--silent|--no-?colou?r|--colou?r(?:=\w+)?|--no-progress|--progress(?:=\w+)?|--show-error|-sS|-sSL|-i|--include)$/
/** Kinds of command that are the same run with the same selection, whatever other flags they have. */
const SELECTED_KINDS = new Set<CommandKind>(['test', 'build', 'lint', 'typecheck', 'server', 'migration', 'install'])
/** Verbs that mean "once" and do not select anything. */
const RUN_ONCE_VERBS: Record<string, string> = { vitest: 'run', cypress: 'run' }

/** The same for two runs of the same command, whatever flags for its output they have. */
function commandKey(kind: CommandKind, program: string, args: string[], body: string | null): string {
  if (kind === 'commit') return 'git commit'
  const kept = SELECTED_KINDS.has(kind)
    ? selectingArgs(kind, program, args)
    : args.filter((arg) => !OUTPUT_FLAGS.test(arg))
  const normalized = normalizeScript(program, kept.slice(0, MAX_KEY_WORDS).map(normalizePath))
  const script = body === null ? '' : ` <<${fingerprint(body)}`
  return clipLine([program, ...normalized].join(' '), MAX_KEY_CHARS) + script
}

function selectingArgs(kind: CommandKind, program: string, args: string[]): string[] {
  const kept: string[] = []
  for (let i = 0; i < args.length; i++) {
    const arg = args[i] ?? ''
    const next = args[i + 1]
    const value = next === undefined || next.startsWith('-') ? undefined : next
    if (arg === '--') continue
    if (!arg.startsWith('-') || arg === '-') {
      if (!(i === 0 && RUN_ONCE_VERBS[program] === arg)) kept.push(arg)
    } else if (arg.includes('=')) {
      if (SELECTING_FLAGS.has(arg.slice(0, arg.indexOf('=')))) kept.push(arg)
    } else if (SELECTING_FLAGS.has(arg) && value !== undefined) {
      if (!(kind === 'typecheck' && value === '.')) kept.push(arg, value)
      i++
    } else if (TUNING_FLAGS.has(arg) && value !== undefined) i++
    else if (arg === '--test' && program === 'node') kept.push(arg)
  }
  return kept
}

/** `npm run test`, `npm t` and `npm test` are the same. */
function normalizeScript(program: string, args: string[]): string[] {
  if (!/^(?:npm|pnpm|yarn|bun)$/.test(program)) return args
  const [verb, ...rest] = args[0] === 'run' || args[0] === 'run-script' ? args.slice(1) : args
  if (verb === undefined) return []
  if (verb === 't' || verb === 'tst') return ['test', ...rest]
  return verb === 'i' || verb === 'add' ? ['install', ...rest] : [verb, ...rest]
}

function normalizePath(word: string): string {
  if (/^\.{1,3}\/?(?:\.\.\.)?$/.test(word)) return word.replace(/(?<=^\.)\/$/, '')
  return word.replace(/^\.\/(?=[\w@])/, '').replace(/(?<=\w)\/$/, '')
}

/** FNV-1a: two inline scripts are the same run only if they have the same text. */
function fingerprint(text: string): string {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193) >>> 0
  return hash.toString(36)
}
