/**
 * Does what snapshots say: one observer call per session, a few at the same time. A call may be made twice (the process
 * died in between); its result counts once, because only the current effect's id does.
 */
import type { Effect, FailureOwner } from '../../machines/session/types.ts'
import { MemError, messageOf } from '../errors.ts'
import { fault } from '../faults.ts'
import { isMessage } from '../memory/event.ts'
import {
  type CompactAnswer,
  type ObserveAnswer,
  type Observer,
  ObserverError,
  type SessionMatter,
  type SummarizeAnswer,
} from '../observer/port.ts'
import type { Store } from '../store/port.ts'
import { Breaker } from './breaker.ts'
import type { Delivery } from './decision.ts'

export interface EffectHost {
  store: Store
  observer(): Observer
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

  /** Makes what is in flight for a session what its snapshot says. */
  reconcile(session: string, effect: Effect | null): void {
    const running = this.#running.get(session)
    if (running !== undefined && running.effect.id === effect?.id) return
    running?.abort.abort(new Error('no longer wanted'))
    this.#queue.delete(session)
    if (effect === null) return
    this.#queue.set(session, { session, effect, abort: new AbortController() })
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
    return unfinished.map((job) => job.session)
  }

  #pump(): void {
    while (this.#open && this.#running.size < this.#host.concurrency()) {
      // A session's next effect waits until its aborted one has let go.
      const job = [...this.#queue.values()].find((waiting) => !this.#running.has(waiting.session))
      if (job === undefined) return
      this.#queue.delete(job.session)
      this.#running.set(job.session, job)
      void this.#run(job).finally(() => {
        this.#running.delete(job.session)
        if (this.#running.size === 0) for (const resolve of this.#settled.splice(0)) resolve()
        this.#pump()
      })
    }
  }

  async #run(job: Job): Promise<void> {
    const { session, effect, abort } = job
    const timer = setTimeout(() => abort.abort(new ObserverError('provider', timedOut(effect))), effect.timeoutMs)
    // A process that is done otherwise need not wait for an observer that never answers.
    timer.unref()
    try {
      fault('effect.start')
      const result = await this.#guarded(session, effect, abort.signal)
      fault('effect.result')
      if (abort.signal.aborted && !isTimeout(abort.signal.reason)) return
      await this.#host.deliver(session, result)
    } catch (error) {
      this.#host.log('warn', 'the result of an effect could not be stored', { session, effect: effect.id, error })
      await this.#host.deliver(session, this.#failure(effect, error)).catch((again: unknown) => {
        this.#host.log('warn', 'nor could its failure; its deadline will bring it back', { session, error: again })
      })
    } finally {
      clearTimeout(timer)
    }
  }

  async #guarded(session: string, effect: Effect, signal: AbortSignal): Promise<Delivery> {
    const observer = this.#host.observer()
    const breaker = this.#breaker(observer.provider)
    const now = this.#host.now()
    if (breaker.openUntil > now)
      return failed(effect, 'provider', breaker.waiting?.reason ?? 'waits', breaker.openUntil)
    try {
      const result = await abortable(this.#perform(observer, session, effect, signal), signal)
      breaker.succeed()
      return result
    } catch (error) {
      if (!signal.aborted)
        this.#host.log('warn', 'an effect failed', { session, effect: effect.id, kind: effect.kind, error })
      return this.#failure(effect, error)
    }
  }

  #failure(effect: Effect, error: unknown): Delivery {
    const owner = ownerOf(error)
    const reason = messageOf(error)
    if (owner !== 'provider') return failed(effect, owner, reason, this.#host.now())
    const retryAfterMs = error instanceof ObserverError ? error.retryAfterMs : null
    const breaker = this.#breaker(this.#host.observer().provider)
    return failed(effect, owner, reason, breaker.fail(this.#host.now(), this.#host.random(), reason, retryAfterMs))
  }

  async #perform(observer: Observer, session: string, effect: Effect, signal: AbortSignal): Promise<Delivery> {
    const { store } = this.#host
    const [row, claimed, material] = await Promise.all([
      store.session(session),
      store.claimed(session, effect.id),
      store.turnMaterial(session, effect.prompt),
    ])
    if (row === null) throw new ObserverError('message', `there is no session ${session}`)
    const matter: SessionMatter = {
      session,
      project: row.project,
      promptNumber: effect.prompt,
      prompt: material.prompt?.text ?? null,
      conversation: await store.conversation(session, row.generation),
    }
    const result = ({ usage, contextTokens }: ObserveAnswer | SummarizeAnswer | CompactAnswer) => ({
      effectId: effect.id,
      usage,
      contextTokens,
    })
    switch (effect.kind) {
      case 'observe': {
        const messages = claimed.map((message) => message.event).filter(isMessage)
        const answer = await observer.observe({ ...matter, messages }, signal)
        return {
          kind: 'observed',
          input: { type: 'OBSERVED', ...result(answer) },
          answer,
          messages: messages.map((m) => m.id),
        }
      }
      case 'summarize': {
        const turnEnd = claimed.map((message) => message.event).findLast((event) => event.kind === 'turn_end') ?? null
        const answer = await observer.summarize({ ...matter, turnEnd, observations: material.observations }, signal)
        const messages = claimed.map((message) => message.eventId)
        return { kind: 'summarized', input: { type: 'SUMMARIZED', ...result(answer) }, answer, messages }
      }
      case 'compact': {
        const answer = await observer.compact(matter, signal)
        return { kind: 'compacted', input: { type: 'COMPACTED', ...result(answer) }, answer }
      }
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

function failed(effect: Effect, owner: FailureOwner, reason: string, retryAt: number): Delivery {
  return { kind: 'plain', input: { type: 'FAILED', effectId: effect.id, owner, reason, retryAt } }
}

function timedOut(effect: Effect): string {
  return `no answer within ${Math.round(effect.timeoutMs / 1000)} s`
}

function isTimeout(reason: unknown): boolean {
  return reason instanceof ObserverError
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
