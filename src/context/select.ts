/**
 * What a starting session gets to know, under a budget of tokens. Pure: the same memory and the same `now` give the
 * same selection.
 *
 * The frame and what the last turns came to are first. Then rows, most useful first: what kind of thing it is, how long ago,
 * and how much of its session is in already, so that one long session does not crowd out the others. A part of the
 * room is kept for details: the facts of the best rows, which spare the next session from finding them again. What
 * is left after that goes to further rows.
 */
import type { Observation, ObservationType, Summary } from '../memory/observation.ts'
import type { ProjectRow } from '../store/port.ts'
import {
  CLOSE,
  dayLine,
  detailLine,
  EARLIER,
  earlierLine,
  groupOf,
  legendLine,
  MORE,
  OPEN,
  rowLine,
  summaryLines,
  titleLine,
  titleOf,
} from './lines.ts'
import { plain } from './text.ts'
import { dayOf } from './times.ts'

/** What there is to choose from, newest first. */
export interface ContextMaterial {
  project: ProjectRow
  observations: readonly Observation[]
  summaries: readonly Summary[]
}

export interface ContextEntry {
  day: string
  /** The file it is filed under. */
  group: string
  observation: Observation
  row: string
  detail: string | null
}

export interface ContextSelection {
  head: readonly string[]
  summary: readonly string[]
  /** Newest first. */
  entries: readonly ContextEntry[]
  foot: readonly string[]
}

export interface ContextOptions {
  /** Tokens of the whole text, as `estimateTokens` counts them. */
  tokens: number
  now: number
}

/** As `estimateTokens` counts. */
const CHARS_PER_TOKEN = 4
const WEIGHTS: Record<ObservationType, number> = {
  decision: 4,
  bugfix: 4,
  feature: 3,
  refactor: 3,
  discovery: 2,
  change: 1,
}
const DAY_MS = 86_400_000
/** Age at which an observation counts half, in days. */
const HALF_AFTER_DAYS = 7
/** So many observations of a session count in full; as many more halve the weight of the next. */
const SESSION_SHARE = 3
/** Parts of all the room that the last turn and those before it may take. */
const SUMMARY_PART = 0.3
const EARLIER_PART = 0.15
const MOST_EARLIER = 3
/** Part of what is left then that rows take before details. */
const ROWS_PART = 0.6
const MOST_DETAILS = 12

/** Null where nothing is known, or nothing fits. */
export function selectContext(material: ContextMaterial, { tokens, now }: ContextOptions): ContextSelection | null {
  const head = [OPEN, titleLine(material.project, now), legendLine()]
  const foot = ['', MORE, CLOSE]
  // The last line has no line end.
  const room = new Room(tokens * CHARS_PER_TOKEN + 1)
  if (!room.take([...head, ...foot])) return null
  const summary = chooseSummaries(material.summaries, tokens * CHARS_PER_TOKEN, room)
  const entries = chooseEntries(material, room)
  return entries.length === 0 && summary.length === 0 ? null : { head, summary, entries, foot }
}

class Room {
  left: number

  constructor(chars: number) {
    this.left = chars
  }

  take(lines: readonly string[], reserve = 0): boolean {
    const cost = lines.reduce((sum, text) => sum + text.length + 1, 0)
    if (cost > this.left - reserve) return false
    this.left -= cost
    return true
  }
}

/**
 * The newest summary that says what came of its turn, and those before it in a line each: a turn of pleasantries does
 * not hide the work before it.
 */
function chooseSummaries(summaries: readonly Summary[], chars: number, room: Room): string[] {
  const telling = summaries.filter(
    ({ learned, completed, nextSteps }) => plain(`${learned ?? ''}${completed ?? ''}${nextSteps ?? ''}`) !== '',
  )
  const [last = summaries[0], ...before] = telling
  if (last === undefined) return []
  const earlier = ['', EARLIER, ...before.slice(0, MOST_EARLIER).map(earlierLine)]
  while (earlier.join('\n').length > chars * EARLIER_PART) earlier.pop()
  const lines = summaryLines(last, chars * SUMMARY_PART)
  if (lines.length === 0 || !room.take(lines)) return []
  return earlier.length > 2 && room.take(earlier) ? [...lines, ...earlier] : lines
}

function chooseEntries({ observations, project }: ContextMaterial, room: Room): ContextEntry[] {
  const candidates = mostUsefulFirst(
    observations.map((observation) => ({
      day: dayOf(observation.createdAt),
      group: groupOf(observation, project),
      observation,
      row: rowLine(observation),
      detail: null,
    })),
  )
  const chosen: ContextEntry[] = []
  const headings = new Set<string>()
  const add = (entry: ContextEntry, reserve: number): boolean => {
    const group = `${entry.day}\n${entry.group}`
    const lines = [entry.row]
    if (!headings.has(entry.day)) lines.push('', dayLine(entry.day))
    if (!headings.has(group)) lines.push(entry.group)
    if (!room.take(lines, reserve)) return false
    headings.add(entry.day).add(group)
    chosen.push(entry)
    return true
  }
  const reserve = Math.floor(room.left * (1 - ROWS_PART))
  const firstLeft = candidates.findIndex((entry) => !add(entry, reserve))
  const detailed = withDetails(chosen, room)
  if (firstLeft !== -1) for (const entry of candidates.slice(firstLeft)) add(entry, 0)
  return [...detailed, ...chosen.slice(detailed.length)].sort(newestFirst)
}

function withDetails(chosen: readonly ContextEntry[], room: Room): ContextEntry[] {
  let details = 0
  return chosen.map((entry) => {
    const detail = details < MOST_DETAILS ? detailLine(entry.observation) : null
    if (detail === null || !room.take([detail])) return entry
    details++
    return { ...entry, detail }
  })
}

function mostUsefulFirst(entries: readonly ContextEntry[]): ContextEntry[] {
  const newest = Math.max(...entries.map(({ observation }) => observation.createdAt))
  const scored = withoutRepeats([...entries].sort(newestFirst))
    .map((entry) => ({ entry, score: worth(entry.observation, newest) }))
    .sort((a, b) => b.score - a.score)
  const seen = new Map<string, number>()
  return scored
    .map(({ entry, score }) => {
      const before = seen.get(entry.observation.session) ?? 0
      seen.set(entry.observation.session, before + 1)
      return { entry, score: score / (1 + Math.floor(before / SESSION_SHARE)) }
    })
    .sort((a, b) => b.score - a.score || newestFirst(a.entry, b.entry))
    .map(({ entry }) => entry)
}

/** Measured from the newest memory, not from now: after a holiday the last day of work is as near as ever. */
function worth({ type, createdAt }: Observation, newest: number): number {
  return WEIGHTS[type] / (1 + (newest - createdAt) / DAY_MS / HALF_AFTER_DAYS)
}

/** The same said again about the same file: the newest counts. */
function withoutRepeats(entries: readonly ContextEntry[]): ContextEntry[] {
  const said = new Set<string>()
  return entries.filter(({ observation, group }) => {
    const key = `${observation.type}\n${group}\n${titleOf(observation).toLowerCase()}`
    return !said.has(key) && said.add(key)
  })
}

function newestFirst(a: ContextEntry, b: ContextEntry): number {
  return b.observation.createdAt - a.observation.createdAt || b.observation.id - a.observation.id
}
