/** Test runners of JavaScript, Python, Ruby and PHP, and those that print TAP. */
import { pluralize } from '../../../lib/format.ts'
import {
  allMatches,
  errorLines,
  errorsAt,
  firstGroup,
  hasMatch,
  lastMatch,
  parseCount,
  parseSeconds,
  type ReportedError,
  reportedError,
} from './output.ts'
import {
  countIn,
  failureDetail,
  failuresBelow,
  firstRecognised,
  summaryReader,
  type TestReport,
  testFailure,
  testReport,
} from './test-report.ts'

const VITEST_LOCATION = /❯ (?:.{0,80} )?\(?((?!node_modules)[^\s()]{1,200}\.[cm]?[jt]sx?:\d+:\d+)/

/** `Tests  1 failed | 41 passed (42)`. */
export const vitest = summaryReader({
  summary: [/^\s+Tests\s+(?<list>.*\(\d+\)|no tests)/],
  suites: /^\s*Test Files\s+(?<list>.*\(\d+\))/,
  counts: [/^\s+Duration\s+(?<time>[\d.]+ ?m?s)/],
  words: { failed: ['# failed'], passed: ['# passed'], skipped: ['# skipped', '# todo'] },
  errors: errorsAt(/^\s*FAIL\s+(?:\|[^|]{1,40}\| )?(\S.{0,240})$/, ([, name = ''], at, lines) => {
    const [file = '', ...path] = name.replace(/ \[ .+ \]$/, '').split(' > ')
    const detail = failureDetail(lines, at + 1, /^\s*FAIL\s|^⎯{3,}\[\d+\/\d+\]/, VITEST_LOCATION)
    return testFailure(path.length > 0 ? path.join(' > ') : file, { ...detail, location: detail.location ?? file })
  }),
  extra: (lines) => (hasMatch(lines, /^⎯+ Unhandled (?:Errors?|Rejection)/) ? ['with unhandled errors'] : []),
})

/** Also of runners that print the same summary: `Tests:       1 failed, 41 passed, 42 total`. */
export const jest = summaryReader({
  summary: [/^Tests:\s+(?<list>\d.*\b\d+ total)/],
  suites: /^Test Suites:\s+(?<list>.+)$/,
  counts: [/^Time:\s+(?<time>[\d.]+ ?m?s)/],
  words: { failed: ['# failed'], passed: ['# passed'], skipped: ['# (?:skipped|pending)', '# todo'] },
  errors: failuresBelow({
    head: /^ {2}● (?!Console|.*\bdeprecat)(?<name>.{1,200})$/,
    ends: /^ {2}● |^(?:FAIL|PASS|Test Suites:) /,
    location: /(?:\(|at )((?!node:)[^\s()]{1,200}\.[cm]?[jt]sx?:\d+(?::\d+)?)\)?/,
    fallback: (lines, head) =>
      firstGroup(lines.slice(Math.max(0, head - 40), head + 1).reverse(), /^FAIL\s+(?:\S+ )?(\S+\.[cm]?[jt]sx?)/),
  }),
})

/** Also cypress: `41 passing (2s)`, `1 failing`. */
export const mocha = summaryReader({
  summary: [/^\s+(?<passed>\d+) passing(?: \((?<time>.+)\))?$/, /^\s+(?<failed>\d+) failing$/],
  counts: [/^\s+(?<skipped>\d+) pending$/],
  errors: (lines) => {
    const start = lines.findIndex((line) => /^\s+\d+ failing$/.test(line))
    return start === -1 ? [] : findMochaErrors(lines.slice(start + 1))
  },
})

const MOCHA_LOCATION = /\(?((?!node:)(?:file:\/\/)?[^\s()]{1,200}\.[cm]?[jt]sx?:\d+:\d+)\)?$/

const findMochaErrors = errorsAt(/^ {2}\d+\) (.{1,200})$/, ([, name = ''], head, lines) => {
  // The suites and the test are on one line each; the last ends with a colon.
  const path = [name]
  let at = head + 1
  while (at < head + 6 && /\S/.test(lines[at] ?? '') && !path.at(-1)?.endsWith(':'))
    path.push((lines[at++] ?? '').trim())
  return testFailure(path.join(' ').replace(/:$/, ''), failureDetail(lines, at, /^ {2}\d+\) /, MOCHA_LOCATION))
})

