/**
 * Runs the effects in the snapshots: one observer call per session, several sessions at the same time. A call may
 * be made twice, if the process died in between; its result counts once, because only the current effect id does. The
 * beginning of each model call is committed before its request is sent: a call that a crash cuts off is still counted.
 */
import type { Effect } from '../../../machines/session/types.ts'
import { isInboxEvent, type MemoryEvent, sessionNotFound } from '../../domain/event.ts'
import type { FailureOwner, ModelCall } from '../../domain/model-call.ts'
import { addUsage, NO_USAGE } from '../../domain/observation.ts'
import type { Project } from '../../domain/project.ts'
import { errorMessage, MemError } from '../../lib/errors.ts'
import { faultPoint } from '../../lib/faults.ts'
import type { Log } from '../../lib/log.ts'
import { withTimeout } from '../../lib/timeout.ts'
import { type CompactAnswer, type Observer, ObserverError, type ObserverSession } from '../../observer/port.ts'
import type { PromptRow, Store, StoredSessionRow, TurnMaterial } from '../../store/port.ts'
import type { Delivery } from './decision.ts'
import { type PassageHost, storePassages } from './effect-passages.ts'
import { Breaker, EffectCalls } from './model-calls.ts'

/** Newest rows that a digest is made from; more would not fit into it. */
const DIGEST_OBSERVATIONS = 300
const DIGEST_SUMMARIES = 50
/** Newest observations whose numbers a request may list: more than two batches make. */
const LISTED_OBSERVATIONS = 60
/** Newest open problems of a project that the opening of a conversation may list. */
const LISTED_PROBLEMS = 20

/** What an effect is about, from its rows. Its passages are stored by then. */
interface EffectMaterial {
  row: StoredSessionRow
  events: readonly MemoryEvent[]
  claimed: readonly PromptRow[]
  material: TurnMaterial
}

async function readMaterial(
  host: PassageHost,
  session: string,
  effect: Effect,
  signal: AbortSignal,
): Promise<EffectMaterial> {
  const { store } = host
  const [row, messages, claimed, material, prompts] = await Promise.all([
    store.session(session),
    store.claimedMessages(session, effect.id),
    store.claimedPrompts(session, effect.id),
    store.turnMaterial(session, effect.prompt),
    store.promptEvents(session, effect.id, effect.prompt),
  ])
  if (row === null) throw new ObserverError('message', sessionNotFound(session).message)
  if (isOfTurn(effect)) await storePassages(host, session, row.project.key, [...prompts, ...messages], signal)
  return { row, events: messages.map(({ event }) => event), claimed, material }
}

interface EffectCall extends EffectMaterial {
  store: Store
  observer: Observer
  session: string
  effect: Effect
  calls: EffectCalls
  at: number
}

/** Calls the observer with what the effect is about. */
async function callObserver(
  { store, observer, session, effect, calls, at, row, events, claimed, material }: EffectCall,
  signal: AbortSignal,
): Promise<Delivery> {
  const request: ObserverSession = {
    session,
    project: row.project,
    cwd: row.cwd,
    at: Math.min(at, events[0]?.at ?? material.prompt?.at ?? at),
    promptNumber: effect.prompt,
    prompt: requestOf(effect, claimed, material),
    reportBefore: () => store.closingWords(session, effect.prompt - 1),
    // An observer supersedes only what this machine learned: a session that was continued here may have memories of another.
    recorded: async () =>
      (await store.observations({ session, current: true, limit: LISTED_OBSERVATIONS })).filter(
        ({ author }) => author == null,
      ),
    turnPassages: () => store.passagesOfTurn(session, effect.prompt),
    openProblems: () => store.openProblems(row.project.key, LISTED_PROBLEMS),
    conversation: await store.observerTurns(session, row.generation),
    contextTokens: row.contextTokens,
    calls,
  }
  switch (effect.kind) {
    case 'observe': {
      const messages = events.filter(isInboxEvent)
      const seen = (subjects: readonly string[]) => store.seenDigests(session, subjects)
      const answer = await observer.observe({ ...request, messages, seen }, signal)
      const input = { type: 'OBSERVED', ...costOf(effect, answer) } as const
      return { kind: 'observed', input, answer, messages, calls: calls.list(null) }
    }
    case 'summarize': {
      const turnEnd = events.findLast((event) => event.kind === 'turn_end') ?? null
      const whole = effect.whole === true
      const subject = whole ? await wholeSession(store, session) : { observations: material.observations, turns: null }
      const answer = await observer.summarize({ ...request, turnEnd, ...subject }, signal)
      const input = { type: 'SUMMARIZED', ...costOf(effect, answer) } as const
      return { kind: 'summarized', input, whole, answer, messages: events, calls: calls.list(null) }
    }
    case 'compact': {
      const [observations, summaries] = await Promise.all([
        store.observations({ session, current: true, limit: DIGEST_OBSERVATIONS }),
        store.summaries({ session, limit: DIGEST_SUMMARIES }),
      ])
      // A summary of the whole session repeats those of its turns.
      const turns = summaries.filter(({ whole }) => whole !== true)
      const answer = await observer.compact({ ...request, observations, summaries: turns }, signal)
      const input = { type: 'COMPACTED', ...costOf(effect, answer) } as const
      return { kind: 'compacted', input, answer, calls: calls.list(null) }
    }
  }
}

