/** RSpec, minitest and Rails. */
import { int, lastLine, type Output, parseSeconds } from '../output.ts'
import { detail, failure, report, type TestReport } from './report.ts'

export function rspec(out: Output): TestReport | null {
  const found = lastLine(
    out,
    /^(\d+) examples?, (\d+) failures?(?:, (\d+) pending)?(?:, (\d+) errors? occurred outside)?/,
  )
  if (!found) return null
  const failed = int(found[2])
  const pending = int(found[3])
  const faults = out.lines.flatMap((line, i) => {
    const head = /^ {2}\d+\) (\S.{0,200})$/.exec(line)
    if (!head || !/Failure\/Error/.test(out.lines.slice(i + 1, i + 3).join(' '))) return []
    return [
      failure(
        head[1] ?? '',
        detail(out.lines.map(withoutLabel), i + 1, /^ {2}\d+\) |^Finished in/, /# (\.?\/?[^\s:]{1,200}\.rb:\d+)/),
      ),
    ]
  })
  return report({
    passed: Math.max(0, int(found[1]) - failed - pending),
    failed: failed + int(found[4]),
    skipped: pending,
    seconds: parseSeconds(lastLine(out, /^Finished in (.+?) \(/)?.[1]),
    faults,
  })
}

function withoutLabel(line: string): string {
  return line.replace(/^(\s+)Failure\/Error: /, '$1')
}

export function minitest(out: Output): TestReport | null {
  const found = lastLine(
    out,
    /^(\d+) (?:runs|tests), (\d+) assertions, (\d+) failures, (\d+) errors(?:, (\d+) (?:skips|pendings))?/,
  )
  if (!found) return null
  const failed = int(found[3]) + int(found[4])
  const faults = out.lines.flatMap((line, i) => {
    if (!/^(?:\s+\d+\) )?(?:Failure|Error):$/.test(line)) return []
    const head = /^(\S+#\S.{0,150}?)(?: \[(\S+\.rb:\d+)\])?:$/.exec(out.lines[i + 1] ?? '')
    if (!head) return []
    const said = detail(
      out.lines,
      i + 2,
      /^\s*$|^(?:\s+\d+\) )?(?:Failure|Error):$|^(?:bin\/)?rails test /,
      /(?:^|\s)((?!\/usr)\S{1,200}\.rb:\d+):in/,
    )
    return [failure(head[1] ?? '', { message: said.message, place: head[2] ?? said.place })]
  })
  return report({
    passed: Math.max(0, int(found[1]) - failed - int(found[5])),
    failed,
    skipped: int(found[5]),
    seconds: parseSeconds(lastLine(out, /^Finished in ([\d.]+ ?s)/)?.[1]),
    faults,
  })
}
