/**
 * What a session is told when it starts, under one budget: pinned notes; the state when the last session ended; the last
 * exchange; what the user decided; how it got here; what others of the team noted; how to look up more. Each part is left
 * out where there is nothing certain. Pure: the same memory on the same day gives the same bytes.
 */
import { isOwn } from '../domain/authorship.ts'
import type { ContextPart } from '../domain/context-parts.ts'
import { CHARS_PER_TOKEN, type Observation, tokensForChars } from '../domain/observation.ts'
import { speakerName } from '../domain/quotation.ts'
import type { ContextMaterial } from '../store/port.ts'
import { userChoices, writtenNotes } from './choices.ts'
import { exchangeLines } from './exchange.ts'
import { CONTEXT_CLOSE_TAG, CONTEXT_OPEN_TAG, MORE_HINT, titleLine } from './lines.ts'
import { moment, momentAfter } from './moment.ts'
import type { ContextOptions } from './options.ts'
import { quotable, quote, quoteBegin } from './quote.ts'
import { type EndState, sessionState } from './state.ts'
import { chooseStory, type Statement, type StoryOptions } from './story.ts'
import { ownMaterial, type PastTurn, repeatedTasks, turnsOf } from './turns.ts'

/** Most of the budget for each part; what a part does not use is left for the story. */
const SHARES = { pinned: 0.15, state: 0.22, exchange: 0.32, others: 0.1 }

const HEADINGS: Partial<Record<ContextPart, string>> = {
  pinned: '## Pinned',
  decided: '## Choices and notes',
  story: '## How it got here (of each turn the prompt, then what the agent said)',
  others: '## Noted by others of the team',
}

const REQUEST_CHARS = 220
/** Of a request that is quoted above. */
const KNOWN_REQUEST_CHARS = 50
const NOTE_CHARS = 400

/** What a line rests on: a note or a turn. Null: it is the same in every session. */
type LineSource = { observation: number } | { session: string; turn: number } | null

interface SourcedLine {
  text: string
  from: LineSource
}

export interface StartLine extends SourcedLine {
  part: ContextPart | 'frame'
}

interface Section {
  part: ContextPart | 'frame'
  lines: readonly SourcedLine[]
}

export interface StartText {
  text: string
  /** The lines of the text, each with what it rests on. */
  lines: StartLine[]
  /** Null where no session of the reader is known. */
  state: EndState | null
  /** Tokens of each part, including the `frame` around them. */
  parts: Partial<Record<ContextPart | 'frame', number>>
}

/** Null if nothing is known, or nothing fits into the budget. */
export function renderStart(given: ContextMaterial, options: ContextOptions): StartText | null {
  const { now, me = null } = options
  const material = ownMaterial(given, me)
  const turns = turnsOf(material)
  const worked = turnsOfLastWork(turns, material)
  // What a file says was done is no state of this machine.
  const state = sessionState(
    worked.filter(({ isImported }) => !isImported),
    now,
  )
  const exchange = exchangeLines(worked, now)
  const chars = options.tokens * CHARS_PER_TOKEN
  const page = new Page(chars, options.parts)
  const frame = [CONTEXT_OPEN_TAG, titleLine(material.project), CONTEXT_CLOSE_TAG]
  if (!page.reserve(frame) || (page.shows('more') && !page.reserve(['', MORE_HINT]))) return null
  page.add(
    'pinned',
    [...material.pinned, ...others(given.pinned, me)].map((note) => noteLine(note, options)),
    chars * SHARES.pinned,
  )
  const last = sourceOf(worked[0] ?? null)
  if (state !== null) {
    const isShort = state.isFinished && state.lines.length > 0
    const lines = isShort ? state.lines : [state.ended, ...state.lines]
    page.add(
      'state',
      sourced(
        lines.map((line) => `- ${line}`),
        last,
      ),
      chars * SHARES.state,
      `## State when the last session ended (${moment(state.at, now)}${isShort ? ', finished' : ''})`,
    )
  }
  page.add('exchange', sourced(exchange, last), chars * SHARES.exchange, '## Last exchange')
  page.add(
    'others',
    others(given.observations, me).map((note) => noteLine(note, options)),
    chars * SHARES.others,
  )
  const choices = page.shows('decided') ? [...writtenNotes(material.observations, now), ...userChoices(turns, now)] : []
  const idle = new Set(material.idle)
  const told = page.shows('story') ? turns.filter((turn) => !idle.has(turn.session)) : []
  const story = chooseStory(told, choices, { ...storyOptions(page, now), chars: page.left - HEADINGS_CHARS })
  page.add(
    'decided',
    story.decisions
      .map(({ choice }) => choice)
      .sort((a, b) => b.at - a.at)
      .map(({ line, note, turn }) => ({ text: line, from: note === null ? sourceOf(turn) : { observation: note } })),
    chars,
  )
  page.add('story', storyLines(story.turns, repeatedTasks(turns), page, now), chars)
  if (page.isEmpty) return null
  return page.finish(frame, state)
}

