/**
 * Errors in the output of a command that failed, most informative first: failed tests, compiler and linter errors,
 * crashes, errors of tools, and for unknown programs any line that looks like an error.
 */
import { unique } from '../text.ts'
import { findCompilerErrors } from './compiler-errors.ts'
import { findCrashes } from './crashes.ts'
import { allMatches, clipLine, type ProgramOutput, type ReportedError, reportedError } from './output.ts'

const MAX_SHOWN_ERRORS = 6
const MAX_FILES = 12
/** Ten times what is shown, so that duplicates can be dropped. */
const MAX_ERRORS = 60
/** Lines kept of the output of a program that failed without a known error. */
const LAST_LINES = 2

// In the tables below the first group of a line is the error. Stronger errors come first.

const PACKAGES: RegExp[] = [
  /^(npm (?:ERR!|error) Missing script: .+)$/,
  /^(npm (?:ERR!|error) (?:code E\w+|40\d .+|notarget .+|Could not resolve dependency:|peer .+ from .+|Found: .+|syscall .+|ENOENT.*))$/,
  /^\s*(ERR_PNPM_\w+.*)$/,
  /^(?:➤ )?(YN\d{4}: .*(?:error|fail|couldn't|doesn't).*)$/i,
  /^(error (?!Command failed)(?:Couldn't|An unexpected|Your lockfile|.+: The engine).*)$/,
  /^(?:ERROR|error): ((?:Could not find a version|No matching distribution|Cannot install|Failed building wheel|ResolutionImpossible|Package .+ requires|externally-managed).*)$/,
  /^(?:error|×): ?(.*(?:No solution found|failed to select a version|no matching package).*)$/i,
  /^\s*(Because .+ depends on .+)$/,
  /^(E: (?:Unable to locate package|Could not|Package) .+)$/,
  /^(Bundler (?:could not|cannot) .+|Could not find gem .+)$/,
  /^(go: .+: (?:no matching versions|unknown revision|module .+ not found|cannot find module).*)$/,
  /^\s+(?:- )?(Root composer\.json requires .+)$/,
  /^(Error: No (?:available formula|such keg).*)$/,
]

const SQL: RegExp[] = [
  /^(?:psql:\S+ )?(ERROR: {1,2}\S.+)$/,
  /^(psql: error: .+)$/,
  /^(ERROR \d{4} \(\w{5}\).*: .+)$/,
  /^((?:Runtime |Parse )?[Ee]rror:? (?:near line \d+|in prepare|near ".{1,40}").*)$/,
  /(SQLSTATE\[\w+\].{0,200})/,
  /((?:SQLITE_\w+|SqliteError|OperationalError|ProgrammingError|IntegrityError): .{1,200})/,
  /^(Error: P\d{4}.*)$/,
  /^(\(error\) [A-Z]+ .+)$/,
]

const GIT: RegExp[] = [
  /^(CONFLICT \(.+)$/,
  /^\s*(! \[(?:remote )?rejected\] .+)$/,
  /^(error: (?:failed to push|could not apply|pathspec|Your local changes|The following untracked|cannot|src refspec).*)$/,
  /^(fatal: .+)$/,
  /^(husky - .+ (?:failed|exited).*)$/,
]

const CONTAINERS: RegExp[] = [
  /^(?:ERROR: |error: )?(failed to solve: .+)$/,
  /(Error response from daemon: .+)$/,
  /^(Error from server \(.+)$/,
  /^(?:[│╷╵]\s*)?(Error: (?:Invalid|Unsupported|Missing|Reference|Error|creating|Failed|No |Could not).+)$/,
  /^(Cannot connect to the Docker daemon.*)$/,
  /^(Error: INSTALLATION FAILED: .+|Error: UPGRADE FAILED: .+)$/,
]

const SYSTEM: RegExp[] = [
  /((?:address already in use|EADDRINUSE|Address already in use|port is already allocated|Port \d+ is (?:already )?in use).{0,120})/,
  /((?:connect )?ECONNREFUSED.{0,80})/,
  /^(curl: \(\d+\) .+)$/,
  /^(.{0,200}[Cc]onnection refused.{0,80})$/,
  /^((?:[\w./-]+: ){0,3}(?:line \d+: )?\S{1,100}: (?:command )?not found)$/,
  /^(zsh: command not found: .+)$/,
  /^(.{0,200}[Pp]ermission denied.{0,80})$/,
  /^(.{0,160}No such file or directory.{0,60})$/,
  /^(.{0,120}(?:No space left on device|ENOSPC).{0,60})$/,
  /^(.{0,120}(?:JavaScript heap out of memory|Out of memory|OutOfMemoryError|Cannot allocate memory).{0,80})$/,
  /^(.{0,120}Segmentation fault.{0,40})$/,
  /^(.{0,120}(?:getaddrinfo ENOTFOUND|Could not resolve host|Name or service not known|Temporary failure in name resolution).{0,80})$/,
  /^(.{0,100}Command timed out after .{1,40})$/,
  /^(Error: Cannot find module .+)$/,
]

const MAKE: RegExp[] = [
  /^((?:g?make|ninja)(?:\[\d+\])?: \*\*\* .+)$/,
  /^(ninja: (?:error|build stopped): .+)$/,
  /^(ELIFECYCLE .+)$/,
]

/** Lines that look like an error, for programs without a rule of their own. */
const UNKNOWN: RegExp[] = [
  /^\s*(?:\S+: )?((?:fatal|FATAL|error|Error|ERROR|\w+Error|\w+Exception|✘|✖|×)(?:\[\w+\])?:? \S.+)$/,
  /^(.{1,80}: error: .+)$/i,
  /^\s*((?:Error|Fehler|Erreur|Errore|错误|エラー|Ошибка|오류)\s?[:：].+)$/i,
  /^(usage: .+|Usage: .+)$/,
]

const EXIT_CODES: Record<number, string> = {
  124: 'timed out (exit code 124)',
  126: 'not executable (exit code 126)',
  127: 'command not found (exit code 127)',
  134: 'aborted (exit code 134)',
  137: 'killed, often out of memory (exit code 137)',
  139: 'segmentation fault (exit code 139)',
  143: 'terminated (exit code 143)',
}

/** Whether the output shows a crash, so that no exit code is needed to know that the command failed. */
export function hasCrashed(out: ProgramOutput): boolean {
  return (
    findCrashes(out).length > 0 || /^(?:\S{1,100}: ){0,3}(?:line \d+: )?\S{1,100}: command not found$/m.test(out.text)
  )
}

/** @param known errors that the reader of this kind of command has found */
export function findErrors(out: ProgramOutput, known: ReportedError[], exitCode: number | null): ReportedError[] {
  const signal = exitCode === null ? undefined : EXIT_CODES[exitCode]
  // A test's own report of a location is better than the stack trace through it.
  const reported = new Set(known.map(({ location }) => location))
  const located = [...findCompilerErrors(out), ...findCrashes(out)].filter(
    ({ location }) => location === null || !reported.has(location),
  )
  const errors = [
    ...known,
    ...(signal === undefined ? [] : [reportedError(signal)]),
    ...located,
    ...matchingLines(out, [...PACKAGES, ...SQL, ...GIT, ...CONTAINERS, ...SYSTEM]),
  ]
  if (errors.length < MAX_SHOWN_ERRORS) errors.push(...matchingLines(out, MAKE))
  if (errors.length === 0) errors.push(...matchingLines(out, UNKNOWN))
  if (errors.length > 0) return errors.slice(0, MAX_ERRORS)
  const words = out.lines.filter((line) => /[\p{L}\p{N}]{2}/u.test(line))
  return words.slice(-LAST_LINES).map((line) => reportedError(line))
}

function matchingLines(out: ProgramOutput, rules: readonly RegExp[]): ReportedError[] {
  return rules.flatMap((rule) => allMatches(out, rule).map(([, message = '']) => reportedError(message)))
}

export function showErrors(errors: ReportedError[]): string[] {
  const shown: string[] = []
  for (const error of errors) {
    const text = showError(error)
    const message = error.message.replace(/^panic: /, '')
    if (text === '' || shown.some((other) => other === text || other.includes(message))) continue
    shown.push(text)
    if (shown.length === MAX_SHOWN_ERRORS) break
  }
  return shown
}

/** The location is kept whole: it is what a reader opens next. */
function showError({ message, location }: ReportedError): string {
  if (location === null || message.includes(location)) return clipLine(message)
  const tail = ` (${clipLine(location, 120)})`
  return clipLine(message, 240 - tail.length) + tail
}

const PATH_IN_TEXT =
  /(?:^|[\s"'`(])((?:\.{0,2}\/)?(?:[\w@.-]+\/){0,12}[\w@-][\w.@-]{0,80}\.(?:[cm]?[jt]sx?|py|rs|go|java|kt|rb|php|cs|c|cc|cpp|h|hpp|swift|exs?|vue|svelte|sql|tf|ya?ml|json|toml))(?::\d+)*(?=[\s"'`),:;]|$)/g

export function filesWithErrors(errors: ReportedError[]): string[] {
  const files = errors.flatMap(({ message, location }) => {
    const named = [...clipLine(message, 400).matchAll(PATH_IN_TEXT)].map(([, path = '']) => path)
    const conflict = /^CONFLICT .* in (\S+)$/.exec(message)?.[1]
    return [location, conflict ?? null, ...named].flatMap((path) => (path === null ? [] : (fileOfLocation(path) ?? [])))
  })
  return unique(files).slice(0, MAX_FILES)
}

/** `src/a.ts:3:5` is src/a.ts. */
function fileOfLocation(location: string): string | null {
  const path = location
    .replace(/^file:\/\//, '')
    .replace(/^\.\/(?=\w)/, '')
    .replace(/(?::\d+){1,2}$/, '')
  return /^[^\s:"'<>|*?]{1,250}$/.test(path.replace(/^[A-Za-z]:/, '')) && /\w/.test(path) ? path : null
}
