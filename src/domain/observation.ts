/**
 * Observations, summaries of turns, and the token estimates that are shown with them. Content fields may be null:
 * partial data is kept.
 */
import { MemError } from '../lib/errors.ts'
import type { Speaker } from './speaker.ts'

export const OBSERVATION_TYPES = ['bugfix', 'feature', 'refactor', 'decision', 'discovery', 'change'] as const
export type ObservationType = (typeof OBSERVATION_TYPES)[number]

/** `open`: a problem that is not solved yet; `untested`: a change that was never run; `resolved`: it was one of these. */
export const OBSERVATION_STATUSES = ['open', 'untested', 'resolved'] as const
export type ObservationStatus = (typeof OBSERVATION_STATUSES)[number]

export interface FunctionChange {
  name: string
  file: string
  action: 'new' | 'modified' | 'deleted'
}

/** What an observer returns; the store adds id, session and time. */
export interface ObservationDraft {
  type: ObservationType
  title: string | null
  subtitle: string | null
  narrative: string | null
  facts: string[]
  concepts: string[]
  filesRead: string[]
  filesModified: string[]
  functionsChanged: FunctionChange[]
  /** The subagent it comes from; null for the main agent. */
  agent: string | null
  /** Tokens that the main agent spent to learn it. */
  discoveryTokens: number
  /** Whether `discoveryTokens` is an estimate. */
  discoveryEstimated: boolean
  /** Ids of the events it was made from. Empty means the whole batch. */
  sources: string[]
  /** Whose words it is made of; null or absent: unknown. */
  saidBy?: Speaker | null
  /** Of one written with `remember`: the client, and the session of an agent. */
  saidIn?: string | null
  /** Null or absent: nothing is left to do about it. */
  status?: ObservationStatus | null
  /** Ids of earlier observations that it replaces, if the observer reported any. */
  supersedes?: readonly number[]
  /** Ids of earlier observations of which it replaces one statement; the rest of them stays true. */
  amends?: readonly number[]
}

/**
 * Where a memory comes from. `author` and `machine` are null for what this machine learned itself; for what came from
 * another machine of a team they are the names of the member and of the machine.
 */
export interface MemoryOrigin {
  /** 32 hexadecimal digits: the same on every machine that has the memory. */
  uid?: string
  author?: string | null
  machine?: string | null
}

/** Only the fields of the origin. */
export function memoryOrigin({ uid, author = null, machine = null }: MemoryOrigin): MemoryOrigin {
  return { ...(uid === undefined ? {} : { uid }), author, machine }
}

export interface Observation extends ObservationDraft, MemoryOrigin {
  id: number
  session: string
  project: string
  promptNumber: number
  contentHash: string
  promptVersion: string | null
  model: string | null
  createdAt: number
}

/** What a user writes is in a session of its project whose id starts with this; no client opens it. */
export const HAND_WRITTEN_SESSION_PREFIX = 'remember:'

export function isHandWritten({ session }: { session: string }): boolean {
  return session.startsWith(HAND_WRITTEN_SESSION_PREFIX)
}

export interface SummaryDraft {
  request: string | null
  investigated: string | null
  learned: string | null
  completed: string | null
  nextSteps: string | null
  notes: string | null
  filesRead: string[]
  filesEdited: string[]
}

export interface Summary extends SummaryDraft, MemoryOrigin {
  id: number
  session: string
  project: string
  /** Of the turn; for a summary of the whole session, the last turn in it. */
  promptNumber: number
  /** Present where the summary is of the whole session instead of one turn. A session has at most one of these. */
  whole?: true
  /** Present where it came from a file: whose words it is, is only claimed there. */
  saidBy?: Speaker
  model: string | null
  createdAt: number
}

/** Tokens of one model call, or the sum of several. */
export interface Usage {
  input: number
  output: number
  cacheRead: number
  cacheWrite: number
}

export const NO_USAGE: Usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }

export function addUsage(a: Usage, b: Usage): Usage {
  return {
    input: a.input + b.input,
    output: a.output + b.output,
    cacheRead: a.cacheRead + b.cacheRead,
    cacheWrite: a.cacheWrite + b.cacheWrite,
  }
}

/** Rule of thumb for English text and code; a tokenizer would be slower and differs per model. */
export const CHARS_PER_TOKEN = 4

export function tokensForChars(chars: number): number {
  return Math.ceil(chars / CHARS_PER_TOKEN)
}

export function estimateTokens(text: string): number {
  return tokensForChars(text.length)
}

/** Estimated tokens of an observation that is read in full. */
export function observationTokens(observation: ObservationDraft): number {
  const { title, subtitle, narrative, facts, filesRead, filesModified, functionsChanged } = observation
  const functions = functionsChanged.flatMap(({ name, file }) => [name, file])
  return joinedTokens([title, subtitle, narrative, ...facts, ...filesRead, ...filesModified, ...functions])
}

/** Estimated tokens of a summary that is read in full. */
export function summaryTokens(summary: SummaryDraft): number {
  const { request, investigated, learned, completed, nextSteps, notes, filesRead, filesEdited } = summary
  const files = new Set([...filesRead, ...filesEdited])
  return joinedTokens([request, investigated, learned, completed, nextSteps, notes, ...files])
}

/** Every text counts one character more, for the separator behind it. */
function joinedTokens(texts: readonly (string | null)[]): number {
  return tokensForChars(texts.reduce((chars, text) => chars + (text === null ? 0 : text.length + 1), 0))
}

export function observationNotFound(...ids: readonly number[]): MemError {
  const which = ids.map((id) => `#${id}`).join(', ')
  const subject = ids.length === 1 ? 'is no observation' : 'are no observations'
  return new MemError('not_found', `there ${subject} ${which}; claude-mem search lists them`)
}
