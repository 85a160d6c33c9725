/**
 * The observer of a replay. Where the real one would wait for its provider, or go on without a model, a replay ends: half a
 * comparison with one observer and half with another would say nothing.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { MemError, messageOf } from '../errors.ts'
import type { ModelCall } from '../memory/call.ts'
import { type Observer, ObserverError } from '../observer/port.ts'

/** What may be spent today; see `Budget`. */
export interface Purse {
  readonly reason: string | null
  add(calls: readonly ModelCall[]): void
}

export interface Guard {
  /** Null where no model is asked. */
  budget: Purse | null
  /** Somebody pressed Ctrl-C. */
  signal: AbortSignal
  halt(error: unknown): void
}

/** A provider that names a time is worth waiting for, this long and this often. */
const MAX_WAIT_MS = 30_000
const MAX_WAITS = 3

export function guardedObserver(observer: Observer, { budget, signal, halt }: Guard): Observer {
  async function guarded<Request, Answer>(
    ask: (request: Request, signal: AbortSignal) => Promise<Answer>,
    request: Request,
    effect: AbortSignal,
  ): Promise<Answer> {
    const either = AbortSignal.any([effect, signal])
    for (let waits = 0; ; waits++) {
      try {
        if (budget !== null && budget.reason !== null) throw budgetSpent(budget.reason)
        return await ask(request, either)
      } catch (error) {
        if (isTheMessages(error)) throw error
        const pause = error instanceof ObserverError ? error.retryAfterMs : null
        if (pause === null || pause > MAX_WAIT_MS || waits === MAX_WAITS || either.aborted) {
          halt(signal.aborted ? signal.reason : endOf(observer.provider, error))
          throw error
        }
        await sleep(pause, undefined, { signal: either })
      }
    }
  }
  return {
    provider: observer.provider,
    observe: (request, effect) => guarded(observer.observe, request, effect),
    summarize: (request, effect) => guarded(observer.summarize, request, effect),
    compact: (request, effect) => guarded(observer.compact, request, effect),
  }
}

/** Counted, split and set aside by the machine, as it was or would be. */
function isTheMessages(error: unknown): boolean {
  return error instanceof ObserverError ? error.owner !== 'provider' : !(error instanceof MemError)
}

export function budgetSpent(reason: string): MemError {
  return new MemError(
    'forbidden',
    `a replay asks no model past the day's budget: ${reason} (CLAUDE_MEM_DAILY_BUDGET_USD, _TOKENS); --provider offline costs nothing`,
  )
}

function endOf(provider: string, error: unknown): unknown {
  return error instanceof MemError ? error : noAnswer(`${provider}: ${messageOf(error)}`, error)
}

/** Where the real session would wait. */
export function noAnswer(reason: string, cause?: unknown): MemError {
  return new MemError('not_running', `the observer gave no answer: ${reason}. Nothing was changed; try again later`, {
    cause,
    retryable: true,
  })
}
