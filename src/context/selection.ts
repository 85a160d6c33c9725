/**
 * Selects what a starting session gets, within a token budget. Pure: the same memory on the same day gives the same
 * selection.
 *
 * The budget is spent in this order: the frame, pinned observations, summaries of the last turns, then rows, most
 * useful first. Usefulness depends on type, age and how many rows its session already has, so that one long session
 * does not displace the others. A share is reserved for details: the facts of the best rows, which the next session
 * then need not find again. What remains goes to more rows.
 *
 * So a small budget loses in this order: the least useful rows, details, the oldest of the earlier turns, the last
 * summary, pinned observations. Where not even the frame fits, there is no context.
 */
import { CONTEXT_MESSAGES, CONTEXT_PARTS, type ContextPart } from '../domain/context-parts.ts'
import { DAY_MS, formatDay } from '../domain/dates.ts'
import {
  CHARS_PER_TOKEN,
  OBSERVATION_TYPES,
  type Observation,
  type ObservationType,
  type Summary,
} from '../domain/observation.ts'
import { plainText } from '../domain/plain-text.ts'
import type { Speaker } from '../domain/speaker.ts'
import type { Settings } from '../settings/settings.ts'
import type { ContextMaterial } from '../store/port.ts'
import {
  dayLine,
  detailLine,
  EARLIER_TURNS_HEADING,
  earlierLine,
  fileGroup,
  frameSections,
  observationTitle,
  PINNED_HEADING,
  pinnedLine,
  rowLine,
  summaryLines,
} from './lines.ts'

/** Settings of the context. */
export type ContextSettings = ReturnType<typeof contextSettings>

export interface ContextOptions extends ContextSettings {
  /** Epoch ms. Only its date is visible in the text. */
  now: number
}

/** An observation with the lines that show it. */
export interface ContextEntry {
  day: string
  /** The file that it is listed under. */
  group: string
  observation: Observation
  row: string
  detail: string | null
}

/**
 * Number of observations that are not in the text, by reason. Together with those in the text they are all of the
 * project.
 */
