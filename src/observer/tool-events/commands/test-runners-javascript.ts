/** Test runners of JavaScript, and those that print TAP. */
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
  type TestReport,
  testFailure,
  testReport,
} from './test-report.ts'

const VITEST_LOCATION = /❯ (?:.{0,80} )?\(?((?!node_modules)[^\s()]{1,200}\.[cm]?[jt]sx?:\d+:\d+)/

/** `Tests  1 failed | 41 passed (42)`. */
export function vitest(out: ProgramOutput): TestReport | null {
  const summary = lastMatch(out, /^\s+Tests\s+(.*\(\d+\)|no tests)/)
  const files = lastMatch(out, /^\s*Test Files\s+(.*\(\d+\))/)?.[1] ?? ''
  if (!summary && files === '') return null
  const counts = summary?.[1] ?? ''
  const unhandled = out.lines.some((line) => /^⎯+ Unhandled (?:Errors?|Rejection)/.test(line))
  return testReport({
    failed: countBefore(counts, 'failed') || countBefore(files, 'failed'),
    passed: countBefore(counts, 'passed'),
    skipped: countBefore(counts, 'skipped', 'todo'),
    seconds: parseSeconds(lastMatch(out, /^\s+Duration\s+([\d.]+ ?m?s)/)?.[1]),
    errors: vitestErrors(out),
    ...(unhandled ? { extra: ['with unhandled errors'] } : {}),
  })
}

function vitestErrors(out: ProgramOutput): ReportedError[] {
  return out.lines.flatMap((line, i) => {
    const name = /^\s*FAIL\s+(?:\|[^|]{1,40}\| )?(\S.{0,240})$/.exec(line)?.[1]
    if (name === undefined) return []
    const [file = '', ...path] = name.replace(/ \[ .+ \]$/, '').split(' > ')
    const detail = failureDetail(out.lines, i + 1, /^\s*FAIL\s|^⎯{3,}\[\d+\/\d+\]/, VITEST_LOCATION)
    return [testFailure(path.length > 0 ? path.join(' > ') : file, { ...detail, location: detail.location ?? file })]
  })
}

/** Also of runners that print the same summary: `Tests:       1 failed, 41 passed, 42 total`. */
export function jest(out: ProgramOutput): TestReport | null {
  const summary = lastMatch(out, /^Tests:\s+(\d.*\b\d+ total)/)
  const suites = lastMatch(out, /^Test Suites:\s+(.+)$/)?.[1] ?? ''
  if (!summary && suites === '') return null
  const counts = summary?.[1] ?? ''
  return testReport({
    failed: countBefore(counts, 'failed') || countBefore(suites, 'failed'),
    passed: countBefore(counts, 'passed'),
    skipped: countBefore(counts, 'skipped|pending', 'todo'),
    seconds: parseSeconds(lastMatch(out, /^Time:\s+([\d.]+ ?m?s)/)?.[1]),
    errors: failuresBelow(out.lines, {
      head: /^ {2}● (?!Console|.*\bdeprecat)(?<name>.{1,200})$/,
      ends: /^ {2}● |^(?:FAIL|PASS|Test Suites:) /,
      location: /(?:\(|at )((?!node:)[^\s()]{1,200}\.[cm]?[jt]sx?:\d+(?::\d+)?)\)?/,
      fallback: (lines, head) =>
        firstGroup(lines.slice(Math.max(0, head - 40), head + 1).reverse(), /^FAIL\s+(?:\S+ )?(\S+\.[cm]?[jt]sx?)/) ??
        null,
    }),
  })
}

/** Also cypress: `41 passing (2s)`, `1 failing`. */
export const mocha = summaryReader({
  summary: [/^\s+(?<passed>\d+) passing(?: \((?<time>.+)\))?$/, /^\s+(?<failed>\d+) failing$/],
  counts: [/^\s+(?<skipped>\d+) pending$/],
  errors: mochaErrors,
})

const MOCHA_LOCATION = /\(?((?!node:)(?:file:\/\/)?[^\s()]{1,200}\.[cm]?[jt]sx?:\d+:\d+)\)?$/

function mochaErrors({ lines }: ProgramOutput): ReportedError[] {
  const start = lines.findIndex((line) => /^\s+\d+ failing$/.test(line))
  if (start === -1) return []
  return lines.flatMap((line, i) => {
    const head = i > start ? /^ {2}\d+\) (.{1,200})$/.exec(line) : null
    if (!head) return []
    // The suites and the test are on one line each; the last ends with a colon.
    const path = [head[1] ?? '']
    let at = i + 1
    while (at < i + 6 && /\S/.test(lines[at] ?? '') && !path.at(-1)?.endsWith(':'))
      path.push((lines[at++] ?? '').trim())
    return [testFailure(path.join(' ').replace(/:$/, ''), failureDetail(lines, at, /^ {2}\d+\) /, MOCHA_LOCATION))]
  })
}

/** `1 failed`, `2 passed (3.4s)`. */
export const playwright = summaryReader({
  summary: [/^ {2}(?<passed>\d+) passed \((?<time>.+)\)$/, /^ {2}(?<failed>\d+) failed$/],
  counts: [/^ {2}(?<skipped>\d+) skipped$/, /^ {2}(?<skipped>\d+) did not run$/],
  errors: (out) =>
    failuresBelow(out.lines, {
      head: /^ {2}\d+\) (?:\[[\w -]{1,40}\] › )?(?<location>\S+\.[cm]?[jt]sx?:\d+:\d+) › (?<name>.{1,180}?)[ ─]*$/,
      ends: /^ {2}\d+\) |^ {2}\d+ (?:failed|passed)/,
      location: /at (?:.{0,80}\()?([^\s()]{1,200}\.[cm]?[jt]sx?:\d+:\d+)/,
    }),
  extra: (out) => {
    const flaky = parseCount(lastMatch(out, /^ {2}(\d+) flaky$/)?.[1])
    return flaky > 0 ? [`${flaky} flaky`] : []
  },
})

