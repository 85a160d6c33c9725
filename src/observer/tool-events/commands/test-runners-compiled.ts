/** Test runners of compiled languages, and of Elixir and Dart. */
import { pluralize } from '../../../lib/format.ts'
import {
  allErrors,
  allMatches,
  errorLines,
  errorsAt,
  firstGroup,
  lastMatch,
  parseCount,
  parseSeconds,
  type ReportedError,
  reportedError,
} from './output.ts'
import {
  failureDetail,
  failuresBelow,
  firstRecognised,
  summaryReader,
  type TestReport,
  testFailure,
  testReport,
} from './test-report.ts'

const findRustErrors = errorsAt(
  /^\s*thread '(.{1,150}?)'(?: \(\d+\))? panicked at (?:'(.*)', )?([^\s':]+\.rs:\d+:\d+):?$/,
  ([, name, message, location], at, lines) => {
    const compared = lines
      .slice(at + 2, at + 6)
      .flatMap((next) => /^\s*(left|right): (.+)$/.exec(next)?.slice(1, 3).join(' ') ?? [])
    return reportedError([`${name}: ${message || (lines[at + 1] ?? '').trim()}`, ...compared].join('; '), location)
  },
)

/** nextest, or `test result: FAILED. 2 passed; 1 failed; 0 ignored`, once for each binary. */
export const cargo = firstRecognised(
  summaryReader({
    summary: [/^\s*Summary \[\s*(?<time>[\d.]+)s\] \d+(?:\/\d+)? tests? run: (?<list>.+)$/],
    errors: findRustErrors,
  }),
  summaryReader({
    summary: [
      /^test result: \w+\. (?<passed>\d+) passed; (?<failed>\d+) failed; (?<skipped>\d+) ignored;.*?(?:finished in (?<time>[\d.]+)s)?$/,
    ],
    sum: true,
    errors: findRustErrors,
  }),
)

/** `--- FAIL: TestTotal (0.00s)`, `ok  	shop/cart	0.012s`. Without -v only packages are counted. */
export function goTest(lines: string[]): TestReport | null {
  const packages = allMatches(
    lines,
    /^(ok|FAIL)\s+(?:[\w.\-/~]+)\s+(?:([\d.]+)s|\(cached\)|\[(?:build|setup) failed\])/,
  )
  const tests = allMatches(lines, /^\s*--- (PASS|FAIL|SKIP): (\S+)/)
  if (packages.length === 0 && tests.length === 0) return null
  const count = (rows: string[][], verdict: string) => rows.filter((row) => row[1] === verdict).length
  const seconds = packages.reduce((sum, [, , time]) => sum + (parseSeconds(time) ?? 0), 0)
  const failedPackages = count(packages, 'FAIL')
  const failedTests = count(tests, 'FAIL')
  const common = { skipped: count(tests, 'SKIP'), seconds: seconds > 0 ? seconds : null, errors: goErrors(lines) }
  const passed = count(tests, 'PASS')
  if (passed > 0) return testReport({ ...common, passed, failed: Math.max(failedTests, failedPackages) })
  return testReport({
    ...common,
    passed: count(packages, 'ok'),
    failed: failedPackages,
    unit: 'package',
    extra: failedTests > 0 ? [pluralize(failedTests, 'failing test')] : [],
  })
}

const findGoFailures = errorsAt(/^\s*--- FAIL: (\S+)/, ([, name], at, lines) => {
  const { message, location } = goFailureDetail(lines, at + 1)
  return reportedError(message === '' ? `${name} failed` : `${name}: ${message}`, location)
})

function goErrors(lines: string[]): ReportedError[] {
  const failures = findGoFailures(lines)
  // A parent test only repeats that one of its subtests failed.
  const names = failures.map(({ message }) => message.replace(/[: ].*$/, ''))
  return failures.filter(
    ({ message }, i) => !/ failed$/.test(message) || !names.some((name) => name.startsWith(`${names[i]}/`)),
  )
}

function goFailureDetail(lines: string[], from: number): ReportedError {
  let location: string | null = null
  const messages: string[] = []
  for (const line of lines.slice(from, from + 14)) {
    if (/^\s*(?:---|===) |^(?:FAIL|PASS|ok)\b/.test(line)) break
    const log = /^\s+(\S+\.go:\d+): ?(.*)$/.exec(line)
    const labelled = /^\s+(?:Error:\s+(\S.*)|(expected|actual)\s*:\s*(.+))$/.exec(line)
    if (log && location === null) {
      location = log[1] ?? null
      if ((log[2] ?? '').trim() !== '') messages.push((log[2] ?? '').trim())
    } else if (labelled) messages.push(labelled[1] ?? `${labelled[2]} ${labelled[3]}`)
  }
  return { message: messages.slice(0, 3).join('; '), location }
}

const SUREFIRE =
  '^(?:\\[\\w+\\]\\s+)?Tests run: (?<total>\\d+), Failures: (?<failed>\\d+), Errors: (?<failed2>\\d+), Skipped: (?<skipped>\\d+)'
const surefireReader = (summary: RegExp) =>
  summaryReader({
    summary: [summary],
    sum: true,
    counts: [/Total time:\s+(?<time>.+)$/],
    errors: errorsAt(
      /^\[ERROR\] {2,}(\w[\w$.]*)(?:\.(\w+))?:(\d+)(?:->\S+)? (.+)$/,
      ([, type = '', method, line, message = '']) =>
        reportedError(
          `${type}${method ? `.${method}` : ''}: ${message.replace(/^»\s*/, '')}`,
          `${type.replace(/\..*$/, '')}.java:${line}`,
        ),
    ),
  })

/** JUnit in Maven. The total of a module has no time behind it; without totals the lines of the classes are added. */
export const surefire = firstRecognised(
  surefireReader(new RegExp(`${SUREFIRE}$`)),
  surefireReader(new RegExp(SUREFIRE)),
)

/** JUnit in Gradle. */
export function gradleTest(lines: string[]): TestReport | null {
  const done = lastMatch(lines, /^(\d+) tests? completed(?:, (\d+) failed)?(?:, (\d+) skipped)?/)
  const tests = allMatches(lines, /^(?:\S.{0,150}) > (?:.{1,150}?) (PASSED|FAILED|SKIPPED)$/)
  if (!done && tests.length === 0) return null
  const count = (verdict: string) => tests.filter((row) => row[1] === verdict).length
  return testReport({
    total: done ? parseCount(done[1]) : tests.length,
    failed: done ? parseCount(done[2]) : count('FAILED'),
    skipped: done ? parseCount(done[3]) : count('SKIPPED'),
    seconds: parseSeconds(lastMatch(lines, /^BUILD \w+ in (.+)$/)?.[1]),
    errors: findGradleErrors(lines),
  })
}

const findGradleErrors = errorsAt(/^(\S.{0,150} > .{1,150}?) FAILED$/, ([, name], i, lines) => {
  const [, message = 'failed', at] = /^\s+(\S.*?)(?: at (\S+:\d+))?$/.exec(lines[i + 1] ?? '') ?? []
  const frame = firstGroup(lines.slice(i + 2, i + 8), /\((\w+\.(?:java|kt|groovy|scala):\d+)\)/)
  return reportedError(`${name}: ${message}`, at ?? frame)
})

export const scalaTest = summaryReader({
  summary: [
    /Tests: succeeded (?<passed>\d+), failed (?<failed>\d+), canceled (?<skipped>\d+), ignored (?<skipped2>\d+)/,
  ],
  errors: errorsAt(/^\[info\] - (.{1,150}) \*\*\* FAILED \*\*\*/, ([, name]) => reportedError(`${name} failed`)),
})

const findDotnetFailures = failuresBelow({
  head: /^\s+Failed (?<name>\S.{0,180}?) \[[^\]]{1,20}\]$/,
  ends: /^\s+(?:Failed|Passed) \S/,
  location: /in (\S+\.(?:cs|fs|vb):line \d+)/,
})

function dotnetErrors(lines: string[]): ReportedError[] {
  const unlabelled = lines.map((line) => line.replace(/^\s+(?:Error Message|Stack Trace):$/, ''))
  return findDotnetFailures(unlabelled).map(({ message, location }) =>
    reportedError(message, location?.replace(':line ', ':')),
  )
}

/** The classic console logger (one line for each assembly), the terminal logger, and vstest. */
export const dotnetTest = firstRecognised(
  summaryReader({
    summary: [
      /^(?:Passed|Failed|Skipped)!\s+- Failed:\s+(?<failed>\d+), Passed:\s+(?<passed>\d+), Skipped:\s+(?<skipped>\d+), Total:\s+\d+, Duration: (?<time>.+?) - /,
    ],
    sum: true,
    errors: dotnetErrors,
  }),
  summaryReader({
    summary: [
      /Test summary: total: \d+, failed: (?<failed>\d+), succeeded: (?<passed>\d+), skipped: (?<skipped>\d+)(?:, duration: (?<time>\S+))?/,
    ],
    errors: dotnetErrors,
  }),
  summaryReader({
    summary: [/^Total tests: \d+/],
    counts: [
      /^\s+Failed: (?<failed>\d+)/,
      /^\s+Passed: (?<passed>\d+)/,
      /^\s+Skipped: (?<skipped>\d+)/,
      /^ ?Total time: (?<time>[\d.]+)/,
    ],
    errors: dotnetErrors,
  }),
)

export const ctest = summaryReader({
  summary: [/^\d+% tests passed, (?<failed>\d+) tests? failed out of (?<total>\d+)/],
  counts: [/^Total Test time \(real\) =\s+(?<time>[\d.]+)/],
  errors: errorLines(/^\s+\d+ - (?<test>\S.{0,120}?) \((?<message>\w[\w ]*)\)/),
})

export const googleTest = summaryReader({
  summary: [/^\[=+\] (?<total>\d+) tests? from .+ ran\. \((?<ms>\d+) ms total\)/],
  counts: [/^\[ {2}FAILED {2}\] (?<failed>\d+) tests?, listed below/, /^\[ {2}SKIPPED \] (?<skipped>\d+) tests?/],
  errors: errorsAt(/^(\S{1,200}\.\w+:\d+): Failure$/, ([, location], at, lines) => {
    const name = firstGroup(lines.slice(Math.max(0, at - 20), at).reverse(), /^\[ RUN {6}\] (\S+)/) ?? 'test'
    const message = lines.slice(at + 1, at + 6).filter((next) => !/^\[/.test(next))
    return reportedError(`${name}: ${message.map((next) => next.trim()).join(' ')}`, location)
  }),
})

/** Also doctest. */
export const catch2 = firstRecognised(
  summaryReader({ summary: [/^All tests passed \(\d+ assertions? in (?<passed>\d+) test cases?\)/] }),
  summaryReader({
    summary: [
      /^(?:\[doctest\] )?test cases:\s+\d+ \|\s+(?:(?<passed>\d+) passed)?(?: \|\s+)?(?:(?<failed>\d+) failed)?/,
    ],
    errors: errorsAt(/^(\S{1,200}\.\w+)[:(](\d+)\)?: (?:FAILED|ERROR)/, ([, file, row], at, lines) => {
      const { message } = failureDetail(lines, at + 1, /^(?:={5}|-{5})/, /$^/)
      return testFailure('assertion', { message, location: `${file}:${row}` })
    }),
  }),
)

export const exUnit = summaryReader({
  summary: [
    /^(?:(?<total2>\d+) doctests?, )?(?:(?<total3>\d+) propert(?:y|ies), )?(?<total>\d+) tests?, (?<failed>\d+) failures?(?:, (?<skipped>\d+) excluded)?(?:, (?<skipped2>\d+) skipped)?$/,
  ],
  counts: [/^Finished in (?<time>[\d.]+) seconds/],
  errors: failuresBelow({
    head: /^ {2}\d+\) (?:test )?(?<name>.{1,150}) \((?<scope>\S+)\)$/,
    ends: /^ {2}\d+\) |^Finished in/,
    location: /^\s+(\S+\.exs?:\d+)$/,
  }),
})

