/**
 * Selects what a starting session gets, within a token budget. Pure: the same memory on the same day gives the same
 * selection.
 *
 * The budget is spent in this order: the frame, pinned observations, the goal, the next steps, the state of checks and
 * commits, one line per earlier session; then statements of any kind, most useful first. The use of a statement is its
 * weight (whose words, what kind, how old) times what it says that no chosen line says, per character. So a line that
 * repeats others has no use, and a line that names much is better than one that names little. Of an observation the
 * first statement is chosen first; its further sentences and facts follow in the same line while they add something.
 *
 * So a small budget loses the least useful statements first, then earlier sessions, the state, the next steps, the goal
 * and pinned observations. Where not even the frame fits, there is no context.
 */
import { byline } from '../domain/authorship.ts'
import { CONTEXT_MESSAGES, type ContextPart, contextPartsOf } from '../domain/context-parts.ts'
import { formatDay } from '../domain/dates.ts'
import {
  CHARS_PER_TOKEN,
  isHandWritten,
  OBSERVATION_TYPES,
  type Observation,
  type ObservationType,
  type Summary,
} from '../domain/observation.ts'
import type { Passage } from '../domain/passage.ts'
import { plainText } from '../domain/plain-text.ts'
import type { Settings } from '../settings/settings.ts'
import type { ContextMaterial } from '../store/port.ts'
import { allCandidates, type Candidate, findLastSession, type LastSession, observationCandidate } from './candidates.ts'
import { frameSections, headingLines, observationTitle, SECTION_PARTS, type SectionPart } from './lines.ts'
import { earlierLines, goalLines, nextLines, stateLines } from './orientation.ts'
import { type OthersMemories, othersCandidate, othersMemories, ownMaterial } from './others.ts'
import { timeOf } from './state.ts'
import { informativeTerms } from './statements.ts'
import { spokenTurns } from './turns.ts'

/** Settings of the context. */
export type ContextSettings = ReturnType<typeof contextSettings>

export interface ContextOptions extends ContextSettings {
  /** Epoch ms. Only its date is visible in the text. */
  now: number
  /** The name of the reader in a team: memories with another author are other people's. Null or absent: there is no team. */
  me?: string | null
}

/**
 * Number of observations that are not in the text, by reason. Together with those in the text they are all of the
 * project.
 */
export interface OmittedCounts {
  /** Replaced by a newer one. */
  superseded: number
  /** Repeats another one, or says nothing that other lines do not say. */
  repeats: number
  /** The limit of rows was reached. */
  rows: number
  /** The token budget was used up. */
  budget: number
  /** The part that would show it is switched off. */
  parts: number
  /** Too old, or its type is switched off: it was not read. */
  unread: number
}

/** How many of each are in the text. `statements` are lines that are no observations. */
export interface ShownCounts {
  observations: number
  pinned: number
  statements: number
  /** Earlier sessions. */
  sessions: number
}

export interface ContextSelection {
  material: ContextMaterial
  options: ContextOptions
  /** Whether memories of other people were there to choose from. */
  hasOthers: boolean
  /** The lines of each section with its heading, in the order of the text. */
  sections: readonly { part: SectionPart; lines: readonly string[] }[]
  counts: ShownCounts
  leftOut: OmittedCounts
}

/** Most of the whole budget that each part gets before statements are chosen. */
const SHARES = { goal: 0.1, next: 0.15, state: 0.25, earlier: 0.12 } as const
/** Most of the remaining budget for the last session while there are statements of others: it does not displace them. */
const LAST_SESSION_SHARE = 0.75

/** Most of the whole budget for what other people have pinned. */
const OTHERS_PINNED_SHARE = 0.1
/** Most of the remaining budget, and of the rows, for statements of other people; all of it where there is nothing else. */
const OTHERS_SHARE = 0.3

type ContextSettingName = Extract<keyof Settings, `CLAUDE_MEM_CONTEXT_${string}`>

export function contextSettings(settings: Pick<Settings, ContextSettingName>) {
  const { CLAUDE_MEM_CONTEXT_PARTS: partNames, CLAUDE_MEM_CONTEXT_TYPES: typeNames } = settings
  const parts: readonly ContextPart[] = contextPartsOf(partNames)
  const types: readonly ObservationType[] = OBSERVATION_TYPES.filter((type) => typeNames.includes(type))
  return {
    /** Budget of the whole text, as `estimateTokens` counts. */
    tokens: settings.CLAUDE_MEM_CONTEXT_TOKENS,
    /** Most lines of observations, not counting pinned ones. */
    observations: settings.CLAUDE_MEM_CONTEXT_OBSERVATIONS,
    /** Most earlier sessions. */
    summaries: settings.CLAUDE_MEM_CONTEXT_SUMMARIES,
    parts,
    types,
    message: CONTEXT_MESSAGES.find((kind) => kind === settings.CLAUDE_MEM_CONTEXT_MESSAGE) ?? 'full',
  }
}

