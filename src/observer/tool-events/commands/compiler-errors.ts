/** Errors of compilers, type checkers, bundlers and linters: message, file, line, column. */
import { errorsFrom, firstGroup, type ProgramOutput, type ReportedError, reportedError } from './output.ts'

const TYPESCRIPT: RegExp[] = [
  /^(?:.{0,40}?\s)?(?<file>\S[^\s()]{0,200}\.[cm]?[jt]sx?|\S{1,200}\.(?:vue|svelte))\((?<line>\d+),(?<column>\d+)\): error (?<code>TS\d+): (?<message>.+)$/,
  /^(?<location>\S{1,200}:\d+:\d+) - error (?<code>TS\d+): (?<message>.+)$/,
  /^error (?<code>TS\d+): (?<message>.+)$/,
]
const GO = [/^(?:vet: )?(?:\.\/)?(?<location>(?:[\w.@~-]+\/)*[\w.-]+\.go:\d+:\d+): (?<message>.+)$/]
/** C and C++: compiler, then linker. */
const NATIVE: RegExp[] = [
  /^(?:\.\/)?(?<file>[^\s:]{1,200}):(?<line>\d+):(?:(?<column>\d+):)? (?:fatal )?error: (?<message>.+)$/,
  /(?:^|\s)(?:(?<location>[\w./-]{1,200}\.\w+):)?\(\.text.{0,40}\): (?<message>undefined reference to .+)$/,
  /(?<message>multiple definition of .+?)[;:]/,
  /ld: (?<message>cannot find -l\S+.*|library not found for .+|symbol\(s\) not found .+)$/,
]
/** Maven, Kotlin, javac. */
const JVM: RegExp[] = [
  /^\[ERROR\] (?<file>\/?\S{1,250}\.(?:java|kt|scala|groovy)):\[(?<line>\d+),(?<column>\d+)\] (?<message>.+)$/,
  /^e: (?:file:\/\/)?(?<file>[^\s:]{1,250}\.kts?):(?: \()?(?<line>\d+)[:,] ?(?<column>\d+)\)?:? (?<message>.+)$/,
  /^(?:\.\/)?(?<file>[^\s:]{1,250}\.java):(?<line>\d+): error: (?<message>.+)$/,
  /^\[ERROR\] (?<message>Failed to execute goal .+|Could not (?:find|resolve) .+)$/,
]
const DOTNET = [
  /^\s*(?:\d+>)?(?<file>\S[^()]{0,250}?\.(?:cs|fs|vb|csproj))\((?<line>\d+),(?<column>\d+)\): error (?<code>[A-Z]+\d+): (?<message>.+?)(?: \[[^\]]+\])?$/,
]

export function findCompilerErrors(out: ProgramOutput): ReportedError[] {
  return [
    ...errorsFrom(out, TYPESCRIPT),
    ...rustErrors(out),
    ...errorsFrom(out, [...GO, ...NATIVE]),
    ...cmakeErrors(out),
    ...errorsFrom(out, [...JVM, ...DOTNET]),
    ...elixirErrors(out),
    ...bundlerErrors(out),
    ...linterErrors(out),
  ]
}

