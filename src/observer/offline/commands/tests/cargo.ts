/** cargo test and nextest: `test result: FAILED. 2 passed; 1 failed; 0 ignored`. */
import { allLines, int, lastLine, type Output, parseSeconds } from '../output.ts'
import { fault } from '../reading.ts'
import { count, report, type TestReport } from './report.ts'

export function cargo(out: Output): TestReport | null {
  const results = allLines(
    out,
    /^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored;.*?(?:finished in ([\d.]+)s)?$/,
  )
  const nextest = lastLine(out, /^\s*Summary \[\s*([\d.]+)s\] \d+(?:\/\d+)? tests? run: (.+)$/)
  if (results.length === 0 && !nextest) return null
  const faults = panics(out)
  if (nextest) {
    const counts = nextest[2] ?? ''
    return report({
      passed: count(counts, 'passed'),
      failed: count(counts, 'failed'),
      skipped: count(counts, 'skipped'),
      seconds: parseSeconds(`${nextest[1]}s`),
      faults,
    })
  }
  const sum = (column: number) => results.reduce((total, row) => total + int(row[column]), 0)
  const seconds = results.reduce((total, row) => total + (parseSeconds(row[4] || undefined) ?? 0), 0)
  return report({ passed: sum(1), failed: sum(2), skipped: sum(3), seconds, faults })
}

function panics(out: Output) {
  return out.lines.flatMap((line, i) => {
    const head = /^\s*thread '(.{1,150}?)'(?: \(\d+\))? panicked at (?:'(.*)', )?([^\s':]+\.rs:\d+:\d+):?$/.exec(line)
    if (!head) return []
    const [, name = '', old = '', place = ''] = head
    const said = old === '' ? (out.lines[i + 1] ?? '').trim() : old
    const values = out.lines
      .slice(i + 2, i + 6)
      .flatMap((next) => /^\s*(left|right): (.+)$/.exec(next)?.slice(1, 3).join(' ') ?? [])
    return [fault([`${name}: ${said}`, ...values].join('; '), place)]
  })
}
