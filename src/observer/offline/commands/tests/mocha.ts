/** mocha and cypress: `41 passing (2s)`, `1 failing`. */
import { lastLine, type Output, parseSeconds } from '../output.ts'
import { detail, failure, report, type TestReport } from './report.ts'

const WHERE = /\(?((?!node:)(?:file:\/\/)?[^\s()]{1,200}\.[cm]?[jt]sx?:\d+:\d+)\)?$/

export function mocha(out: Output): TestReport | null {
  const passing = lastLine(out, /^\s+(\d+) passing(?: \((.+)\))?$/)
  const failing = lastLine(out, /^\s+(\d+) failing$/)
  if (!passing && !failing) return null
  const start = out.lines.findIndex((line) => /^\s+\d+ failing$/.test(line))
  const faults =
    start === -1
      ? []
      : out.lines.flatMap((line, i) => {
          const head = i > start ? /^ {2}\d+\) (.{1,200})$/.exec(line) : null
          if (!head) return []
          const path = [head[1] ?? '']
          let at = i + 1
          while (at < i + 6 && /\S/.test(out.lines[at] ?? '') && !path.at(-1)?.endsWith(':'))
            path.push((out.lines[at++] ?? '').trim())
          const said = detail(out.lines, at, /^ {2}\d+\) /, WHERE)
          return [failure(path.join(' ').replace(/:$/, ''), said)]
        })
  return report({
    passed: Number(passing?.[1] ?? 0),
    failed: Number(failing?.[1] ?? 0),
    skipped: Number(lastLine(out, /^\s+(\d+) pending$/)?.[1] ?? 0),
    seconds: passing?.[2] ? parseSeconds(passing[2]) : null,
    faults,
  })
}