/** `1 failed`, `2 passed (3.4s)`. */
export const playwright = summaryReader({
  summary: [/^ {2}(?<passed>\d+) passed \((?<time>.+)\)$/, /^ {2}(?<failed>\d+) failed$/],
  counts: [/^ {2}(?<skipped>\d+) skipped$/, /^ {2}(?<skipped>\d+) did not run$/],
  errors: failuresBelow({
    head: /^ {2}\d+\) (?:\[[\w -]{1,40}\] › )?(?<location>\S+\.[cm]?[jt]sx?:\d+:\d+) › (?<name>.{1,180}?)[ ─]*$/,
    ends: /^ {2}\d+\) |^ {2}\d+ (?:failed|passed)/,
    location: /at (?:.{0,80}\()?([^\s()]{1,200}\.[cm]?[jt]sx?:\d+:\d+)/,
  }),
  extra: (lines) => {
    const flaky = parseCount(lastMatch(lines, /^ {2}(\d+) flaky$/)?.[1])
    return flaky > 0 ? [`${flaky} flaky`] : []
  },
})

export const deno = summaryReader({
  summary: [
    /^(?:ok|FAILED) \| (?<passed>\d+) passed(?: \(\d+ steps?\))? \| (?<failed>\d+) failed(?: \(\d+ steps?\))?(?: \| (?<skipped>\d+) ignored)?.*?\((?<time>.+)\)$/,
  ],
  errors: errorsAt(/^(\S.{0,150}) => (\S+:\d+:\d+)$/, ([, name, location], at, lines) => {
    const message = /^error: (.+)$/.exec(lines[at + 1] ?? '')?.[1]
    return message === undefined ? null : reportedError(`${name}: ${message}`, location)
  }),
})