export interface OmittedCounts {
  /** Replaced by a newer one. */
  superseded: number
  /** Repeats another one. */
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

export interface ContextSelection {
  material: ContextMaterial
  options: ContextOptions
  /** Most recently pinned first. */
  pinned: readonly ContextEntry[]
  /** Lines about the last turn. */
  summary: readonly string[]
  /** Lines about the turns before it. */
  earlier: readonly string[]
  /** Newest first. */
  entries: readonly ContextEntry[]
  leftOut: OmittedCounts
}

/** Shares of the whole budget for the last turn and for the turns before it. */
const SUMMARY_SHARE = 0.3
const EARLIER_SHARE = 0.15
/** Share of the remaining budget that rows get before details. */
const ROWS_SHARE = 0.6
const MAX_DETAILS = 12
/** A token count whose text is as long as any that can be shown. */
const LONGEST_COST = 9_900

type ContextSettingName = Extract<keyof Settings, `CLAUDE_MEM_CONTEXT_${string}`>

export function contextSettings(settings: Pick<Settings, ContextSettingName>) {
  const { CLAUDE_MEM_CONTEXT_PARTS: partNames, CLAUDE_MEM_CONTEXT_TYPES: typeNames } = settings
  const parts: readonly ContextPart[] = CONTEXT_PARTS.filter((part) => partNames.includes(part))
  const types: readonly ObservationType[] = OBSERVATION_TYPES.filter((type) => typeNames.includes(type))
  return {
    /** Budget of the whole text, as `estimateTokens` counts. */
    tokens: settings.CLAUDE_MEM_CONTEXT_TOKENS,
    /** Most rows, not counting pinned ones. */
    observations: settings.CLAUDE_MEM_CONTEXT_OBSERVATIONS,
    /** Most turns before the last one. */
    summaries: settings.CLAUDE_MEM_CONTEXT_SUMMARIES,
    parts,
    types,
    message: CONTEXT_MESSAGES.find((kind) => kind === settings.CLAUDE_MEM_CONTEXT_MESSAGE) ?? 'full',
  }
}

/** Null if nothing is known, or nothing fits into the budget. */
export function selectContext(material: ContextMaterial, options: ContextOptions): ContextSelection | null {
  const chars = options.tokens * CHARS_PER_TOKEN
  // One character more: the last line has no line end.
  const budget = new CharBudget(chars + 1)
  // The frame with its longest texts: the real ones are only known after the selection.
  const { above, below } = frameSections({
    ...material,
    ...options,
    types: OBSERVATION_TYPES,
    hasPinned: true,
    cost: LONGEST_COST,
  })
  if (!budget.take([...above, ...below].flatMap(({ lines }) => lines))) return null
  const pinned = choosePinned(material, options, budget)
  const { summary, earlier } = chooseSummaries(material.summaries, chars, options, budget)
  const rows = chooseRows(material, pinned, options, budget)
  if (pinned.length + rows.entries.length + summary.length + earlier.length === 0) return null
  return { material, options, summary, earlier, ...rows }
}

function choosePinned(material: ContextMaterial, options: ContextOptions, budget: CharBudget): ContextEntry[] {
  if (!options.parts.includes('pinned')) return []
  const chosen: ContextEntry[] = []
  for (const observation of material.pinned) {
    const entry = { ...toContextEntry(observation, material, options), row: pinnedLine(observation, options.now) }
    if (budget.take(chosen.length === 0 ? ['', PINNED_HEADING, entry.row] : [entry.row])) chosen.push(entry)
  }
  return chosen
}

/** The newest summary with an outcome (or, if none has one, the newest), and one line for each one before it that has one. */
function chooseSummaries(
  summaries: readonly Summary[],
  chars: number,
  options: ContextOptions,
  budget: CharBudget,
): { summary: string[]; earlier: string[] } {
  const withOutcome = summaries.filter(hasOutcome)
  const [last = summaries[0], ...before] = withOutcome
  if (last === undefined) return { summary: [], earlier: [] }
  const showsLast = options.parts.includes('summary')
  const lines = showsLast ? summaryLines(last, chars * SUMMARY_SHARE, options.now) : []
  const summary = budget.take(lines) ? lines : []
  if (!options.parts.includes('earlier') || (showsLast && summary.length === 0)) return { summary, earlier: [] }
  const listed = (showsLast ? before : withOutcome).slice(0, options.summaries)
  const earlier = ['', EARLIER_TURNS_HEADING, ...listed.map((one) => earlierLine(one, options.now))]
  while (earlier.join('\n').length > chars * EARLIER_SHARE) earlier.pop()
  return { summary, earlier: earlier.length > 2 && budget.take(earlier) ? earlier : [] }
}

/** False for the summary of a turn in which nothing was done. */
export function hasOutcome({ learned, completed, nextSteps }: Summary): boolean {
  return [learned, completed, nextSteps].some((text) => plainText(text ?? '') !== '')
}

type ChosenRows = Pick<ContextSelection, 'pinned' | 'entries' | 'leftOut'>

function chooseRows(
  material: ContextMaterial,
  pinned: readonly ContextEntry[],
  options: ContextOptions,
  budget: CharBudget,
): ChosenRows {
  const { observations, pinned: allPinned, superseded, repeats, totals } = material
  const showsTimeline = options.parts.includes('timeline')
  const showsDetails = options.parts.includes('details')
  const showsPinned = options.parts.includes('pinned')
  const unpinned = [...observations, ...(showsPinned ? [] : allPinned)]
  const all = unpinned.map((observation) => toContextEntry(observation, material, options))
  const candidates = sortByUsefulness(removeRepeats(all, pinned, repeats))
  const rows = new RowSelection(budget, showsTimeline ? options.observations : 0)
  // First pass: the best rows without the share of the details. Second pass, after the details: rows in what is left.
  const reserve = showsDetails ? Math.floor(budget.left * (1 - ROWS_SHARE)) : 0
  const firstOmitted = candidates.findIndex((entry) => !rows.add(entry, reserve))
  const detailed = showsDetails ? addDetails([...pinned, ...rows.chosen], pinned.length, budget) : []
  if (firstOmitted !== -1) for (const entry of candidates.slice(firstOmitted)) rows.add(entry, 0)
  const entries = [...pinned, ...rows.chosen].map((entry, i) => detailed[i] ?? entry)
  const omitted = candidates.length - rows.chosen.length
  return {
    pinned: entries.slice(0, pinned.length),
    entries: entries.slice(pinned.length).sort(newestFirst),
    leftOut: {
      superseded,
      repeats: all.length - candidates.length,
      rows: rows.isFull && showsTimeline ? omitted : 0,
      budget: (rows.isFull ? 0 : omitted) + (showsPinned ? allPinned.length - pinned.length : 0),
      parts: showsTimeline ? 0 : omitted,
      unread: totals.observations - observations.length - allPinned.length - superseded,
    },
  }
}

/** Rows of the timeline, with the cost of the headings that they need. */
class RowSelection {
  readonly chosen: ContextEntry[] = []
  readonly #budget: CharBudget
  readonly #maxRows: number
  readonly #headings = new Set<string>()

  constructor(budget: CharBudget, maxRows: number) {
    this.#budget = budget
    this.#maxRows = maxRows
  }

  get isFull(): boolean {
    return this.chosen.length >= this.#maxRows
  }