function others(observations: readonly Observation[], me: string | null): Observation[] {
  return observations.filter((one) => !isOwn(one, me))
}

/** `- #12 agent: “title: what it says”` */
function noteLine(note: Observation, { now, me = null }: ContextOptions): SourcedLine {
  const said = [note.title, note.narrative, ...note.facts].filter((part) => part !== null && part !== '')
  const words = quoteBegin(said.join(': '), NOTE_CHARS)
  return {
    text: `- #${note.id} ${speakerName(note, me)}: ${words} (${moment(note.createdAt, now)})`,
    from: { observation: note.id },
  }
}

function sourceOf(turn: PastTurn | null): LineSource {
  return turn === null ? null : { session: turn.session, turn: turn.promptNumber }
}

function sourced(lines: readonly string[], from: LineSource = null): SourcedLine[] {
  return lines.map((text) => ({ text, from }))
}

/** The turns of the newest session that did any work; of the newest one where none did. */
function turnsOfLastWork(turns: readonly PastTurn[], { idle }: ContextMaterial): PastTurn[] {
  const isIdle = new Set(idle)
  const session = (turns.find((turn) => !isIdle.has(turn.session)) ?? turns[0])?.session
  return turns.filter((turn) => turn.session === session)
}

/** The headings of both parts with the empty lines above them, and the days of some lines of the story. */
const HEADINGS_CHARS = 140

function storyOptions(page: Page, now: number): Omit<StoryOptions, 'chars'> {
  return { told: page.lines, head: (turn) => headOf(turn, [], '', now, turn.at) }
}

/**
 * `more`: statements of the request that its beginning does not have. `above`: where the request may be quoted already.
 * `since`: time of the line before, whose day needs no mention.
 */
function headOf(turn: PastTurn, more: readonly Statement[], above: string, now: number, since = 0): string {
  const { at, request, isImported } = turn
  const quoted = request === null ? '' : quoteBegin(request, REQUEST_CHARS)
  const begin = quoted !== '' && above.includes(quoted) ? quoteBegin(request ?? '', KNOWN_REQUEST_CHARS) : quoted
  const when = `${momentAfter(at, since, now)}${isImported ? ', imported' : ''}`
  return `- ${[when, begin, ...more.map(({ text }) => quote(text))].filter((part) => part !== '').join(' ')}`
}

function storyLines(
  story: ReadonlyMap<PastTurn, Statement[]>,
  repeated: ReadonlyMap<PastTurn, readonly PastTurn[]>,
  page: Page,
  now: number,
): SourcedLine[] {
  let above = page.lines.join('\n')
  let since = 0
  return [...story].map(([turn, statements]) => {
    const ofKind = (kind: Statement['kind']) => statements.filter((one) => one.kind === kind)
    const head = headOf(turn, ofKind('request'), above, now, since)
    since = turn.at
    above += head
    const lines = [
      spokenText(statements.filter(({ kind }) => kind === 'earlier' || kind === 'report')),
      labelled('on the way', spokenText(ofKind('words'))),
      labelled('committed', spokenText(ofKind('commit'))),
    ]
    const text = [
      `${head}${repeatsOf(repeated.get(turn) ?? [], now)}`,
      ...lines.filter((line) => line !== '').map((line) => `  ${line}`),
    ].join('\n')
    return { text, from: sourceOf(turn) }
  })
}

