/**
 * A sheet for people who judge what a session is told at its start: every line with the memory it is made of and the events
 * behind that, to be marked by readers who do not know the rules that made it; and the figures of their marks.
 */
import type { MemoryEvent } from '../../src/domain/event.ts'
import type { Observation, Summary } from '../../src/domain/observation.ts'
import { cutText } from '../../src/domain/sanitize.ts'
import { STOP_WORDS, splitWords } from '../../src/lib/words.ts'
import { rounded } from '../lib/report.ts'
import type { ObservedMemory } from './observed.ts'
import { startOf } from './start.ts'

export const MARKS = ['useful', 'weak', 'noise', 'false'] as const
export type Mark = (typeof MARKS)[number]

/** A line of a start, with the indented lines that belong to it. */
export interface JudgedRow {
  /** `NAME-1`. */
  id: string
  text: string
}

export interface JudgedSession {
  rows: JudgedRow[]
  markdown: string
}

export const SHEET_INSTRUCTIONS = `# What a session is told at its start, to be judged

An agent worked with a user; the session ended. The lines below are what the next session in the same project is told about
it. Mark each numbered line with one word, in the CSV file beside this one (\`line,mark,reason\`; the reason is free text):

- **useful**: it helps an engineer who continues this work tomorrow.
- **weak**: it is true, but of little help.
- **noise**: it carries no information, or cannot be understood.
- **false**: it is not true at the end of the session; also what was true once and was changed later, a failure that was
  fixed or was none, and a next step that was done, was refused or makes no sense.

Judge the line as it is written: its reader sees only that. What is quoted below it is for checking: the memory that the line
was made of, the events behind that memory, and the request and the closing message of its turn. Each session begins with
its last turns, so that you know how it ended. Judge alone, and do not change a mark after talking to another reader.
`

/** Each event, and each closing message. */
const EVENT_CHARS = 1_500
/** More events of one memory rarely help to judge it. */
const EVENTS_SHOWN = 6
const LAST_TURNS_SHOWN = 3

export async function judgedSession(name: string, memory: ObservedMemory): Promise<JudgedSession> {
  const { context } = await startOf(memory)
  const rows = startRows(context).map((text, i) => ({ id: `${name}-${i + 1}`, text }))
  const turns = turnsOf(memory.events)
  const sections = rows.map((row) => rowSection(row, memory, turns))
  const ending = turns.slice(-LAST_TURNS_SHOWN).flatMap((turn) => turnLines(turn))
  const markdown = [`# Session ${name}`, '## How it ended', ...ending, '## Lines to mark', ...sections].join('\n\n')
  return { rows, markdown }
}

/** The frame around the memories, which is the same for every session, and headings: also a file's name alone. */
const FRAME_LINE = /^<|^#{1,6} |^[\d,.]+k? observations?[ ,;]|; rows: #id|^Notes, not instructions|^More: |^\S+$/

/** The lines that say something; indented ones belong to the line above. */
export function startRows(context: string): string[] {
  const rows: string[] = []
  for (const line of context.split('\n')) {
    if (line.trim() === '' || FRAME_LINE.test(line)) continue
    const last = rows.at(-1)
    if (/^\s/.test(line) && last !== undefined) rows[rows.length - 1] = `${last}\n${line}`
    else rows.push(line)
  }
  return rows
}

interface Turn {
  promptNumber: number
  prompt: string
  closing: string
}

function turnsOf(events: readonly MemoryEvent[]): Turn[] {
  const turns: Turn[] = []
  for (const event of events) {
    if (event.kind === 'prompt') turns.push({ promptNumber: turns.length + 1, prompt: event.text, closing: '' })
    const turn = turns.at(-1)
    if (event.kind === 'turn_end' && turn !== undefined) turn.closing = event.lastMessage ?? event.error ?? ''
  }
  return turns
}

type Memory = { kind: 'observation'; of: Observation } | { kind: 'summary'; of: Summary }

function rowSection(row: JudgedRow, memory: ObservedMemory, turns: readonly Turn[]): string {
  const found = memoriesOf(row.text, memory)
  const sources = found.length === 0 ? eventsLike(row.text, memory.events) : sourcesOf(found, memory.events)
  const numbers = new Set(found.map(({ of }) => of.promptNumber))
  const shown = sources.slice(0, EVENTS_SHOWN)
  const omitted = sources.length - shown.length
  return [
    `### ${row.id}`,
    quote(row.text),
    ...found.map(memoryText),
    ...(found.length === 0 ? ['*Made of no single memory. The events that have most of its words:*'] : []),
    ...shown.map((event) => `Source ${event.kind}:\n\n${quote(shortened(eventText(event)))}`),
    ...(omitted > 0 ? [`*${omitted} more sources.*`] : []),
    ...turns.filter(({ promptNumber }) => numbers.has(promptNumber)).flatMap(turnLines),
  ].join('\n\n')
}

function sourcesOf(memories: readonly Memory[], events: readonly MemoryEvent[]): MemoryEvent[] {
  const ids = new Set(memories.flatMap((one) => (one.kind === 'observation' ? one.of.sources : [])))
  return events.filter(({ id }) => ids.has(id))
}

const LIKE_SHOWN = 3

/** Lines may also be made of prompts, closing messages and tool uses themselves. */
function eventsLike(line: string, events: readonly MemoryEvent[]): MemoryEvent[] {
  const words = tellingWords(line)
  return events
    .map((event) => ({ event, share: shareOf(words, tellingWords(eventText(event))) }))
    .filter(({ share }) => share > 0)
    .sort((one, other) => other.share - one.share)
    .slice(0, LIKE_SHOWN)
    .map(({ event }) => event)
}

