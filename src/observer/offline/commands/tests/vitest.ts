/** vitest: `Tests  1 failed | 41 passed (42)`. */
import { allLines, lastLine, type Output, parseSeconds } from '../output.ts'
import { count, detail, failure, report, type TestReport } from './report.ts'

const WHERE = /❯ (?:.{0,80} )?\(?((?!node_modules)[^\s()]{1,200}\.[cm]?[jt]sx?:\d+:\d+)/

export function vitest(out: Output): TestReport | null {
  const summary = lastLine(out, /^\s+Tests\s+(.*\(\d+\)|no tests)/)
  const files = lastLine(out, /^\s*Test Files\s+(.*\(\d+\))/)?.[1] ?? ''
  if (!summary && files === '') return null
  const counts = summary?.[1] ?? ''
  const faults = out.lines.flatMap((line, i) => {
    const name = /^\s*FAIL\s+(?:\|[^|]{1,40}\| )?(\S.{0,240})$/.exec(line)?.[1]
    if (name === undefined) return []
    const [file = '', ...path] = name.replace(/ \[ .+ \]$/, '').split(' > ')
    const said = detail(out.lines, i + 1, /^\s*FAIL\s|^⎯{3,}\[\d+\/\d+\]/, WHERE)
    return [failure(path.length > 0 ? path.join(' > ') : file, { ...said, place: said.place ?? file })]
  })
  const failed = count(counts, 'failed')
  const unhandled = allLines(out, /^⎯+ Unhandled (?:Errors?|Rejection)/).length > 0
  return report({
    failed: failed === 0 ? count(files, 'failed') : failed,
    passed: count(counts, 'passed'),
    skipped: count(counts, 'skipped') + count(counts, 'todo'),
    seconds: parseSeconds(lastLine(out, /^\s+Duration\s+([\d.]+ ?m?s)/)?.[1]),
    faults,
    ...(unhandled ? { extra: ['with unhandled errors'] } : {}),
  })
}