const findSwiftErrors = allErrors(
  errorsAt(/^(\S+\.swift:\d+): error: (?:-\[(.+?)\]|(\S+)) : (.+)$/, ([, location, objectiveC, name, message]) =>
    reportedError(`${objectiveC ?? name}: ${message}`, location),
  ),
  errorLines(
    /Test (?<test>.{1,150}?) recorded an issue (?:with .{1,80} )?at (?<location>\S+\.swift:\d+:\d+): (?<message>.+)$/,
  ),
)

/** XCTest, then Swift Testing. A package with both prints that XCTest executed 0 tests. */
export function swiftTest(lines: string[]): TestReport | null {
  const xctest = lastMatch(
    lines,
    /^\s*Executed (\d+) tests?, with (?:(\d+) tests? skipped and )?(\d+) failures?.* in ([\d.]+)/,
  )
  const modern = lastMatch(
    lines,
    /Test run with (\d+) tests?.* (passed|failed) after ([\d.]+) seconds(?: with (\d+) issues?)?/,
  )
  if (xctest && parseCount(xctest[1]) > 0) {
    const [total = 0, skipped = 0, failed = 0] = xctest.slice(1).map(parseCount)
    return testReport({ total, skipped, failed, seconds: parseSeconds(xctest[4]), errors: findSwiftErrors(lines) })
  }
  if (!modern) return xctest ? testReport({}) : null
  const failed = modern[2] === 'failed' ? Math.max(1, parseCount(modern[4])) : 0
  const seconds = parseSeconds(modern[3])
  return testReport({ total: parseCount(modern[1]), failed, seconds, errors: findSwiftErrors(lines) })
}

/** Also Flutter. */
export const dartTest = summaryReader({
  summary: [
    /^(?<time>\d+:\d+) \+(?<passed>\d+)(?: ~(?<skipped>\d+))?(?: -(?<failed>\d+))?: (?:All tests passed!|Some tests failed\.|.+)$/,
  ],
  errors: errorsAt(/^\d+:\d+ \+\d+(?: ~\d+)? -\d+: (.{1,180}) \[E\]$/, ([, name = '']) =>
    reportedError(`${name.replace(/^\S+\.dart: /, '')} failed`, /^(\S+\.dart): /.exec(name)?.[1]),
  ),
})
