/** What a test run reported, in the same shape for every runner, and the rules that read it from the output. */
import { pluralize } from '../../../lib/format.ts'
import {
  clipLine,
  type ErrorFinder,
  errorsAt,
  hasMatch,
  type OutputReading,
  outputReading,
  parseCount,
  parseSeconds,
  type ReportedError,
  reportedError,
  type ShellRun,
  showSeconds,
} from './output.ts'

export interface TestReport {
  passed: number
  failed: number
  skipped: number
  seconds: number | null
  errors: ReportedError[]
  /** What is counted where the runner does not count tests: packages, suites. */
  unit?: string
  /** More parts of the headline: warnings, flaky tests. */
  extra: string[]
}

/** Null: the output has no summary of this runner. */
export type TestReader = (lines: string[]) => TestReport | null

const MAX_TEST_ERRORS = 12

/** With `total`, the passed tests are those that neither failed nor were skipped. */
export function testReport({ total, ...parts }: Partial<TestReport> & { total?: number }): TestReport {
  const report = { passed: 0, failed: 0, skipped: 0, seconds: null, errors: [], extra: [], ...parts }
  return total === undefined ? report : { ...report, passed: Math.max(0, total - report.failed - report.skipped) }
}

export function testReading(run: ShellRun, report: TestReport, coverage: string | null): OutputReading {
  const { passed, failed, skipped, seconds, errors, unit, extra } = report
  const amount = (value: number) => (unit === undefined ? String(value) : pluralize(value, unit))
  const counts = [
    failed > 0 ? `${amount(failed)} failed` : '',
    passed > 0 || failed === 0 ? `${amount(passed)} passed` : '',
    skipped > 0 ? `${skipped} skipped` : '',
    ...extra,
  ].filter((part) => part !== '')
  const empty = passed + failed + skipped === 0 && errors.length === 0
  const headline =
    (empty ? 'no tests ran' : counts.join(', ')) + (seconds === null ? '' : ` in ${showSeconds(seconds)}`)
  const facts = [`Tests: ${headline} (${clipLine(run.shown, 80)})`]
  if (coverage !== null) facts.push(`Test coverage is ${coverage} (${clipLine(run.shown, 80)})`)
  return outputReading({
    headline,
    facts,
    failed: failed > 0 || errors.length > 0,
    errors: errors.slice(0, MAX_TEST_ERRORS),
  })
}

export function firstRecognised(...readers: TestReader[]): TestReader {
  return (lines) => {
    for (const read of readers) {
      const report = read(lines)
      if (report !== null) return report
    }
    return null
  }
}

/** How each count is written in a list; # is the number. */
type CountWords = Partial<Record<'passed' | 'failed' | 'skipped', string[]>>

/**
 * How the summary of a runner is recognised and read. Named groups of the patterns: `passed`, `failed`, `skipped`,
 * `total`, `time` (any unit), `ms`, `outside` for failures that are not in `total`, and `list` for counts in any
 * order. Counts of the same name are added up; within one pattern the further ones have a digit (`failed2`).
 */
interface SummaryRules {
  /** The runner is recognised by any of these lines. */
  summary: RegExp[]
  /** A line that must be there too. */
  requires?: RegExp
  /** Lines with further counts. */
  counts?: RegExp[]
  /** Add up all lines of the summary (one for each module) instead of reading the last. */
  sum?: true
  words?: CountWords
  /** A `list` of test files. The runner is recognised by it too; failed files count where no test failed. */
  suites?: RegExp
  errors?: ErrorFinder
  extra?: (lines: string[]) => string[]
}

const COMMON_WORDS: CountWords = { passed: ['# passed'], failed: ['# failed'], skipped: ['# skipped'] }