  /** False if the row does not fit. `reserve`: characters that must remain. */
  add(entry: ContextEntry, reserve: number): boolean {
    const group = `${entry.day}\n${entry.group}`
    const lines = [entry.row]
    if (!this.#headings.has(entry.day)) lines.push('', dayLine(entry.day))
    if (!this.#headings.has(group)) lines.push(entry.group)
    if (this.isFull || !this.#budget.take(lines, reserve)) return false
    this.#headings.add(entry.day).add(group)
    this.chosen.push(entry)
    return true
  }
}

/** The first `pinned` entries get their details first and do not count towards `MAX_DETAILS`. */
function addDetails(entries: readonly ContextEntry[], pinned: number, budget: CharBudget): ContextEntry[] {
  let count = 0
  return entries.map((entry, i) => {
    const detail = i < pinned || count < MAX_DETAILS ? detailLine(entry.observation) : null
    if (detail === null || !budget.take([detail])) return entry
    if (i >= pinned) count++
    return { ...entry, detail }
  })
}

function toContextEntry(observation: Observation, { project }: ContextMaterial, { now }: ContextOptions): ContextEntry {
  return {
    day: formatDay(observation.createdAt, now),
    group: fileGroup(observation, project),
    observation,
    row: rowLine(observation),
    detail: null,
  }
}

const TYPE_WEIGHTS: Record<ObservationType, number> = {
  decision: 4,
  bugfix: 4,
  feature: 3,
  refactor: 3,
  discovery: 2,
  change: 1,
}
/** What the user said counts most, a page least: anybody may have written it. */
const SPEAKER_WEIGHTS: Record<Speaker, number> = { person: 1.5, agent: 1, tool: 0.8, web: 0.6 }
/** Age at which the weight of an observation is halved, in days. */
const HALF_LIFE_DAYS = 7
/** Rows of one session with full weight. The next as many have half of it, then a third, and so on. */
const FULL_WEIGHT_ROWS = 3

function sortByUsefulness(entries: readonly ContextEntry[]): ContextEntry[] {
  const newest = entries.reduce((at, { observation }) => Math.max(at, observation.createdAt), 0)
  const scored = [...entries]
    .sort(newestFirst)
    .map((entry) => ({ entry, score: usefulness(entry.observation, newest) }))
    .sort((a, b) => b.score - a.score)
  const rowsPerSession = new Map<string, number>()
  return scored
    .map(({ entry, score }) => {
      const before = rowsPerSession.get(entry.observation.session) ?? 0
      rowsPerSession.set(entry.observation.session, before + 1)
      return { entry, score: score / (1 + Math.floor(before / FULL_WEIGHT_ROWS)) }
    })
    .sort((a, b) => b.score - a.score || newestFirst(a.entry, b.entry))
    .map(({ entry }) => entry)
}

/**
 * The age is relative to the newest observation, not to now: after a holiday the last working day still counts fully.
 */
function usefulness({ type, saidBy, createdAt }: Observation, newest: number): number {
  return (
    (TYPE_WEIGHTS[type] * SPEAKER_WEIGHTS[saidBy ?? 'agent']) / (1 + (newest - createdAt) / DAY_MS / HALF_LIFE_DAYS)
  )
}

/**
 * Removes repetitions: entries that search linked as such, and entries with the same title about the same file. The
 * newest one stays, unless `shown` already contains one of them.
 */
function removeRepeats(
  entries: readonly ContextEntry[],
  shown: readonly ContextEntry[],
  repeats: readonly { from: number; to: number }[],
): ContextEntry[] {
  const groupId = repetitionGroups(repeats)
  const seen = new Set<string>()
  const isFirst = ({ observation, group }: ContextEntry): boolean => {
    const title = `${observation.type}\n${group}\n${observationTitle(observation).toLowerCase()}`
    const repetition = `${groupId(observation.id)}`
    const isKnown = seen.has(title) || seen.has(repetition)
    seen.add(title).add(repetition)
    return !isKnown
  }
  for (const entry of shown) isFirst(entry)
  return [...entries].sort(newestFirst).filter(isFirst)
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

function newestFirst(a: ContextEntry, b: ContextEntry): number {
  return b.observation.createdAt - a.observation.createdAt || b.observation.id - a.observation.id
}

/** Characters that are left for lines, each with its line end. */
class CharBudget {
  left: number

  constructor(chars: number) {
    this.left = chars
  }

  /** Takes the cost of all lines, or of none if less than `reserve` would remain. */
  take(lines: readonly string[], reserve = 0): boolean {
    const cost = charsOfLines(lines)
    if (cost > this.left - reserve) return false
    this.left -= cost
    return true
  }
}

export function charsOfLines(lines: readonly string[]): number {
  return lines.reduce((sum, text) => sum + text.length + 1, 0)
}
