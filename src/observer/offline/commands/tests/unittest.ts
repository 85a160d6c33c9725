/** Python's unittest and Django: `Ran 3 tests in 0.001s`, then `FAILED (failures=1)`. */
import { int, lastLine, type Output, parseSeconds } from '../output.ts'
import { fault } from '../reading.ts'
import { report, type TestReport } from './report.ts'

export function unittest(out: Output): TestReport | null {
  const ran = lastLine(out, /^Ran (\d+) tests? in ([\d.]+)s/)
  if (!ran) return null
  const verdict = lastLine(out, /^(?:FAILED|OK)(?: \((.+)\))?$/)?.[1] ?? ''
  const failed = value(verdict, 'failures') + value(verdict, 'errors')
  const skipped = value(verdict, 'skipped')
  const faults = out.lines.flatMap((line, i) => {
    const head = /^(?:FAIL|ERROR): (\S.{0,150})$/.exec(line)
    return head ? [caseFault(out.lines, i, (head[1] ?? '').replace(/^(\w+) \((\S+?)(?:\.\1)?\)$/, '$2.$1'))] : []
  })
  return report({
    passed: Math.max(0, int(ran[1]) - failed - skipped),
    failed,
    skipped,
    seconds: parseSeconds(`${ran[2]}s`),
    faults,
  })
}

function caseFault(lines: string[], from: number, name: string) {
  let place: string | null = null
  let message = ''
  for (let i = from + 2; i < Math.min(lines.length, from + 60); i++) {
    const line = lines[i] ?? ''
    if (/^(?:={20,}|-{20,})$/.test(line)) break
    const frame = /^ {2}File "([^"]{1,200})", line (\d+)/.exec(line)
    if (frame && !/\/(?:unittest|site-packages)\//.test(line)) place = `${frame[1]}:${frame[2]}`
    if (message === '' && /^[A-Za-z_][\w.]*(?:Error|Exception|Failure|Warning|Interrupt|Exit)\b/.test(line))
      message = line
  }
  return fault(message === '' ? name : `${name}: ${message}`, place)
}

function value(verdict: string, name: string): number {
  return int(new RegExp(`\\b${name}=(\\d+)`).exec(verdict)?.[1])
}