export function summaryReader(rules: SummaryRules): TestReader {
  const { summary, requires, counts = [], sum, words = COMMON_WORDS, suites, errors, extra } = rules
  return (lines) => {
    if (requires && !hasMatch(lines, requires)) return null
    const found = summary.flatMap((rule) => groupsOf(lines, rule).slice(sum ? 0 : -1))
    const suiteList = suites && groupsOf(lines, suites).at(-1)?.list
    if (found.length === 0 && suiteList === undefined) return null
    const rows = [...found, ...counts.flatMap((rule) => groupsOf(lines, rule).slice(-1))]
    const values = rows.flatMap((row) => Object.entries(row))
    const add = (name: string) =>
      values.reduce((total, [key, value]) => total + (key.replace(/\d$/, '') === name ? parseCount(value) : 0), 0)
    const addListed = (name: keyof CountWords) =>
      add(name) + rows.reduce((total, { list }) => total + countIn(list, words[name]), 0)
    const times = rows.flatMap((row) => ('ms' in row ? Number(row.ms) / 1000 : (parseSeconds(row.time) ?? [])))
    const has = (name: string) => found.some((row) => name in row)
    const report = testReport({
      failed: addListed('failed') || countIn(suiteList, words.failed),
      skipped: addListed('skipped'),
      seconds: sum && has('time') ? times.reduce((total, time) => total + time, 0) : (times[0] ?? null),
      errors: errors?.(lines) ?? [],
      extra: extra?.(lines) ?? [],
      ...(has('total') ? { total: add('total') } : { passed: addListed('passed') }),
    })
    return { ...report, failed: report.failed + add('outside') }
  }
}

function groupsOf(lines: string[], rule: RegExp): Record<string, string | undefined>[] {
  const found: Record<string, string | undefined>[] = []
  for (const line of lines) {
    const match = rule.exec(line)
    if (match) found.push(match.groups ?? {})
  }
  return found
}

/** The sum of the numbers in a text like `2 failed | 3 passed`. In a pattern, # is the number. */
export function countIn(list: string | undefined, patterns: readonly string[] = []): number {
  const counts = patterns.map((pattern) => new RegExp(pattern.replace('#', '(\\d{1,7})'), 'i').exec(list ?? '')?.[1])
  return counts.reduce((sum, count) => sum + parseCount(count), 0)
}

const COMPARED = /^\s*(?:[-+]\s*)?(expected|received|actual|got|left|right|but was|want)\b[^:\n]{0,20}:\s*(\S.*)$/i
const MAX_DETAIL_LINES = 30

interface FailureRules {
  /** The line that names a failing test. Groups: `name`, and `scope` and `location` where the line has them. */
  head: RegExp
  /** The first line that belongs to the next test. */
  ends: RegExp
  /** Group 1 is the `file:line` in a line of the detail. */
  location: RegExp
  /** The location where neither the detail nor the head has one. */
  fallback?: (lines: string[], head: number) => string | undefined
}

/** One error for each line that names a failing test. */
export function failuresBelow({ head, ends, location, fallback }: FailureRules): ErrorFinder {
  return errorsAt(head, ({ groups = {} }, at, lines) => {
    const { message, location: found } = failureDetail(lines, at + 1, ends, location)
    const name = groups.scope === undefined ? groups.name : `${groups.scope} ${groups.name}`
    return testFailure(name ?? '', { message, location: found ?? groups.location ?? fallback?.(lines, at) ?? null })
  })
}

/** What is below a failing test's name: the first sentence, the two values compared, and the location. */
export function failureDetail(lines: string[], from: number, ends: RegExp, location: RegExp): ReportedError {
  let message = ''
  const values: string[] = []
  let where: string | null = null
  for (let i = from; i < Math.min(lines.length, from + MAX_DETAIL_LINES); i++) {
    const line = lines[i] ?? ''
    if (i > from && ends.test(line)) break
    const compared = COMPARED.exec(line)
    const found = location.exec(line)
    if (found && where === null && !/node_modules|node:internal|site-packages|\/gems\//.test(line))
      where = found[1] ?? null
    else if (compared && values.length < 2)
      values.push(`${(compared[1] ?? '').toLowerCase()} ${clipLine(compared[2] ?? '', 80)}`)
    else if (message === '' && isSentence(line)) message = line.trim()
  }
  const newValues = values.filter((value) => !message.includes(value)).join(', ')
  return { message: [clipLine(message, 160), newValues].filter((part) => part !== '').join('; '), location: where }
}

function isSentence(line: string): boolean {
  const text = line.trim()
  return (
    text.length > 2 &&
    !/^(?:[-+|>❯─═=*~^]|\d+ ?\||at |#|test at |Stacktrace|\/\/|Failure\/Error$|\(compared)/.test(text)
  )
}

export function testFailure(name: string, { message, location }: ReportedError): ReportedError {
  const title = clipLine(name, 120)
  return reportedError(message === '' ? title : `${title}: ${message}`, location)
}