export const deno = summaryReader({
  summary: [
    /^(?:ok|FAILED) \| (?<passed>\d+) passed(?: \(\d+ steps?\))? \| (?<failed>\d+) failed(?: \(\d+ steps?\))?(?: \| (?<skipped>\d+) ignored)?.*?\((?<time>.+)\)$/,
  ],
  errors: ({ lines }) =>
    lines.flatMap((line, i) => {
      const head = /^(\S.{0,150}) => (\S+:\d+:\d+)$/.exec(line)
      const message = /^error: (.+)$/.exec(lines[i + 1] ?? '')?.[1]
      return head && message ? [reportedError(`${head[1]}: ${message}`, head[2])] : []
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
  errors: ({ lines }) =>
    lines.flatMap((line, i) => {
      const name = /^(?:\(fail\)|✗) (.{1,180}?)(?: \[[\d.]+m?s\])?$/.exec(line)?.[1]
      if (name === undefined) return []
      // bun prints the error above the name of the test.
      const above = lines.slice(0, i)
      const start = above.findLastIndex((text) => /^(?:error|\w*Error): /.test(text))
      const none = start === -1 || i - start > 25
      const location = /at .{0,80}?\(?((?:\/|\.)[^\s()]{1,200}:\d+:\d+)/
      return [
        testFailure(
          name,
          none ? { message: '', location: null } : failureDetail(above, start, /^\((?:fail|pass)\)/, location),
        ),
      ]
    }),
})

export const ava = summaryReader({
  summary: [/^\s{2}(?<passed>\d+) tests? passed/, /^\s{2}(?<failed>\d+) tests? failed/],
  errors: (out) => errorsFrom(out, [/^\s+✖ (?:\[fail\]: )?(?<message>.{1,150})$/]),
})

export function karma(out: ProgramOutput): TestReport | null {
  const found = lastMatch(
    out,
    /Executed (\d+) of \d+ (?:\((\d+) FAILED\) |SUCCESS |\(skipped (\d+)\) )?.*\(([\d.]+ \w+) \/ /,
  )
  if (!found) return null
  return testReport({
    // Skipped tests are not among the executed ones.
    passed: parseCount(found[1]) - parseCount(found[2]),
    failed: parseCount(found[2]),
    skipped: parseCount(found[3]),
    seconds: parseSeconds(found[4]),
    errors: allMatches(out, /^(?:.{1,60}\) )?(.{1,150}) FAILED$/).map(([, name]) => reportedError(`${name} failed`)),
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
  errors: (out) => {
    const start = out.lines.findIndex((line) => /^✖ failing tests:/.test(line))
    if (start === -1) return tapErrors(out)
    return failuresBelow(out.lines.slice(start + 1), {
      head: /^✖ (?<name>.{1,180}?)(?: \([\d.]+ms\))?$/,
      ends: /^(?:test at |✖ )/,
      location: TAP_LOCATION,
      fallback: (lines, head) => /^test at (\S+)$/.exec(lines[head - 1] ?? '')?.[1] ?? null,
    })
  },
})

/** TAP, tape and prove. */
export function tap(out: ProgramOutput): TestReport | null {
  const errors = tapErrors(out)
  const prove = lastMatch(out, /^Files=\d+, Tests=(\d+),\s+(\d+) wallclock/)
  if (prove) {
    const subtests = lastMatch(out, /Failed (\d+)\/\d+ subtests/)?.[1]
    const failed = lastMatch(out, /^Result: FAIL/) ? Math.max(1, parseCount(subtests)) : 0
    return testReport({ total: parseCount(prove[1]), failed, seconds: parseCount(prove[2]), errors })
  }
  const count = (rule: RegExp) => out.lines.filter((line) => rule.test(line)).length
  const passed = count(/^ok \d+\b(?!.*# (?:SKIP|TODO))/i)
  const skipped = count(/^ok \d+\b.*# (?:SKIP|TODO)/i)
  const failed = count(/^not ok \d+\b(?!.*# TODO)/)
  if (count(/^1\.\.\d+$|^TAP version/) === 0 || passed + failed + skipped === 0) return null
  return testReport({ passed, failed, skipped, errors })
}

function tapErrors({ lines }: ProgramOutput): ReportedError[] {
  return lines.flatMap((line, i) => {
    const head = /^\s*not ok \d+(?: - | )?(.{0,180}?)(?: # (TODO|SKIP).*)?$/.exec(line)
    if (!head || head[2] !== undefined) return []
    const yaml = lines.slice(i + 1, i + 30)
    const end = yaml.findIndex((next) => /^\s*(?:\.\.\.|(?:not )?ok \d+)/.test(next))
    return [tapError(head[1] ?? '', end === -1 ? yaml : yaml.slice(0, end))]
  })
}

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
  errors: ({ lines }) =>
    lines.flatMap((line, i) => {
      const name = /^ ✗ (.{1,150})$/.exec(line)?.[1]
      const at = /in test file (\S+), line (\d+)/.exec(lines[i + 1] ?? '')
      if (name === undefined) return []
      return [reportedError(`${name}: ${(lines[i + 2] ?? '').trim()}`, at ? `${at[1]}:${at[2]}` : null)]
    }),
})
