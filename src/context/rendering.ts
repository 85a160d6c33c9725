/**
 * Renders the selection as the text for the agent (pinned observations, the last turns, then days, newest first, with
 * their rows grouped by file), and the message for the person.
 */
import type { ContextMessage, ContextPart } from '../domain/context-parts.ts'
import { formatDay } from '../domain/dates.ts'
import { estimateTokens, OBSERVATION_TYPES, tokensForChars } from '../domain/observation.ts'
import { plainText, truncateAtWord } from '../domain/plain-text.ts'
import { bold, cyan, formatCount, pluralize, yellow } from '../lib/format.ts'
import type { ContextMaterial } from '../store/port.ts'
import {
  CONTEXT_CLOSE_TAG,
  CONTEXT_OPEN_TAG,
  dayLine,
  legendLine,
  MORE_TOOLS_HINT,
  PINNED_HEADING,
  projectLabel,
  titleLine,
  totalsLine,
} from './lines.ts'
import {
  type ContextEntry,
  type ContextSelection,
  charsOfLines,
  includesPart,
  type OmittedCounts,
} from './selection.ts'

/** What the text contains and what it does not. */
export interface ContextReport {
  /** Tokens of each part, including the `frame` around them. */
  parts: Partial<Record<ContextPart | 'frame', number>>
  /** How many of each are in the text. */
  counts: { observations: number; pinned: number; details: number; summaries: number }
  leftOut: OmittedCounts
}

export interface ContextText {
  text: string
  report: ContextReport
}

interface ContextSection {
  part: ContextPart | 'frame'
  lines: readonly string[]
}

export function renderContext(selection: ContextSelection): ContextText {
  const below = sectionsBelow(selection)
  const text = [...sectionsAbove(selection, 0), ...below].flatMap(({ lines }) => lines).join('\n')
  // The cost does not include its own digits: a few characters of several thousand.
  const all = [...sectionsAbove(selection, estimateTokens(text)), ...below]
  return { text: all.flatMap(({ lines }) => lines).join('\n'), report: reportOn(selection, all) }
}

function sectionsAbove({ material, options, pinned, entries }: ContextSelection, cost: number): ContextSection[] {
  const used = new Set([...pinned, ...entries].map(({ observation }) => observation.type))
  const types = OBSERVATION_TYPES.filter((type) => used.has(type))
  const showsLegend = includesPart(options, 'legend') && types.length > 0
  return [
    { part: 'frame', lines: [CONTEXT_OPEN_TAG, titleLine(material.project, options.now)] },
    ...section('totals', includesPart(options, 'totals') ? [totalsLine(material.totals, options.now, cost)] : []),
    ...section('legend', showsLegend ? [legendLine(types, pinned.length > 0)] : []),
  ]
}

function sectionsBelow({ options, pinned, summary, earlier, entries }: ContextSelection): ContextSection[] {
  return [
    ...section('pinned', pinned.length === 0 ? [] : ['', PINNED_HEADING, ...pinned.flatMap(entryLines)]),
    ...section('summary', summary),
    ...section('earlier', earlier),
    ...section('timeline', timelineLines(entries)),
    ...section('more', includesPart(options, 'more') ? ['', MORE_TOOLS_HINT] : []),
    { part: 'frame', lines: [CONTEXT_CLOSE_TAG] },
  ]
}

/** No section if it has no lines. */
function section(part: ContextPart, lines: readonly string[]): ContextSection[] {
  return lines.length === 0 ? [] : [{ part, lines }]
}

function timelineLines(entries: readonly ContextEntry[]): string[] {
  return groupBy(entries, ({ day }) => day).flatMap(([day, ofDay]) => [
    '',
    dayLine(day),
    ...groupBy(ofDay, ({ group }) => group).flatMap(([group, ofGroup]) => [group, ...ofGroup.flatMap(entryLines)]),
  ])
}

function entryLines({ row, detail }: ContextEntry): string[] {
  return detail === null ? [row] : [row, detail]
}

/** Groups in the order of their first items. */
function groupBy<T>(items: readonly T[], key: (item: T) => string): [string, T[]][] {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const group = groups.get(key(item))
    if (group === undefined) groups.set(key(item), [item])
    else group.push(item)
  }
  return [...groups]
}

