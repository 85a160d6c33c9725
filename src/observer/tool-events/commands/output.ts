/**
 * The output of a command as line rules read it: a bounded number of lines of plain text, each of bounded length.
 * Also what the readers of each family of programs share.
 */
import type { CommandKind } from '../types.ts'

/** Enough for the command's own messages and a compiler's first errors. */
const HEAD_CHARS = 24_000
/** Summaries are at the end. */
const TAIL_CHARS = 40_000
/** A minified bundle is one line; no rule needs more of it. */
const LINE_CHARS = 400
/** Every rule is tried on every line, so the number of lines bounds the time, not the number of characters. */
const HEAD_LINES = 250
const TAIL_LINES = 550
const ERROR_CHARS = 240

/** One simple command of a shell line, without the wrappers around it. */
export interface ShellRun {
  kind: CommandKind
  /** `pytest` for `sudo python3.11 -m pytest`. */
  program: string
  args: string[]
  /** As it would be typed: without environment, redirections and pipes to filters. */
  shown: string
  /** See `CommandResult.key`. */
  key: string
  /** The text of the first heredoc. */
  body: string | null
}

export interface OutputReading {
  headline: string | null
  facts: string[]
  /** The output itself reports a failure, whatever the exit code is. */
  failed: boolean
  errors: ReportedError[]
}

export interface ReportedError {
  message: string
  /** `src/a.ts:3:5`, or null where the output gives none. */
  location: string | null
}

/** Null: the output is not of the kind that this reader knows. */
export type OutputReader = (run: ShellRun, lines: string[]) => OutputReading | null

export function outputReading(parts: Partial<OutputReading>): OutputReading {
  return { headline: null, facts: [], failed: false, errors: [], ...parts }
}

export function reportedError(message: string, location: string | null = null): ReportedError {
  return { message: message.trim(), location: location === '' ? null : location }
}

const ESC = '\\u001b'
/** Window titles, colours and cursor movements of a terminal. */
const ESCAPES = new RegExp(
  `${ESC}\\][^\\u0007${ESC}]{0,500}(?:\\u0007|${ESC}\\\\)|${ESC}\\[[0-9;:?]{0,40}[ -/]?[@-~]|${ESC}[()][0-9A-B]|${ESC}.`,
  'g',
)
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are removed. A pattern with \p{Cc} takes three times as long.
const CONTROLS = /[\0-\b\v\f\x0e-\x1f\x7f-\x9f\ufffd]/g
const TIMESTAMP = /^\[?\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?\]?\s+/
/** Turborepo and others print the task's name before each line. */
const TASK_PREFIX = /^[@\w/-]{1,60}:(?:test|build|lint|typecheck|check)[\w:-]{0,30}: /

export function outputLines(parts: string[]): string[] {
  const text = parts
    .map(headAndTail)
    .filter((part) => part !== '')
    .join('\n')
    .replace(ESCAPES, '')
    .replace(CONTROLS, '')
  const all = text.replace(/\n{3,}/g, '\n\n').split('\n')
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
  return shown.slice(0, LINE_CHARS).replace(TIMESTAMP, '').replace(TASK_PREFIX, '').trimEnd()
}

export function clipLine(text: string, max = ERROR_CHARS): string {
  const line = text.replace(/\s+/g, ' ').trim()
  if (line.length <= max) return line
  const head = line.slice(0, max - 1)
  // A cut through a surrogate pair would leave half a character.
  return `${/[\ud800-\udbff]$/.test(head) ? head.slice(0, -1) : head}…`
}

/** 0 where the text is not a number. */
export function parseCount(text: string | undefined): number {
  const value = Number.parseInt((text ?? '').replace(/[,_]/g, ''), 10)
  return Number.isFinite(value) ? value : 0
}

const UNIT_SECONDS: Record<string, number> = { ms: 1e-3, µs: 1e-6, us: 1e-6, s: 1, m: 60, min: 60, h: 3600 }

