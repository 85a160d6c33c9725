/** node --test in both its shapes, TAP, tape, prove, bats. */
import { allLines, int, lastLine, type Output, parseSeconds } from '../output.ts'
import { type Fault, fault } from '../reading.ts'
import { detail, failure, report, type TestReport } from './report.ts'

const PLACE = /\(?((?!node:)(?:file:\/\/)?[^\s()']{1,200}\.[cm]?[jt]sx?:\d+:\d+)\)?/

export function nodeTest(out: Output): TestReport | null {
  const value = (name: string) => lastLine(out, new RegExp(`^(?:ℹ|#) ${name} +([\\d.]+)$`))?.[1]
  if (value('pass') === undefined || value('tests') === undefined) return null
  const start = out.lines.findIndex((line) => /^✖ failing tests:/.test(line))
  const faults = start === -1 ? tapFaults(out) : specFaults(out.lines.slice(start + 1))
  const duration = value('duration_ms')
  return report({
    passed: int(value('pass')),
    failed: int(value('fail')) + int(value('cancelled')),
    skipped: int(value('skipped')) + int(value('todo')),
    seconds: duration === undefined ? null : Number(duration) / 1000,
    faults,
  })
}

function specFaults(lines: string[]): Fault[] {
  return lines.flatMap((line, i) => {
    const head = /^✖ (.{1,180}?)(?: \([\d.]+ms\))?$/.exec(line)
    if (!head) return []
    const said = detail(lines, i + 1, /^(?:test at |✖ )/, PLACE)
    const where = /^test at (\S+)$/.exec(lines[i - 1] ?? '')?.[1] ?? null
    return [failure(head[1] ?? '', { ...said, place: said.place ?? where })]
  })
}

function tapFaults(out: Output): Fault[] {
  return out.lines.flatMap((line, i) => {
    const head = /^\s*not ok \d+(?: - | )?(.{0,180}?)(?: # (TODO|SKIP).*)?$/.exec(line)
    if (!head || head[2] !== undefined) return []
    const yaml = out.lines.slice(i + 1, i + 30)
    const end = yaml.findIndex((next) => /^\s*(?:\.\.\.|(?:not )?ok \d+)/.test(next))
    return [tapFault(head[1] ?? '', end === -1 ? yaml : yaml.slice(0, end))]
  })
}

function tapFault(name: string, yaml: string[]): Fault {
  const field = (key: string) =>
    yaml.flatMap((line) => new RegExp(`^\\s+${key}:\\s+'?(.+?)'?$`).exec(line)?.[1] ?? [])[0]
  const at = yaml.findIndex((line) => /^\s+error: [|>]-?$/.test(line))
  const error = at === -1 ? field('error') : yaml[at + 1]?.trim()
  const values = [field('expected') && `expected ${field('expected')}`, field('actual') && `actual ${field('actual')}`]
  const said = [error?.replace(/:$/, ''), ...values].filter((part) => part).join('; ')
  const place = field('at')
    ? PLACE.exec(field('at') ?? '')?.[1]
    : (field('location') ?? yaml.flatMap((line) => PLACE.exec(line)?.[1] ?? [])[0])
  return fault(said === '' ? name : `${name}: ${said}`, place ?? null)
}

export function tap(out: Output): TestReport | null {
  const prove = lastLine(out, /^Files=\d+, Tests=(\d+),\s+(\d+) wallclock/)
  const good = allLines(out, /^ok \d+\b(?!.*# (?:SKIP|TODO))/i).length
  const skipped = allLines(out, /^ok \d+\b.*# (?:SKIP|TODO)/i).length
  const bad = allLines(out, /^not ok \d+\b(?!.*# TODO)/).length
  if (prove) {
    const failed = lastLine(out, /Failed (\d+)\/\d+ subtests/)?.[1]
    const lost = lastLine(out, /^Result: FAIL/) ? Math.max(1, int(failed)) : 0
    return report({
      passed: Math.max(0, int(prove[1]) - lost),
      failed: lost,
      seconds: int(prove[2]),
      faults: tapFaults(out),
    })
  }
  if (!lastLine(out, /^1\.\.\d+$|^TAP version/) || good + bad + skipped === 0) return null
  return report({ passed: good, failed: bad, skipped, faults: tapFaults(out) })
}

export function bats(out: Output): TestReport | null {
  const found = lastLine(out, /^(\d+) tests, (\d+) failures?(?:, (\d+) skipped)?(?: in (\d+) seconds)?$/)
  if (!found || !lastLine(out, /^ [✓✗-] /)) return null
  const faults = out.lines.flatMap((line, i) => {
    const head = /^ ✗ (.{1,150})$/.exec(line)
    const at = /in test file (\S+), line (\d+)/.exec(out.lines[i + 1] ?? '')
    return head ? [fault(`${head[1]}: ${(out.lines[i + 2] ?? '').trim()}`, at ? `${at[1]}:${at[2]}` : null)] : []
  })
  return report({
    passed: int(found[1]) - int(found[2]) - int(found[3]),
    failed: int(found[2]),
    skipped: int(found[3]),
    seconds: parseSeconds(found[4] || undefined),
    faults,
  })
}
