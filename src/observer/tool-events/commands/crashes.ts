/** Programs that failed at run time: the message, and the innermost stack frame in the project's own code. */
import { firstGroup, type ProgramOutput, type ReportedError, reportedError } from './output.ts'

const MAX_STACK_LINES = 40
const FOREIGN_CODE =
  /node_modules|node:|internal\/|site-packages|dist-packages|\/lib\/python\d|<frozen|<string>|<stdin>|<anonymous>:|\.cargo\/registry|\/rustc\/|\/gems\/|\/vendor\/|\/usr\/(?:lib|local\/go|include)|\/go\/pkg\/mod|java\.base|\.pyenv\/versions|ext:|\[eval\]/

const isProjectFrame = (line: string) => !FOREIGN_CODE.test(line)

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

export function findCrashes(out: ProgramOutput): ReportedError[] {
  return CRASH_FINDERS.flatMap((find) => find(out))
}

function javascriptCrashes({ lines }: ProgramOutput): ReportedError[] {
  return lines.flatMap((line, i) => {
    const message =
      /^(?:\s{0,4})(?:\[cause\]: |Uncaught |Unhandled \w+:? |Error: )?((?:[A-Z]\w*)?(?:Error|Exception)(?: \[\w+\])?: .+)$/.exec(
        line,
      )?.[1]
    if (message === undefined) return []
    const below = lines.slice(i + 1, i + MAX_STACK_LINES)
    const hasStack = below.slice(0, 12).some((next) => /^\s+at .+:\d+:\d+\)?/.test(next))
    // node prints the location of the source line above the message.
    const above = firstGroup(lines.slice(Math.max(0, i - 6), i), /^((?:file:\/\/)?\/\S{1,250}\.[cm]?[jt]sx?:\d+)$/)
    if (!hasStack && above === undefined) return []
    if (above !== undefined && message.startsWith('SyntaxError')) return [reportedError(message, above)]
    const frame = projectFrame(below, /^\s+at (?:.{0,150}\()?((?:file:\/\/)?[^\s()]{1,250}:\d+:\d+)\)?/, /^\S/)
    return [reportedError(message, frame ?? above)]
  })
}

function pythonCrashes({ lines }: ProgramOutput): ReportedError[] {
  return lines.flatMap((line, i) => {
    const isTrace = /^\s*(?:Traceback \(most recent call last\):|\| Traceback)/.test(line)
    const isSyntaxError =
      !isTrace &&
      /^ {2}File "[^"]+", line \d+$/.test(line) &&
      !/^\s*File/.test(lines[i - 1] ?? '') &&
      !isInTraceback(lines, i)
    if (!isTrace && !isSyntaxError) return []
    let location: string | null = null
    for (const text of lines.slice(isTrace ? i + 1 : i, i + 200)) {
      const [, file, row] = /^\s*File "([^"]{1,250})", line (\d+)/.exec(text) ?? []
      if (file !== undefined) {
        if (isProjectFrame(file) || location === null) location = `${file}:${row}`
      } else if (/^[A-Za-z_][\w.]*(?::|$)/.test(text))
        return [reportedError(text, location !== null && isProjectFrame(location) ? location : null)]
      else if (/^Traceback/.test(text)) return []
    }
    return []
  })
}

function isInTraceback(lines: string[], at: number): boolean {
  const above = lines.slice(Math.max(0, at - 60), at).findLast((line) => /^\S/.test(line))
  return above?.startsWith('Traceback') ?? false
}

function rustPanics({ lines }: ProgramOutput): ReportedError[] {
  return lines.flatMap((line, i) => {
    const head = /^\s*thread '.{1,150}?'(?: \(\d+\))? panicked at (?:'(.*)', )?([^\s':]+\.rs:\d+:\d+):?$/.exec(line)
    return head ? [reportedError(`panic: ${head[1] ?? (lines[i + 1] ?? '').trim()}`, head[2])] : []
  })
}

function phpCrashes({ lines }: ProgramOutput): ReportedError[] {
  return lines.flatMap((line) => {
    const [, message, file, row] =
      /^(?:PHP )?(?:Fatal error|Parse error|Warning):\s+(?:Uncaught )?(.+?) in (\S+\.php)(?::| on line )(\d+)/.exec(
        line,
      ) ?? []
    return message === undefined ? [] : [reportedError(message, `${file}:${row}`)]
  })
}

function rubyCrashes({ lines }: ProgramOutput): ReportedError[] {
  return lines.flatMap((line) => {
    const [, location, message = ''] =
      /^(?:ruby: )?([^\s:]{1,250}\.(?:rb|rake|ru):\d+):(?:in .{1,100}?:)? (.+? \((?:\w+::)*\w+(?:Error|Exception|Exit)\)|syntax error.+)$/.exec(
        line,
      ) ?? []
    return location !== undefined && isProjectFrame(line) ? [reportedError(message, location)] : []
  })
}

/** Go, JVM and .NET print the message on one line and the frames below it. */
function crashesWithStack(message: RegExp, frame: RegExp, stop: RegExp, prefix = '') {
  return ({ lines }: ProgramOutput): ReportedError[] =>
    lines.flatMap((line, i) => {
      const text = message.exec(line)?.[1]
      if (text === undefined) return []
      const location = projectFrame(lines.slice(i + 1), frame, stop)
      return [reportedError(prefix + text, location?.replace(':line ', ':'))]
    })
}

const CRASH_FINDERS = [
  pythonCrashes,
  javascriptCrashes,
  rustPanics,
  crashesWithStack(/^(?:panic|fatal error): (.+?)(?: \[recovered\])?$/, /^\t(\S+\.go:\d+)/, /^exit status/, 'panic: '),
  crashesWithStack(
    /^(?:Exception in thread ".{1,80}" |Caused by: )((?:[\w$]+\.)+[\w$]+(?:: .+)?)$/,
    /^\s+at (?!java\.|jdk\.|sun\.|javax\.|org\.junit|org\.spring|org\.apache)\S+\((\w+\.(?:java|kt|scala):\d+)\)/,
    /^\S/,
  ),
  crashesWithStack(/^Unhandled exception\. (.+)$/, /^\s+at .{1,300} in (\S+:line \d+)/, /^\S/),
  rubyCrashes,
  phpCrashes,
]