/** The observations whose ids the line names; else the one memory that has most of its words. */
function memoriesOf(line: string, { observations, summaries }: ObservedMemory): Memory[] {
  const words = tellingWords(line)
  const all: Memory[] = [
    ...observations.map((of): Memory => ({ kind: 'observation', of })),
    ...summaries.map((of): Memory => ({ kind: 'summary', of })),
  ]
  const scored = all.map((one) => ({ one, share: shareOf(words, tellingWords(memoryText(one))) }))
  const ids = new Set([...line.matchAll(/#(\d+)/g)].map(([, id]) => Number(id)))
  const named = scored.filter(
    ({ one, share }) => one.kind === 'observation' && ids.has(one.of.id) && share >= MIN_NAMED_SHARE,
  )
  if (named.length > 0) return named.map(({ one }) => one)
  const [best] = scored.sort((a, b) => b.share - a.share)
  return best !== undefined && best.share >= MIN_SHARE ? [best.one] : []
}

/** Share of a line's words that its memory has. `#17` may also be the number of a pull request. */
const MIN_NAMED_SHARE = 0.3
const MIN_SHARE = 0.6

const tellingWords = (text: string): Set<string> => new Set(splitWords(text).filter((word) => !STOP_WORDS.has(word)))

function shareOf(words: ReadonlySet<string>, among: ReadonlySet<string>): number {
  return words.size === 0 ? 0 : [...words].filter((word) => among.has(word)).length / words.size
}

function memoryText(memory: Memory): string {
  if (memory.kind === 'observation') {
    const { id, type, title, subtitle, narrative, facts, promptNumber } = memory.of
    const lines = [title, subtitle, narrative, ...facts.map((fact) => `- ${fact}`)]
    return `Observation #${id} (${type}, turn ${promptNumber}):\n\n${quote(lines.filter(Boolean).join('\n'))}`
  }
  const { id, promptNumber, request, investigated, learned, completed, nextSteps, notes } = memory.of
  const fields = { request, investigated, learned, completed, nextSteps, notes }
  const lines = Object.entries(fields).flatMap(([name, text]) => (text ? [`${name}: ${text}`] : []))
  return `Summary ${id} (turn ${promptNumber}):\n\n${quote(lines.join('\n'))}`
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
      return event.kind
  }
}

/** JSON with its line ends as line ends. */
const readable = (value: unknown): string => (JSON.stringify(value) ?? '').replaceAll('\\n', '\n')

function turnLines({ promptNumber, prompt, closing }: Turn): string[] {
  return [
    `Request of turn ${promptNumber}:\n\n${quote(shortened(prompt))}`,
    ...(closing === '' ? [] : [`Closing message of turn ${promptNumber}:\n\n${quote(shortened(closing))}`]),
  ]
}

const shortened = (text: string): string => cutText(text, EVENT_CHARS)
const quote = (text: string): string => text.replace(/^/gm, '> ')

const CSV_HEAD = 'line,mark,reason'

/** The file to fill in. */
export function marksTemplate(rows: readonly JudgedRow[]): string {
  return `${[CSV_HEAD, ...rows.map(({ id }) => `${id},,`)].join('\n')}\n`
}

/** The mark of each line of a filled file. Every line must have one. */
export function readMarks(file: string, text: string): Map<string, Mark> {
  const marks = new Map<string, Mark>()
  for (const [i, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === '' || line.startsWith('line,')) continue
    const [, id, given = ''] = /^\s*"?([^",]+?)"?\s*,\s*"?([^",]*?)"?\s*(?:,|$)/.exec(line) ?? []
    const mark = MARKS.find((known) => known === given.toLowerCase())
    if (id === undefined || mark === undefined) {
      throw new Error(`${file}:${i + 1}: "${given}" is not a mark; use one of ${MARKS.join(', ')}`)
    }
    marks.set(id, mark)
  }
  return marks
}

/** Shares of the marks over all readers; with two, also on how many lines they agree. */
export function marksFigures(readers: readonly ReadonlyMap<string, Mark>[]): Record<string, unknown> {
  const all = readers.flatMap((marks) => [...marks.values()])
  const [one, other] = readers
  return {
    ...sharesOf(all),
    lines: new Set(readers.flatMap((marks) => [...marks.keys()])).size,
    readers: readers.map((marks) => sharesOf([...marks.values()])),
    by_session: bySession(readers),
    ...(one !== undefined && other !== undefined ? agreementOf(one, other) : {}),
  }
}

function sharesOf(marks: readonly Mark[]): Record<Mark, number | null> {
  const share = (mark: Mark) =>
    marks.length === 0 ? null : rounded(marks.filter((given) => given === mark).length / marks.length, 3)
  return { useful: share('useful'), weak: share('weak'), noise: share('noise'), false: share('false') }
}

function bySession(readers: readonly ReadonlyMap<string, Mark>[]): Record<string, unknown> {
  const groups = new Map<string, Mark[]>()
  for (const [id, mark] of readers.flatMap((marks) => [...marks])) {
    const session = id.replace(/-\d+$/, '')
    groups.set(session, [...(groups.get(session) ?? []), mark])
  }
  return Object.fromEntries([...groups].map(([session, marks]) => [session, sharesOf(marks)]))
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
