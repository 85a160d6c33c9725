/**
 * Does what snapshots say: one observer call per session, a few at the same time. A call may be made twice (the process
 * died in between); its result counts once, because only the current effect's id does.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Effect, FailureOwner } from '../../machines/session/types.ts'
import { MemError, messageOf } from '../errors.ts'
import { fault } from '../faults.ts'
import { addUsage, NO_USAGE } from '../memory/observation.ts'
import { type Observer, ObserverError } from '../observer/port.ts'
import type { Store } from '../store/port.ts'
import { Breaker } from './breaker.ts'
import { EffectCalls } from './call-ledger.ts'
import type { Delivery } from './decision.ts'
import { perform } from './perform.ts'

/** What an effect that was cut off may take to write down what it cost, in ms. */
const LET_GO_MS = 500

export interface EffectHost {
  store: Store
  observer(): Observer
  /** Who observes while no model may be asked. */
  offlineObserver: Observer
  /** Why no model may be asked now, whatever the effect was decided on: it may have waited for long. */
  noModel(): string | null
  /** A provider that does not answer makes sessions go on without it, instead of waiting. */
  goesOffline(): boolean
  now(): number
  random(): number
  concurrency(): number
  /** The result goes to the session's mailbox. */
  deliver(session: string, delivery: Delivery): Promise<unknown>
  /** Something about an effect that people should be able to read. */
  log(level: 'debug' | 'warn', text: string, details: Record<string, unknown>): void
}

interface Job {
  session: string
  effect: Effect
  abort: AbortController
  /** Settles once it has let go, whatever came of it. */
  done: Promise<void>
}

export class EffectRunner {
  readonly #host: EffectHost
  readonly #queue = new Map<string, Job>()
  readonly #running = new Map<string, Job>()
  readonly #breakers = new Map<string, Breaker>()
  readonly #settled: (() => void)[] = []
  #open = true

  constructor(host: EffectHost) {
    this.#host = host
  }

  get inFlight(): number {
    return this.#running.size
  }
  get queued(): number {
    return this.#queue.size
  }
  /** It is taken care of here, timer and all: its deadline in the row is for a process that died. */
  has(session: string): boolean {
    return this.#queue.has(session) || this.#running.has(session)
  }
  get waiting(): { since: number; reason: string } | null {
    return this.#breaker(this.#host.observer().provider).waiting
  }
  /** Why the provider is not to be asked now, where that is a reason to go on without it. */
  get unavailable(): string | null {
    if (!this.#host.goesOffline()) return null
    const breaker = this.#breaker(this.#host.observer().provider)
    return breaker.openUntil > this.#host.now() ? (breaker.waiting?.reason ?? null) : null
  }

  /** Makes what is in flight for a session what its snapshot says. */
  reconcile(session: string, effect: Effect | null): void {
    const running = this.#running.get(session)
    if (running !== undefined && running.effect.id === effect?.id) return
    running?.abort.abort(new Error('no longer wanted'))
    this.#queue.delete(session)
    if (effect === null) return
    this.#queue.set(session, { session, effect, abort: new AbortController(), done: Promise.resolve() })
    this.#pump()
  }

  /** A person wants it tried now, whatever the breaker says. */
  resetBreakers(): void {
    this.#breakers.clear()
  }

  /** Starts nothing new; resolves with the sessions whose effect has not finished when `until` resolves. */
  async drain(until: Promise<unknown>): Promise<string[]> {
    this.#open = false
    const settled = new Promise<void>((resolve) => {
      if (this.#running.size === 0) resolve()
      else this.#settled.push(resolve)
    })
    await Promise.race([settled, until])
    const unfinished = [...this.#running.values(), ...this.#queue.values()]
    for (const job of unfinished) job.abort.abort(new Error('the daemon stops'))
    this.#queue.clear()
    await Promise.race([Promise.all(unfinished.map((job) => job.done)), sleep(LET_GO_MS, undefined, { ref: false })])
    return unfinished.map((job) => job.session)
  }

  #pump(): void {
    while (this.#open && this.#running.size < this.#host.concurrency()) {
      // A session's next effect waits until its aborted one has let go.
      const job = [...this.#queue.values()].find((waiting) => !this.#running.has(waiting.session))
      if (job === undefined) return
      this.#queue.delete(job.session)
      this.#running.set(job.session, job)
      job.done = this.#run(job).finally(() => {
        this.#running.delete(job.session)
        if (this.#running.size === 0) for (const resolve of this.#settled.splice(0)) resolve()
        this.#pump()
      })
    }
  }

  async #run(job: Job): Promise<void> {
    const { session, effect, abort } = job
    const calls = new EffectCalls(effect, this.#host.now)
    const timer = setTimeout(() => abort.abort(new ObserverError('provider', timedOut(effect))), effect.timeoutMs)
    // A process that is done otherwise need not wait for an observer that never answers.
    timer.unref()
    try {
      fault('effect.start')
      const result = await this.#guarded(session, effect, calls, abort.signal)
      fault('effect.result')
      // Nobody may wait for it any more, but what it cost is written down.
      const cost = 'calls' in result ? result.calls.length : 0
      if (!isUnwanted(abort.signal) || cost > 0) await this.#host.deliver(session, result)
    } catch (error) {
      this.#host.log('warn', 'the result of an effect could not be stored', { session, effect: effect.id, error })
      await this.#host.deliver(session, this.#failure(effect, calls, error)).catch((again: unknown) => {
        this.#host.log('warn', 'nor could its failure; its deadline will bring it back', { session, error: again })
      })
    } finally {
      clearTimeout(timer)
    }
  }

