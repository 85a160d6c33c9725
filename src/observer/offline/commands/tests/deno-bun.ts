/** deno test and bun test. */
import { int, lastLine, type Output, parseSeconds } from '../output.ts'
import { fault } from '../reading.ts'
import { detail, failure, report, type TestReport } from './report.ts'

export function deno(out: Output): TestReport | null {
  const found = lastLine(
    out,
    /^(?:ok|FAILED) \| (\d+) passed(?: \(\d+ steps?\))? \| (\d+) failed(?: \(\d+ steps?\))?(?: \| (\d+) ignored)?.*?\((.+)\)$/,
  )
  if (!found) return null
  const faults = out.lines.flatMap((line, i) => {
    const head = /^(\S.{0,150}) => (\S+:\d+:\d+)$/.exec(line)
    const said = /^error: (.+)$/.exec(out.lines[i + 1] ?? '')
    return head && said ? [fault(`${head[1]}: ${said[1]}`, head[2] ?? null)] : []
  })
  return report({
    passed: int(found[1]),
    failed: int(found[2]),
    skipped: int(found[3]),
    seconds: parseSeconds(found[4]),
    faults,
  })
}

export function bun(out: Output): TestReport | null {
  const ran = lastLine(out, /^Ran (\d+) tests? across \d+ files?\. \[(.+?)\]/)
  if (!ran) return null
  const value = (name: string) => int(lastLine(out, new RegExp(`^\\s+(\\d+) ${name}$`))?.[1])
  const faults = out.lines.flatMap((line, i) => {
    const head = /^(?:\(fail\)|✗) (.{1,180}?)(?: \[[\d.]+m?s\])?$/.exec(line)
    if (!head) return []
    // bun prints the error above the name of the test.
    const above = out.lines.slice(0, i)
    const start = above.findLastIndex((text) => /^(?:error|\w*Error): /.test(text))
    return [
      failure(
        head[1] ?? '',
        start === -1 || i - start > 25
          ? { message: '', place: null }
          : detail(above, start, /^\((?:fail|pass)\)/, /at .{0,80}?\(?((?:\/|\.)[^\s()]{1,200}:\d+:\d+)/),
      ),
    ]
  })
  return report({
    passed: value('pass'),
    failed: value('fail'),
    skipped: value('skip') + value('todo'),
    seconds: parseSeconds(ran[2]),
    faults,
  })
}