/**
 * What the user asked for in the turn of the effect. Turns that were merged have one number but several prompts: a batch
 * names those of its messages.
 */
function requestOf(effect: Effect, claimed: readonly PromptRow[], { prompt }: TurnMaterial): string | null {
  const prompts = effect.kind === 'observe' && claimed.length > 0 ? claimed : prompt === null ? [] : [prompt]
  const texts = prompts.map(({ text }) => text).filter((text) => text !== '')
  return texts.length === 0 ? null : texts.join('\n\n')
}

/** Oldest first. The summaries of the turns are the newest that fit into a digest. */
async function wholeSession(store: Store, session: string) {
  const [observations, summaries] = await Promise.all([
    store.observations({ session, current: true, limit: DIGEST_OBSERVATIONS }),
    store.summaries({ session, limit: DIGEST_SUMMARIES }),
  ])
  const turns = summaries.filter(({ whole }) => whole !== true)
  return { observations: observations.toReversed(), turns: turns.toReversed() }
}

function costOf({ id: effectId }: Effect, { usage, contextTokens }: CompactAnswer) {
  return { effectId, usage, contextTokens }
}

/** What happens to the messages of a failed effect, by the owner of the failure; for the log. */
const AFTER_FAILURE: Record<FailureOwner, string> = {
  provider: 'its messages wait and are sent again; the attempt is not counted',
  message: 'the attempt is counted: a batch is split and sent again, a message without attempts left fails',
  context: 'the observer conversation is compacted, then its messages are sent again',
}

/** How long an aborted effect may take to record what it cost, in ms. */
const ABORT_GRACE_MS = 500

export interface EffectHost extends PassageHost {
  observer(): Observer
  /** The observer that is used while no model may be called. */
  offlineObserver: Observer
  /** Why no model may be called now. Checked again when the effect starts: it may have waited for long. */
  modelDisabledReason(): string | null
  /** Whether sessions continue with the offline observer while the provider is unavailable, instead of waiting. */
  fallsBackToOffline(): boolean
  random(): number
  freshId(): string
  concurrency(): number
  /** Puts a result into the session's mailbox. */
  deliver(session: string, delivery: Delivery): Promise<unknown>
  /** Records what calls cost, without their texts and without a session. */
  recordCost(project: Project, calls: readonly ModelCall[]): Promise<void>
  log: Log
}

interface Job {
  session: string
  effect: Effect
  abort: AbortController
  /** Set once what it has read was forgotten: its result is not delivered, and of its calls only the figures are kept. */
  discardedFor: Project | null
  /** Settles once the effect has ended, with or without success. */
  done: Promise<void>
}

