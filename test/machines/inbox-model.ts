/** The simplest store for a session's decisions: the machine's counters are compared with its rows. */
import { createActor } from 'xstate'
import { pendingOf } from '../../machines/session/context.ts'
import { readSnapshot, sessionMachine } from '../../machines/session/machine.ts'
import { stateName, writeSnapshot } from '../../machines/session/snapshot.ts'
import { wakeAtOf } from '../../machines/session/timeouts.ts'
import type {
  Policy,
  SessionAction,
  SessionContext,
  SessionEvent,
  SessionInput,
  TurnState,
} from '../../machines/session/types.ts'

export const POLICY: Policy = {
  batching: true,
  batchMaxSize: 3,
  idleFlushMs: 600_000,
  effectTimeoutMs: 120_000,
  compactTokens: 1_000,
  maxAttempts: 3,
}

interface Row {
  id: number
  prompt: number
  status: 'pending' | 'processing' | 'failed'
  effectId: string | null
}

export class Inbox {
  rows: Row[] = []
  ends: Row[] = []
  settled = 0
  skipped = 0
  dropped = 0
  added = 0
  prompts: number[] = []
  summaries: number[] = []
  batches: number[] = []
  #next = 0

  apply(change: SessionAction): void {
    switch (change.type) {
      case 'add_prompt':
        this.prompts.push(change.number)
        return
      case 'add_message':
        this.added++
        this.rows.push({ id: this.#next++, prompt: change.prompt, status: 'pending', effectId: null })
        return
      case 'add_turn_end':
        this.ends.push({ id: this.#next++, prompt: change.prompt, status: 'pending', effectId: null })
        return
      case 'skip_event':
        this.skipped++
        return
      case 'claim': {
        const { effect } = change
        if (effect.kind === 'compact') return
        const from = effect.kind === 'observe' ? this.rows : this.ends
        const limit = effect.kind === 'observe' ? effect.limit : Infinity
        const claimed = from.filter((row) => row.status === 'pending' && row.prompt <= effect.prompt).slice(0, limit)
        if (effect.kind === 'observe' && claimed.length !== effect.limit) {
          throw new Error(`claimed ${claimed.length} of ${effect.limit}`)
        }
        for (const row of claimed) Object.assign(row, { status: 'processing', effectId: effect.id })
        return
      }
      case 'release':
        for (const row of this.#of(change.effectId)) Object.assign(row, { status: 'pending', effectId: null })
        return
      case 'fail':
        for (const row of this.#of(change.effectId)) Object.assign(row, { status: 'failed', effectId: null })
        return
      case 'settle': {
        if (change.kind === 'summarize') this.summaries.push(change.prompt)
        if (change.kind === 'observe') {
          const done = this.rows.filter((row) => row.effectId === change.effectId).length
          this.batches.push(done)
          this.settled += done
        }
        this.rows = this.rows.filter((row) => row.effectId !== change.effectId)
        this.ends = this.ends.filter((row) => row.effectId !== change.effectId)
        return
      }
      case 'retry_failed':
        for (const row of [...this.rows, ...this.ends]) if (row.status === 'failed') row.status = 'pending'
        return
      case 'clear': {
        const gone = (row: Row) => row.status === 'failed' || (change.pending && row.status === 'pending')
        this.dropped += this.rows.filter(gone).length
        this.rows = this.rows.filter((row) => !gone(row))
        this.ends = this.ends.filter((row) => !gone(row))
        return
      }
      case 'forget': {
        const gone = new Set(change.rows)
        this.dropped += this.rows.filter(({ id }) => gone.has(id)).length
        this.rows = this.rows.filter(({ id }) => !gone.has(id))
        this.ends = this.ends.filter(({ id }) => !gone.has(id))
        return
      }
      case 'explain':
        return
    }
  }

  counts(status: Row['status']): { prompt: number; count: number }[] {
    const counts = new Map<number, number>()
    for (const row of this.rows) if (row.status === status) counts.set(row.prompt, (counts.get(row.prompt) ?? 0) + 1)
    return [...counts].map(([prompt, count]) => ({ prompt, count }))
  }

  /** As the store counts them: everything of these turns; null: of all turns. */
  toForget(prompts: readonly number[] | null): Omit<Extract<SessionInput, { type: 'FORGET' }>, 'type'> {
    const isGone = ({ prompt }: Row) => prompts === null || prompts.includes(prompt)
    const gone = this.rows.filter(isGone)
    const counts = new Map<number, number>()
    for (const { prompt, status } of gone) if (status !== 'failed') counts.set(prompt, (counts.get(prompt) ?? 0) + 1)
    return {
      rows: [...gone, ...this.ends.filter(isGone)].map(({ id }) => id),
      messages: [...counts].map(([prompt, count]) => ({ prompt, count })),
      failed: gone.filter(({ status }) => status === 'failed').length,
      summaries: prompts === null ? null : [...new Set(this.ends.filter(isGone).map(({ prompt }) => prompt))],
    }
  }

  failedSummaries(): number[] {
    return [...new Set(this.ends.filter((row) => row.status === 'failed').map((row) => row.prompt))]
  }

  #of(effectId: string): Row[] {
    return [...this.rows, ...this.ends].filter((row) => row.effectId === effectId)
  }
}

/** A session machine with its inbox: sends inputs, applies decisions, checks the invariants. */
export class Session {
  inbox = new Inbox()
  now: number
  policy: Policy
  /** Why no model may be called. */
  offline: string | null = null
  #actor: ReturnType<typeof start>
  #actions: SessionAction[] = []
  #events = 0
  reasons: string[] = []

  constructor(now = 1_000_000, policy: Policy = POLICY) {
    this.now = now
    this.policy = policy
    this.#actor = this.#start(null)
  }

  get context(): SessionContext {
    return this.#actor.getSnapshot().context
  }
  get state(): string {
    return stateName(this.#actor.getSnapshot().value)
  }
  get snapshot(): string {
    return writeSnapshot(this.#actor.getSnapshot().value, this.context)
  }
  get wakeAt(): number | null {
    return wakeAtOf(this.#actor.getSnapshot(), this.policy)
  }
  get turn(): TurnState {
    return this.#actor.getSnapshot().value.turn
  }

  /** False when the machine ignored it. */
  send(input: SessionInput): boolean {
    const n = ++this.#events
    const env = {
      at: this.now,
      freshId: `e${n}`,
      policy: this.policy,
      offline: this.offline,
    }
    this.#actor.send({ ...input, env } as SessionEvent)
    const actions = this.#actions.splice(0)
    if (actions.length === 0) return false
    this.reasons.push(actions.flatMap((action) => (action.type === 'explain' ? [action.reason] : [])).join('; '))
    for (const action of actions) this.inbox.apply(action)
    this.check()
    return true
  }

  #start(snapshot: string | null) {
    const actor = start(this.now, snapshot)
    actor.on('*', (action) => this.#actions.push(action))
    return actor
  }

  /** The process dies, and another one restores the session from its snapshot. */
  crash(): void {
    this.#actor.stop()
    this.#actor = this.#start(this.snapshot)
  }

  observed(contextTokens = 0): boolean {
    return this.send({ type: 'OBSERVED', effectId: this.effectId, usage: usage(), contextTokens })
  }
  summarized(contextTokens = 0): boolean {
    return this.send({ type: 'SUMMARIZED', effectId: this.effectId, usage: usage(), contextTokens })
  }
  compacted(contextTokens = 0): boolean {
    return this.send({ type: 'COMPACTED', effectId: this.effectId, usage: usage(), contextTokens })
  }
  failed(owner: 'provider' | 'message' | 'context', retryAt = this.now + 1_000): boolean {
    return this.send({
      type: 'FAILED',
      effectId: this.effectId,
      owner,
      reason: `${owner}'s fault`,
      retryAt,
      usage: usage(),
    })
  }
  get effectId(): string {
    return this.context.effect?.id ?? 'none'
  }

  /** Answers every effect until nothing is in flight. */
  settle(): void {
    for (let i = 0; i < 10_000 && this.context.effect !== null; i++) {
      const { kind } = this.context.effect
      if (kind === 'observe') this.observed()
      else if (kind === 'summarize') this.summarized()
      else this.compacted()
    }
  }

  check(): void {
    const { context, state, inbox } = this
    const fail = (what: string) => {
      throw new Error(
        `${what}\n  state ${state}\n  context ${JSON.stringify(context)}\n  inbox ${JSON.stringify(inbox.rows)}`,
      )
    }
    if (state.endsWith('.calling') !== (context.effect !== null))
      fail('`calling` without an effect in flight, or the reverse')
    if (state.endsWith('.waiting') && context.waiting === null) fail('`waiting` without a reason')
    const open = inbox.rows.filter((row) => row.status !== 'failed')
    if (pendingOf(context) !== open.length) fail(`counts ${pendingOf(context)} of ${open.length} messages`)
    if (context.failed !== inbox.rows.length - open.length) fail('the number of failed messages is wrong')
    if (inbox.added !== inbox.settled + inbox.dropped + inbox.rows.length) fail('a message is lost or duplicated')
    const claimed = open.filter((row) => row.status === 'processing')
    if (claimed.some((row) => row.effectId !== context.effect?.id)) fail('claimed by an effect that is not in flight')
    for (const end of inbox.ends.filter((row) => row.status === 'pending')) {
      if (!context.turns.some((turn) => turn.summary && turn.prompt >= end.prompt))
        fail('a turn waits for a summary that is not due')
    }
    if (state === 'closed' && (open.length > 0 || context.turns.length > 0)) fail('closed with work left')
    if ((this.wakeAt === null) !== (state === 'closed')) fail('an open session has no wake-up, or a closed one has')
    if (this.snapshot.length > 4_096) fail('the snapshot is too large')
  }
}

function usage() {
  return { input: 10, output: 1, cacheRead: 0, cacheWrite: 0 }
}

function start(at: number, snapshot: string | null) {
  const input = { at }
  const actor =
    snapshot === null
      ? createActor(sessionMachine, { input })
      : createActor(sessionMachine, { input, snapshot: readSnapshot(snapshot) })
  return actor.start()
}
