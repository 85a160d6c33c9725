/** Test runners of Python, Ruby and PHP. */
import { pluralize } from '../../../lib/format.ts'
import {
  allMatches,
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

const PYTEST_SUMMARY =
  /^(?:=+ )?((?:\d+ (?:failed|passed|skipped|errors?|xfailed|xpassed|deselected|warnings?|rerun)(?:, )?)+|no tests ran) in ([\d.]+)s/
const PYTEST_RESULT = /^(FAILED|ERROR) (\S+?\.py(?:::\S.{0,150}?)?)(?: - (.*))?$/

/** `=== 1 failed, 41 passed in 2.31s ===`. */
export function pytest(out: ProgramOutput): TestReport | null {
  const summary = lastMatch(out, PYTEST_SUMMARY)
  if (!summary) return null
  const [, counts = '', seconds] = summary
  const warnings = countBefore(counts, 'warnings?')
  return testReport({
    failed: countBefore(counts, 'failed', 'errors?'),
    passed: countBefore(counts, 'passed', 'xpassed'),
    skipped: countBefore(counts, 'skipped', 'xfailed'),
    seconds: parseSeconds(seconds),
    errors: pytestErrors(out),
    ...(warnings > 0 ? { extra: [pluralize(warnings, 'warning')] } : {}),
  })
}

function pytestErrors(out: ProgramOutput): ReportedError[] {
  const sections = pytestSections(out)
  const results = out.lines.flatMap((line) => {
    const [, , id, reason = ''] = PYTEST_RESULT.exec(line) ?? []
    if (id === undefined) return []
    const section = sections.find(({ name }) => name !== '' && id.endsWith(`::${name.replaceAll('.', '::')}`))
    // The result line is cut at the terminal's width; the section has the whole message.
    const cut = reason === '' || reason.endsWith('...')
    const message = cut ? (section?.message ?? reason) : reason
    return [reportedError(message === '' ? id : `${id}: ${message}`, section?.location ?? null)]
  })
  if (results.length > 0) return results
  return sections.map(({ name, message, location }) => reportedError(`${name}: ${message}`, location))
}

/** `____ test_total ____`, then the source, `E   assert 1 == 2`, and `tests/test_cart.py:12: AssertionError`. */
function pytestSections(out: ProgramOutput): (ReportedError & { name: string })[] {
  const sections: (ReportedError & { name: string })[] = []
  for (const line of out.lines) {
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
export function unittest(out: ProgramOutput): TestReport | null {
  const ran = lastMatch(out, /^Ran (\d+) tests? in ([\d.]+)s/)
  if (!ran) return null
  const verdict = lastMatch(out, /^(?:FAILED|OK)(?: \((.+)\))?$/)?.[1] ?? ''
  const value = (name: string) => parseCount(new RegExp(`\\b${name}=(\\d+)`).exec(verdict)?.[1])
  return testReport({
    total: parseCount(ran[1]),
    failed: value('failures') + value('errors'),
    skipped: value('skipped'),
    seconds: parseSeconds(ran[2]),
    errors: out.lines.flatMap((line, i) => {
      const name = /^(?:FAIL|ERROR): (\S.{0,150})$/.exec(line)?.[1]
      return name === undefined
        ? []
        : [unittestError(out.lines, i, name.replace(/^(\w+) \((\S+?)(?:\.\1)?\)$/, '$2.$1'))]
    }),
  })
}

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
  errors: ({ lines }) => {
    const unlabelled = lines.map((line) => line.replace(/^(\s+)Failure\/Error: /, '$1'))
    return lines.flatMap((line, i) => {
      const name = /^ {2}\d+\) (\S.{0,200})$/.exec(line)?.[1]
      if (name === undefined || !/Failure\/Error/.test(lines.slice(i + 1, i + 3).join(' '))) return []
      const location = /# (\.?\/?[^\s:]{1,200}\.rb:\d+)/
      return [testFailure(name, failureDetail(unlabelled, i + 1, /^ {2}\d+\) |^Finished in/, location))]
    })
  },
})

/** Also Rails. */
export const minitest = summaryReader({
  summary: [
    /^(?<total>\d+) (?:runs|tests), (?:\d+) assertions, (?<failed>\d+) failures, (?<failed2>\d+) errors(?:, (?<skipped>\d+) (?:skips|pendings))?/,
  ],
  counts: [/^Finished in (?<time>[\d.]+ ?s)/],
  errors: ({ lines }) =>
    lines.flatMap((line, i) => {
      if (!/^(?:\s+\d+\) )?(?:Failure|Error):$/.test(line)) return []
      const head = /^(\S+#\S.{0,150}?)(?: \[(\S+\.rb:\d+)\])?:$/.exec(lines[i + 1] ?? '')
      if (!head) return []
      const ends = /^\s*$|^(?:\s+\d+\) )?(?:Failure|Error):$|^(?:bin\/)?rails test /
      const detail = failureDetail(lines, i + 2, ends, /(?:^|\s)((?!\/usr)\S{1,200}\.rb:\d+):in/)
      return [testFailure(head[1] ?? '', { ...detail, location: head[2] ?? detail.location })]
    }),
})

const PHP_LOCATION = /^\s*(?:at )?((?:[A-Za-z]:)?[^\s:]{1,200}\.php:\d+)/

export function phpunit(out: ProgramOutput): TestReport | null {
  const ok = lastMatch(out, /^OK \((\d+) tests?, \d+ assertions?\)/)
  const counts = lastMatch(out, /^Tests: (\d+), Assertions: \d+(.*)$/)
  if (!ok && !counts) return null
  const seconds = parseSeconds(lastMatch(out, /^Time: ([\d:.]+(?: \w+)?), Memory/)?.[1])
  if (!counts) return testReport({ passed: parseCount(ok?.[1]), seconds })
  const value = (name: string) => parseCount(new RegExp(`${name}: (\\d+)`).exec(counts[2] ?? '')?.[1])
  return testReport({
    total: parseCount(counts[1]),
    failed: value('Failures') + value('Errors'),
    skipped: value('Skipped') + value('Incomplete'),
    seconds,
    errors: failuresBelow(out.lines, {
      head: /^\d+\) (?<name>\S+::.{1,150})$/,
      ends: /^\d+\) |^(?:FAILURES|ERRORS)!/,
      location: PHP_LOCATION,
    }),
  })
}

/** Also `artisan test`. */
export function pest(out: ProgramOutput): TestReport | null {
  const counts = lastMatch(out, /^\s*Tests:\s+(\d.*\(\d+ assertions?\))/)?.[1]
  if (counts === undefined) return null
  const detailed = failuresBelow(out.lines, {
    head: /^\s*FAILED\s+(?<name>\S.{0,150}? > .{1,150}?)(?:\s{2,}\S+)?$/,
    ends: /^\s*FAILED\s|^\s*Tests:/,
    location: PHP_LOCATION,
  })
  const names = allMatches(out, /^\s*⨯ (.{1,150}?)(?:\s{2,}[\d.]+s)?$/)
  return testReport({
    passed: countBefore(counts, 'passed'),
    failed: countBefore(counts, 'failed'),
    skipped: countBefore(counts, 'skipped', 'todos?'),
    seconds: parseSeconds(lastMatch(out, /^\s*Duration:\s+([\d.]+s)/)?.[1]),
    errors: detailed.length > 0 ? detailed : names.map(([, name]) => reportedError(`${name} failed`)),
  })
}