export class EffectRunner {
  readonly #host: EffectHost
  readonly #queue = new Map<string, Job>()
  readonly #running = new Map<string, Job>()
  readonly #breakers = new Map<string, Breaker>()
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
  /** Whether this process runs the effect, with its own timer. The deadline in the row applies only to effects that no process runs. */
  has(session: string): boolean {
    return this.#queue.has(session) || this.#running.has(session)
  }
  get waiting(): { since: number; reason: string } | null {
    return this.#breaker(this.#host.observer().provider).waiting
  }
  /** Why the provider is unavailable, where sessions continue without it. */
  get unavailable(): string | null {
    if (!this.#host.fallsBackToOffline()) return null
    const breaker = this.#breaker(this.#host.observer().provider)
    return breaker.openUntil > this.#host.now() ? (breaker.waiting?.reason ?? null) : null
  }

  /** Starts or aborts a session's effect so that it matches its snapshot. */
  reconcile(session: string, effect: Effect | null): void {
    const running = this.#running.get(session)
    if (running !== undefined && running.effect.id === effect?.id && running.discardedFor === null) return
    running?.abort.abort(new Error('no longer wanted'))
    this.#queue.delete(session)
    if (effect === null) return
    this.#queue.set(session, {
      session,
      effect,
      abort: new AbortController(),
      discardedFor: null,
      done: Promise.resolve(),
    })
    this.#pump()
  }

  /** The session, or memories of it, are being forgotten: nothing of its effect may be stored any more. */
  discard(session: string, project: Project): void {
    this.#queue.delete(session)
    const running = this.#running.get(session)
    if (running === undefined) return
    running.discardedFor = project
    running.abort.abort(new Error('forgotten'))
  }

  /** `claude-mem flush`: closes the breaker, so that the provider is called again at once. */
  resetBreakers(): void {
    this.#breakers.clear()
  }

  clockSetBack(byMs: number): void {
    for (const breaker of this.#breakers.values()) breaker.clockSetBack(byMs)
  }

  /** Starts nothing new. Resolves with the sessions whose effect has not finished after the timeout. */
  async drain(timeoutMs: number): Promise<string[]> {
    this.#open = false
    await withTimeout(timeoutMs, allDone([...this.#running.values()]), undefined)
    const unfinished = [...this.#running.values(), ...this.#queue.values()]
    for (const job of unfinished) job.abort.abort(new Error('the daemon stops'))
    this.#queue.clear()
    await withTimeout(ABORT_GRACE_MS, allDone(unfinished), undefined)
    return unfinished.map((job) => job.session)
  }

  #pump(): void {
    while (this.#open && this.#running.size < this.#host.concurrency()) {
      // A session's next effect waits until its aborted one has ended.
      const job = [...this.#queue.values()].find((waiting) => !this.#running.has(waiting.session))
      if (job === undefined) return
      this.#queue.delete(job.session)
      this.#running.set(job.session, job)
      job.done = this.#run(job).finally(() => {
        this.#running.delete(job.session)
        this.#pump()
      })
    }
  }

  async #run(job: Job): Promise<void> {
    const { session, effect, abort } = job
    const calls = new EffectCalls(effect, {
      now: () => this.#host.now(),
      freshId: () => this.#host.freshId(),
      onBegin: (call) => {
        const input = { type: 'CALL_BEGUN', effectId: effect.id } as const
        return this.#host.deliver(session, { kind: 'begun', input, calls: [call] })
      },
    })
    const late = new ObserverError('provider', `no answer within ${Math.round(effect.timeoutMs / 1000)} s`)
    const timer = setTimeout(() => abort.abort(late), effect.timeoutMs)
    // Unreferenced: a process that is otherwise done does not wait for this timer.
    timer.unref()
    try {
      faultPoint('effect.start')
      const result = await this.#callWithBreaker(session, effect, calls, abort.signal)
      faultPoint('effect.result')
      // The result may no longer be wanted, but its cost is recorded.
      const cost = 'calls' in result ? result.calls.length : 0
      if (job.discardedFor !== null) await this.#host.recordCost(job.discardedFor, calls.list('forgotten'))
      else if (!isUnwanted(abort.signal) || cost > 0) await this.#host.deliver(session, result)
    } catch (error) {
      const details = { session, effect: effect.id }
      if (job.discardedFor !== null) {
        this.#host.log('warn', 'what a cancelled effect cost could not be recorded', { ...details, error })
        return
      }
      const notStored = 'the result of an effect could not be stored; storing its failure instead'
      this.#host.log('warn', notStored, { ...details, ...loggedProblem(ownerOf(error), error) })
      await this.#host.deliver(session, this.#deliveryForError(effect, calls, error)).catch((again: unknown) => {
        const neither = 'the failure of an effect could not be stored either; the effect is retried at its deadline'
        this.#host.log('warn', neither, { ...details, error: again })
      })
    } finally {
      clearTimeout(timer)
    }
  }

  async #callWithBreaker(session: string, effect: Effect, calls: EffectCalls, signal: AbortSignal): Promise<Delivery> {
    let call: EffectCall | null = null
    try {
      const material = await abortable(readMaterial(this.#host, session, effect, signal), signal)
      const now = this.#host.now()
      const observer = this.#observerFor(effect)
      const breaker = this.#breaker(observer.provider)
      const spent = observer === this.#host.offlineObserver ? null : this.#host.modelDisabledReason()
      if (spent !== null) return this.#failedDelivery(effect, calls, 'provider', spent, now)
      if (breaker.openUntil > now) {
        const reason = breaker.waiting?.reason ?? 'waits'
        return this.#failedDelivery(effect, calls, 'provider', reason, this.#retryAt(effect, breaker.openUntil))
      }
      call = { ...material, store: this.#host.store, observer, session, effect, calls, at: now }
      const result = await abortable(callObserver(call, signal), signal)
      breaker.succeed()
      return result
    } catch (error) {
      if (isUnwanted(signal))
        return this.#failedDelivery(effect, calls, 'provider', errorMessage(signal.reason), this.#host.now())
      const failure = this.#deliveryForError(effect, calls, error)
      if (!signal.aborted) {
        const { owner, retryAt } = failure.input
        const details = { session, effect: effect.id, kind: effect.kind, owner, retryInMs: retryAt - this.#host.now() }
        this.#host.log('warn', `an effect failed; ${AFTER_FAILURE[owner]}`, {
          ...details,
          ...loggedProblem(owner, error),
        })
        const { offlineObserver } = this.#host
        if (isWholeSummary(effect) && call !== null && call.observer !== offlineObserver) {
          return await callObserver({ ...call, observer: offlineObserver }, signal)
        }
      }
      return failure
    }
  }

  /** A user waits for a summary of the whole session: it is made without the provider where that cannot be called now. */
  #observerFor(effect: Effect): Observer {
    const observer = this.#host.observer()
    if (effect.offline !== null) return this.#host.offlineObserver
    if (!isWholeSummary(effect)) return observer
    const isDown = this.#breaker(observer.provider).openUntil > this.#host.now()
    return isDown || this.#host.modelDisabledReason() !== null ? this.#host.offlineObserver : observer
  }

  #deliveryForError(effect: Effect, calls: EffectCalls, error: unknown) {
    const owner = ownerOf(error)
    const reason = errorMessage(error)
    if (owner !== 'provider') return this.#failedDelivery(effect, calls, owner, reason, this.#host.now())
    const retryAfterMs = error instanceof ObserverError ? error.retryAfterMs : null
    const breaker = this.#breaker(this.#observerFor(effect).provider)
    const retryAt = breaker.fail(this.#host.now(), this.#host.random(), reason, retryAfterMs)
    return this.#failedDelivery(effect, calls, owner, reason, this.#retryAt(effect, retryAt))
  }

  /** Sessions that continue without the provider do not wait for it. */
  #retryAt(effect: Effect, providerAt: number): number {
    return this.#host.fallsBackToOffline() && effect.offline === null ? this.#host.now() : providerAt
  }

  #failedDelivery(effect: Effect, calls: EffectCalls, owner: FailureOwner, reason: string, retryAt: number) {
    const made = calls.list(reason)
    const usage = made.reduce((sum, call) => addUsage(sum, call.usage), NO_USAGE)
    const input = { type: 'FAILED', effectId: effect.id, owner, reason, retryAt, usage } as const
    return { kind: 'failed', input, calls: made } as const
  }

  #breaker(provider: string): Breaker {
    const known = this.#breakers.get(provider)
    if (known !== undefined) return known
    const made = new Breaker()
    this.#breakers.set(provider, made)
    return made
  }
}