export const bun = summaryReader({
  summary: [/^Ran (?:\d+) tests? across \d+ files?\. \[(?<time>.+?)\]/],
  counts: [
    /^\s+(?<passed>\d+) pass$/,
    /^\s+(?<failed>\d+) fail$/,
    /^\s+(?<skipped>\d+) skip$/,
    /^\s+(?<skipped>\d+) todo$/,
  ],
  errors: errorsAt(/^(?:\(fail\)|✗) (.{1,180}?)(?: \[[\d.]+m?s\])?$/, ([, name = ''], at, lines) => {
    // bun prints the error above the name of the test.
    const above = lines.slice(0, at)
    const start = above.findLastIndex((text) => /^(?:error|\w*Error): /.test(text))
    if (start === -1 || at - start > 25) return testFailure(name, { message: '', location: null })
    const location = /at .{0,80}?\(?((?:\/|\.)[^\s()]{1,200}:\d+:\d+)/
    return testFailure(name, failureDetail(above, start, /^\((?:fail|pass)\)/, location))
  }),
})

export const ava = summaryReader({
  summary: [/^\s{2}(?<passed>\d+) tests? passed/, /^\s{2}(?<failed>\d+) tests? failed/],
  errors: errorLines(/^\s+✖ (?:\[fail\]: )?(?<message>.{1,150})$/),
})

export function karma(lines: string[]): TestReport | null {
  const found = lastMatch(
    lines,
    /Executed (\d+) of \d+ (?:\((\d+) FAILED\) |SUCCESS |\(skipped (\d+)\) )?.*\(([\d.]+ \w+) \/ /,
  )
  if (!found) return null
  return testReport({
    // Skipped tests are not among the executed ones.
    passed: parseCount(found[1]) - parseCount(found[2]),
    failed: parseCount(found[2]),
    skipped: parseCount(found[3]),
    seconds: parseSeconds(found[4]),
    errors: allMatches(lines, /^(?:.{1,60}\) )?(.{1,150}) FAILED$/).map(([, name]) => reportedError(`${name} failed`)),
  })
}

const TAP_LOCATION = /\(?((?!node:)(?:file:\/\/)?[^\s()']{1,200}\.[cm]?[jt]sx?:\d+:\d+)\)?/

/** `node --test` with its `spec` and `tap` reporters. */
export const nodeTest = summaryReader({
  summary: [/^(?:ℹ|#) pass +(?<passed>[\d.]+)$/],
  requires: /^(?:ℹ|#) tests +[\d.]+$/,
  counts: [
    /^(?:ℹ|#) fail +(?<failed>[\d.]+)$/,
    /^(?:ℹ|#) cancelled +(?<failed>[\d.]+)$/,
    /^(?:ℹ|#) skipped +(?<skipped>[\d.]+)$/,
    /^(?:ℹ|#) todo +(?<skipped>[\d.]+)$/,
    /^(?:ℹ|#) duration_ms +(?<ms>[\d.]+)$/,
  ],
  errors: (lines) => {
    const start = lines.findIndex((line) => /^✖ failing tests:/.test(line))
    return start === -1 ? findTapErrors(lines) : findNodeTestErrors(lines.slice(start + 1))
  },
})

const findNodeTestErrors = failuresBelow({
  head: /^✖ (?<name>.{1,180}?)(?: \([\d.]+ms\))?$/,
  ends: /^(?:test at |✖ )/,
  location: TAP_LOCATION,
  fallback: (lines, head) => /^test at (\S+)$/.exec(lines[head - 1] ?? '')?.[1],
})

/** TAP, tape and prove. */
export function tap(lines: string[]): TestReport | null {
  const errors = findTapErrors(lines)
  const prove = lastMatch(lines, /^Files=\d+, Tests=(\d+),\s+(\d+) wallclock/)
  if (prove) {
    const subtests = lastMatch(lines, /Failed (\d+)\/\d+ subtests/)?.[1]
    const failed = hasMatch(lines, /^Result: FAIL/) ? Math.max(1, parseCount(subtests)) : 0
    return testReport({ total: parseCount(prove[1]), failed, seconds: parseCount(prove[2]), errors })
  }
  const count = (rule: RegExp) => lines.filter((line) => rule.test(line)).length
  const passed = count(/^ok \d+\b(?!.*# (?:SKIP|TODO))/i)
  const skipped = count(/^ok \d+\b.*# (?:SKIP|TODO)/i)
  const failed = count(/^not ok \d+\b(?!.*# TODO)/)
  if (!hasMatch(lines, /^1\.\.\d+$|^TAP version/) || passed + failed + skipped === 0) return null
  return testReport({ passed, failed, skipped, errors })
}

const findTapErrors = errorsAt(
  /^\s*not ok \d+(?: - | )?(.{0,180}?)(?: # (TODO|SKIP).*)?$/,
  ([, name = '', directive], at, lines) => {
    if (directive !== undefined) return null
    const yaml = lines.slice(at + 1, at + 30)
    const end = yaml.findIndex((next) => /^\s*(?:\.\.\.|(?:not )?ok \d+)/.test(next))
    return tapError(name, end === -1 ? yaml : yaml.slice(0, end))
  },
)

function tapError(name: string, yaml: string[]): ReportedError {
  const field = (key: string) => firstGroup(yaml, new RegExp(`^\\s+${key}:\\s+'?(.+?)'?$`))
  const blockStart = yaml.findIndex((line) => /^\s+error: [|>]-?$/.test(line))
  const error = blockStart === -1 ? field('error') : yaml[blockStart + 1]?.trim()
  const [expected, actual, at] = [field('expected'), field('actual'), field('at')]
  const values = [expected && `expected ${expected}`, actual && `actual ${actual}`]
  const message = [error?.replace(/:$/, ''), ...values].filter((part) => part).join('; ')
  const location = at ? TAP_LOCATION.exec(at)?.[1] : (field('location') ?? firstGroup(yaml, TAP_LOCATION))
  return reportedError(message === '' ? name : `${name}: ${message}`, location ?? null)
}

export const bats = summaryReader({
  summary: [
    /^(?<total>\d+) tests, (?<failed>\d+) failures?(?:, (?<skipped>\d+) skipped)?(?: in (?<time>\d+) seconds)?$/,
  ],
  requires: /^ [✓✗-] /,
  errors: errorsAt(/^ ✗ (.{1,150})$/, ([, name], at, lines) => {
    const [, file, row] = /in test file (\S+), line (\d+)/.exec(lines[at + 1] ?? '') ?? []
    return reportedError(`${name}: ${(lines[at + 2] ?? '').trim()}`, file === undefined ? null : `${file}:${row}`)
  }),
})

const PYTEST_SUMMARY =
  /^(?:=+ )?(?<list>(?:\d+ (?:failed|passed|skipped|errors?|xfailed|xpassed|deselected|warnings?|rerun)(?:, )?)+|no tests ran) in (?<time>[\d.]+)s/
const PYTEST_RESULT = /^(?:FAILED|ERROR) (\S+?\.py(?:::\S.{0,150}?)?)(?: - (.*))?$/

/** `=== 1 failed, 41 passed in 2.31s ===`. */
export const pytest = summaryReader({
  summary: [PYTEST_SUMMARY],
  words: { failed: ['# failed', '# errors?'], passed: ['# passed', '# xpassed'], skipped: ['# skipped', '# xfailed'] },
  errors: (lines) => {
    const sections = pytestSections(lines)
    const results = errorsAt(PYTEST_RESULT, ([, id = '', reason = '']) => {
      const section = sections.find(({ name }) => name !== '' && id.endsWith(`::${name.replaceAll('.', '::')}`))
      // The result line is cut at the terminal's width; the section has the whole message.
      const cut = reason === '' || reason.endsWith('...')
      const message = cut ? (section?.message ?? reason) : reason
      return reportedError(message === '' ? id : `${id}: ${message}`, section?.location)
    })(lines)
    if (results.length > 0) return results
    return sections.map(({ name, message, location }) => reportedError(`${name}: ${message}`, location))
  },
  extra: (lines) => {
    const warnings = countIn(lastMatch(lines, PYTEST_SUMMARY)?.[1], ['# warnings?'])
    return warnings > 0 ? [pluralize(warnings, 'warning')] : []
  },
})

/** `____ test_total ____`, then the source, `E   assert 1 == 2`, and `tests/test_cart.py:12: AssertionError`. */
function pytestSections(lines: string[]): (ReportedError & { name: string })[] {
  const sections: (ReportedError & { name: string })[] = []
  for (const line of lines) {
    const head = /^_{3,} (?:ERROR (?:at \w+ of|collecting) )?(\S.{0,150}?) _{3,}$/.exec(line)
    if (head) {
      sections.push({ name: head[1] ?? '', message: '', location: null })
      continue
    }
    const section = sections.at(-1)
    if (section === undefined) continue
    if (section.message === '') section.message = /^E {3,}(\S.*)$/.exec(line)?.[1] ?? ''
    const location = /^((?:[A-Za-z]:)?[^\s:]{1,200}\.py:\d+): /.exec(line)
    if (location && !/site-packages/.test(line)) section.location = location[1] ?? null
  }
  return sections.filter(({ message }) => message !== '')
}

/** Also Django: `Ran 3 tests in 0.001s`, then `FAILED (failures=1)`. */
export const unittest = summaryReader({
  summary: [/^Ran (?<total>\d+) tests? in (?<time>[\d.]+)s/],
  counts: [/^(?:FAILED|OK)(?: \((?<list>.+)\))?$/],
  words: { failed: ['failures=#', 'errors=#'], skipped: ['skipped=#'] },
  errors: errorsAt(/^(?:FAIL|ERROR): (\S.{0,150})$/, ([, name = ''], at, lines) =>
    unittestError(lines, at, name.replace(/^(\w+) \((\S+?)(?:\.\1)?\)$/, '$2.$1')),
  ),
})

function unittestError(lines: string[], head: number, name: string): ReportedError {
  let location: string | null = null
  let message = ''
  for (const line of lines.slice(head + 2, head + 60)) {
    if (/^(?:={20,}|-{20,})$/.test(line)) break
    const frame = /^ {2}File "([^"]{1,200})", line (\d+)/.exec(line)
    if (frame && !/\/(?:unittest|site-packages)\//.test(line)) location = `${frame[1]}:${frame[2]}`
    if (message === '' && /^[A-Za-z_][\w.]*(?:Error|Exception|Failure|Warning|Interrupt|Exit)\b/.test(line))
      message = line
  }
  return reportedError(message === '' ? name : `${name}: ${message}`, location)
}

export const rspec = summaryReader({
  summary: [
    /^(?<total>\d+) examples?, (?<failed>\d+) failures?(?:, (?<skipped>\d+) pending)?(?:, (?<outside>\d+) errors? occurred outside)?/,
  ],
  counts: [/^Finished in (?<time>.+?) \(/],
  errors: (lines) => {
    const unlabelled = lines.map((line) => line.replace(/^(\s+)Failure\/Error: /, '$1'))
    return errorsAt(/^ {2}\d+\) (\S.{0,200})$/, ([, name = ''], at) => {
      if (!hasMatch(lines.slice(at + 1, at + 3), /Failure\/Error/)) return null
      const location = /# (\.?\/?[^\s:]{1,200}\.rb:\d+)/
      return testFailure(name, failureDetail(unlabelled, at + 1, /^ {2}\d+\) |^Finished in/, location))
    })(lines)
  },
})

/** Also Rails. */
export const minitest = summaryReader({
  summary: [
    /^(?<total>\d+) (?:runs|tests), (?:\d+) assertions, (?<failed>\d+) failures, (?<failed2>\d+) errors(?:, (?<skipped>\d+) (?:skips|pendings))?/,
  ],
  counts: [/^Finished in (?<time>[\d.]+ ?s)/],
  errors: errorsAt(/^(?:\s+\d+\) )?(?:Failure|Error):$/, (_, at, lines) => {
    const head = /^(\S+#\S.{0,150}?)(?: \[(\S+\.rb:\d+)\])?:$/.exec(lines[at + 1] ?? '')
    if (!head) return null
    const ends = /^\s*$|^(?:\s+\d+\) )?(?:Failure|Error):$|^(?:bin\/)?rails test /
    const detail = failureDetail(lines, at + 2, ends, /(?:^|\s)((?!\/usr)\S{1,200}\.rb:\d+):in/)
    return testFailure(head[1] ?? '', { ...detail, location: head[2] ?? detail.location })
  }),
})

const PHP_LOCATION = /^\s*(?:at )?((?:[A-Za-z]:)?[^\s:]{1,200}\.php:\d+)/
const PHPUNIT_TIME = /^Time: (?<time>[\d:.]+(?: \w+)?), Memory/

export const phpunit = firstRecognised(
  summaryReader({
    summary: [/^Tests: (?<total>\d+), Assertions: \d+(?<list>.*)$/],
    counts: [PHPUNIT_TIME],
    words: { failed: ['Failures: #', 'Errors: #'], skipped: ['Skipped: #', 'Incomplete: #'] },
    errors: failuresBelow({
      head: /^\d+\) (?<name>\S+::.{1,150})$/,
      ends: /^\d+\) |^(?:FAILURES|ERRORS)!/,
      location: PHP_LOCATION,
    }),
  }),
  summaryReader({ summary: [/^OK \((?<passed>\d+) tests?, \d+ assertions?\)/], counts: [PHPUNIT_TIME] }),
)

const findPestFailures = failuresBelow({
  head: /^\s*FAILED\s+(?<name>\S.{0,150}? > .{1,150}?)(?:\s{2,}\S+)?$/,
  ends: /^\s*FAILED\s|^\s*Tests:/,
  location: PHP_LOCATION,
})

/** Also `artisan test`. */
export const pest = summaryReader({
  summary: [/^\s*Tests:\s+(?<list>\d.*\(\d+ assertions?\))/],
  counts: [/^\s*Duration:\s+(?<time>[\d.]+s)/],
  words: { passed: ['# passed'], failed: ['# failed'], skipped: ['# skipped', '# todos?'] },
  errors: (lines) => {
    const detailed = findPestFailures(lines)
    const names = allMatches(lines, /^\s*⨯ (.{1,150}?)(?:\s{2,}[\d.]+s)?$/)
    return detailed.length > 0 ? detailed : names.map(([, name]) => reportedError(`${name} failed`))
  },
})
