/** PHPUnit, Pest and `artisan test`. */
import { allLines, int, lastLine, type Output, parseSeconds } from '../output.ts'
import { fault } from '../reading.ts'
import { count, detail, failure, report, type TestReport } from './report.ts'

const WHERE = /^\s*(?:at )?((?:[A-Za-z]:)?[^\s:]{1,200}\.php:\d+)/

export function phpunit(out: Output): TestReport | null {
  const ok = lastLine(out, /^OK \((\d+) tests?, \d+ assertions?\)/)
  const counts = lastLine(out, /^Tests: (\d+), Assertions: \d+(.*)$/)
  if (!ok && !counts) return null
  const seconds = parseSeconds(lastLine(out, /^Time: ([\d:.]+(?: \w+)?), Memory/)?.[1])
  if (!counts) return report({ passed: int(ok?.[1]), seconds })
  const rest = counts[2] ?? ''
  const named = (name: string) => int(new RegExp(`${name}: (\\d+)`).exec(rest)?.[1])
  const failed = named('Failures') + named('Errors')
  const skipped = named('Skipped') + named('Incomplete')
  const faults = out.lines.flatMap((line, i) => {
    const head = /^\d+\) (\S+::.{1,150})$/.exec(line)
    return head ? [failure(head[1] ?? '', detail(out.lines, i + 1, /^\d+\) |^(?:FAILURES|ERRORS)!/, WHERE))] : []
  })
  return report({ passed: Math.max(0, int(counts[1]) - failed - skipped), failed, skipped, seconds, faults })
}

export function pest(out: Output): TestReport | null {
  const found = lastLine(out, /^\s*Tests:\s+(\d.*\(\d+ assertions?\))/)
  if (!found) return null
  const counts = found[1] ?? ''
  const faults = out.lines.flatMap((line, i) => {
    const head = /^\s*FAILED\s+(\S.{0,150}? > .{1,150}?)(?:\s{2,}\S+)?$/.exec(line)
    return head ? [failure(head[1] ?? '', detail(out.lines, i + 1, /^\s*FAILED\s|^\s*Tests:/, WHERE))] : []
  })
  const named =
    faults.length > 0
      ? faults
      : allLines(out, /^\s*⨯ (.{1,150}?)(?:\s{2,}[\d.]+s)?$/).map(([, name = '']) => fault(`${name} failed`))
  return report({
    passed: count(counts, 'passed'),
    failed: count(counts, 'failed'),
    skipped: count(counts, 'skipped') + count(counts, 'todos?'),
    seconds: parseSeconds(lastLine(out, /^\s*Duration:\s+([\d.]+s)/)?.[1]),
    faults: named,
  })
}
