/**
 * Commands that only look around: where am I, what lies here, what does git think. A line is routine only if every
 * part of it is, and in doubt it is not: what is folded here is never told to a model.
 */
import { kindOf } from '../../offline/commands/kinds/index.ts'
import { type Simple, tokenize } from '../../offline/commands/shell/tokens.ts'
import { programName } from '../../offline/commands/shell/unwrap.ts'

export const ONLY_LISTED = 'only listed files'
export const ONLY_STATUS = 'status only'
export const ONLY_LOOKED = 'only looked around'
export const FOUND_NOTHING = 'a search that found nothing'

/** A line longer than that does more than look around. */
const MAX_LINE_CHARS = 1_000
/** A longer word of `echo` may be a note worth reading. */
const MAX_ECHO_CHARS = 40

type Part = typeof ONLY_LISTED | typeof ONLY_STATUS | typeof ONLY_LOOKED | typeof FOUND_NOTHING | 'idle' | null

export interface CommandOutput {
  stdout: string
  stderr: string
}

/** Why a command that succeeded adds nothing, or null. */
export function routineCommand(command: string, output: CommandOutput): string | null {
  if (output.stderr.trim() !== '' || TELLING.test(output.stdout)) return null
  const parts = partsOf(command)
  if (parts === null) return null
  if (parts.includes(FOUND_NOTHING)) return output.stdout.trim() === '' ? FOUND_NOTHING : null
  return ([ONLY_LISTED, ONLY_STATUS, ONLY_LOOKED] as const).find((reason) => parts.includes(reason)) ?? null
}

/** Even a listing or a status may say that something is wrong. */
const TELLING =
  /no such file|cannot access|permission denied|command not found|: not found|not a git|fatal:|error:|unmerged paths|both (?:modified|added)|^(?:UU|AA|DD|AU|UA|DU|UD) |rebase in progress|currently (?:rebasing|cherry-picking|bisecting|reverting)|HEAD detached|have diverged|\(no branch|still merging/im

const HARMLESS_REDIRECTION = /(?:&|\d)?>>?\s*\/dev\/null\b|\d>&\d/g

/** What each part of a line is, or null if one of them does more. */
function partsOf(command: string): Part[] | null {
  const line = command.trim().replace(HARMLESS_REDIRECTION, ' ')
  if (line === '' || line.length > MAX_LINE_CHARS || /[<>`{}]|\$\(|&\s*$/.test(line)) return null
  // A single `&` sends to the background what may say nothing now.
  if (/[^&]&[^&]/.test(line)) return null
  const parts = tokenize(line).map((simple) => (simple.joiner === 'pipe' ? filterPart(simple) : partOf(simple)))
  return parts.every((part) => part !== null) ? parts : null
}

const LISTING = new Set(['ls', 'tree', 'dir', 'exa', 'eza', 'find', 'fd'])
const LOOKING = new Set(['pwd', 'which', 'where', 'whereis', 'cd', 'pushd', 'popd', 'basename', 'dirname', 'realpath'])
const SEARCHING = new Set(['grep', 'egrep', 'fgrep', 'rg', 'ag', 'ack'])
const IDLE = new Set(['true', ':', 'clear', 'sleep', 'echo', 'printf'])
const PASSING_ON = new Set(['head', 'tail', 'wc', 'sort', 'grep', 'egrep', 'rg', 'cut', 'column', 'nl', 'less'])

/** Arguments with which a listing does something, or a search says nothing. */
const DOING = /^-(?:exec|execdir|ok|okdir|delete|fprint0?|fprintf|fls)$|^(?:-[xX]|--exec|--exec-batch)$/
const doing = (program: string, args: string[]) =>
  args.some((arg) => DOING.test(arg) || (program === 'tree' && arg === '-o'))
const SILENT = /^(?:-[a-zA-Z]*q[a-zA-Z]*|--quiet|--silent)$/
/** Filters that would write: `sort -o`, `less -O`. */
const WRITING = /^(?:-[a-zA-Z]*[oO]|--output(?:=.*)?|--log-file.*)$/

/** `./find` is somebody's script. */
const fromTheSystem = (word: string) => !/[\\/]/.test(word) || /^\/(?:usr\/(?:local\/)?)?s?bin\//.test(word)

function partOf(simple: Simple): Part {
  const [head, ...rest] = simple.words
  if (head === undefined || simple.body !== null) return null
  if (!fromTheSystem(head.text)) return null
  const program = programName(head.text)
  const args = rest.map((word) => word.text)
  if (program === 'git') return gitPart(args)
  if (LISTING.has(program)) return doing(program, args) ? null : ONLY_LISTED
  if (LOOKING.has(program)) return ONLY_LOOKED
  if (SEARCHING.has(program)) return args.some((arg) => SILENT.test(arg)) ? null : FOUND_NOTHING
  if (!IDLE.has(program)) return null
  return rest.every((word) => !word.raw.includes('$') && word.text.length <= MAX_ECHO_CHARS) ? 'idle' : null
}

function filterPart(simple: Simple): Part {
  const [head, ...rest] = simple.words
  if (head === undefined || simple.body !== null || !fromTheSystem(head.text)) return null
  if (!PASSING_ON.has(programName(head.text))) return null
  return rest.some((word) => WRITING.test(word.text)) ? null : 'idle'
}

const LOOKING_VERBS = /^(?:status|branch|ls-files|rev-parse)$/
/** `git status -v` shows the changes themselves. */
const SHOWS_CHANGES = /^(?:-v+|--verbose)$/

function gitPart(args: string[]): Part {
  const rest = args[0] === '-C' ? args.slice(2) : args.filter((arg) => arg !== '--no-pager')
  const [verb = '', ...flags] = rest
  if (!LOOKING_VERBS.test(verb) || kindOf('git', rest) !== 'look') return null
  if (verb === 'status') return flags.some((flag) => SHOWS_CHANGES.test(flag)) ? null : ONLY_STATUS
  if (verb === 'ls-files') return ONLY_LISTED
  // `git branch -D name -v` would delete: only flags that list.
  if (verb === 'branch' && !flags.every((flag) => /^(?:-[arv]+|--list|--all|--show-current)$/.test(flag))) return null
  return ONLY_STATUS
}
