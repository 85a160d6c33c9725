/**
 * What limits and records calls to a model: the circuit breaker of the provider, the daily budget, and the calls that one
 * effect makes.
 */
import type { Effect } from '../../../machines/session/types.ts'
import { endOfDay, startOfDay } from '../../domain/dates.ts'
import {
  type CallEnd,
  type CallStart,
  type ModelCall,
  type ModelCallRecorder,
  UNKNOWN_OUTCOME,
} from '../../domain/model-call.ts'
import { type SpentAmount, weightedTokens } from '../../store/port.ts'

/** First backoff, in ms. */
const FIRST_BACKOFF_MS = 1_000
/** Longest backoff, in ms: short enough for a user who has just corrected a key. */
const MAX_BACKOFF_MS = 300_000

/** After a failure owned by the provider, no call is made until `openUntil`. */
export class Breaker {
  #failures = 0
  #openUntil = 0
  #since: number | null = null
  #reason = ''

  /** When the provider may be called again; in the past: now. */
  get openUntil(): number {
    return this.#openUntil
  }

  get waiting(): { since: number; reason: string } | null {
    return this.#since === null ? null : { since: this.#since, reason: this.#reason }
  }

  /** Exponential backoff with jitter on the upper half, unless the provider sent a retry-after. */
  fail(at: number, random: number, reason: string, retryAfterMs: number | null): number {
    const backoff = Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** this.#failures)
    this.#failures += 1
    this.#since ??= at
    this.#reason = reason
    this.#openUntil = at + (retryAfterMs ?? backoff * (0.5 + random / 2))
    return this.#openUntil
  }

  /** The clock was set back: the times move with it, so that nobody waits longer. */
  clockSetBack(byMs: number): void {
    this.#openUntil -= byMs
    if (this.#since !== null) this.#since -= byMs
  }

  succeed(): void {
    this.#failures = 0
    this.#openUntil = 0
    this.#since = null
  }
}

export interface BudgetView {
  spentUsd: number
  limitUsd: number
  spentTokens: number
  limitTokens: number
  /** Why no model is called; null: one may be. */
  reason: string | null
  /** When the next day begins. */
  until: number
}

interface BudgetHost {
  /** US dollars a day, and tokens a day with cache reads at a tenth. */
  limits(): { usd: number; tokens: number }
  now(): number
  spentSince(dayStart: number): Promise<SpentAmount>
}

/** Past the limit sessions continue with the offline observer until the next day. */
export class DailyBudget {
  readonly #host: BudgetHost
  #day = 0
  #usd = 0
  #tokens = 0
  /** Calls of today that have begun: their estimate counts until their result is known. */
  readonly #begun = new Map<string, ModelCall>()

  constructor(host: BudgetHost) {
    this.#host = host
  }

  /** Reads what was spent today before this process started. */
  async load(): Promise<void> {
    const day = startOfDay(this.#host.now())
    const { cost, usage } = await this.#host.spentSince(day)
    this.#day = day
    this.#usd = cost
    this.#tokens = weightedTokens(usage)
  }

  /** Called after the commit that recorded the calls. */
  add(calls: readonly ModelCall[]): void {
    this.#startNewDay()
    for (const call of calls) {
      const estimate = this.#begun.get(call.callId)
      if (estimate !== undefined) this.#count(estimate, -1)
      this.#begun.delete(call.callId)
      this.#count(call, 1)
      if (call.error === UNKNOWN_OUTCOME) this.#begun.set(call.callId, call)
    }
  }

  #count({ cost, usage }: ModelCall, sign: 1 | -1): void {
    this.#usd += sign * (cost ?? 0)
    this.#tokens += sign * weightedTokens(usage)
  }

  get reason(): string | null {
    this.#startNewDay()
    const { usd, tokens } = this.#host.limits()
    if (usd === 0 || tokens === 0) return 'the budget is 0'
    if (this.#usd >= usd) return `${dollars(this.#usd)} of ${dollars(usd)} US dollars spent today`
    if (this.#tokens >= tokens) return `${Math.round(this.#tokens)} of ${tokens} tokens used today`
    return null
  }

  get view(): BudgetView {
    const { reason } = this
    const { usd, tokens } = this.#host.limits()
    return {
      spentUsd: this.#usd,
      limitUsd: usd,
      spentTokens: Math.round(this.#tokens),
      limitTokens: tokens,
      reason,
      until: endOfDay(this.#host.now()),
    }
  }

  /** A clock that is set back over midnight does not reset the day's spending. */
  #startNewDay(): void {
    const day = startOfDay(this.#host.now())
    if (day <= this.#day) return
    this.#day = day
    this.#usd = 0
    this.#tokens = 0
    this.#begun.clear()
  }
}

function dollars(amount: number): string {
  return amount >= 0.1 ? amount.toFixed(2) : amount.toPrecision(2)
}

interface Entry {
  begun: ModelCall
  end: (CallEnd & { at: number }) | null
}

interface EffectCallsHost {
  now(): number
  freshId(): string
  /** Makes the beginning of a call durable. */
  onBegin(call: ModelCall): Promise<unknown>
}

/** A call that is still open when the effect ends was sent but never answered. */
export class EffectCalls implements ModelCallRecorder {
  readonly #effect: Effect
  readonly #host: EffectCallsHost
  readonly #calls: Entry[] = []

  constructor(effect: Effect, host: EffectCallsHost) {
    this.#effect = effect
    this.#host = host
  }

  async begin({ expected, ...call }: CallStart): Promise<(end: CallEnd) => void> {
    const { id: effectId, kind } = this.#effect
    const at = this.#host.now()
    const outcome = { ...expected, error: UNKNOWN_OUTCOME, received: null, durationMs: 0 }
    const begun: ModelCall = { callId: this.#host.freshId(), effectId, kind, ...call, at, ...outcome }
    await this.#host.onBegin(begun)
    const entry: Entry = { begun, end: null }
    this.#calls.push(entry)
    return (end) => {
      entry.end = { ...end, at: this.#host.now() }
    }
  }

  /** `failure`: why the effect as a whole failed. */
  list(failure: string | null): ModelCall[] {
    return this.#calls.map(({ begun, end }) => {
      const { at: endedAt, ...result } = end ?? { at: this.#host.now(), error: failure ?? 'no answer' }
      return { ...begun, ...result, durationMs: Math.max(0, endedAt - begun.at) }
    })
  }
}
