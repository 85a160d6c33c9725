/** Test runners of compiled languages, and of Elixir and Dart. */
import { pluralize } from '../../../lib/format.ts'
import {
  allMatches,
  errorsFrom,
  firstGroup,
  lastMatch,
  type ProgramOutput,
  parseCount,
  parseSeconds,
  type ReportedError,
  reportedError,
} from './output.ts'
import {
  countBefore,
  failureDetail,
  failuresBelow,
  summaryReader,
  type TestReader,
  type TestReport,
  testFailure,
  testReport,
} from './test-report.ts'

const firstRecognised =
  (...readers: TestReader[]): TestReader =>
  (out) => {
    for (const read of readers) {
      const report = read(out)
      if (report !== null) return report
    }
    return null
  }

/** `test result: FAILED. 2 passed; 1 failed; 0 ignored`, once for each binary. */
const cargoTest = summaryReader({
  summary: [
    /^test result: \w+\. (?<passed>\d+) passed; (?<failed>\d+) failed; (?<skipped>\d+) ignored;.*?(?:finished in (?<time>[\d.]+)s)?$/,
  ],
  sum: true,
  errors: rustErrors,
})

function nextest(out: ProgramOutput): TestReport | null {
  const [, time, counts] = lastMatch(out, /^\s*Summary \[\s*([\d.]+)s\] \d+(?:\/\d+)? tests? run: (.+)$/) ?? []
  if (counts === undefined) return null
  return testReport({
    passed: countBefore(counts, 'passed'),
    failed: countBefore(counts, 'failed'),
    skipped: countBefore(counts, 'skipped'),
    seconds: parseSeconds(time),
    errors: rustErrors(out),
  })
}

export const cargo = firstRecognised(nextest, cargoTest)

