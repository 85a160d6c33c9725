/** Playwright: `1 failed`, `2 passed (3.4s)`. */
import { int, lastLine, type Output, parseSeconds } from '../output.ts'
import { detail, failure, report, type TestReport } from './report.ts'

export function playwright(out: Output): TestReport | null {
  const passed = lastLine(out, /^ {2}(\d+) passed \((.+)\)$/)
  const failed = lastLine(out, /^ {2}(\d+) failed$/)
  if (!passed && !failed) return null
  const faults = out.lines.flatMap((line, i) => {
    const head = /^ {2}\d+\) (?:\[([\w -]{1,40})\] › )?(\S+\.[cm]?[jt]sx?:\d+:\d+) › (.{1,180}?)[ ─]*$/.exec(line)
    if (!head) return []
    const said = detail(
      out.lines,
      i + 1,
      /^ {2}\d+\) |^ {2}\d+ (?:failed|passed)/,
      /at (?:.{0,80}\()?([^\s()]{1,200}\.[cm]?[jt]sx?:\d+:\d+)/,
    )
    return [failure(head[3] ?? '', { message: said.message, place: said.place ?? head[2] ?? null })]
  })
  const flaky = int(lastLine(out, /^ {2}(\d+) flaky$/)?.[1])
  return report({
    passed: int(passed?.[1]),
    failed: int(failed?.[1]),
    skipped: int(lastLine(out, /^ {2}(\d+) skipped$/)?.[1]) + int(lastLine(out, /^ {2}(\d+) did not run$/)?.[1]),
    seconds: passed ? parseSeconds(passed[2]) : null,
    faults,
    ...(flaky > 0 ? { extra: [`${flaky} flaky`] } : {}),
  })
}
