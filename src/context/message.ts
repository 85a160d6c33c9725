/** The message for the person when a session starts: the state in one sentence, and what keeps the observer from working. */
import type { ContextMessage } from '../domain/context-parts.ts'
import { plainText, truncateAtWord } from '../domain/plain-text.ts'
import type { Project } from '../domain/project.ts'
import { bold, cyan, formatCount, pluralize, yellow } from '../lib/format.ts'
import { projectLabel } from './lines.ts'
import { moment } from './moment.ts'
import type { EndState } from './state.ts'

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

const REASON_CHARS = 160

export interface MessageInput {
  project: Project
  /** Null where no session is known. */
  state: EndState | null
  /** Tokens of the context; 0 if it is empty. */
  tokens: number
  problems: ObserverProblems
  kind: ContextMessage
  now: number
}

/** It has colour codes; `stripColors` removes them. Empty if there is nothing to report. */
export function renderMessage({ project, state, tokens, problems, kind, now }: MessageInput): string {
  if (kind === 'off') return ''
  const ended = state === null ? '' : `, last session ended ${moment(state.at, now)}. ${state.ended}`
  const given = `${ended === '' ? ':' : ''} ~${formatCount(tokens)} tokens given to this session`
  const known = kind === 'full' && tokens > 0 ? [`${bold(projectLabel(project))}${ended}${given}`] : []
  const texts = [...known, ...problemTexts(problems).map((text) => yellow(text))]
  return texts.length === 0 ? '' : `${bold(cyan('claude-mem'))}: ${texts.join('; ')}`
}

/** What the person has to know when a session starts, whatever the context is. */
export function renderNotes(notes: readonly string[]): string {
  return `${bold(cyan('claude-mem'))}: ${yellow(plainText(notes.join(' ')))}`
}

function problemTexts({ pending, failed, reason, offline }: ObserverProblems): string[] {
  const why = truncateAtWord(plainText(reason ?? ''), REASON_CHARS).replace(/\.$/, '')
  const waiting = pending === 0 ? 'the observer waits' : `${pending} message${pending === 1 ? ' waits' : 's wait'}`
  return [
    ...(reason === null ? [] : [`${offline ? 'observed without the model' : waiting}: ${why} (claude-mem status)`]),
    ...(failed === 0 ? [] : [`${pluralize(failed, 'message')} failed (claude-mem queue)`]),
  ]
}
