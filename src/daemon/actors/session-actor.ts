/**
 * One session in memory: mailbox, decide, commit, act. It has at most one commit in flight; events that queue up behind it
 * are decided together into the next one. After a failed commit the machine in memory is discarded and restored from its row.
 */
import { type Actor, createActor } from 'xstate'
import { pendingOf } from '../../../machines/session/context.ts'
import { readSnapshot, sessionMachine } from '../../../machines/session/machine.ts'
import { migrateSnapshot } from '../../../machines/session/migrations.ts'
import { rebuildSnapshot, stateName } from '../../../machines/session/snapshot.ts'
import type { Effect, Policy, SessionAction, SessionInput } from '../../../machines/session/types.ts'
import { isTranscriptId, type MemoryEvent, sessionNotFound } from '../../domain/event.ts'
import { errorMessage, MemError } from '../../lib/errors.ts'
import { faultPoint } from '../../lib/faults.ts'
import { type Commit, type CommitParts, type CommitResult, emptyCommit } from '../../store/commit.ts'
import type { InboxMessage, Store, StoredSessionRow } from '../../store/port.ts'
import type { Committer } from './committer.ts'
import {
  addCalls,
  addDecision,
  type Delivery,
  detailsOf,
  detailsOfEvent,
  inputOf,
  type MachineState,
  type SessionDetails,
  stateOf,
} from './decision.ts'

/** Events decided together at most: bounds the size of one commit. */
const MAX_EVENTS_PER_COMMIT = 256

export interface SessionHost {
  store: Store
  committer: Committer
  now(): number
  freshId(): string
  policy(): Policy
  /** Why no model may be called now; null: one may. */
  offline(): string | null
  /** Whether payloads are kept after their messages are settled. */
  keepsPayloads(): boolean
  /** After a commit: the effect that the snapshot wants in flight, or none. */
  act(session: string, effect: Effect | null): void
  committed(commit: Commit, result: CommitResult & { ok: true }, counts: { pending: number; failed: number }): void
  quarantined(session: string, reason: string, seq: number, at: number): void
  /** No turn is open, nothing is left for it to do, and its row has everything. */
  atRest(actor: SessionActor): void
}

export interface Accepted {
  duplicate: boolean
  /** Why nothing was kept of the event; absent where it was kept. */
  skipped?: string
}

interface Item {
  /** Decided alone: it depends on rows that must not change meanwhile, or its group failed before. */
  alone: boolean
  delivery:
    | Delivery
    /** `hold` runs after the commit and before its effect starts. */
    | { kind: 'prepared'; prepare: () => Promise<SessionInput>; hold: (() => Promise<void>) | null }
    /** Changes the session's rows itself. The machine is restored from its row afterwards. */
    | { kind: 'exclusive'; work: () => Promise<void> }
  resolve: (accepted: Accepted) => void
  reject: (error: unknown) => void
}

type HeldEvent = Awaited<ReturnType<Store['heldEvents']>>[number]

interface Awake {
  actor: Actor<typeof sessionMachine>
  /** What the machine emits about the event that it handles. */
  actions: SessionAction[]
  revision: number
  details: SessionDetails
}

export class SessionActor {
  readonly session: string
  readonly #host: SessionHost
  #mailbox: Item[] = []
  #busy = false
  #awake: Awake | null = null
  #quarantine: string | null = null
  /** When the session was erased; undefined: not read yet. */
  #erasedAt: number | null | undefined
  #lastUsed: number

  constructor(session: string, host: SessionHost) {
    this.session = session
    this.#host = host
    this.#lastUsed = host.now()
  }

  get idleSince(): number | null {
    return this.#busy || this.#mailbox.length > 0 ? null : this.#lastUsed
  }

  /** Resolves once durable. */
  accept(event: MemoryEvent): Promise<Accepted> {
    faultPoint('decide')
    return this.#enqueue({ kind: 'event', input: inputOf(event), event })
  }

  deliver(delivery: Delivery): Promise<Accepted> {
    return this.#enqueue(delivery)
  }

  /**
   * For an input that depends on rows: they are read while nothing else is in flight. With `hold`, no other event is
   * decided and no effect starts before it has ended.
   */
  deliverPrepared(prepare: () => Promise<SessionInput>, hold: (() => Promise<void>) | null = null): Promise<Accepted> {
    return this.#enqueue({ kind: 'prepared', prepare, hold })
  }

  /** For a change of the rows that no machine decides, such as erasing the session. Its effect starts after it. */
  async exclusively(work: () => Promise<void>): Promise<void> {
    await this.#enqueue({ kind: 'exclusive', work })
  }