/** What a program asks in many sessions is one line. */
function repeatsOf(turns: readonly PastTurn[], now: number): string {
  const oldest = turns.at(-1)
  return oldest === undefined
    ? ''
    : ` (begins like ${turns.length - 1} earlier requests since ${moment(oldest.at, now)})`
}

const labelled = (label: string, text: string): string => (text === '' ? '' : `${label}: ${text}`)

/** What was said in one quotation, with marks where something is left out; the statements of a note follow its number and speaker. */
function spokenText(statements: readonly Statement[]): string {
  let text = ''
  let last: Statement | undefined
  const quotations: string[] = []
  for (const one of statements) {
    if (last !== undefined && last.note !== one.note) {
      quotations.push(quotation(last.note, text))
      text = ''
      last = undefined
    }
    const join = last === undefined ? '' : one.order - last.order > 1 ? ' […] ' : one.isItem ? ' · ' : ' '
    text += join + quotable(one.text)
    last = one
  }
  if (last !== undefined) quotations.push(quotation(last.note, text))
  return quotations.join(' ')
}

const quotation = (note: string | null, text: string): string => `${note === null ? '' : `${note} `}“${text}”`

/** The text while it is put together. */
class Page {
  readonly #parts: readonly ContextPart[]
  readonly #sections: Section[] = []
  #left: number

  constructor(chars: number, parts: readonly ContextPart[]) {
    this.#left = chars
    this.#parts = parts
  }

  get left(): number {
    return this.#left
  }
  get lines(): string[] {
    return this.#sections.flatMap(({ lines }) => lines.map(({ text }) => text))
  }
  get isEmpty(): boolean {
    return this.#sections.length === 0
  }
  shows(part: ContextPart): boolean {
    return this.#parts.includes(part)
  }

  /** Keeps room for lines that are always there; false if there is none. */
  reserve(lines: readonly string[]): boolean {
    this.#left -= charsOf(lines)
    return this.#left >= 0
  }

  /** Whole lines in their order, up to `most` characters. */
  add(part: ContextPart, lines: readonly SourcedLine[], most: number, heading = HEADINGS[part] ?? ''): void {
    const room = Math.min(most, this.#left) - heading.length - 2
    let chars = 0
    const fits = lines.findIndex(({ text }) => {
      chars += text.length + 1
      return chars > room
    })
    const taken = fits === -1 ? lines : lines.slice(0, fits)
    if (!this.shows(part) || taken.length === 0) return
    const section = { part, lines: [...sourced(['', heading]), ...taken] }
    this.#left -= charsOfSection(section)
    this.#sections.push(section)
  }

  finish(frame: readonly string[], state: EndState | null): StartText {
    const order = (part: Section['part']) => this.#parts.indexOf(part as ContextPart)
    const sections = this.#sections.toSorted((a, b) => order(a.part) - order(b.part))
    const more: Section[] = this.shows('more') ? [{ part: 'more', lines: sourced(['', MORE_HINT]) }] : []
    const all = [...sections, ...more]
    const begin: Section = { part: 'frame', lines: sourced(frame.slice(0, -1)) }
    const end: Section = { part: 'frame', lines: sourced(frame.slice(-1)) }
    const lines = [begin, ...all, end].flatMap(({ part, lines }) => lines.map((line) => ({ part, ...line })))
    const parts = Object.fromEntries(all.map((section) => [section.part, tokensForChars(charsOfSection(section))]))
    return {
      text: lines.map(({ text }) => text).join('\n'),
      lines,
      state,
      parts: { frame: tokensForChars(charsOf(frame)), ...parts },
    }
  }
}

function charsOfSection({ lines }: Section): number {
  return charsOf(lines.map(({ text }) => text))
}

function charsOf(lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + line.length + 1, 0)
}
