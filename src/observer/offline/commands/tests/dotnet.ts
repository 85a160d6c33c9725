/** dotnet test, the classic console logger and the terminal logger. */
import { allLines, int, lastLine, type Output, parseSeconds } from '../output.ts'
import { detail, failure, report, type TestReport } from './report.ts'

export function dotnet(out: Output): TestReport | null {
  const faults = out.lines.flatMap((line, i) => {
    const head = /^\s+Failed (\S.{0,180}?) \[[^\]]{1,20}\]$/.exec(line)
    if (!head) return []
    const said = detail(
      out.lines.map((text) => text.replace(/^\s+(?:Error Message|Stack Trace):$/, '')),
      i + 1,
      /^\s+(?:Failed|Passed) \S/,
      /in (\S+\.(?:cs|fs|vb):line \d+)/,
    )
    return [failure(head[1] ?? '', { ...said, place: said.place?.replace(':line ', ':') ?? null })]
  })
  const rows = allLines(
    out,
    /^(?:Passed|Failed|Skipped)!\s+- Failed:\s+(\d+), Passed:\s+(\d+), Skipped:\s+(\d+), Total:\s+\d+, Duration: (.+?) - /,
  )
  if (rows.length > 0) {
    const sum = (column: number) => rows.reduce((total, row) => total + int(row[column]), 0)
    const seconds = rows.reduce((total, row) => total + (parseSeconds(row[4]) ?? 0), 0)
    return report({ failed: sum(1), passed: sum(2), skipped: sum(3), seconds, faults })
  }
  const summary = lastLine(
    out,
    /Test summary: total: \d+, failed: (\d+), succeeded: (\d+), skipped: (\d+)(?:, duration: (\S+))?/,
  )
  if (summary) {
    return report({
      failed: int(summary[1]),
      passed: int(summary[2]),
      skipped: int(summary[3]),
      seconds: parseSeconds(summary[4] || undefined),
      faults,
    })
  }
  if (!lastLine(out, /^Total tests: \d+/)) return null
  const named = (name: string) => int(lastLine(out, new RegExp(`^\\s+${name}: (\\d+)`))?.[1])
  return report({
    failed: named('Failed'),
    passed: named('Passed'),
    skipped: named('Skipped'),
    seconds: parseSeconds(lastLine(out, /^ ?Total time: ([\d.]+)/)?.[1]),
    faults,
  })
}
