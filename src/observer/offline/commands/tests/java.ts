/** JUnit by Maven's surefire and by Gradle, ScalaTest. */
import { allLines, int, lastLine, type Output, parseSeconds } from '../output.ts'
import { fault } from '../reading.ts'
import { report, type TestReport } from './report.ts'

const SUREFIRE = /^(?:\[\w+\]\s+)?Tests run: (\d+), Failures: (\d+), Errors: (\d+), Skipped: (\d+)/

export function surefire(out: Output): TestReport | null {
  const all = allLines(out, SUREFIRE).length > 0
  if (!all) return null
  // Per-class lines have a time; the total of a module has none.
  const totals = allLines(out, /^(?:\[\w+\]\s+)?Tests run: (\d+), Failures: (\d+), Errors: (\d+), Skipped: (\d+)$/)
  const rows = totals.length > 0 ? totals : allLines(out, SUREFIRE)
  const sum = (column: number) => rows.reduce((total, row) => total + int(row[column]), 0)
  const failed = sum(2) + sum(3)
  const faults = allLines(out, /^\[ERROR\] {2,}(\w[\w$.]*)(?:\.(\w+))?:(\d+)(?:->\S+)? (.+)$/).map(
    ([, type = '', method = '', line = '', said = '']) =>
      fault(
        `${type}${method === '' ? '' : `.${method}`}: ${said.replace(/^»\s*/, '')}`,
        `${type.replace(/\..*$/, '')}.java:${line}`,
      ),
  )
  return report({
    passed: Math.max(0, sum(1) - failed - sum(4)),
    failed,
    skipped: sum(4),
    seconds: parseSeconds(lastLine(out, /Total time:\s+(.+)$/)?.[1]),
    faults,
  })
}

export function gradle(out: Output): TestReport | null {
  const done = lastLine(out, /^(\d+) tests? completed(?:, (\d+) failed)?(?:, (\d+) skipped)?/)
  const cases = allLines(out, /^(\S.{0,150}) > (.{1,150}?) (PASSED|FAILED|SKIPPED)$/)
  if (!done && cases.length === 0) return null
  const verdict = (name: string) => cases.filter(([, , , said]) => said === name).length
  const faults = out.lines.flatMap((line, i) => {
    const head = /^(\S.{0,150} > .{1,150}?) FAILED$/.exec(line)
    if (!head) return []
    const said = /^\s+(\S.*?)(?: at (\S+:\d+))?$/.exec(out.lines[i + 1] ?? '')
    const place =
      said?.[2] ??
      out.lines
        .slice(i + 2, i + 8)
        .flatMap((next) => /\((\w+\.(?:java|kt|groovy|scala):\d+)\)/.exec(next)?.[1] ?? [])[0]
    return [fault(`${head[1]}: ${said?.[1] ?? 'failed'}`, place ?? null)]
  })
  const failed = done ? int(done[2]) : verdict('FAILED')
  const skipped = done ? int(done[3]) : verdict('SKIPPED')
  const passed = done ? int(done[1]) - failed - skipped : verdict('PASSED')
  return report({ passed, failed, skipped, seconds: parseSeconds(lastLine(out, /^BUILD \w+ in (.+)$/)?.[1]), faults })
}

export function scalaTest(out: Output): TestReport | null {
  const found = lastLine(out, /Tests: succeeded (\d+), failed (\d+), canceled (\d+), ignored (\d+)/)
  if (!found) return null
  const faults = allLines(out, /^\[info\] - (.{1,150}) \*\*\* FAILED \*\*\*/).map(([, name = '']) =>
    fault(`${name} failed`),
  )
  return report({ passed: int(found[1]), failed: int(found[2]), skipped: int(found[3]) + int(found[4]), faults })
}
