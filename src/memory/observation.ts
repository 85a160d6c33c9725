/** The atom of memory, and the summary of a turn. Content fields may be null: partial data is kept. */
export const OBSERVATION_TYPES = ['bugfix', 'feature', 'refactor', 'decision', 'discovery', 'change'] as const
export type ObservationType = (typeof OBSERVATION_TYPES)[number]

export interface FunctionChange {
  name: string
  file: string
  action: 'new' | 'modified' | 'deleted'
}

/** What an observer answers with; the store adds identity, session and time. */
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
  /** Which subagent it comes from, null for the main agent. */
  agent: string | null
  /** What the main agent spent to learn it; see `discoveryEstimated`. */
  discoveryTokens: number
  discoveryEstimated: boolean
  /** Event ids it was made from: why it exists. Empty means the whole batch. */
  sources: string[]
  /** Ids of earlier observations that it replaces, where the observer says so. */
  supersedes?: readonly number[]
}

export interface Observation extends ObservationDraft {
  id: number
  session: string
  project: string
  promptNumber: number
  contentHash: string
  promptVersion: string | null
  model: string | null
  createdAt: number
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

export interface Summary extends SummaryDraft {
  id: number
  session: string
  project: string
  promptNumber: number
  model: string | null
  createdAt: number
}

/** Tokens of one call, or of many. */
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

/** Characters per token, a rule of thumb that needs no tokenizer. */
const CHARS_PER_TOKEN = 4

export function tokensOf(chars: number): number {
  return Math.ceil(chars / CHARS_PER_TOKEN)
}

export function estimateTokens(text: string): number {
  return tokensOf(text.length)
}
