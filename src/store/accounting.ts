/** What was spent on models: what can be asked of a store about its calls. */
import type { ModelCall } from '../memory/call.ts'
import type { Usage } from '../memory/observation.ts'

/** A call as it is kept. */
export interface CallRow extends Omit<ModelCall, 'sent'> {
  id: number
  /** Null: the session was erased. What it cost was spent all the same. */
  session: string | null
  project: string
  projectName: string
  /** How many observations came of it. */
  observations: number
  /** Null: the texts were removed, because of their age or with their session. */
  sent: string | null
}

export interface CallFilter {
  session?: string
  effectId?: string
  /** Epoch ms. */
  since?: number
  limit?: number
}

/** Calls added up. */
export interface Spending {
  calls: number
  /** Calls without an answer that could be used. */
  failed: number
  usage: Usage
  /** US dollars, of the calls whose price is known. */
  cost: number
  /** Calls that used tokens at a price that is not known. */
  unpriced: number
  observations: number
}

export const USAGE_KEYS = ['day', 'project', 'session', 'model'] as const
export type UsageKey = (typeof USAGE_KEYS)[number]

/**
 * Days are the user's own, of 23 to 25 hours where clocks change: `dayStarts` says when each began, oldest first. A
 * day ends where the next one begins.
 */
export type UsageFilter =
  | { by: 'day'; dayStarts: readonly number[] }
  | { by: Exclude<UsageKey, 'day'>; since: number; until?: number }

export interface UsageRow extends Spending {
  /** A day's start (epoch ms), a project's key, a session's id (empty: erased ones together), or a model. */
  key: string
  /** A project's name, also for a session; a model's provider; null for a day. */
  name: string | null
  /** A day's start, else when the newest call was made. */
  at: number
}

/** What counts against a budget. */
export interface Spent {
  cost: number
  usage: Usage
}

/** A cached token costs about a tenth of a fresh one, with every provider that caches. */
const CACHED_WEIGHT = 0.1

/** Tokens as a budget counts them. */
export function weighedTokens({ input, output, cacheRead, cacheWrite }: Usage): number {
  return input + output + cacheWrite + cacheRead * CACHED_WEIGHT
}
