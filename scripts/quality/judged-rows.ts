/**
 * Sheets for people who judge the starts of sessions: every line with the events that it may come from, to be marked by
 * readers who do not know the rules that made it; pairs of starts of two versions, to say which is better; and the figures
 * of both.
 */
import { createHash } from 'node:crypto'
import type { MemoryEvent } from '../../src/domain/event.ts'
import { cutText } from '../../src/domain/sanitize.ts'
import { rounded } from '../lib/report.ts'
import { RawTranscript } from './raw-transcript.ts'

const MARKS = ['useful', 'weak', 'noise', 'false'] as const
type Mark = (typeof MARKS)[number]

/** The start after a session or at a checkpoint of a history, and what happened before it. */
export interface JudgedStart {
  name: string
  text: string
  events: readonly MemoryEvent[]
}

/** A line of a start, with the indented and quoted lines that belong to it. */
export interface JudgedRow {
  /** `NAME-1`. */
  id: string
  text: string
}

export const SHEET_INSTRUCTIONS = `# The starts of sessions, to be judged

An agent worked with a user; its sessions ended. \`starts/NAME.md\` is what the next session in the same project gets about
them, \`sheets/NAME.md\` the same line by line. Mark each numbered line with one word in \`marks.csv\`
(\`line,mark,reason\`; the reason is free text):

- **useful**: it helps an engineer who continues this work tomorrow.
- **weak**: it is true, but of little help.
- **noise**: it carries no information, or cannot be understood.
- **false**: it was not said or done so at that time, or what stands outside the quotation marks is not true. A quotation
  with its date is history: what was changed later does not make it false, but weak where it helps nobody anymore.

Judge the line as it is written: its reader sees only that. What is quoted below it is for checking: the pieces of prompts,
messages, tool uses and outputs that have most of its words. Each sheet begins with the last turns, so that you know how it
ended. Judge alone, and do not change a mark after talking to another reader.
`

/** Pieces of events that are shown below a line. */
const EVIDENCE_SHOWN = 3
const LAST_TURNS_SHOWN = 3
/** Of each request and closing message. */
const TURN_CHARS = 1_500

/** The lines of each start that say something. A line that every start has belongs to the frame. */
export function judgedRows(starts: readonly Pick<JudgedStart, 'name' | 'text'>[]): JudgedRow[][] {
  const all = starts.map(({ text }) => startRows(text))
  const frame = new Set(all.length < 2 ? [] : all[0]?.filter((row) => all.every((rows) => rows.includes(row))))
  return starts.map(({ name }, i) =>
    (all[i] ?? []).filter((row) => !frame.has(row)).map((text, j) => ({ id: `${name}-${j + 1}`, text })),
  )
}

