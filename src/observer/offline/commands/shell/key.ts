/** The name under which two runs of the same thing meet, whatever flags of output they have. */
import type { CommandKind } from '../../types.ts'
import { clip } from '../output.ts'

const KEY_CHARS = 200
const MAX_KEY_WORDS = 100

/** Flags that choose what is run: another value is another run. */
const CHOOSING = new Set(
  `-k -m -t -g -run --run --grep --filter --test --testNamePattern --testPathPattern --testPathPatterns -p --package --workspace -w
   --tests -Dtest --group --suite --testsuite --project -e --example --only -F --bin --lib --features --target --name
   --test-name-pattern -R --tags --tag -P --config -c -f --file -C`
    .trim()
    .split(/\s+/),
)
/** Flags whose value says how it is shown or how fast it goes. */
const TUNING = new Set(
  `-n --reporter --reporters --tb --maxfail --timeout --max-workers --maxWorkers --workers -j --jobs --format --output -o --color
   --log-level --cov --cov-report --durations -timeout -count -parallel -coverprofile --retries --bail --seed --logger --verbosity
   --formatter --max-warnings --output-format --message-format --loglevel --console -l --pool --test-reporter --import --loader`
    .trim()
    .split(/\s+/),
)
const QUIET =
  /^(?:-[vqsx]+|--verbose|--quiet|--silent|--no-?colou?r|--colou?r(?:=\w+)?|--no-progress|--progress(?:=\w+)?|--show-error|-sS|-sSL|-i|--include)$/
const BY_WHAT = new Set<CommandKind>(['test', 'build', 'lint', 'typecheck', 'server', 'migration', 'install'])

/** Words that say "once", not "what". */
const IDLE_VERBS: Record<string, string> = { vitest: 'run', cypress: 'run' }

export function keyOf(kind: CommandKind, program: string, args: string[], body: string | null): string {
  if (kind === 'commit') return 'git commit'
  const kept = BY_WHAT.has(kind) ? choosing(kind, program, args) : args.filter((arg) => !QUIET.test(arg))
  const words = spelled(program, kept.slice(0, MAX_KEY_WORDS).map(path))
  const script = body === null ? '' : ` <<${fingerprint(body)}`
  return clip([program, ...words].join(' '), KEY_CHARS) + script
}

function choosing(kind: CommandKind, program: string, args: string[]): string[] {
  const kept: string[] = []
  for (let i = 0; i < args.length; i++) {
    const arg = args[i] ?? ''
    const value = args[i + 1]
    if (arg === '--') continue
    if (!arg.startsWith('-') || arg === '-') {
      if (!(i === 0 && IDLE_VERBS[program] === arg)) kept.push(arg)
    } else if (arg.includes('=')) {
      if (CHOOSING.has(arg.slice(0, arg.indexOf('=')))) kept.push(arg)
    } else if (CHOOSING.has(arg) && value !== undefined && !value.startsWith('-')) {
      if (!(kind === 'typecheck' && value === '.')) kept.push(arg, value)
      i++
    } else if (TUNING.has(arg) && value !== undefined && !value.startsWith('-')) i++
    else if (arg === '--test' && program === 'node') kept.push(arg)
  }
  return kept
}

/** `npm run test`, `npm t` and `npm test` are one. */
function spelled(program: string, args: string[]): string[] {
  if (!/^(?:npm|pnpm|yarn|bun)$/.test(program)) return args
  const rest = args[0] === 'run' || args[0] === 'run-script' ? args.slice(1) : args
  if (rest[0] === 't' || rest[0] === 'tst') return ['test', ...rest.slice(1)]
  if (rest[0] === 'i' || rest[0] === 'add') return ['install', ...rest.slice(1)]
  return rest
}

function path(word: string): string {
  if (/^\.{1,3}\/?(?:\.\.\.)?$/.test(word)) return word.replace(/(?<=^\.)\/$/, '')
  return word.replace(/^\.\/(?=[\w@])/, '').replace(/(?<=\w)\/$/, '')
}

/** Two inline scripts are the same run only if they are the same text. */
function fingerprint(text: string): string {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193) >>> 0
  return hash.toString(36)
}
