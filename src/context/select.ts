/**
 * What a starting session gets to know, under a budget of tokens. Pure: the same memory and the same day give the
 * same selection.
 *
 * The frame is first, then what people pinned, then what the last turns came to. Then rows, most useful first: what kind
 * of thing it is, how long ago, and how much of its session is in already, so that one long session does not crowd out
 * the others. A part of the room is kept for details: the facts of the best rows, which spare the next session from
 * finding them again. What is left after that goes to further rows.
 */
import type { ContextPart } from '../memory/context-parts.ts'
import { OBSERVATION_TYPES, type Observation, type Summary } from '../memory/observation.ts'
import type { ContextMaterial } from '../store/context-port.ts'
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
  PINNED,
  pinnedLine,
  rowLine,
  summaryLines,
  titleLine,
  totalsLine,
} from './lines.ts'
import type { ContextOptions } from './options.ts'
import { type ContextEntry, mostUsefulFirst, newestFirst, withoutRepeats } from './rank.ts'
import { Room } from './room.ts'
import { plain } from './text.ts'
import { dayIn } from './times.ts'

export type { ContextEntry } from './rank.ts'

/** Observations that are not in the text, by the reason. With those that are, they are all of the project. */
export interface LeftOut {
  /** A newer one replaces them. */
  superseded: number
  /** They say what another one says. */
  repeats: number
  /** There are as many rows as there may be. */
  rows: number
  /** The tokens are used up. */
  budget: number
  /** The part that would show them is left out. */
  parts: number
  /** Too old, or of a type that is left out: they were not looked at. */
  unread: number
}

export interface ContextSelection {
  material: ContextMaterial
  options: ContextOptions
  /** The one that was pinned last first. */
  pinned: readonly ContextEntry[]
  /** Lines about the last turn, and about those before it. */
  summary: readonly string[]
  earlier: readonly string[]
  /** Newest first. */
  entries: readonly ContextEntry[]
  leftOut: LeftOut
}

/** As `estimateTokens` counts. */
const CHARS_PER_TOKEN = 4
/** Parts of all the room that the last turn and those before it may take. */
const SUMMARY_PART = 0.3
const EARLIER_PART = 0.15
/** Part of what is left then that rows take before details. */
const ROWS_PART = 0.6
const MOST_DETAILS = 12
/** No cost is written with more characters than this one. */
const WIDEST_COST = 9_900

/** Null where nothing is known, or nothing fits. */
export function selectContext(material: ContextMaterial, options: ContextOptions): ContextSelection | null {
  const chars = options.tokens * CHARS_PER_TOKEN
  // The last line has no line end.
  const room = new Room(chars + 1)
  if (!room.take(frameOf(material, options))) return null
  const pinned = choosePinned(material, options, room)
  const { summary, earlier } = chooseSummaries(material.summaries, chars, options, room)
  const rows = chooseRows(material, pinned, options, room)
  if (pinned.length + rows.entries.length + summary.length + earlier.length === 0) return null
  return { material, options, summary, earlier, ...rows }
}

export function shows({ parts }: Pick<ContextOptions, 'parts'>, part: ContextPart): boolean {
  return parts.includes(part)
}

/** At its longest. */
function frameOf({ project, totals }: ContextMaterial, options: ContextOptions): string[] {
  return [
    OPEN,
    titleLine(project, options.now),
    ...(shows(options, 'legend') ? [legendLine(OBSERVATION_TYPES, true)] : []),
    ...(shows(options, 'totals') ? [totalsLine(totals, options.now, WIDEST_COST)] : []),
    ...(shows(options, 'more') ? ['', MORE] : []),
    CLOSE,
  ]
}

function choosePinned(material: ContextMaterial, options: ContextOptions, room: Room): ContextEntry[] {
  if (!shows(options, 'pinned')) return []
  const chosen: ContextEntry[] = []
  for (const observation of material.pinned) {
    const entry = { ...entryOf(observation, material, options), row: pinnedLine(observation, options.now) }
    if (room.take(chosen.length === 0 ? ['', PINNED, entry.row] : [entry.row])) chosen.push(entry)
  }
  return chosen
}