function rustErrors({ lines }: ProgramOutput): ReportedError[] {
  return lines.flatMap((line, i) => {
    const head = /^\s*thread '(.{1,150}?)'(?: \(\d+\))? panicked at (?:'(.*)', )?([^\s':]+\.rs:\d+:\d+):?$/.exec(line)
    if (!head) return []
    const [, name, message, location] = head
    const compared = lines
      .slice(i + 2, i + 6)
      .flatMap((next) => /^\s*(left|right): (.+)$/.exec(next)?.slice(1, 3).join(' ') ?? [])
    return [reportedError([`${name}: ${message || (lines[i + 1] ?? '').trim()}`, ...compared].join('; '), location)]
  })
}

/** `--- FAIL: TestTotal (0.00s)`, `ok  	shop/cart	0.012s`. Without -v only packages are counted. */
export function goTest(out: ProgramOutput): TestReport | null {
  const packages = allMatches(out, /^(ok|FAIL)\s+(?:[\w.\-/~]+)\s+(?:([\d.]+)s|\(cached\)|\[(?:build|setup) failed\])/)
  const tests = allMatches(out, /^\s*--- (PASS|FAIL|SKIP): (\S+)/)
  if (packages.length === 0 && tests.length === 0) return null
  const count = (rows: string[][], verdict: string) => rows.filter((row) => row[1] === verdict).length
  const seconds = packages.reduce((sum, [, , time]) => sum + (parseSeconds(time) ?? 0), 0)
  const failedPackages = count(packages, 'FAIL')
  const failedTests = count(tests, 'FAIL')
  const common = { skipped: count(tests, 'SKIP'), seconds: seconds > 0 ? seconds : null, errors: goErrors(out) }
  const passed = count(tests, 'PASS')
  if (passed > 0) return testReport({ ...common, passed, failed: Math.max(failedTests, failedPackages) })
  return testReport({
    ...common,
    passed: count(packages, 'ok'),
    failed: failedPackages,
    unit: 'package',
    ...(failedTests > 0 ? { extra: [pluralize(failedTests, 'failing test')] } : {}),
  })
}

function goErrors({ lines }: ProgramOutput): ReportedError[] {
  const failures = lines.flatMap((line, i) => {
    const name = /^\s*--- FAIL: (\S+)/.exec(line)?.[1]
    if (name === undefined) return []
    const { message, location } = goFailureDetail(lines, i + 1)
    return [reportedError(message === '' ? `${name} failed` : `${name}: ${message}`, location)]
  })
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
    errors: (out) =>
      allMatches(out, /^\[ERROR\] {2,}(\w[\w$.]*)(?:\.(\w+))?:(\d+)(?:->\S+)? (.+)$/).map(
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
export function gradleTest(out: ProgramOutput): TestReport | null {
  const done = lastMatch(out, /^(\d+) tests? completed(?:, (\d+) failed)?(?:, (\d+) skipped)?/)
  const tests = allMatches(out, /^(?:\S.{0,150}) > (?:.{1,150}?) (PASSED|FAILED|SKIPPED)$/)
  if (!done && tests.length === 0) return null
  const count = (verdict: string) => tests.filter((row) => row[1] === verdict).length
  return testReport({
    total: done ? parseCount(done[1]) : tests.length,
    failed: done ? parseCount(done[2]) : count('FAILED'),
    skipped: done ? parseCount(done[3]) : count('SKIPPED'),
    seconds: parseSeconds(lastMatch(out, /^BUILD \w+ in (.+)$/)?.[1]),
    errors: gradleErrors(out),
  })
}

function gradleErrors({ lines }: ProgramOutput): ReportedError[] {
  return lines.flatMap((line, i) => {
    const name = /^(\S.{0,150} > .{1,150}?) FAILED$/.exec(line)?.[1]
    if (name === undefined) return []
    const [, message = 'failed', at] = /^\s+(\S.*?)(?: at (\S+:\d+))?$/.exec(lines[i + 1] ?? '') ?? []
    const frame = firstGroup(lines.slice(i + 2, i + 8), /\((\w+\.(?:java|kt|groovy|scala):\d+)\)/)
    return [reportedError(`${name}: ${message}`, at ?? frame ?? null)]
  })
}

export const scalaTest = summaryReader({
  summary: [
    /Tests: succeeded (?<passed>\d+), failed (?<failed>\d+), canceled (?<skipped>\d+), ignored (?<skipped2>\d+)/,
  ],
  errors: (out) =>
    allMatches(out, /^\[info\] - (.{1,150}) \*\*\* FAILED \*\*\*/).map(([, name]) => reportedError(`${name} failed`)),
})

function dotnetErrors(out: ProgramOutput): ReportedError[] {
  const lines = out.lines.map((line) => line.replace(/^\s+(?:Error Message|Stack Trace):$/, ''))
  const failures = failuresBelow(lines, {
    head: /^\s+Failed (?<name>\S.{0,180}?) \[[^\]]{1,20}\]$/,
    ends: /^\s+(?:Failed|Passed) \S/,
    location: /in (\S+\.(?:cs|fs|vb):line \d+)/,
  })
  return failures.map(({ message, location }) => ({ message, location: location?.replace(':line ', ':') ?? null }))
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
  errors: (out) => errorsFrom(out, [/^\s+\d+ - (?<test>\S.{0,120}?) \((?<message>\w[\w ]*)\)/]),
})

export const googleTest = summaryReader({
  summary: [/^\[=+\] (?<total>\d+) tests? from .+ ran\. \((?<ms>\d+) ms total\)/],
  counts: [/^\[ {2}FAILED {2}\] (?<failed>\d+) tests?, listed below/, /^\[ {2}SKIPPED \] (?<skipped>\d+) tests?/],
  errors: ({ lines }) =>
    lines.flatMap((line, i) => {
      const location = /^(\S{1,200}\.\w+:\d+): Failure$/.exec(line)?.[1]
      if (location === undefined) return []
      const name = firstGroup(lines.slice(Math.max(0, i - 20), i).reverse(), /^\[ RUN {6}\] (\S+)/) ?? 'test'
      const message = lines.slice(i + 1, i + 6).filter((next) => !/^\[/.test(next))
      return [reportedError(`${name}: ${message.map((next) => next.trim()).join(' ')}`, location)]
    }),
})

/** Also doctest. */
export const catch2 = firstRecognised(
  summaryReader({
    summary: [/^All tests passed \(\d+ assertions? in (?<passed>\d+) test cases?\)/],
    errors: () => [],
  }),
  summaryReader({
    summary: [
      /^(?:\[doctest\] )?test cases:\s+\d+ \|\s+(?:(?<passed>\d+) passed)?(?: \|\s+)?(?:(?<failed>\d+) failed)?/,
    ],
    errors: ({ lines }) =>
      lines.flatMap((line, i) => {
        const [, file, row] = /^(\S{1,200}\.\w+)[:(](\d+)\)?: (?:FAILED|ERROR)/.exec(line) ?? []
        if (file === undefined) return []
        const { message } = failureDetail(lines, i + 1, /^(?:={5}|-{5})/, /$^/)
        return [testFailure('assertion', { message, location: `${file}:${row}` })]
      }),
  }),
)

export const exUnit = summaryReader({
  summary: [
    /^(?:(?<total2>\d+) doctests?, )?(?:(?<total3>\d+) propert(?:y|ies), )?(?<total>\d+) tests?, (?<failed>\d+) failures?(?:, (?<skipped>\d+) excluded)?(?:, (?<skipped2>\d+) skipped)?$/,
  ],
  counts: [/^Finished in (?<time>[\d.]+) seconds/],
  errors: (out) =>
    failuresBelow(out.lines, {
      head: /^ {2}\d+\) (?:test )?(?<name>.{1,150}) \((?<scope>\S+)\)$/,
      ends: /^ {2}\d+\) |^Finished in/,
      location: /^\s+(\S+\.exs?:\d+)$/,
    }),
})

/** XCTest, then Swift Testing. A package with both prints that XCTest executed 0 tests. */
export function swiftTest(out: ProgramOutput): TestReport | null {
  const xctest = lastMatch(
    out,
    /^\s*Executed (\d+) tests?, with (?:(\d+) tests? skipped and )?(\d+) failures?.* in ([\d.]+)/,
  )
  const modern = lastMatch(
    out,
    /Test run with (\d+) tests?.* (passed|failed) after ([\d.]+) seconds(?: with (\d+) issues?)?/,
  )
  const errors = [
    ...allMatches(out, /^(\S+\.swift:\d+): error: (?:-\[(.+?)\]|(\S+)) : (.+)$/).map(
      ([, location, objc, name, message]) => reportedError(`${objc || name}: ${message}`, location),
    ),
    ...errorsFrom(out, [
      /Test (?<test>.{1,150}?) recorded an issue (?:with .{1,80} )?at (?<location>\S+\.swift:\d+:\d+): (?<message>.+)$/,
    ]),
  ]
  if (xctest && parseCount(xctest[1]) > 0) {
    const [, total, skipped, failed, time] = xctest
    return testReport({
      total: parseCount(total),
      failed: parseCount(failed),
      skipped: parseCount(skipped),
      seconds: parseSeconds(time),
      errors,
    })
  }
  if (!modern) return xctest ? testReport({}) : null
  const failed = modern[2] === 'failed' ? Math.max(1, parseCount(modern[4])) : 0
  return testReport({ total: parseCount(modern[1]), failed, seconds: parseSeconds(modern[3]), errors })
}

/** Also Flutter. */
export const dartTest = summaryReader({
  summary: [
    /^(?<time>\d+:\d+) \+(?<passed>\d+)(?: ~(?<skipped>\d+))?(?: -(?<failed>\d+))?: (?:All tests passed!|Some tests failed\.|.+)$/,
  ],
  errors: (out) =>
    allMatches(out, /^\d+:\d+ \+\d+(?: ~\d+)? -\d+: (.{1,180}) \[E\]$/).map(([, name = '']) =>
      reportedError(`${name.replace(/^\S+\.dart: /, '')} failed`, /^(\S+\.dart): /.exec(name)?.[1] ?? null),
    ),
})
