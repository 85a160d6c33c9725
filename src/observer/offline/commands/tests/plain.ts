/** A summary in plain words, of a runner that nobody knows: `12 passed`, `3 tests failed, 40 passed`. */
import { lastLine, type Output } from '../output.ts'
import { count, report, type TestReport } from './report.ts'

const SUMMARY = /^.{0,200}\b\d{1,7} (?:tests? )?(?:passed|failed|passing|failing)\b.{0,200}$/i

export function plainSummary(out: Output): TestReport | null {
  const [line] = lastLine(out, SUMMARY) ?? []
  if (line === undefined) return null
  return report({
    passed: count(line, '(?:tests? )?pass(?:ed|ing)'),
    failed: count(line, '(?:tests? )?fail(?:ed|ing|ures?)'),
    skipped: count(line, '(?:tests? )?skipped'),
  })
}