  /**
   * Ends a quarantine if the snapshot can be read again, as after an update. The events that were held meanwhile are
   * decided in their order, in the same commit. False: it stays quarantined.
   */
  async endQuarantine(reason: string): Promise<boolean> {
    return await this.#restart(reason, false)
  }

  /** Restarts a session from its snapshot, or from its rows if the snapshot cannot be restored. */
  async rebuild(reason: string): Promise<boolean> {
    if (!(await this.#restart(reason, true))) return false
    await this.deliver({ kind: 'plain', input: { type: 'FLUSH' } })
    return true
  }

  /** In the mailbox: no event may be accepted between reading the rows and the commit. */
  async #restart(reason: string, fromRows: boolean): Promise<boolean> {
    let done = false
    await this.#enqueue({
      kind: 'exclusive',
      work: async () => {
        done = await this.#restartNow(reason, fromRows)
      },
    })
    return done
  }

  async #restartNow(reason: string, fromRows: boolean): Promise<boolean> {
    const { store } = this.#host
    const row = await store.session(this.session)
    if (row === null || (row.quarantine === null && !fromRows)) return false
    const [held, queue] = await Promise.all([store.heldEvents(this.session), store.queue({ session: this.session })])
    const heldIds = new Set(held.map(({ event }) => event.id))
    const messages = queue.filter(({ eventId }) => !heldIds.has(eventId))
    const isQuarantined = row.quarantine !== null
    const readable = isQuarantined ? this.#readable(row, messages) : null
    if (readable === null && !fromRows) return false
    const at = this.#host.now()
    const awake = readable ?? this.#start(snapshotFromRows(row, messages, at), row.revision, detailsOf(row))
    const parts = emptyCommit(this.session, row.revision + 1, at)
    if (readable === null && row.effect !== null) {
      const release = { type: 'release' as const, effectId: row.effect.id, counted: false, reason }
      parts.inbox.push({ at, changes: [release], event: null, outcomes: [] })
    }
    const from = isQuarantined ? 'quarantine' : row.state
    const to = stateName(machineOf(awake).value)
    const event = readable === null ? 'REBUILD' : 'RESTORE'
    parts.trace.push({ at, event, eventId: null, from, to, reason, effectId: null })
    const details = this.#decideHeld(awake, parts, held, at)
    const machine = machineOf(awake)
    const commit = { ...parts, state: stateOf(machine, details, this.#host.policy()) }
    const result = await this.#host.committer.submit(commit)
    this.#discardMachine()
    if (!result.ok) throw new MemError('storage', `session ${this.session} could not be restarted: ${result.why}`)
    this.#quarantine = null
    this.#awake = { ...awake, details, revision: commit.revision }
    this.#host.committed(commit, result, countsOf(machine))
    return true
  }

  /** Null if the snapshot cannot be restored, or does not count the messages that are there. */
  #readable(row: StoredSessionRow, messages: readonly InboxMessage[]): Awake | null {
    try {
      const awake = this.#start(row.snapshot, row.revision, detailsOf(row))
      const { pending, failed } = countsOf(machineOf(awake))
      const open = messages.filter(({ kind, status }) => kind !== 'turn_end' && status !== 'failed').length
      const setAside = messages.filter(({ kind, status }) => kind !== 'turn_end' && status === 'failed').length
      return pending === open && failed === setAside ? awake : null
    } catch {
      return null
    }
  }

  /** Decides the events that were held in quarantine as if they arrived now, and keeps when they did. */
  #decideHeld(awake: Awake, parts: CommitParts, held: readonly HeldEvent[], at: number): SessionDetails {
    let details = awake.details
    for (const { event, receivedAt } of held) {
      this.#decide(awake, parts, { kind: 'event', input: inputOf(event), event }, at, details.heardAt)
      const record = parts.events.at(-1)
      if (record === undefined || record.event.id !== event.id) continue
      record.receivedAt = receivedAt
      parts.released.push(event.id)
      details = detailsOfEvent(event, at, details)
    }
    return details
  }

  #enqueue(delivery: Item['delivery']): Promise<Accepted> {
    return new Promise((resolve, reject) => {
      this.#mailbox.push({
        delivery,
        alone: delivery.kind === 'prepared' || delivery.kind === 'exclusive',
        resolve,
        reject,
      })
      if (!this.#busy) void this.#work()
    })
  }

  async #work(): Promise<void> {
    this.#busy = true
    while (this.#mailbox.length > 0) {
      const items = this.#nextItems()
      try {
        await this.#process(items)
      } catch (error) {
        this.#discardMachine()
        for (const item of items) item.reject(error)
      }
    }
    this.#lastUsed = this.#host.now()
    this.#busy = false
    if (this.#awake === null || isAtRest(machineOf(this.#awake))) this.#host.atRest(this)
  }

  #nextItems(): Item[] {
    const firstAlone = this.#mailbox.findIndex((item) => item.alone)
    const together = firstAlone === -1 ? this.#mailbox.length : Math.max(1, firstAlone)
    return this.#mailbox.splice(0, Math.min(MAX_EVENTS_PER_COMMIT, together))
  }

  async #process(items: Item[]): Promise<void> {
    const [first] = items
    if (first?.delivery.kind === 'exclusive') return await this.#processExclusive(first, first.delivery.work)
    const current = await this.#withoutForgotten(items)
    if (current.length > 0) await this.#processCurrent(current)
  }

  async #processExclusive(item: Item, work: () => Promise<void>): Promise<void> {
    this.#discardMachine()
    this.#erasedAt = undefined
    try {
      await work()
      item.resolve({ duplicate: false })
    } finally {
      const row = await this.#host.store.session(this.session)
      this.#host.act(this.session, row === null || row.quarantine !== null ? null : row.effect)
    }
  }

  /** Acknowledges events of an erased session from before it was erased, which arrive late. They are not stored again. */
  async #withoutForgotten(items: Item[]): Promise<Item[]> {
    if (this.#erasedAt === undefined) this.#erasedAt = await this.#host.store.sessionErasedAt(this.session)
    const erasedAt = this.#erasedAt
    if (erasedAt === null) return items
    return items.filter((item) => {
      const isLate = item.delivery.kind === 'event' && isFromBefore(item.delivery.event, erasedAt)
      if (isLate) item.resolve({ duplicate: true })
      return !isLate
    })
  }

  async #processCurrent(items: Item[]): Promise<void> {
    const awake = await this.#wake(items)
    if (awake === null) return await this.#processQuarantined(items)

    const deliveries = await Promise.all(items.map(resolveDelivery))
    const { parts, details, repeated } = this.#decideAll(awake, deliveries)
    if (parts.trace.length + parts.calls.length === 0) {
      for (const item of items) item.resolve({ duplicate: false })
      return
    }
    const machine = machineOf(awake)
    const state = stateOf(machine, details, this.#host.policy())
    const commit = { ...parts, state, keepPayloads: this.#host.keepsPayloads() }
    const result = await this.#host.committer.submit(commit)
    if (!result.ok) return this.#recover(items, deliveries, result)
    this.#awake = { ...awake, revision: commit.revision, details }
    this.#host.committed(commit, result, countsOf(machine))
    for (const item of items) if (item.delivery.kind === 'prepared') await item.delivery.hold?.()
    for (const [i, item] of items.entries()) item.resolve({ duplicate: repeated.has(i) })
    // What forgets waits in the mailbox: it ends the effect, which must not be started before.
    if (!this.#mailbox.some(isForgetting)) this.#host.act(this.session, commit.state.effect)
  }

  #decideAll(awake: Awake, deliveries: readonly Delivery[]) {
    const at = this.#host.now()
    const parts = emptyCommit(this.session, awake.revision + 1, at)
    const seen = new Set<string>()
    const repeated = new Set<number>()
    let details = awake.details
    for (const [i, delivery] of deliveries.entries()) {
      if (delivery.kind === 'event') {
        if (seen.has(delivery.event.id)) {
          repeated.add(i)
          continue
        }
        seen.add(delivery.event.id)
        details = detailsOfEvent(delivery.event, at, details)
      }
      this.#decide(awake, parts, delivery, at, details.heardAt)
    }
    return { parts, details, repeated }
  }

  /** `heardAt`: time of the session's newest event. */
  #decide(awake: Awake, parts: CommitParts, delivery: Delivery, at: number, heardAt: number): void {
    const host = this.#host
    const env = { at, freshId: host.freshId(), policy: host.policy(), offline: host.offline() }
    const before = machineOf(awake)
    awake.actor.send({ ...delivery.input, env })
    const after = machineOf(awake)
    if (after.status !== 'active') {
      const text = `the session machine ended on ${delivery.input.type}: ${errorMessage(after.error)}`
      throw new MemError('internal', text)
    }
    const actions = awake.actions.splice(0)
    if (actions.length > 0) addDecision(parts, delivery, { before, after, actions }, { at, heardAt })
    else addCalls(parts, delivery)
  }

  /** Nothing of this commit was stored. The machine is restored from its row, and acceptable inputs are retried. */
  #recover(items: Item[], deliveries: Delivery[], result: CommitResult & { ok: false }): void {
    this.#discardMachine()
    if (result.why === 'duplicate') {
      const known = new Set(result.eventIds)
      const again = items.filter((item, i) => {
        const delivery = deliveries[i]
        const duplicate = delivery?.kind === 'event' && known.has(delivery.event.id)
        if (duplicate) item.resolve({ duplicate: true })
        return !duplicate
      })
      this.#mailbox.unshift(...again)
      return
    }
    if (items.some((item) => !item.alone)) {
      // One input of the group failed: retried alone, only it fails. A stale revision is read again on the way.
      this.#mailbox.unshift(...items.map((item) => ({ ...item, alone: true })))
      return
    }
    const error = new MemError('storage', result.message, { retryable: result.retryable })
    for (const item of items) item.reject(error)
  }

  #discardMachine(): void {
    this.#awake?.actor.stop()
    this.#awake = null
  }

  async #wake(items: readonly Item[]): Promise<Awake | null> {
    if (this.#awake !== null) return this.#awake
    const row = await this.#host.store.session(this.session)
    if (row === null) {
      const first = items.find((item) => item.delivery.kind === 'event')?.delivery
      if (first?.kind !== 'event') throw sessionNotFound(this.session)
      this.#awake = this.#start(null, 0, detailsOfEvent(first.event, this.#host.now(), null))
      return this.#awake
    }
    this.#quarantine = row.quarantine
    if (row.quarantine !== null) return null
    try {
      this.#awake = this.#start(row.snapshot, row.revision, detailsOf(row))
      return this.#awake
    } catch (error) {
      const reason = `its snapshot cannot be restored: ${errorMessage(error)}`
      const at = this.#host.now()
      const { seq } = await this.#host.store.quarantine(this.session, reason, at)
      this.#quarantine = reason
      this.#host.quarantined(this.session, reason, seq, at)
      return null
    }
  }

  #start(snapshot: string | null, revision: number, details: SessionDetails): Awake {
    const input = { at: this.#host.now() }
    const actor =
      snapshot === null
        ? createActor(sessionMachine, { input })
        : createActor(sessionMachine, { input, snapshot: readSnapshot(snapshot) })
    const actions: SessionAction[] = []
    actor.on('*', (action) => actions.push(action))
    // Without an error observer XState throws a machine's error as an uncaught exception; `#decide` checks the status.
    actor.subscribe({ error: () => undefined })
    actor.start()
    if (actor.getSnapshot().status !== 'active') {
      const stored = snapshot === null ? null : migrateSnapshot(JSON.parse(snapshot)).value
      throw new Error(`the stored state ${JSON.stringify(stored)} does not exist in this version`)
    }
    return { actor, actions, revision, details }
  }

  async #processQuarantined(items: readonly Item[]): Promise<void> {
    for (const item of items) {
      if (item.delivery.kind === 'event') {
        const became = await this.#host.store.acceptQuarantined(this.session, item.delivery.event, this.#host.now())
        item.resolve({ duplicate: became === 'duplicate' })
      } else {
        const next = `to restore it: claude-mem queue retry --session ${this.session}`
        const text = `session ${this.session} is quarantined (${this.#quarantine}); ${next}`
        item.reject(new MemError('quarantined', text))
      }
    }
  }
}

