/** Renders the selection as the text for the agent, and the message for the user. */
import type { ContextMessage, ContextPart } from '../domain/context-parts.ts'
import { formatDay } from '../domain/dates.ts'
import { tokensForChars } from '../domain/observation.ts'
import { plainText, truncateAtWord } from '../domain/plain-text.ts'
import { bold, cyan, formatCount, pluralize, yellow } from '../lib/format.ts'
import type { ContextMaterial } from '../store/port.ts'
import { type ContextSection, frameSections, projectLabel } from './lines.ts'
import { type ContextSelection, charsOfLines, type OmittedCounts, type ShownCounts } from './selection.ts'

/** What the text contains and what it does not. */
export interface ContextReport {
  /** Tokens of each part, including the `frame` around them. */
  parts: Partial<Record<ContextPart | 'frame', number>>
  counts: ShownCounts
  leftOut: OmittedCounts
}

export interface ContextText {
  text: string
  report: ContextReport
}

export function renderContext(selection: ContextSelection): ContextText {
  const { material, options, sections, counts, leftOut, hasOthers } = selection
  const { above, below } = frameSections({ ...material, ...options, hasOthers })
  const all: ContextSection[] = [...above, ...sections, ...below]
  const chars = new Map<ContextPart | 'frame', number>()
  for (const { part, lines } of all) chars.set(part, (chars.get(part) ?? 0) + charsOfLines(lines))
  return {
    text: all.flatMap(({ lines }) => lines).join('\n'),
    report: {
      parts: Object.fromEntries([...chars].map(([part, length]) => [part, tokensForChars(length)])),
      counts,
      leftOut,
    },
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