/** Null if nothing is known, or nothing fits into the budget. */
export function selectContext(given: ContextMaterial, options: ContextOptions): ContextSelection | null {
  const { me = null } = options
  const material = ownMaterial({ ...given, passages: [...given.passages].sort(newestPassageFirst) }, me)
  const others = othersMemories(given, me)
  const hasOthers = others.observations.length + others.pinned.length > 0
  const chars = options.tokens * CHARS_PER_TOKEN
  const last = findLastSession(material, me)
  // One character more: the last line has no line end.
  const page = new Page(chars + 1, options, last)
  const { above, below } = frameSections({ ...material, ...options, hasOthers })
  if (!page.take([...above, ...below].flatMap(({ lines }) => lines))) return null
  const pinned = choosePinned(material, options, page) + chooseOthersPinned(others, options, page)
  const turns = spokenTurns(material.passages)
  const before = { material, turns, last, now: options.now }
  page.addFirst('goal', goalLines(before), chars * SHARES.goal)
  page.addFirst('next', nextLines(before), chars * SHARES.next)
  page.addFirst('state', stateLines(before), chars * SHARES.state)
  page.addFirst('earlier', earlierLines(before).slice(0, options.summaries), chars * SHARES.earlier)
  const showsPinned = options.parts.includes('pinned')
  const unpinned = [...material.observations, ...(showsPinned ? [] : material.pinned)]
  const shown = showsPinned ? given.pinned : []
  const distinct = removeRepeats(unpinned, shown, material.repeats)
  const foreign = [...others.observations, ...(showsPinned ? [] : others.pinned)]
  const distinctOthers = removeRepeats(foreign, [...shown, ...distinct], material.repeats)
  const newest = [...given.observations, ...given.summaries].reduce((at, one) => Math.max(at, one.createdAt), 0)
  const omitted = page.addBest([
    ...allCandidates(material, distinct, turns, last, me),
    ...distinctOthers.map((one) => othersCandidate(one, { now: options.now, me, newest })),
  ])
  if (page.lines === 0) return null
  return {
    material,
    options,
    hasOthers,
    sections: page.sections(),
    counts: page.counts(pinned),
    leftOut: {
      ...omitted,
      superseded: material.superseded,
      repeats: omitted.repeats + unpinned.length - distinct.length + foreign.length - distinctOthers.length,
      budget: omitted.budget + (showsPinned ? given.pinned.length - pinned : 0),
      unread:
        given.totals.observations - given.observations.length - given.pinned.length - given.superseded + others.unused,
    },
  }
}

/** Within an event in their order. The same for any order in which they were loaded. */
function newestPassageFirst(a: Passage, b: Passage): number {
  return (
    b.at - a.at || (a.eventId < b.eventId ? -1 : a.eventId > b.eventId ? 1 : a.position - b.position || a.id - b.id)
  )
}

/** Returns how many fit. */
function choosePinned(material: ContextMaterial, options: ContextOptions, page: Page): number {
  if (!options.parts.includes('pinned')) return 0
  return material.pinned.filter((observation) => {
    const { text, more } = observationCandidate(observation, options.me ?? null)
    const isShown = page.addLine('pinned', `#${observation.id} ${text}`, observation.createdAt)
    if (isShown) for (const addition of more()) page.extendLast('pinned', addition)
    return isShown
  }).length
}

/** After one's own, each with its author, and bounded: somebody else's pins do not use up the budget. Returns how many fit. */
function chooseOthersPinned({ pinned }: OthersMemories, options: ContextOptions, page: Page): number {
  const { me = null, now, tokens, parts } = options
  if (!parts.includes('pinned')) return 0
  let left = tokens * CHARS_PER_TOKEN * OTHERS_PINNED_SHARE
  return pinned.filter((observation) => {
    const { text } = observationCandidate(observation, me)
    const by = byline(observation, observation.createdAt, now)
    const line = `#${observation.id} ${text}`
    if (line.length + by.length > left || !page.addLine('pinned', line, observation.createdAt, { by })) return false
    left -= line.length + by.length
    return true
  }).length
}