/** Without tags and headings; indented and quoted lines belong to the line above. */
function startRows(start: string): string[] {
  const rows: string[] = []
  for (const line of start.split('\n')) {
    if (line.trim() === '' || /^<|^#{1,6} /.test(line)) continue
    const last = rows.at(-1)
    if (/^[\s>]/.test(line) && last !== undefined) rows[rows.length - 1] = `${last}\n${line}`
    else rows.push(line)
  }
  return rows
}

export function startSheet({ name, events }: JudgedStart, rows: readonly JudgedRow[]): string {
  const evidence = RawTranscript.of(events.map(eventText))
  try {
    const sections = rows.flatMap(({ id, text }) => [
      `### ${id}`,
      quote(text),
      ...evidence.search(text, EVIDENCE_SHOWN).map((piece) => `From the transcript:\n\n${quote(piece)}`),
    ])
    const parts = [`# ${name}`, '## How it ended', ...lastTurns(events), '## Lines to mark', ...sections]
    return `${parts.join('\n\n')}\n`
  } finally {
    evidence.close()
  }
}

function lastTurns(events: readonly MemoryEvent[]): string[] {
  const turns: string[][] = []
  for (const event of events) {
    const moment = new Date(event.at).toISOString()
    if (event.kind === 'prompt') turns.push([`Request, ${moment}:\n\n${shortened(event.text)}`])
    if (event.kind !== 'turn_end') continue
    turns.at(-1)?.push(`Closing message, ${moment}:\n\n${shortened(event.lastMessage ?? event.error ?? '')}`)
  }
  return turns.slice(-LAST_TURNS_SHOWN).flat()
}

function eventText(event: MemoryEvent): string {
  switch (event.kind) {
    case 'prompt':
      return event.text
    case 'tool_use':
      return `${event.tool} ${readable(event.input)}\n→ ${readable(event.response)}`
    case 'tool_failure':
      return `${event.tool} ${readable(event.input)}\n→ failed: ${event.error}`
    case 'subagent_end':
      return event.lastMessage
    case 'turn_end':
      return [...event.words, event.lastMessage ?? event.error ?? ''].join('\n\n')
    default:
      return ''
  }
}

/** JSON with its line ends as line ends. */
const readable = (value: unknown): string => (JSON.stringify(value) ?? '').replaceAll('\\n', '\n')
const shortened = (text: string): string => quote(cutText(text, TURN_CHARS))
const quote = (text: string): string => text.replace(/^/gm, '> ')

const CSV_HEAD = 'line,mark,reason'

/** The file to fill in. */
export function marksTemplate(rows: readonly JudgedRow[]): string {
  return `${[CSV_HEAD, ...rows.map(({ id }) => `${id},,`)].join('\n')}\n`
}

/** The mark of each line of a filled file. Every line must have one. */
export function readMarks(file: string, text: string): Map<string, Mark> {
  return readForm(file, text, MARKS)
}

/** The second cell of each line by its first; the third is free text. */
function readForm<T extends string>(file: string, text: string, allowed: readonly T[]): Map<string, T> {
  const cells = new Map<string, T>()
  for (const [i, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === '' || (i === 0 && /^(?:line|start),/.test(line))) continue
    const [, id, given = ''] = /^\s*"?([^",]+?)"?\s*,\s*"?([^",]*?)"?\s*(?:,|$)/.exec(line) ?? []
    const cell = allowed.find((known) => known === given.toLowerCase())
    if (id === undefined || cell === undefined) {
      throw new Error(`${file}:${i + 1}: "${given}" is not allowed here; use one of ${allowed.join(', ')}`)
    }
    cells.set(id, cell)
  }
  return cells
}

/** Shares of the marks over all readers; with two, also on how many lines they agree. */
export function marksFigures(readers: readonly ReadonlyMap<string, Mark>[]): Record<string, unknown> {
  const all = readers.flatMap((marks) => [...marks.values()])
  const [one, other] = readers
  return {
    ...sharesOf(all),
    lines: new Set(readers.flatMap((marks) => [...marks.keys()])).size,
    readers: readers.map((marks) => sharesOf([...marks.values()])),
    by_start: byStart(readers),
    ...(one !== undefined && other !== undefined ? agreementOf(one, other) : {}),
  }
}

function sharesOf(marks: readonly Mark[]): Record<Mark, number | null> {
  const share = (mark: Mark) =>
    marks.length === 0 ? null : rounded(marks.filter((given) => given === mark).length / marks.length, 3)
  return { useful: share('useful'), weak: share('weak'), noise: share('noise'), false: share('false') }
}

function byStart(readers: readonly ReadonlyMap<string, Mark>[]): Record<string, unknown> {
  const groups = new Map<string, Mark[]>()
  for (const [id, mark] of readers.flatMap((marks) => [...marks])) {
    const start = id.replace(/-\d+$/, '')
    groups.set(start, [...(groups.get(start) ?? []), mark])
  }
  return Object.fromEntries([...groups].map(([start, marks]) => [start, sharesOf(marks)]))
}

/** `kappa`: agreement beyond chance (Cohen); 1 is full agreement, 0 what chance gives. */
function agreementOf(
  one: ReadonlyMap<string, Mark>,
  other: ReadonlyMap<string, Mark>,
): { agreement: number | null; kappa: number | null; disagreed: string[] } {
  const both = [...one].flatMap(([id, mark]) => {
    const second = other.get(id)
    return second === undefined ? [] : [{ id, first: mark, second }]
  })
  if (both.length === 0) return { agreement: null, kappa: null, disagreed: [] }
  const disagreed = both.filter(({ first, second }) => first !== second).map(({ id }) => id)
  const agreement = 1 - disagreed.length / both.length
  const share = (mark: Mark, whose: 'first' | 'second') =>
    both.filter((row) => row[whose] === mark).length / both.length
  const chance = MARKS.reduce((sum, mark) => sum + share(mark, 'first') * share(mark, 'second'), 0)
  const kappa = chance === 1 ? 1 : (agreement - chance) / (1 - chance)
  return { agreement: rounded(agreement, 3), kappa: rounded(kappa, 3), disagreed }
}

const PAIR_SIDES = ['first', 'second'] as const
const PREFERENCES = [...PAIR_SIDES, 'neither'] as const

/** Which of two versions comes first in a pair: by chance, but the same every time. */
function firstVersion(name: string): 'one' | 'other' {
  return createHash('sha256').update(name).digest().readUInt8(0) % 2 === 0 ? 'one' : 'other'
}

export function startPair(name: string, one: string, other: string): string {
  const texts = firstVersion(name) === 'one' ? [one, other] : [other, one]
  return PAIR_SIDES.map((side, i) => `===== ${name}: the ${side} start =====\n\n${texts[i]?.trimEnd()}\n`).join('\n')
}

export function preferencesTemplate(names: readonly string[]): string {
  return `${['start,preferred,reason', ...names.map((name) => `${name},,`)].join('\n')}\n`
}

/** How often each version was preferred, over all readers. */
export function preferenceFigures(forms: readonly { file: string; text: string }[]): Record<string, unknown> {
  const given = forms.flatMap(({ file, text }) => [...readForm(file, text, PREFERENCES)])
  const preferred = given.map(([name, side]) => {
    if (side === 'neither') return side
    return (side === 'first') === (firstVersion(name) === 'one') ? 'one' : 'other'
  })
  const share = (version: string) => rounded(preferred.filter((each) => each === version).length / given.length, 3)
  return { one: share('one'), other: share('other'), neither: share('neither'), pairs: given.length }
}
