/** jest, and what speaks like it: `Tests:       1 failed, 41 passed, 42 total`. */
import { lastLine, type Output, parseSeconds } from '../output.ts'
import { count, detail, failure, report, type TestReport } from './report.ts'

const SUMMARY = /^Tests:\s+(\d.*\b\d+ total)/
const BULLET = /^ {2}● (?!Console|.*\bdeprecat)(.{1,200})$/
const WHERE = /(?:\(|at )((?!node:)[^\s()]{1,200}\.[cm]?[jt]sx?:\d+(?::\d+)?)\)?/

export function jest(out: Output): TestReport | null {
  const summary = lastLine(out, SUMMARY)
  const suites = lastLine(out, /^Test Suites:\s+(.+)$/)?.[1] ?? ''
  if (!summary && suites === '') return null
  const counts = summary?.[1] ?? ''
  const faults = out.lines.flatMap((line, i) => {
    const bullet = BULLET.exec(line)
    if (!bullet) return []
    const said = detail(out.lines, i + 1, /^ {2}● |^(?:FAIL|PASS|Test Suites:) /, WHERE)
    return [failure((bullet[1] ?? '').trim(), { ...said, place: said.place ?? suiteAbove(out.lines, i) })]
  })
  const brokenSuites = count(suites, 'failed')
  const failed = count(counts, 'failed')
  return report({
    failed: failed === 0 ? brokenSuites : failed,
    passed: count(counts, 'passed'),
    skipped: count(counts, 'skipped|pending') + count(counts, 'todo'),
    seconds: parseSeconds(lastLine(out, /^Time:\s+([\d.]+ ?m?s)/)?.[1]),
    faults,
  })
}

function suiteAbove(lines: string[], at: number): string | null {
  for (let i = at; i >= Math.max(0, at - 40); i--) {
    const suite = /^FAIL\s+(?:\S+ )?(\S+\.[cm]?[jt]sx?)/.exec(lines[i] ?? '')
    if (suite) return suite[1] ?? null
  }
  return null
}
