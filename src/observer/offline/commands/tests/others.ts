/** ExUnit, Swift, Dart and Flutter, AVA, Karma. */
import { allLines, int, lastLine, type Output, parseSeconds } from '../output.ts'
import { fault } from '../reading.ts'
import { detail, failure, report, type TestReport } from './report.ts'

export function exUnit(out: Output): TestReport | null {
  const found = lastLine(
    out,
    /^(?:(\d+) doctests?, )?(?:(\d+) propert(?:y|ies), )?(\d+) tests?, (\d+) failures?(?:, (\d+) excluded)?(?:, (\d+) skipped)?$/,
  )
  if (!found) return null
  const faults = out.lines.flatMap((line, i) => {
    const head = /^ {2}\d+\) (?:test )?(.{1,150}) \((\S+)\)$/.exec(line)
    return head
      ? [failure(`${head[2]} ${head[1]}`, detail(out.lines, i + 1, /^ {2}\d+\) |^Finished in/, /^\s+(\S+\.exs?:\d+)$/))]
      : []
  })
  const failed = int(found[4])
  const skipped = int(found[5]) + int(found[6])
  const total = int(found[1]) + int(found[2]) + int(found[3])
  return report({
    passed: Math.max(0, total - failed - skipped),
    failed,
    skipped,
    seconds: parseSeconds(lastLine(out, /^Finished in ([\d.]+) seconds/)?.[1]),
    faults,
  })
}

export function swift(out: Output): TestReport | null {
  const classic = lastLine(
    out,
    /^\s*Executed (\d+) tests?, with (?:(\d+) tests? skipped and )?(\d+) failures?.* in ([\d.]+)/,
  )
  const modern = lastLine(
    out,
    /Test run with (\d+) tests?.* (passed|failed) after ([\d.]+) seconds(?: with (\d+) issues?)?/,
  )
  const counted = classic && int(classic[1]) > 0 ? classic : null
  if (!counted && !modern) return classic ? report({}) : null
  const old = allLines(out, /^(\S+\.swift:\d+): error: (?:-\[(.+?)\]|(\S+)) : (.+)$/).map(
    ([, place = '', objc = '', name = '', said = '']) => fault(`${objc || name}: ${said}`, place),
  )
  const issues = allLines(
    out,
    /Test (.{1,150}?) recorded an issue (?:with .{1,80} )?at (\S+\.swift:\d+:\d+): (.+)$/,
  ).map(([, name, place = '', said]) => fault(`${name}: ${said}`, place))
  const faults = [...old, ...issues]
  if (counted) {
    const failed = int(counted[3])
    return report({
      passed: Math.max(0, int(counted[1]) - failed - int(counted[2])),
      failed,
      skipped: int(counted[2]),
      seconds: parseSeconds(`${counted[4]}s`),
      faults,
    })
  }
  const failed = modern?.[2] === 'failed' ? Math.max(1, int(modern[4])) : 0
  return report({
    passed: Math.max(0, int(modern?.[1]) - failed),
    failed,
    seconds: parseSeconds(`${modern?.[3]}s`),
    faults,
  })
}

export function dart(out: Output): TestReport | null {
  const found = lastLine(
    out,
    /^(\d+:\d+) \+(\d+)(?: ~(\d+))?(?: -(\d+))?: (?:All tests passed!|Some tests failed\.|.+)$/,
  )
  if (!found) return null
  const faults = allLines(out, /^\d+:\d+ \+\d+(?: ~\d+)? -\d+: (.{1,180}) \[E\]$/).map(([, name = '']) =>
    fault(`${name.replace(/^\S+\.dart: /, '')} failed`, /^(\S+\.dart): /.exec(name)?.[1] ?? null),
  )
  return report({
    passed: int(found[2]),
    skipped: int(found[3]),
    failed: int(found[4]),
    seconds: parseSeconds(found[1]),
    faults,
  })
}

export function ava(out: Output): TestReport | null {
  const passed = lastLine(out, /^\s{2}(\d+) tests? passed/)
  const failed = lastLine(out, /^\s{2}(\d+) tests? failed/)
  if (!passed && !failed) return null
  const faults = allLines(out, /^\s+✖ (?:\[fail\]: )?(.{1,150})$/).map(([, name = '']) => fault(name))
  return report({ passed: int(passed?.[1]), failed: int(failed?.[1]), faults })
}

export function karma(out: Output): TestReport | null {
  const found = lastLine(
    out,
    /Executed (\d+) of \d+ (?:\((\d+) FAILED\) |SUCCESS |\(skipped (\d+)\) )?.*\(([\d.]+ \w+) \/ /,
  )
  if (!found) return null
  const faults = allLines(out, /^(?:.{1,60}\) )?(.{1,150}) FAILED$/).map(([, name = '']) => fault(`${name} failed`))
  return report({
    passed: int(found[1]) - int(found[2]),
    failed: int(found[2]),
    skipped: int(found[3]),
    seconds: parseSeconds(found[4]),
    faults,
  })
}
