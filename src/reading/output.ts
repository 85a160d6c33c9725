/**
 * Reads what a program printed: a bounded number of clean lines, those that say what happened, and the totals with which
 * programs themselves end a run. Time is linear in the output; only its head and its tail are looked at.
 */
import { stripVTControlCharacters } from 'node:util'
import { findTellingLines } from '../domain/telling-lines.ts'
import { isReadable } from './pieces.ts'

/** Enough for a program's own messages and a compiler's first errors. */
const HEAD_CHARS = 24_000
/** Totals are at the end. */
const TAIL_CHARS = 40_000
const HEAD_LINES = 250
const TAIL_LINES = 550
/** A minified bundle is one line. */
const MAX_LINE_CHARS = 300

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are removed. A pattern with \p{Cc} takes three times as long.
const CONTROLS = /[\0-\b\v\f\x0e-\x1f\x7f-\x9f\ufffd]/g
/** `job<TAB>step<TAB>time text`, as the logs of GitHub's actions; or only the time. */
const LOG_PREFIX =
  /^(?:([^\t]{1,80})\t[^\t]{1,120}\t)?\ufeff?\[?\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?\]?\s/
/** Spinners and frames that a program draws around its lines. */
const DRAWN = /^[\s⠀-⣿│┃║╎▏]+(?=\S)|[\s⠀-⣿│┃║╎]+$/g
const HAS_FRAME = /[⠀-⣿│┃║╎]/

/** The lines of an output of several parts; a part that another one contains is read once. */
export function outputLines(parts: readonly string[]): string[] {
  const distinct = parts.filter((part, i) => part !== '' && !parts.slice(0, i).some((other) => other.includes(part)))
  const text = stripVTControlCharacters(distinct.map(headAndTail).join('\n')).replace(CONTROLS, '')
  const all = text.split('\n')
  const bounded = all.length <= HEAD_LINES + TAIL_LINES ? all : [...all.slice(0, HEAD_LINES), ...all.slice(-TAIL_LINES)]
  return bounded.map(cleanLine)
}

function headAndTail(text: string): string {
  if (text.length <= HEAD_CHARS + TAIL_CHARS) return text
  return `${text.slice(0, HEAD_CHARS)}\n${text.slice(-TAIL_CHARS)}`
}

function cleanLine(line: string): string {
  // A progress bar overwrites its line after each carriage return; only the last state stayed visible.
  const shown = line.includes('\r') ? (line.split('\r').findLast((state) => state.trim() !== '') ?? '') : line
  const head = shown
    .slice(0, MAX_LINE_CHARS * 2)
    .replace(LOG_PREFIX, (_, job?: string) => (job === undefined ? '' : `${job}: `))
  const plain = (HAS_FRAME.test(head) ? head.replace(DRAWN, '') : head).trimEnd()
  return plain.length <= MAX_LINE_CHARS ? plain : `${plain.slice(0, MAX_LINE_CHARS - 1)}…`
}

/** One test that passed, progress, a download, a rule, a frame of a library: nobody asks for them. */
const NOISE = new RegExp(
  [
    '^\\s*(?:ok \\d|[✓✔√]|PASS(?:ED)?\\b|-{2,3} PASS|=== (?:RUN|PAUSE|CONT|NAME)|test \\S+ \\.\\.\\. ok)',
    '::\\S+ PASSED\\b',
    '^\\s*(?:Compiling|Download(?:ing|ed)|Fetching|Unpacking|Resolving|Receiving|Collecting|Requirement already|Using cached)\\b',
    '^(?:remote: )?(?:Counting|Compressing|Enumerating|Writing|Resolving|Delta|Total) ',
    '^\\s*\\d{1,3}%',
    '^[^\\p{L}\\p{N}]*$',
    '^\\s*at (?:\\S+ )?\\(?(?:node:|\\S*node_modules)',
    '^ (?:create|delete|rename) mode \\d',
    '^\\s*\\(use "git ',
    '^hint: ',
    '^Shell cwd was reset to ',
  ].join('|'),
  'u',
)

/** An output of so few characters is kept whole, but for its noise. */
const SHORT_OUTPUT_CHARS = 1_200
/** Lines of a longer output that are kept at its beginning and its end. */
const FIRST_LINES = 3
const LAST_LINES = 8

/** The lines that say what happened, in their order. */
export function tellingLines(output: readonly string[]): string[] {
  const lines = distinctLines(output.filter((line) => line.trim() !== '' && !NOISE.test(line)))
  const text = lines.join('\n')
  if (!isReadable(text)) return []
  if (text.length <= SHORT_OUTPUT_CHARS) return lines
  const telling = new Set(findTellingLines(text, 0, text.length).map((line) => line.text))
  return lines.filter((line, i) => i < FIRST_LINES || i >= lines.length - LAST_LINES || telling.has(line))
}

/** The same line but for its numbers more than a few times is repeated output. */
const MAX_SIMILAR_LINES = 4