  async #guarded(session: string, effect: Effect, calls: EffectCalls, signal: AbortSignal): Promise<Delivery> {
    const observer = this.#observerFor(effect)
    const breaker = this.#breaker(observer.provider)
    const now = this.#host.now()
    const spent = effect.offline === null ? this.#host.noModel() : null
    if (spent !== null) return this.#failed(effect, calls, 'provider', spent, now)
    if (breaker.openUntil > now) {
      const reason = breaker.waiting?.reason ?? 'waits'
      return this.#failed(effect, calls, 'provider', reason, this.#retryAt(effect, breaker.openUntil))
    }
    try {
      const result = await abortable(
        perform({ store: this.#host.store, observer, session, effect, calls, at: now }, signal),
        signal,
      )
      breaker.succeed()
      return result
    } catch (error) {
      if (isUnwanted(signal)) return this.#failed(effect, calls, 'provider', messageOf(signal.reason), this.#host.now())
      if (!signal.aborted)
        this.#host.log('warn', 'an effect failed', { session, effect: effect.id, kind: effect.kind, error })
      return this.#failure(effect, calls, error)
    }
  }

  #observerFor(effect: Effect): Observer {
    return effect.offline === null ? this.#host.observer() : this.#host.offlineObserver
  }

  #failure(effect: Effect, calls: EffectCalls, error: unknown): Delivery {
    const owner = ownerOf(error)
    const reason = messageOf(error)
    if (owner !== 'provider') return this.#failed(effect, calls, owner, reason, this.#host.now())
    const retryAfterMs = error instanceof ObserverError ? error.retryAfterMs : null
    const breaker = this.#breaker(this.#observerFor(effect).provider)
    const retryAt = breaker.fail(this.#host.now(), this.#host.random(), reason, retryAfterMs)
    return this.#failed(effect, calls, owner, reason, this.#retryAt(effect, retryAt))
  }

  /** A session that goes on without the provider need not wait for it. */
  #retryAt(effect: Effect, providerAt: number): number {
    return this.#host.goesOffline() && effect.offline === null ? this.#host.now() : providerAt
  }

  #failed(effect: Effect, calls: EffectCalls, owner: FailureOwner, reason: string, retryAt: number): Delivery {
    const made = calls.list(reason)
    const usage = made.reduce((sum, call) => addUsage(sum, call.usage), NO_USAGE)
    return {
      kind: 'failed',
      input: { type: 'FAILED', effectId: effect.id, owner, reason, retryAt, usage },
      calls: made,
    }
  }

  #breaker(provider: string): Breaker {
    const known = this.#breakers.get(provider)
    if (known !== undefined) return known
    const made = new Breaker()
    this.#breakers.set(provider, made)
    return made
  }
}

/** What nobody claims is the message's: counted, so that it cannot go on for ever. A full disk is not. */
function ownerOf(error: unknown): FailureOwner {
  if (error instanceof ObserverError) return error.owner
  return error instanceof MemError && error.retryable ? 'provider' : 'message'
}

function timedOut(effect: Effect): string {
  return `no answer within ${Math.round(effect.timeoutMs / 1000)} s`
}

/** Given up for another reason than its own deadline. */
function isUnwanted(signal: AbortSignal): boolean {
  return signal.aborted && !(signal.reason instanceof ObserverError)
}

/** An observer that does not listen to its signal must not hold its place for ever. */
function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason)
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}
