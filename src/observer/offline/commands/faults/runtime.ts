/** Programs that died at run time: the message, and the innermost frame that is the project's own. */
import type { Output } from '../output.ts'
import { type Fault, fault } from '../reading.ts'
import { isOwn } from './places.ts'

const STACK_LINES = 40

function ownFrame(lines: string[], rule: RegExp, stop: RegExp): string | null {
  for (const line of lines.slice(0, STACK_LINES)) {
    const found = rule.exec(line)
    if (found?.[1] !== undefined) {
      if (isOwn(line)) return found[1]
    } else if (stop.test(line)) break
  }
  return null
}

export function javascript(out: Output): Fault[] {
  return out.lines.flatMap((line, i) => {
    const head =
      /^(?:\s{0,4})(?:\[cause\]: |Uncaught |Unhandled \w+:? |Error: )?((?:[A-Z]\w*)?(?:Error|Exception)(?: \[\w+\])?: .+)$/.exec(
        line,
      )
    if (!head) return []
    const below = out.lines.slice(i + 1, i + STACK_LINES)
    const hasStack = below.slice(0, 12).some((next) => /^\s+at .+:\d+:\d+\)?/.test(next))
    const above = out.lines
      .slice(Math.max(0, i - 6), i)
      .flatMap((text) => /^((?:file:\/\/)?\/\S{1,250}\.[cm]?[jt]sx?:\d+)$/.exec(text)?.[1] ?? [])[0]
    if (!hasStack && above === undefined) return []
    const frame = ownFrame(below, /^\s+at (?:.{0,150}\()?((?:file:\/\/)?[^\s()]{1,250}:\d+:\d+)\)?/, /^\S/)
    const syntax = /^SyntaxError/.test(head[1] ?? '') && above !== undefined
    return [fault(head[1] ?? '', syntax ? above : (frame ?? above ?? null))]
  })
}

export function python(out: Output): Fault[] {
  return out.lines.flatMap((line, i) => {
    const isTrace = /^\s*(?:Traceback \(most recent call last\):|\| Traceback)/.test(line)
    const isSyntax =
      !isTrace &&
      /^ {2}File "[^"]+", line \d+$/.test(line) &&
      !/^\s*File/.test(out.lines[i - 1] ?? '') &&
      !traceAbove(out.lines, i)
    if (!isTrace && !isSyntax) return []
    let place: string | null = null
    for (let at = isTrace ? i + 1 : i; at < Math.min(out.lines.length, i + 200); at++) {
      const text = out.lines[at] ?? ''
      const frame = /^\s*File "([^"]{1,250})", line (\d+)/.exec(text)
      if (frame) {
        if (isOwn(frame[1] ?? '') || place === null) place = `${frame[1]}:${frame[2]}`
      } else if (/^[A-Za-z_][\w.]*(?::|$)/.test(text))
        return [fault(text, place !== null && isOwn(place) ? place : null)]
      else if (/^Traceback/.test(text)) return []
    }
    return []
  })
}

function traceAbove(lines: string[], at: number): boolean {
  for (let i = at - 1; i >= Math.max(0, at - 60); i--) {
    if (/^Traceback/.test(lines[i] ?? '')) return true
    if (/^\S/.test(lines[i] ?? '')) return false
  }
  return false
}

export function rustPanic(out: Output): Fault[] {
  return out.lines.flatMap((line, i) => {
    const head = /^\s*thread '.{1,150}?'(?: \(\d+\))? panicked at (?:'(.*)', )?([^\s':]+\.rs:\d+:\d+):?$/.exec(line)
    return head ? [fault(`panic: ${head[1] ?? (out.lines[i + 1] ?? '').trim()}`, head[2] ?? null)] : []
  })
}

export function goPanic(out: Output): Fault[] {
  return out.lines.flatMap((line, i) => {
    const head = /^(?:panic|fatal error): (.+?)(?: \[recovered\])?$/.exec(line)
    if (!head) return []
    return [fault(`panic: ${head[1]}`, ownFrame(out.lines.slice(i + 1), /^\t(\S+\.go:\d+)/, /^exit status/))]
  })
}

export function jvm(out: Output): Fault[] {
  return out.lines.flatMap((line, i) => {
    const head = /^(?:Exception in thread ".{1,80}" |Caused by: )((?:[\w$]+\.)+[\w$]+(?:: .+)?)$/.exec(line)
    if (!head) return []
    const frame = ownFrame(
      out.lines.slice(i + 1),
      /^\s+at (?!java\.|jdk\.|sun\.|javax\.|org\.junit|org\.spring|org\.apache)\S+\((\w+\.(?:java|kt|scala):\d+)\)/,
      /^\S/,
    )
    return [fault(head[1] ?? '', frame)]
  })
}

export function dotnet(out: Output): Fault[] {
  return out.lines.flatMap((line, i) => {
    const head = /^Unhandled exception\. (.+)$/.exec(line)
    if (!head) return []
    const frame = ownFrame(out.lines.slice(i + 1), /^\s+at .{1,300} in (\S+:line \d+)/, /^\S/)
    return [fault(head[1] ?? '', frame?.replace(':line ', ':') ?? null)]
  })
}

export function ruby(out: Output): Fault[] {
  return out.lines.flatMap((line) => {
    const head =
      /^(?:ruby: )?([^\s:]{1,250}\.(?:rb|rake|ru):\d+):(?:in .{1,100}?:)? (.+? \((?:\w+::)*\w+(?:Error|Exception|Exit)\)|syntax error.+)$/.exec(
        line,
      )
    return head && isOwn(line) ? [fault(head[2] ?? '', head[1] ?? null)] : []
  })
}

export function php(out: Output): Fault[] {
  return out.lines.flatMap((line) => {
    const head =
      /^(?:PHP )?(?:Fatal error|Parse error|Warning):\s+(?:Uncaught )?(.+?) in (\S+\.php)(?::| on line )(\d+)/.exec(
        line,
      )
    return head ? [fault(head[1] ?? '', `${head[2]}:${head[3]}`)] : []
  })
}