/** Repeats the errors above it. */
const RUST_SUMMARY = /^(?:could not compile|aborting due to|test failed|\d+ targets? failed|process didn't exit)/

function rustErrors({ lines }: ProgramOutput): ReportedError[] {
  return lines.flatMap((line, i) => {
    const [, code = '', message] = /^error(\[E\d+\])?: (.+)$/.exec(line) ?? []
    if (message === undefined || RUST_SUMMARY.test(message)) return []
    const below = lines.slice(i + 1, i + 12)
    const location = firstGroup(below.slice(0, 2), /^\s*--> (\S+:\d+:\d+)/)
    if (location === undefined && code === '') return []
    const label = firstGroup(below, /^\s*\|.*?\^+ (\S.*)$/)
    return [reportedError(`error${code}: ${message}${label ? `; ${label}` : ''}`, location)]
  })
}

function cmakeErrors({ lines }: ProgramOutput): ReportedError[] {
  return lines.flatMap((line, i) => {
    const location = /^CMake Error at ([^\s:]+:\d+)/.exec(line)?.[1]
    return location ? [reportedError(lines[i + 1] ?? '', location)] : []
  })
}

function elixirErrors({ lines }: ProgramOutput): ReportedError[] {
  const raised = lines.flatMap((line, i) => {
    const head = /^\s*\*\* \((\w[\w.]*)\) (.+)$/.exec(line)
    if (!head) return []
    const location = /((?:lib|test|web|config)\/\S+\.exs?:\d+)/.exec(lines.slice(i, i + 6).join('\n'))?.[1]
    return [reportedError(`${head[1]}: ${head[2]}`, location)]
  })
  const compiled = lines.flatMap((line, i) => {
    const location = /└─ ([^\s:]+\.exs?:\d+(?::\d+)?)/.exec(line)?.[1]
    const message = location && firstGroup(lines.slice(Math.max(0, i - 8), i).reverse(), /^\s*error: (.+)$/)
    return message ? [reportedError(message, location)] : []
  })
  return [...raised, ...compiled]
}

const UNRESOLVED =
  /((?:Could not|Failed to) resolve (?:import |entry )?["'].{1,150}["'](?: from ["'](.{1,150}?)["'])?.*)$/

/** esbuild, webpack, Vite, Rollup. */
function bundlerErrors({ lines }: ProgramOutput): ReportedError[] {
  return lines.flatMap((line, i) => {
    const below = lines.slice(i + 1, i + 6)
    const esbuild = /^✘ \[ERROR\] (.+)$/.exec(line)?.[1]
    if (esbuild !== undefined) return [reportedError(esbuild, firstGroup(below, /^\s+(\S+:\d+:\d+):$/))]
    const webpack = /^(?:ERROR|Error) in (\.?\/?\S+?)(?:[ :](\d+):(\d+)(?:-\d+)?)?$/.exec(line)
    if (webpack) {
      const [, file, row, column] = webpack
      const message = (below[0] ?? '').replace(/^(Module (?:not found|build failed[^:]*): )Error: /, '$1')
      return [reportedError(message, row ? `${file}:${row}:${column}` : file)]
    }
    const [, message, importer] = UNRESOLVED.exec(line) ?? []
    return message ? [reportedError(message.split('. ')[0] ?? '', importer)] : []
  })
}

/** `file:line:column: message`, with what marks the message as a linter's. */
const LINTERS: RegExp[] = [
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
]

function linterErrors(out: ProgramOutput): ReportedError[] {
  const { lines } = out
  const ruff = lines.flatMap((line, i) => {
    const message = /^([A-Z]{1,4}\d{3,4} .+)$/.exec(line)?.[1]
    const location = /^\s*--> (\S+:\d+:\d+)/.exec(lines[i + 1] ?? '')?.[1]
    return message && location ? [reportedError(message, location)] : []
  })
  const shellcheck = lines.flatMap((line, i) => {
    const [, file, row] = /^In (\S+) line (\d+):$/.exec(line) ?? []
    const message = file && firstGroup(lines.slice(i + 1, i + 5), /(SC\d{4}.+)$/)
    return message ? [reportedError(message, `${file}:${row}`)] : []
  })
  const flow = lines.flatMap((line, i) => {
    const location = /^Error -{3,} (\S+:\d+:\d+)$/.exec(line)?.[1]
    return location ? [reportedError(lines[i + 2] ?? '', location)] : []
  })
  const unformatted = errorsFrom(out, [
    /^(?:\[warn\] |would reformat |Would reformat: )(?<location>(?!Code style)\S+\.\w+)$/,
  ]).map((error) => ({ ...error, message: 'not formatted' }))
  const rows = errorsFrom(out, LINTERS).map(({ message, location }) => ({
    message: message.replace(/\s*[━─]+$/, ''),
    location,
  }))
  return [...stylishErrors(out), ...rows, ...ruff, ...shellcheck, ...flow, ...unformatted]
}

/** eslint and stylelint print the file once, then its lines. */
function stylishErrors(out: ProgramOutput): ReportedError[] {
  let file = ''
  return out.lines.flatMap((line) => {
    file = /^((?:\/|[A-Za-z]:|\.{0,2}\/?[\w@-])[^\s:]{0,250}\.\w{1,8})$/.exec(line)?.[1] ?? file
    const [, row, column, message = '', rule] =
      /^\s+(\d+):(\d+)\s+(?:error|✖)\s+(.+?)(?:\s{2,}(\S+))?$/.exec(line) ?? []
    if (row === undefined || file === '') return []
    return [reportedError(rule ? `${message} (${rule})` : message, `${file}:${row}:${column}`)]
  })
}