/** `2.31s`, `12 ms`, `1m 2.5s`, `00:00:02.3`, `3 seconds`. */
export function parseSeconds(text: string | undefined): number | null {
  if (text === undefined) return null
  const clock = /(?:(\d{1,4}):)?(\d{1,2}):(\d{1,2}(?:\.\d{1,9})?)/.exec(text)
  if (clock) return parseCount(clock[1]) * 3600 + parseCount(clock[2]) * 60 + Number(clock[3])
  let total: number | null = null
  for (const [, amount, unit = 's'] of text.matchAll(/(\d{1,9}(?:[.,]\d{1,9})?)\s?(ms|µs|us|h|min|m|s)?/gi)) {
    const value = Number((amount ?? '').replace(',', '.'))
    total = (total ?? 0) + value * (UNIT_SECONDS[unit.toLowerCase()] ?? 1)
  }
  return total
}

export function showSeconds(seconds: number): string {
  const digits = seconds >= 100 ? 0 : seconds >= 1 ? 1 : seconds >= 0.01 ? 2 : 3
  return `${Number(seconds.toFixed(digits))} s`
}

export function hasMatch(lines: readonly string[], rule: RegExp): boolean {
  return lines.some((line) => rule.test(line))
}

/** The groups of the last line that matches; groups without a match are ''. */
export function lastMatch(lines: readonly string[], rule: RegExp): string[] | null {
  for (let i = lines.length - 1; i >= 0; i--) {
    const match = rule.exec(lines[i] ?? '')
    if (match) return Array.from(match, (group) => group ?? '')
  }
  return null
}

/** The last match of the first rule that matches any line. */
export function firstRuleMatch(lines: readonly string[], rules: readonly RegExp[]): string[] | null {
  for (const rule of rules) {
    const match = lastMatch(lines, rule)
    if (match) return match
  }
  return null
}

export function allMatches(lines: readonly string[], rule: RegExp): string[][] {
  const matches: string[][] = []
  for (const line of lines) {
    const match = rule.exec(line)
    if (match) matches.push(Array.from(match, (group) => group ?? ''))
  }
  return matches
}

/** The first group of the first line that matches. */
export function firstGroup(lines: readonly string[], rule: RegExp): string | undefined {
  for (const line of lines) {
    const match = rule.exec(line)
    if (match) return match[1]
  }
  return undefined
}

export type SentenceRule = [RegExp, string | ((groups: string[]) => string)]

/** For each matching line a sentence; `$1` in a template is the first group. */
export function sentencesFrom(lines: string[], rules: readonly SentenceRule[], maxPerRule = Infinity): string[] {
  return rules.flatMap(([rule, sentence]) => {
    const matches = allMatches(lines, rule).slice(0, maxPerRule)
    if (typeof sentence === 'function') return matches.map(sentence)
    return matches.map((groups) => sentence.replace(/\$(\d)/g, (_, number) => groups[Number(number)] ?? ''))
  })
}

export type ErrorFinder = (lines: string[]) => ReportedError[]

/** An error for each line that matches, unless `read` returns null. */
export function errorsAt(
  pattern: RegExp,
  read: (match: RegExpExecArray, at: number, lines: string[]) => ReportedError | null,
): ErrorFinder {
  return (lines) =>
    lines.flatMap((line, at) => {
      const match = pattern.exec(line)
      return (match && read(match, at, lines)) ?? []
    })
}

/**
 * Errors that are complete in one line, in the order of the patterns. Named groups: `message`, with `code` or `test`
 * before it; `location`, or `file`, `line` and `column`.
 */
export function errorLines(...patterns: RegExp[]): ErrorFinder {
  return (lines) =>
    patterns.flatMap((pattern) =>
      errorsAt(pattern, ({ groups = {} }) => {
        const { message = '', code, test, location, file, line, column } = groups
        const prefix = code ? `error ${code}: ` : test ? `${test}: ` : ''
        return reportedError(prefix + message, location ?? [file, line, column].filter((part) => part).join(':'))
      })(lines),
    )
}

/** The errors of all finders, in their order. */
export function allErrors(...finders: ErrorFinder[]): ErrorFinder {
  return (lines) => finders.flatMap((find) => find(lines))
}
