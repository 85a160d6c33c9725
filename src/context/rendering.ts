/**
 * Renders the selection as the text for the agent (pinned observations, the last turns, then days, newest first, with
 * their rows grouped by file), and the message for the user.
 */
import type { ContextMessage, ContextPart } from '../domain/context-parts.ts'
import { formatDay } from '../domain/dates.ts'
import { estimateTokens, OBSERVATION_TYPES, tokensForChars } from '../domain/observation.ts'
import { plainText, truncateAtWord } from '../domain/plain-text.ts'
import { bold, cyan, formatCount, pluralize, yellow } from '../lib/format.ts'
import type { ContextMaterial } from '../store/port.ts'
import { type ContextSection, dayLine, frameSections, PINNED_HEADING, projectLabel } from './lines.ts'
import { type ContextEntry, type ContextSelection, charsOfLines, type OmittedCounts } from './selection.ts'

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

export function renderContext(selection: ContextSelection): ContextText {
  // The cost does not include its own digits: a few characters of several thousand.
  const cost = estimateTokens(sectionsText(contextSections(selection, 0)))
  const sections = contextSections(selection, cost)
  return { text: sectionsText(sections), report: reportOn(selection, sections) }
}

function contextSections(selection: ContextSelection, cost: number): ContextSection[] {
  const { material, options, pinned, summary, earlier, entries } = selection
  const used = new Set([...pinned, ...entries].map(({ observation }) => observation.type))
  const types = OBSERVATION_TYPES.filter((type) => used.has(type))
  const { above, below } = frameSections({ ...material, ...options, types, hasPinned: pinned.length > 0, cost })
  const pinnedLines = pinned.length === 0 ? [] : ['', PINNED_HEADING, ...pinned.flatMap(entryLines)]
  return [
    ...above,
    { part: 'pinned', lines: pinnedLines },
    { part: 'summary', lines: summary },
    { part: 'earlier', lines: earlier },
    { part: 'timeline', lines: timelineLines(entries) },
    ...below,
  ]
}

function sectionsText(sections: readonly ContextSection[]): string {
  return sections.flatMap(({ lines }) => lines).join('\n')
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
  /** Messages that failed and are kept for a retry. */
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
 * The message for the user: what is known, and what keeps the observer from working. It has colour codes;
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
    ...(failed === 0 ? [] : [`${pluralize(failed, 'message')} failed (claude-mem queue)`]),
  ]
}
