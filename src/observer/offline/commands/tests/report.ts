/** What every test runner says at its end, in one shape. */

import { plural } from '../../text.ts'
import { clip, type Output, showSeconds } from '../output.ts'
import { type Fault, fault, type Reading, type Run, reading } from '../reading.ts'

export interface TestReport {
  passed: number
  failed: number
  skipped: number
  seconds: number | null
  faults: Fault[]
  /** Counted are packages or suites where the runner does not count tests. */
  unit?: string
  /** Warnings, flaky tests, suites: what else is worth a word. */
  extra?: string[]
}

export type TestReader = (out: Output) => TestReport | null

const MAX_FAULTS = 12

export function report(parts: Partial<TestReport>): TestReport {
  return { passed: 0, failed: 0, skipped: 0, seconds: null, faults: [], ...parts }
}

export function toReading(run: Run, found: TestReport, coverage: string | null): Reading {
  const counts = [
    found.failed > 0 ? `${amount(found.failed, found.unit)} failed` : '',
    found.passed > 0 || found.failed === 0 ? `${amount(found.passed, found.unit)} passed` : '',
    found.skipped > 0 ? `${found.skipped} skipped` : '',
    ...(found.extra ?? []),
  ].filter((part) => part !== '')
  const empty = found.passed + found.failed + found.skipped === 0 && found.faults.length === 0
  const time = found.seconds === null ? '' : ` in ${showSeconds(found.seconds)}`
  const headline = (empty ? 'no tests ran' : counts.join(', ')) + time
  const facts = [`Tests: ${headline} (${clip(run.shown, 80)})`]
  if (coverage !== null) facts.push(`Test coverage is ${coverage} (${clip(run.shown, 80)})`)
  return reading({
    headline,
    facts,
    failed: found.failed > 0 || found.faults.length > 0,
    faults: found.faults.slice(0, MAX_FAULTS),
  })
}

function amount(value: number, unit: string | undefined): string {
  return unit === undefined ? String(value) : plural(value, unit)
}

/** `2 failed | 3 passed`, `1 failed, 41 passed`: the number before a word. */
export function count(text: string, words: string): number {
  const found = new RegExp(`(\\d{1,7}) (?:${words})`, 'i').exec(text)
  return found ? Number(found[1]) : 0
}

const LABELS = /^\s*(?:[-+]\s*)?(expected|received|actual|got|left|right|but was|want)\b[^:\n]{0,20}:\s*(\S.*)$/i
const STOP_AFTER_LINES = 30

export interface Detail {
  message: string
  place: string | null
}

/**
 * What stands below a failing test's name: the first sentence, the two values compared, and the place.
 * @param ends the first line that belongs to the next test
 * @param where finds `file:line` in a line
 */
export function detail(lines: string[], from: number, ends: RegExp, where: RegExp): Detail {
  let message = ''
  const values: string[] = []
  let place: string | null = null
  for (let i = from; i < Math.min(lines.length, from + STOP_AFTER_LINES); i++) {
    const line = lines[i] ?? ''
    if (i > from && ends.test(line)) break
    const label = LABELS.exec(line)
    const found = where.exec(line)
    if (found && place === null && !/node_modules|node:internal|site-packages|\/gems\//.test(line))
      place = found[1] ?? null
    else if (label && values.length < 2) values.push(`${(label[1] ?? '').toLowerCase()} ${clip(label[2] ?? '', 80)}`)
    else if (message === '' && isSentence(line)) message = line.trim()
  }
  const compared = values.filter((value) => !message.includes(value)).join(', ')
  return { message: [clip(message, 160), compared].filter((part) => part !== '').join('; '), place }
}

function isSentence(line: string): boolean {
  const text = line.trim()
  return (
    text.length > 2 &&
    !/^(?:[-+|>❯─═=*~^]|\d+ ?\||at |#|test at |Stacktrace|\/\/|Failure\/Error$|\(compared)/.test(text)
  )
}

export function failure(name: string, said: Detail): Fault {
  const title = clip(name, 120)
  return fault(said.message === '' ? title : `${title}: ${said.message}`, said.place)
}