function reportOn(selection: ContextSelection, sections: readonly ContextSection[]): ContextReport {
  const { pinned, entries, summary, earlier, leftOut } = selection
  const details = (shown: readonly ContextEntry[]) => shown.flatMap(({ detail }) => detail ?? [])
  const chars = new Map<ContextPart | 'frame', number>()
  const count = (part: ContextPart | 'frame', more: number) => chars.set(part, (chars.get(part) ?? 0) + more)
  for (const { part, lines } of sections) count(part, charsOfLines(lines))
  // Details are among the rows of the timeline and of the pinned ones, but are reported as a part of their own.
  count('timeline', -charsOfLines(details(entries)))
  count('pinned', -charsOfLines(details(pinned)))
  count('details', charsOfLines(details([...entries, ...pinned])))
  const used = [...chars].filter(([, length]) => length > 0)
  return {
    parts: Object.fromEntries(used.map(([part, length]) => [part, tokensForChars(length)])),
    counts: {
      observations: entries.length,
      pinned: pinned.length,
      details: details([...entries, ...pinned]).length,
      // The first two lines of `earlier` are a blank line and the heading.
      summaries: Math.min(1, summary.length) + Math.max(0, earlier.length - 2),
    },
    leftOut,
  }
}

/** What keeps the observer from working. */
export interface ObserverProblems {
  /** Messages that are queued for the observer. */
  pending: number
  /** Messages that were set aside after they failed. */
  failed: number
  /** Why the model is not called; null if it is called, or none is configured. */
  reason: string | null
  /** The offline observer works instead of the model. */
  offline: boolean
}

export const NO_OBSERVER_PROBLEMS: ObserverProblems = { pending: 0, failed: 0, reason: null, offline: false }

/** Most characters of the next steps and of a reason. */
const NEXT_STEPS_CHARS = 140
const REASON_CHARS = 160

export interface MessageInput {
  /** Null if nothing is known about the project. */
  material: ContextMaterial | null
  /** Tokens of the context; 0 if it is empty. */
  tokens: number
  problems: ObserverProblems
  kind: ContextMessage
  now: number
}

/**
 * The message for the person: what is known, and what keeps the observer from working. It has colour codes;
 * `stripColors` removes them. Empty if there is nothing to report.
 */
export function renderMessage({ material, tokens, problems, kind, now }: MessageInput): string {
  if (kind === 'off') return ''
  const known = kind === 'full' && material !== null && tokens > 0 ? [memoryText(material, tokens, now)] : []
  const texts = [...known, ...problemTexts(problems).map((text) => yellow(text))]
  return texts.length === 0 ? '' : `${bold(cyan('claude-mem'))}: ${texts.join('; ')}`
}

function memoryText(
  { project, totals, observations, pinned, summaries }: ContextMaterial,
  tokens: number,
  now: number,
) {
  const times = [...observations, ...pinned, ...summaries].map(({ createdAt }) => createdAt)
  const newest = times.reduce((a, b) => Math.max(a, b), 0)
  const { observations: count } = totals
  const nextSteps = summaries.map((summary) => plainText(summary.nextSteps ?? '')).find((text) => text !== '')
  return [
    `${bold(String(count))} ${count === 1 ? 'memory' : 'memories'} of ${bold(projectLabel(project))}`,
    // Not "today": the message may be read from its file tomorrow.
    `last worked on ${formatDay(newest, now)}`,
    `~${formatCount(tokens)} tokens given to the session`,
    ...(nextSteps === undefined ? [] : [`next: ${truncateAtWord(nextSteps, NEXT_STEPS_CHARS)}`]),
  ].join(', ')
}

function problemTexts({ pending, failed, reason, offline }: ObserverProblems): string[] {
  const why = truncateAtWord(plainText(reason ?? ''), REASON_CHARS).replace(/\.$/, '')
  const waiting = pending === 0 ? 'the observer waits' : `${pending} message${pending === 1 ? ' waits' : 's wait'}`
  return [
    ...(reason === null ? [] : [`${offline ? 'observed without the model' : waiting}: ${why} (claude-mem status)`]),
    ...(failed === 0 ? [] : [`${pluralize(failed, 'message')} set aside (claude-mem queue)`]),
  ]
}