function distinctLines(lines: readonly string[]): string[] {
  const seen = new Set<string>()
  const shapes = new Map<string, number>()
  return lines.filter((line) => {
    const shape = line.replace(/\d+/g, '0')
    const similar = (shapes.get(shape) ?? 0) + 1
    shapes.set(shape, similar)
    if (seen.has(line) || similar > MAX_SIMILAR_LINES) return false
    seen.add(line)
    return true
  })
}

/** What programs count at the end of a run, and the words that say which of it is bad. */
const NUMBER = '(?:\\d{1,3}(?:,\\d{3}){1,3}|\\d{1,9})'
const COUNTED = '(?:tests?|specs?|suites?|files?|examples?|checks?)?\\s?'
const BAD = '(?:fail(?:ed|ing|ures?|s)?|errors?|problems?|broken)'
const GOOD = '(?:pass(?:ed|ing|es)?|succe(?:eded|ss(?:ful)?)|ok)'
const BAD_COUNT = new RegExp(
  `(?<![\\w.:-])(${NUMBER}) ${COUNTED}${BAD}\\b|\\b${BAD}\\s?[:=]?\\s{1,8}(${NUMBER})\\b|\\b${BAD}=(\\d{1,9})`,
  'gi',
)
const GOOD_COUNT = new RegExp(
  `(?<![\\w.:-])${NUMBER}%? ${COUNTED}${GOOD}\\b|\\b(?:${GOOD}|tests(?: run)?)\\s?[:=]?\\s{1,8}\\d{1,9}\\b`,
  'i',
)
/** Lines with which programs say how a run ended, without a count. */
const BAD_END =
  /^(?:(?:--- )?FAIL(?:ED)?\b|BUILD FAIL|Build FAILED|make(?:\[\d+\])?: \*\*\* |error: Recipe .{1,200} failed|.{0,40}ELIFECYCLE|npm (?:ERR!|error) (?:code|Lifecycle)|error Command failed|error: could not compile|Command failed with exit code [1-9]|\S{1,200}(?:\(\d+,\d+\)|:\d+(?::\d+)?)[: -]{1,4}(?:fatal )?error\b|error(?:\[[A-Z]\d+\])?: )|\b(?:failed|exited) with (?:exit )?code [1-9]/
const GOOD_END =
  /^(?:ok\s+\S+\s+(?:[\d.]+s|\(cached\))|BUILD SUCCESS|Build succeeded|All checks passed|Success: no issues|OK(?: \(|$)|test result: ok|No (?:issues|errors|problems) found)/
/** A longer line, or one with more words, is about something else. */
const MAX_TOTAL_CHARS = 200
const MAX_TOTAL_WORDS = 14
/** Totals stand at the end. */
const TOTAL_LINES = 80

export interface RunTotals {
  /** Null: the program did not print any. */
  outcome: 'ok' | 'failed' | null
  lines: string[]
}

/** What the program itself printed about the end of its run: its totals, else a line that says so. */
export function readTotals(output: readonly string[]): RunTotals {
  const last = output.filter((line) => line.trim() !== '' && !/^\s*[✓✔√]/.test(line)).slice(-TOTAL_LINES)
  const counts = last.map((line) => ({ line, verdict: countVerdict(line) })).filter(({ verdict }) => verdict !== null)
  const ends = last
    .map((line) => ({ line, verdict: BAD_END.test(line) ? 'failed' : GOOD_END.test(line) ? 'ok' : null }))
    .filter(({ verdict }) => verdict !== null)
  const deciding = counts.length > 0 ? counts : ends
  if (deciding.length === 0) return { outcome: null, lines: [] }
  const failing = [...counts, ...ends].filter(({ verdict }) => verdict === 'failed')
  const shown = failing.length > 0 && counts.length === 0 ? failing : deciding
  const isFailed = deciding.some(({ verdict }) => verdict === 'failed')
  return { outcome: isFailed ? 'failed' : 'ok', lines: shown.slice(-MAX_TOTALS).map(({ line }) => line.trim()) }
}

const MAX_TOTALS = 4

function countVerdict(line: string): 'ok' | 'failed' | null {
  if (line.length > MAX_TOTAL_CHARS || !/\d/.test(line)) return null
  if ((line.match(/\p{L}+/gu)?.length ?? 0) > MAX_TOTAL_WORDS) return null
  let hasCount = GOOD_COUNT.test(line)
  for (const [, before, after, equal] of line.matchAll(BAD_COUNT)) {
    if (Number((before ?? after ?? equal ?? '0').replaceAll(',', '')) > 0) return 'failed'
    hasCount = true
  }
  return hasCount ? 'ok' : null
}

/** An error as a program raises it, a line of a log or of a stack: what a program said, though it stands in prose. */
const OUTPUT_LINE =
  /^\W{0,4}(?:[\w.]{0,80}(?:Error|Exception|Warning)\b\S{0,2}:|(?:error|fatal|warning|panic)\b[^\s]{0,8}:|at \S{1,200}:\d|\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\$ |>{1,3} )/

export function isOutputLine(text: string): boolean {
  return OUTPUT_LINE.test(text.slice(0, 400))
}