/** False for the summary of a turn in which nothing was done. */
export function hasOutcome({ learned, completed, nextSteps }: Summary): boolean {
  return [learned, completed, nextSteps].some((text) => plainText(text ?? '') !== '')
}

/** A line is left out if less than this part of what it says is new. */
const MIN_NEW_SHARE = 0.35
/** What a term is worth that this many lines have already. */
const REPEATED_TERM = [1, 0.2, 0.05]
/** Characters that a line costs besides its own: a few long lines read better than many short ones. */
const LINE_OVERHEAD_CHARS = 40

/** A longer line is not read to its end. */
const MAX_LINE_CHARS = 640

interface Waiting {
  candidate: Candidate
  /** Its value per character when it was last calculated; it never grows. */
  score: number
  /** A continuation of the line with this index; null for a line of its own. */
  of: { part: SectionPart; index: number } | null
  order: number
}

interface Line {
  text: string
  at: number
  order: number
  /** ` (by alice, Nov 16)`: behind everything that is added to the line. */
  end: string
}

/** The text while it is put together: its lines by section, the characters that are left, and what it says already. */
class Page {
  readonly #options: ContextOptions
  readonly #last: LastSession | null
  readonly #lines = new Map<SectionPart, Line[]>()
  readonly #said = new Map<string, number>()
  #left: number
  #order = 0
  /** Lines of observations, without pinned ones. */
  #rows = 0

  constructor(chars: number, options: ContextOptions, last: LastSession | null) {
    this.#left = chars
    this.#options = options
    this.#last = last
  }