/**
 * The newest summary that says what came of its turn, and those before it in a line each: a turn of pleasantries does
 * not hide the work before it.
 */
function chooseSummaries(
  summaries: readonly Summary[],
  chars: number,
  options: ContextOptions,
  room: Room,
): { summary: string[]; earlier: string[] } {
  const telling = summaries.filter(
    ({ learned, completed, nextSteps }) => plain(`${learned ?? ''}${completed ?? ''}${nextSteps ?? ''}`) !== '',
  )
  const [last = summaries[0], ...before] = telling
  if (last === undefined) return { summary: [], earlier: [] }
  const wanted = shows(options, 'summary')
  const lines = wanted ? summaryLines(last, chars * SUMMARY_PART, options.now) : []
  const summary = room.take(lines) ? lines : []
  if (!shows(options, 'earlier') || (wanted && summary.length === 0)) return { summary, earlier: [] }
  const told = (wanted ? before : telling).slice(0, options.summaries)
  const earlier = ['', EARLIER, ...told.map((one) => earlierLine(one, options.now))]
  while (earlier.join('\n').length > chars * EARLIER_PART) earlier.pop()
  return { summary, earlier: earlier.length > 2 && room.take(earlier) ? earlier : [] }
}

type Rows = Pick<ContextSelection, 'pinned' | 'entries' | 'leftOut'>

function chooseRows(
  material: ContextMaterial,
  pinned: readonly ContextEntry[],
  options: ContextOptions,
  room: Room,
): Rows {
  const { observations, pinned: allPinned, superseded, repeats, totals } = material
  const others = [...observations, ...(shows(options, 'pinned') ? [] : allPinned)]
  const all = others.map((observation) => entryOf(observation, material, options))
  const candidates = mostUsefulFirst(withoutRepeats(all, pinned, repeats))
  const most = shows(options, 'timeline') ? options.observations : 0
  const chosen: ContextEntry[] = []
  const headings = new Set<string>()
  const add = (entry: ContextEntry, reserve: number): boolean => {
    const group = `${entry.day}\n${entry.group}`
    const lines = [entry.row]
    if (!headings.has(entry.day)) lines.push('', dayLine(entry.day))
    if (!headings.has(group)) lines.push(entry.group)
    if (chosen.length >= most || !room.take(lines, reserve)) return false
    headings.add(entry.day).add(group)
    chosen.push(entry)
    return true
  }
  const reserve = shows(options, 'details') ? Math.floor(room.left * (1 - ROWS_PART)) : 0
  const firstLeft = candidates.findIndex((entry) => !add(entry, reserve))
  const detailed = shows(options, 'details') ? withDetails([...pinned, ...chosen], pinned.length, room) : []
  if (firstLeft !== -1) for (const entry of candidates.slice(firstLeft)) add(entry, 0)
  const entries = [...pinned, ...chosen].map((entry, i) => detailed[i] ?? entry)
  const left = candidates.length - chosen.length
  const isFull = chosen.length >= most
  return {
    pinned: entries.slice(0, pinned.length),
    entries: entries.slice(pinned.length).sort(newestFirst),
    leftOut: {
      superseded,
      repeats: all.length - candidates.length,
      rows: isFull && shows(options, 'timeline') ? left : 0,
      budget: (isFull ? 0 : left) + (shows(options, 'pinned') ? allPinned.length - pinned.length : 0),
      parts: shows(options, 'timeline') ? 0 : left,
      unread: totals.observations - observations.length - allPinned.length - superseded,
    },
  }
}

/** What is pinned has its details before the others, and beside the number that they may have. */
function withDetails(entries: readonly ContextEntry[], pinned: number, room: Room): ContextEntry[] {
  let others = 0
  return entries.map((entry, i) => {
    const detail = i < pinned || others < MOST_DETAILS ? detailLine(entry.observation) : null
    if (detail === null || !room.take([detail])) return entry
    if (i >= pinned) others++
    return { ...entry, detail }
  })
}

function entryOf(observation: Observation, { project }: ContextMaterial, { now }: ContextOptions): ContextEntry {
  return {
    day: dayIn(observation.createdAt, now),
    group: groupOf(observation, project),
    observation,
    row: rowLine(observation),
    detail: null,
  }
}