const machineOf = ({ actor }: Awake) => actor.getSnapshot()

function isAtRest({ value, context }: MachineState): boolean {
  return value.turn !== 'open' && context.effect === null && context.turns.length === 0
}

function countsOf({ context }: MachineState): { pending: number; failed: number } {
  return { pending: pendingOf(context), failed: context.failed }
}

async function resolveDelivery({ delivery }: Item): Promise<Delivery> {
  if (delivery.kind === 'exclusive') throw new MemError('internal', 'exclusive work is not decided by the machine')
  return delivery.kind === 'prepared' ? { kind: 'plain', input: await delivery.prepare() } : delivery
}

function isForgetting({ delivery }: Item): boolean {
  return delivery.kind === 'exclusive' || (delivery.kind === 'prepared' && delivery.hold !== null)
}

/** A transcript is always older: while a session runs, hooks report it. */
function isFromBefore(event: MemoryEvent, erasedAt: number): boolean {
  return event.at <= erasedAt || isTranscriptId(event.id)
}

/** `messages`: those that the session accepted itself, without held ones. */
function snapshotFromRows(row: StoredSessionRow, messages: readonly InboxMessage[], at: number): string {
  const isTurnEnd = (message: InboxMessage) => message.kind === 'turn_end'
  const open = messages.filter(({ status }) => status !== 'failed')
  return rebuildSnapshot({
    at,
    prompts: row.prompts,
    generation: row.generation,
    pending: open.filter((message) => !isTurnEnd(message)).map(({ prompt }) => ({ prompt, count: 1 })),
    failed: messages.filter((message) => message.status === 'failed' && !isTurnEnd(message)).length,
    summaries: open.filter(isTurnEnd).map(({ prompt }) => prompt),
  })
}