  get lines(): number {
    return [...this.#lines.values()].reduce((sum, lines) => sum + lines.length, 0)
  }

  /** Takes the cost of all lines, each with its line end, or of none. */
  take(lines: readonly string[]): boolean {
    const cost = charsOfLines(lines)
    if (cost > this.#left) return false
    this.#left -= cost
    return true
  }

  /** False if the part is off, or the line does not fit. */
  addLine(part: SectionPart, text: string, at: number, { isObservation = false, by = '' } = {}): boolean {
    if (!this.#options.parts.includes(part)) return false
    const lines = this.#lines.get(part) ?? []
    const heading = lines.length === 0 ? this.#heading(part) : []
    const end = by === '' ? '' : ` (${by})`
    if (!this.take([...heading, `- ${text}${end}`])) return false
    this.#lines.set(part, [...lines, { text, at, end, order: this.#order++ }])
    if (isObservation) this.#rows++
    this.#say(informativeTerms(text))
    return true
  }

  /** Adds a text to a line, if it fits. */
  #extend(line: Line, text: string, terms: ReadonlyMap<string, number>): boolean {
    if (line.text.length + text.length > MAX_LINE_CHARS) return false
    const longer = /[.!?…”]$/.test(line.text) ? `${line.text} ${text}` : `${line.text}; ${text}`
    if (longer.length - line.text.length > this.#left) return false
    this.#left -= longer.length - line.text.length
    line.text = longer
    this.#say(terms)
    return true
  }

  /** Everything that belongs to the last line of a part, as far as it fits. */
  extendLast(part: SectionPart, text: string): void {
    const line = this.#lines.get(part)?.at(-1)
    if (line !== undefined && !line.text.includes(text)) this.#extend(line, text, informativeTerms(text))
  }

  /** Lines in their order until one does not fit into `chars` or into what is left. */
  addFirst(part: SectionPart, lines: readonly { text: string; at: number }[], chars: number): void {
    let spent = 0
    for (const { text, at } of lines) {
      spent += text.length
      if (spent > chars || !this.addLine(part, text, at)) return
    }
  }

  /** The most useful ones that fit. Returns the number of observations that were left out, by reason. */
  addBest(candidates: readonly Candidate[]): Pick<OmittedCounts, 'rows' | 'budget' | 'parts' | 'repeats'> {
    const omitted = { rows: 0, budget: 0, parts: 0, repeats: 0 }
    const omit = ({ candidate, of }: Pick<Waiting, 'candidate' | 'of'>, reason: keyof typeof omitted) => {
      if (candidate.observation !== null && of === null) omitted[reason]++
    }
    const isOn = ({ part }: Candidate) => this.#options.parts.includes(part)
    for (const candidate of candidates) if (!isOn(candidate)) omit({ candidate, of: null }, 'parts')
    const shown = candidates.filter(isOn).sort(newestFirst)
    const queue = new WaitingQueue(shown.map((one) => this.#waiting(one, null)))
    const isOfLast = ({ session }: Candidate) => session === this.#last?.session
    const share = shown.every(isOfLast) ? 1 : LAST_SESSION_SHARE
    const ofLast = { chars: this.#left * share, rows: this.#options.observations * share }
    const isOthers = ({ by = '' }: Candidate) => by !== ''
    const othersShare = shown.every(isOthers) ? 1 : OTHERS_SHARE
    const ofOthers = { chars: this.#left * othersShare, rows: Math.ceil(this.#options.observations * othersShare) }
    const deferred: Waiting[] = []
    for (let next = queue.take(); next !== null; next = queue.take() ?? deferred.shift() ?? null) {
      const { candidate, of } = next
      const score = this.#score(next)
      const before = { left: this.#left, rows: this.#rows }
      const isOver = isOfLast(candidate) && (candidate.text.length > ofLast.chars || ofLast.rows < 1)
      if (score === 0) omit(next, 'repeats')
      else if (queue.hasBetter(score)) queue.add({ ...next, score })
      else if (candidate.observation !== null && of === null && this.#rows >= this.#options.observations)
        omit(next, 'rows')
      else if (isOthers(candidate) && (candidate.text.length > ofOthers.chars || ofOthers.rows < 1))
        omit(next, 'budget')
      else if (isOver && !queue.isEmpty) deferred.push(next)
      else if (!this.#place(next)) omit(next, 'budget')
      else if (of === null) for (const one of this.#continuations(next)) queue.add(one)
      const spent = isOfLast(candidate) ? ofLast : isOthers(candidate) ? ofOthers : null
      if (spent === null) continue
      spent.chars -= before.left - this.#left
      spent.rows -= this.#rows - before.rows
    }
    return omitted
  }

  #place({ candidate, of }: Waiting): boolean {
    const { part, text, terms, at, observation, by = '' } = candidate
    if (of !== null) {
      const line = this.#lines.get(part)?.[of.index]
      return line !== undefined && this.#extend(line, text, terms)
    }
    return this.addLine(part, this.#shownText(candidate), at, { isObservation: observation !== null, by })
  }

  /** With its id, and with its day if it is not of the last session. */
  #shownText({ text, observation, at, by = '' }: Candidate): string {
    const { now } = this.#options
    const id = observation === null ? '' : `#${observation.id} `
    // The day of somebody else's is behind the author.
    if (by !== '') return `${id}${text}`
    const day = formatDay(at, now)
    return `${id}${text}${this.#last === null || day === formatDay(this.#last.to, now) ? '' : ` (${day})`}`
  }

  #continuations({ candidate }: Waiting): Waiting[] {
    const { part, more } = candidate
    const index = (this.#lines.get(part)?.length ?? 0) - 1
    return more().map((text) => this.#waiting({ ...candidate, text, terms: informativeTerms(text) }, { part, index }))
  }

  #waiting(candidate: Candidate, of: Waiting['of']): Waiting {
    const waiting = { candidate, of, order: this.#order++, score: 0 }
    return { ...waiting, score: this.#score(waiting) }
  }

  /** 0 if it says hardly anything that is not said yet. */
  #score({ candidate, of }: Waiting): number {
    const { terms } = candidate
    // Two notes that somebody wrote may differ in one word, which is why both were written.
    const mayRepeat = of === null && candidate.by === undefined && isHandWritten(candidate)
    if (!mayRepeat && terms.size > 0 && this.#newShare(terms) < MIN_NEW_SHARE) return 0
    const value = [...terms].reduce((sum, [term, weight]) => sum + weight * (mayRepeat ? 1 : this.#worth(term)), 0)
    const chars = candidate.text.length + (of === null ? LINE_OVERHEAD_CHARS : 0)
    return (candidate.weight * Math.max(value, MIN_VALUE) ** DENSITY) / chars
  }

  #worth(term: string): number {
    return REPEATED_TERM[this.#said.get(term) ?? 0] ?? 0
  }

  #newShare(terms: ReadonlyMap<string, number>): number {
    let all = 0
    let unsaid = 0
    for (const [term, weight] of terms) {
      all += weight
      if (!this.#said.has(term)) unsaid += weight
    }
    return all === 0 ? 0 : unsaid / all
  }

  #say(terms: ReadonlyMap<string, number>): void {
    for (const term of terms.keys()) this.#said.set(term, (this.#said.get(term) ?? 0) + 1)
  }

  #heading(part: SectionPart): string[] {
    return headingLines(part, part === 'state' && this.#last !== null ? timeOf(this.#last.to, this.#options.now) : '')
  }

  sections(): { part: SectionPart; lines: string[] }[] {
    return SECTION_PARTS.flatMap((part) => {
      const lines = this.#lines.get(part) ?? []
      if (lines.length === 0) return []
      return [
        { part, lines: [...this.#heading(part), ...inOrder(part, lines).map(({ text, end }) => `- ${text}${end}`)] },
      ]
    })
  }

  counts(pinned: number): ShownCounts {
    const observations = this.#rows
    const sessions = this.#lines.get('earlier')?.length ?? 0
    return { observations, pinned, sessions, statements: this.lines - observations - pinned - sessions }
  }
}

/** Lines that orient keep their order; statements are newest first. */
function inOrder(part: SectionPart, lines: readonly Line[]): readonly Line[] {
  if (part === 'pinned' || part === 'goal' || part === 'next' || part === 'state' || part === 'earlier') return lines
  return [...lines].sort((a, b) => b.at - a.at || a.order - b.order)
}

/** Below 1: a list of thirty names is not thrice as useful as one of ten. */
const DENSITY = 0.85
/** Of a text without any informative word: it is shown last. */
const MIN_VALUE = 0.1

/** Best first. */
class WaitingQueue {
  readonly #sorted: Waiting[]

  constructor(waiting: readonly Waiting[]) {
    this.#sorted = [...waiting].sort(worstFirst)
  }

  get isEmpty(): boolean {
    return this.#sorted.length === 0
  }

  take(): Waiting | null {
    return this.#sorted.pop() ?? null
  }

  hasBetter(score: number): boolean {
    return (this.#sorted.at(-1)?.score ?? Number.NEGATIVE_INFINITY) > score
  }

  add(one: Waiting): void {
    let [from, to] = [0, this.#sorted.length]
    while (from < to) {
      const middle = (from + to) >> 1
      const other = this.#sorted[middle]
      if (other !== undefined && worstFirst(other, one) < 0) from = middle + 1
      else to = middle
    }
    this.#sorted.splice(from, 0, one)
  }
}

function worstFirst(a: Waiting, b: Waiting): number {
  return a.score - b.score || b.order - a.order
}

function newestFirst(a: Candidate, b: Candidate): number {
  return (
    b.at - a.at ||
    (b.observation?.id ?? 0) - (a.observation?.id ?? 0) ||
    (a.session < b.session ? -1 : a.session > b.session ? 1 : 0) ||
    (a.text < b.text ? -1 : a.text > b.text ? 1 : 0)
  )
}

/**
 * Removes repetitions: observations that search linked as such, and those with the same type and title. The newest one
 * stays, unless `shown` already contains one of them.
 */
function removeRepeats(
  observations: readonly Observation[],
  shown: readonly Observation[],
  repeats: readonly { from: number; to: number }[],
): Observation[] {
  const groupId = repetitionGroups(repeats)
  const seen = new Set<string>()
  const isFirst = (observation: Observation): boolean => {
    const { type, narrative } = observation
    const title = `${type}\n${observationTitle(observation).toLowerCase()}\n${plainText(narrative ?? '').toLowerCase()}`
    const repetition = `${groupId(observation.id)}`
    const isKnown = seen.has(title) || seen.has(repetition)
    seen.add(title).add(repetition)
    return !isKnown
  }
  for (const observation of shown) isFirst(observation)
  return [...observations].sort((a, b) => b.createdAt - a.createdAt || b.id - a.id).filter(isFirst)
}

/** Observations that repeat each other, directly or through others, get the same id (union-find). */
function repetitionGroups(repeats: readonly { from: number; to: number }[]): (id: number) => number {
  const parents = new Map<number, number>()
  const root = (id: number): number => {
    let at = id
    for (let parent = parents.get(at); parent !== undefined; parent = parents.get(at)) at = parent
    return at
  }
  for (const { from, to } of repeats) {
    const [one, other] = [root(from), root(to)]
    if (one !== other) parents.set(one, other)
  }
  return root
}

export function charsOfLines(lines: readonly string[]): number {
  return lines.reduce((sum, text) => sum + text.length + 1, 0)
}
