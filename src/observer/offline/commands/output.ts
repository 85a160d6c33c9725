/** What a program printed, made safe to read with line rules: plain text, bounded in size, lines bounded in length. */

const HEAD_CHARS = 24_000 // the command's own words and the first errors of a compiler
const TAIL_CHARS = 40_000 // summaries stand at the end
const LINE_CHARS = 400 // a minified bundle is one line; no rule needs more of it
const HEAD_LINES = 250
const TAIL_LINES = 550 // every rule looks at every line: lines, not characters, are what costs time
const ERROR_CHARS = 240

export interface Output {
  text: string
  lines: string[]
}

const ESC = '\\u001b'
/** Titles, colours and cursor movements of a terminal. */
const ESCAPES = new RegExp(
  `${ESC}\\][^\\u0007${ESC}]{0,500}(?:\\u0007|${ESC}\\\\)|${ESC}\\[[0-9;:?]{0,40}[ -/]?[@-~]|${ESC}[()][0-9A-B]|${ESC}.`,
  'g',
)
const CONTROLS = /[^\P{Cc}\t\n\r]|\ufffd/gu
const TIMESTAMP = /^\[?\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?\]?\s+/
const TASK_PREFIX = /^[@\w/-]{1,60}:(?:test|build|lint|typecheck|check)[\w:-]{0,30}: /

export function bound(text: string): string {
  if (text.length <= HEAD_CHARS + TAIL_CHARS) return text
  return `${text.slice(0, HEAD_CHARS)}\n${text.slice(-TAIL_CHARS)}`
}

export function toOutput(parts: string[]): Output {
  const text = parts
    .map(bound)
    .filter((part) => part !== '')
    .join('\n')
    .replace(ESCAPES, '')
    .replace(CONTROLS, '')
  const lines = boundLines(text.replace(/\n{3,}/g, '\n\n').split('\n')).map(cleanLine)
  return { text: lines.join('\n'), lines }
}

function boundLines(lines: string[]): string[] {
  if (lines.length <= HEAD_LINES + TAIL_LINES) return lines
  return [...lines.slice(0, HEAD_LINES), ...lines.slice(-TAIL_LINES)]
}

function cleanLine(line: string): string {
  const shown = line.includes('\r') ? lastShown(line) : line
  return shown.slice(0, LINE_CHARS).replace(TIMESTAMP, '').replace(TASK_PREFIX, '').trimEnd()
}

/** A progress bar overwrites its line: what stood there last is what was seen. */
function lastShown(line: string): string {
  const states = line.split('\r').filter((state) => state.trim() !== '')
  return states.at(-1) ?? ''
}

export function clip(text: string, max = ERROR_CHARS): string {
  const line = text.replace(/\s+/g, ' ').trim()
  if (line.length <= max) return line
  const cut = line.slice(0, max - 1)
  // A cut through a surrogate pair would leave half a character.
  return `${/[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut}…`
}

export function int(text: string | undefined): number {
  const value = Number.parseInt((text ?? '').replace(/[,_]/g, ''), 10)
  return Number.isFinite(value) ? value : 0
}

/** `2.31s`, `12 ms`, `1m 2.5s`, `00:00:02.3`, `3 seconds`. */
export function parseSeconds(text: string | undefined): number | null {
  if (text === undefined) return null
  const clock = /(?:(\d{1,4}):)?(\d{1,2}):(\d{1,2}(?:\.\d{1,9})?)/.exec(text)
  if (clock) return int(clock[1]) * 3600 + int(clock[2]) * 60 + Number(clock[3])
  let total: number | null = null
  for (const [, amount, unit = 's'] of text.matchAll(/(\d{1,9}(?:[.,]\d{1,9})?)\s?(ms|µs|us|h|min|m|s)?/gi)) {
    const value = Number((amount ?? '').replace(',', '.'))
    total = (total ?? 0) + value * (UNIT_SECONDS[unit.toLowerCase()] ?? 1)
  }
  return total
}
const UNIT_SECONDS: Record<string, number> = { ms: 1e-3, µs: 1e-6, us: 1e-6, s: 1, m: 60, min: 60, h: 3600 }

export function showSeconds(seconds: number): string {
  const digits = seconds >= 100 ? 0 : seconds >= 1 ? 1 : seconds >= 0.01 ? 2 : 3
  return `${Number(seconds.toFixed(digits))} s`
}

/** The groups of the first line that matches, missing ones as ''. */
export function firstLine(out: Output, rule: RegExp): string[] | null {
  for (const line of out.lines) {
    const found = rule.exec(line)
    if (found) return groups(found)
  }
  return null
}

export function lastLine(out: Output, rule: RegExp): string[] | null {
  for (let i = out.lines.length - 1; i >= 0; i--) {
    const found = rule.exec(out.lines[i] ?? '')
    if (found) return groups(found)
  }
  return null
}

export function allLines(out: Output, rule: RegExp): string[][] {
  const all: string[][] = []
  for (const line of out.lines) {
    const found = rule.exec(line)
    if (found) all.push(groups(found))
  }
  return all
}

function groups(found: RegExpExecArray): string[] {
  return Array.from(found, (group) => group ?? '')
}

/** `a, b, c and 4 more` */
export function listed(items: string[], max = 8): string {
  if (items.length <= max) return items.join(', ')
  return `${items.slice(0, max).join(', ')} and ${items.length - max} more`
}
