/**
 * Errors in the output of a command that failed, most informative first: failed tests, compiler and linter errors,
 * crashes, errors of tools, and for unknown programs any line that looks like an error.
 */
import {
  allErrors,
  allMatches,
  clipLine,
  type ErrorFinder,
  errorLines,
  errorsAt,
  firstGroup,
  hasMatch,
  type ReportedError,
  reportedError,
} from './output.ts'

const MAX_SHOWN_ERRORS = 6
/** Ten times what is shown, so that duplicates can be dropped. */
const MAX_ERRORS = 60
/** Lines kept of the output of a program that failed without a known error. */
const LAST_LINES = 2

// In the tables below the first group of a line is the error. Stronger errors come first.

const TOOL_ERRORS: RegExp[] = [
  // package managers
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
  // databases
  /^(?:psql:\S+ )?(ERROR: {1,2}\S.+)$/,
  /^(psql: error: .+)$/,
  /^(ERROR \d{4} \(\w{5}\).*: .+)$/,
  /^((?:Runtime |Parse )?[Ee]rror:? (?:near line \d+|in prepare|near ".{1,40}").*)$/,
  /(SQLSTATE\[\w+\].{0,200})/,
  /((?:SQLITE_\w+|SqliteError|OperationalError|ProgrammingError|IntegrityError): .{1,200})/,
  /^(Error: P\d{4}.*)$/,
  /^(\(error\) [A-Z]+ .+)$/,
  // git
  /^(CONFLICT \(.+)$/,
  /^\s*(! \[(?:remote )?rejected\] .+)$/,
  /^(error: (?:failed to push|could not apply|pathspec|Your local changes|The following untracked|cannot|src refspec).*)$/,
  /^(fatal: .+)$/,
  /^(husky - .+ (?:failed|exited).*)$/,
  // containers and infrastructure
  /^(?:ERROR: |error: )?(failed to solve: .+)$/,
  /(Error response from daemon: .+)$/,
  /^(Error from server \(.+)$/,
  /^(?:[│╷╵]\s*)?(Error: (?:Invalid|Unsupported|Missing|Reference|Error|creating|Failed|No |Could not).+)$/,
  /^(Cannot connect to the Docker daemon.*)$/,
  /^(Error: INSTALLATION FAILED: .+|Error: UPGRADE FAILED: .+)$/,
  // the system
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

const MAKE_ERRORS: RegExp[] = [
  /^((?:g?make|ninja)(?:\[\d+\])?: \*\*\* .+)$/,
  /^(ninja: (?:error|build stopped): .+)$/,
  /^(ELIFECYCLE .+)$/,
]

/** Lines that look like an error, for programs without a rule of their own. */
const UNKNOWN_ERRORS: RegExp[] = [
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

const COMMAND_NOT_FOUND = /^(?:\S{1,100}: ){0,3}(?:line \d+: )?\S{1,100}: command not found$/

/** Whether the output shows a crash, so that no exit code is needed to know that the command failed. */
export function hasCrashed(lines: string[]): boolean {
  return findCrashes(lines).length > 0 || hasMatch(lines, COMMAND_NOT_FOUND)
}

/** @param known errors that the reader of this kind of command has found */
export function findErrors(lines: string[], known: ReportedError[], exitCode: number | null): string[] {
  const signal = exitCode === null ? undefined : EXIT_CODES[exitCode]
  // A test's own report of a location is better than the stack trace through it.
  const reported = new Set(known.map(({ location }) => location))
  const located = [...findCompilerErrors(lines), ...findCrashes(lines)].filter(
    ({ location }) => location === null || !reported.has(location),
  )
  const errors = [
    ...known,
    ...(signal === undefined ? [] : [reportedError(signal)]),
    ...located,
    ...matchingLines(lines, TOOL_ERRORS),
  ]
  if (errors.length < MAX_SHOWN_ERRORS) errors.push(...matchingLines(lines, MAKE_ERRORS))
  if (errors.length === 0) errors.push(...matchingLines(lines, UNKNOWN_ERRORS))
  if (errors.length > 0) return showErrors(errors.slice(0, MAX_ERRORS))
  const words = lines.filter((line) => /[\p{L}\p{N}]{2}/u.test(line))
  return showErrors(words.slice(-LAST_LINES).map((line) => reportedError(line)))
}

function matchingLines(lines: string[], rules: readonly RegExp[]): ReportedError[] {
  return rules.flatMap((rule) => allMatches(lines, rule).map(([, message = '']) => reportedError(message)))
}

function showErrors(errors: ReportedError[]): string[] {
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

/** Repeats the errors above it. */
const RUST_SUMMARY = /^(?:could not compile|aborting due to|test failed|\d+ targets? failed|process didn't exit)/
const UNRESOLVED =
  /((?:Could not|Failed to) resolve (?:import |entry )?["'].{1,150}["'](?: from ["'](.{1,150}?)["'])?.*)$/

/** Compilers, type checkers, bundlers and linters. */
const findCompilerErrors = allErrors(
  // TypeScript
  errorLines(
    /^(?:.{0,40}?\s)?(?<file>\S[^\s()]{0,200}\.[cm]?[jt]sx?|\S{1,200}\.(?:vue|svelte))\((?<line>\d+),(?<column>\d+)\): error (?<code>TS\d+): (?<message>.+)$/,
    /^(?<location>\S{1,200}:\d+:\d+) - error (?<code>TS\d+): (?<message>.+)$/,
    /^error (?<code>TS\d+): (?<message>.+)$/,
  ),
  // Rust
  errorsAt(/^error(\[E\d+\])?: (.+)$/, ([, code = '', message = ''], at, lines) => {
    const location = firstGroup(lines.slice(at + 1, at + 3), /^\s*--> (\S+:\d+:\d+)/)
    if (RUST_SUMMARY.test(message) || (location === undefined && code === '')) return null
    const label = firstGroup(lines.slice(at + 1, at + 12), /^\s*\|.*?\^+ (\S.*)$/)
    return reportedError(`error${code}: ${message}${label ? `; ${label}` : ''}`, location)
  }),
  errorLines(
    // Go
    /^(?:vet: )?(?:\.\/)?(?<location>(?:[\w.@~-]+\/)*[\w.-]+\.go:\d+:\d+): (?<message>.+)$/,
    // C and C++: compiler, then linker
    /^(?:\.\/)?(?<file>[^\s:]{1,200}):(?<line>\d+):(?:(?<column>\d+):)? (?:fatal )?error: (?<message>.+)$/,
    /(?:^|\s)(?:(?<location>[\w./-]{1,200}\.\w+):)?\(\.text.{0,40}\): (?<message>undefined reference to .+)$/,
    /(?<message>multiple definition of .+?)[;:]/,
    /ld: (?<message>cannot find -l\S+.*|library not found for .+|symbol\(s\) not found .+)$/,
  ),
  // CMake
  errorsAt(/^CMake Error at ([^\s:]+:\d+)/, ([, location], at, lines) => reportedError(lines[at + 1] ?? '', location)),
  errorLines(
    // Maven, Kotlin, javac
    /^\[ERROR\] (?<file>\/?\S{1,250}\.(?:java|kt|scala|groovy)):\[(?<line>\d+),(?<column>\d+)\] (?<message>.+)$/,
    /^e: (?:file:\/\/)?(?<file>[^\s:]{1,250}\.kts?):(?: \()?(?<line>\d+)[:,] ?(?<column>\d+)\)?:? (?<message>.+)$/,
    /^(?:\.\/)?(?<file>[^\s:]{1,250}\.java):(?<line>\d+): error: (?<message>.+)$/,
    /^\[ERROR\] (?<message>Failed to execute goal .+|Could not (?:find|resolve) .+)$/,
    // .NET
    /^\s*(?:\d+>)?(?<file>\S[^()]{0,250}?\.(?:cs|fs|vb|csproj))\((?<line>\d+),(?<column>\d+)\): error (?<code>[A-Z]+\d+): (?<message>.+?)(?: \[[^\]]+\])?$/,
  ),
  // Elixir: raised, then compiled
  errorsAt(/^\s*\*\* \((\w[\w.]*)\) (.+)$/, ([, name, message], at, lines) => {
    const location = firstGroup(lines.slice(at, at + 6), /((?:lib|test|web|config)\/\S+\.exs?:\d+)/)
    return reportedError(`${name}: ${message}`, location)
  }),
  errorsAt(/└─ ([^\s:]+\.exs?:\d+(?::\d+)?)/, ([, location], at, lines) => {
    const message = firstGroup(lines.slice(Math.max(0, at - 8), at).reverse(), /^\s*error: (.+)$/)
    return message === undefined ? null : reportedError(message, location)
  }),
  // esbuild, webpack, Vite, Rollup
  (lines) => lines.flatMap((line, at) => bundlerError(line, lines.slice(at + 1, at + 6)) ?? []),
  // eslint and stylelint
  stylishErrors,
  linterRows,
  // ruff
  errorsAt(/^([A-Z]{1,4}\d{3,4} .+)$/, ([, message = ''], at, lines) => {
    const location = firstGroup(lines.slice(at + 1, at + 2), /^\s*--> (\S+:\d+:\d+)/)
    return location === undefined ? null : reportedError(message, location)
  }),
  // shellcheck
  errorsAt(/^In (\S+) line (\d+):$/, ([, file, row], at, lines) => {
    const message = firstGroup(lines.slice(at + 1, at + 5), /(SC\d{4}.+)$/)
    return message === undefined ? null : reportedError(message, `${file}:${row}`)
  }),
  // flow
  errorsAt(/^Error -{3,} (\S+:\d+:\d+)$/, ([, location], at, lines) => reportedError(lines[at + 2] ?? '', location)),
  // formatters
  errorsAt(/^(?:\[warn\] |would reformat |Would reformat: )((?!Code style)\S+\.\w+)$/, ([, file]) =>
    reportedError('not formatted', file),
  ),
)

function bundlerError(line: string, below: string[]): ReportedError | null {
  const esbuild = /^✘ \[ERROR\] (.+)$/.exec(line)?.[1]
  if (esbuild !== undefined) return reportedError(esbuild, firstGroup(below, /^\s+(\S+:\d+:\d+):$/))
  const webpack = /^(?:ERROR|Error) in (\.?\/?\S+?)(?:[ :](\d+):(\d+)(?:-\d+)?)?$/.exec(line)
  if (webpack) {
    const [, file, row, column] = webpack
    const message = (below[0] ?? '').replace(/^(Module (?:not found|build failed[^:]*): )Error: /, '$1')
    return reportedError(message, row ? `${file}:${row}:${column}` : file)
  }
  const [, message, importer] = UNRESOLVED.exec(line) ?? []
  return message ? reportedError(message.split('. ')[0] ?? '', importer) : null
}

/** They print the file once, then its lines. */
function stylishErrors(lines: string[]): ReportedError[] {
  let file = ''
  return lines.flatMap((line) => {
    file = /^((?:\/|[A-Za-z]:|\.{0,2}\/?[\w@-])[^\s:]{0,250}\.\w{1,8})$/.exec(line)?.[1] ?? file
    const [, row, column, message = '', rule] =
      /^\s+(\d+):(\d+)\s+(?:error|✖)\s+(.+?)(?:\s{2,}(\S+))?$/.exec(line) ?? []
    if (row === undefined || file === '') return []
    return [reportedError(rule ? `${message} (${rule})` : message, `${file}:${row}:${column}`)]
  })
}

/** `file:line:column: message`, with what marks the message as a linter's. */
const findLinterRows = errorLines(
  // ruff, flake8, pylint
  /^(?<location>[^\s:]{1,250}\.\w+:\d+(?::\d+)?): (?:error: )?(?<message>[A-Z]{1,5}\d{2,5}:? .+)$/,
  // mypy
  /^(?<location>[^\s:]{1,250}\.pyi?:\d+(?::\d+)?): error: (?<message>.+)$/,
  // pyright
  /^\s*(?<location>\/?[^\s:]{1,250}\.pyi?:\d+:\d+) - error: (?<message>.+)$/,
  // rubocop
  /^(?<location>[^\s:]{1,250}\.(?:rb|rake):\d+:\d+): (?<message>[CWEF]: .+)$/,
  // biome
  /^(?<location>[^\s:]{1,250}\.\w+:\d+:\d+) (?<message>lint\/\S+|parse|format|assist\/\S+)(?: .*)?$/,
)

function linterRows(lines: string[]): ReportedError[] {
  return findLinterRows(lines).map(({ message, location }) => ({ message: message.replace(/\s*[━─]+$/, ''), location }))
}

const MAX_STACK_LINES = 40
const FOREIGN_CODE =
  /node_modules|node:|internal\/|site-packages|dist-packages|\/lib\/python\d|<frozen|<string>|<stdin>|<anonymous>:|\.cargo\/registry|\/rustc\/|\/gems\/|\/vendor\/|\/usr\/(?:lib|local\/go|include)|\/go\/pkg\/mod|java\.base|\.pyenv\/versions|ext:|\[eval\]/

/** Programs that failed at run time: the message, and the innermost stack frame in the project's own code. */
const findCrashes = allErrors(
  // Python
  errorsAt(/^\s*(?:(Traceback \(most recent call last\):|\| Traceback)|File "[^"]+", line \d+$)/, pythonCrash),
  // JavaScript
  errorsAt(
    /^(?:\s{0,4})(?:\[cause\]: |Uncaught |Unhandled \w+:? |Error: )?((?:[A-Z]\w*)?(?:Error|Exception)(?: \[\w+\])?: .+)$/,
    javascriptCrash,
  ),
  // Rust
  errorsAt(
    /^\s*thread '.{1,150}?'(?: \(\d+\))? panicked at (?:'(.*)', )?([^\s':]+\.rs:\d+:\d+):?$/,
    ([, message, location], at, lines) => reportedError(`panic: ${message ?? (lines[at + 1] ?? '').trim()}`, location),
  ),
  // Go
  crashesWithStack(/^(?:panic|fatal error): (.+?)(?: \[recovered\])?$/, /^\t(\S+\.go:\d+)/, /^exit status/, 'panic: '),
  // JVM
  crashesWithStack(
    /^(?:Exception in thread ".{1,80}" |Caused by: )((?:[\w$]+\.)+[\w$]+(?:: .+)?)$/,
    /^\s+at (?!java\.|jdk\.|sun\.|javax\.|org\.junit|org\.spring|org\.apache)\S+\((\w+\.(?:java|kt|scala):\d+)\)/,
    /^\S/,
  ),
  // .NET
  crashesWithStack(/^Unhandled exception\. (.+)$/, /^\s+at .{1,300} in (\S+:line \d+)/, /^\S/),
  // Ruby
  errorsAt(
    /^(?:ruby: )?([^\s:]{1,250}\.(?:rb|rake|ru):\d+):(?:in .{1,100}?:)? (.+? \((?:\w+::)*\w+(?:Error|Exception|Exit)\)|syntax error.+)$/,
    ([line, location, message = '']) => (isProjectFrame(line) ? reportedError(message, location) : null),
  ),
  // PHP
  errorLines(
    /^(?:PHP )?(?:Fatal error|Parse error|Warning):\s+(?:Uncaught )?(?<message>.+?) in (?<file>\S+\.php)(?::| on line )(?<line>\d+)/,
  ),
)

function isProjectFrame(line: string): boolean {
  return !FOREIGN_CODE.test(line)
}

/** Group 1 of `frame` in the first project line; the search ends at a line that is no frame and matches `stop`. */
function projectFrame(lines: string[], frame: RegExp, stop: RegExp): string | null {
  for (const line of lines.slice(0, MAX_STACK_LINES)) {
    const location = frame.exec(line)?.[1]
    if (location !== undefined) {
      if (isProjectFrame(line)) return location
    } else if (stop.test(line)) break
  }
  return null
}

/** The message is on one line and the frames are below it. */
function crashesWithStack(message: RegExp, frame: RegExp, stop: RegExp, prefix = ''): ErrorFinder {
  return errorsAt(message, ([, text], at, lines) => {
    const location = projectFrame(lines.slice(at + 1), frame, stop)
    return reportedError(prefix + text, location?.replace(':line ', ':'))
  })
}

function javascriptCrash([, message = '']: RegExpExecArray, at: number, lines: string[]): ReportedError | null {
  const below = lines.slice(at + 1, at + MAX_STACK_LINES)
  // node prints the location of the source line above the message.
  const above = firstGroup(lines.slice(Math.max(0, at - 6), at), /^((?:file:\/\/)?\/\S{1,250}\.[cm]?[jt]sx?:\d+)$/)
  if (above === undefined && !hasMatch(below.slice(0, 12), /^\s+at .+:\d+:\d+\)?/)) return null
  if (above !== undefined && message.startsWith('SyntaxError')) return reportedError(message, above)
  const frame = projectFrame(below, /^\s+at (?:.{0,150}\()?((?:file:\/\/)?[^\s()]{1,250}:\d+:\d+)\)?/, /^\S/)
  return reportedError(message, frame ?? above)
}

/** A traceback, or a syntax error, which has only the location and the message. */
function pythonCrash([line, traceback]: RegExpExecArray, at: number, lines: string[]): ReportedError | null {
  if (traceback === undefined && !isPythonSyntaxError(line, at, lines)) return null
  let location: string | null = null
  for (const text of lines.slice(traceback === undefined ? at : at + 1, at + 200)) {
    const [, file, row] = /^\s*File "([^"]{1,250})", line (\d+)/.exec(text) ?? []
    if (file !== undefined) {
      if (isProjectFrame(file) || location === null) location = `${file}:${row}`
    } else if (/^[A-Za-z_][\w.]*(?::|$)/.test(text))
      return reportedError(text, location !== null && isProjectFrame(location) ? location : null)
    else if (/^Traceback/.test(text)) return null
  }
  return null
}

function isPythonSyntaxError(line: string, at: number, lines: string[]): boolean {
  if (!line.startsWith('  File') || /^\s*File/.test(lines[at - 1] ?? '')) return false
  const above = lines.slice(Math.max(0, at - 60), at).findLast((text) => /^\S/.test(text))
  return above === undefined || !above.startsWith('Traceback')
}