/** It reads events of a turn; other effects read memories. */
function isOfTurn(effect: Effect): boolean {
  return effect.kind !== 'compact' && !isWholeSummary(effect)
}

function isWholeSummary(effect: Effect): boolean {
  return effect.kind === 'summarize' && effect.whole === true
}

async function allDone(jobs: readonly Job[]): Promise<void> {
  await Promise.all(jobs.map((job) => job.done))
}

/** An unknown error is owned by the message: it is counted, so that it cannot be retried for ever. A full disk is not. */
function ownerOf(error: unknown): FailureOwner {
  if (error instanceof ObserverError) return error.owner
  return error instanceof MemError && error.retryable ? 'provider' : 'message'
}

/**
 * What the log gets of an error. If the content of the request is at fault, the words may quote it, and a log keeps them after
 * the content was forgotten: only the stack is logged. `claude-mem queue` and the trace of the session have the words.
 */
function loggedProblem(owner: FailureOwner, error: unknown): Record<string, unknown> {
  if (owner === 'provider' || error instanceof MemError) return { error }
  const stack = error instanceof Error ? (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line)) : []
  return { problem: error instanceof Error ? error.name : typeof error, chars: errorMessage(error).length, stack }
}

/** Aborted for another reason than its own deadline. */
function isUnwanted(signal: AbortSignal): boolean {
  return signal.aborted && !(signal.reason instanceof ObserverError)
}

/** An observer that ignores its signal must not occupy its slot for ever. */
function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason)
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}
