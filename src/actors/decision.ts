/** From what a machine decided to the rows that it changes. Pure: the commit is a value. */
import type { StateValue } from 'xstate'
import { isWaiting, wakeAtOf } from '../../machines/session/context.ts'
import { SESSION_MACHINE_VERSION } from '../../machines/session/machine.ts'
import { stateName, writeSnapshot } from '../../machines/session/snapshot.ts'
import type { Change, Policy, SessionContext, SessionInput } from '../../machines/session/types.ts'
import type { ModelCall } from '../memory/call.ts'
import { contentHash } from '../memory/content-hash.ts'
import type { MemoryEvent } from '../memory/event.ts'
import type { CompactAnswer, ObserveAnswer, SummarizeAnswer } from '../observer/port.ts'
import type { Commit, CommitParts, EventOutcome, SessionState } from '../store/commit.ts'

/** What reaches a session's mailbox: the machine's input and the content behind it. */
export type Delivery =
  | { kind: 'event'; input: SessionInput; event: MemoryEvent }
  | { kind: 'plain'; input: SessionInput }
  | ({ kind: 'failed'; input: SessionInput } & Called)
  | ({ kind: 'observed'; input: SessionInput; answer: ObserveAnswer; messages: readonly Told[] } & Called)
  | ({ kind: 'summarized'; input: SessionInput; answer: SummarizeAnswer; messages: readonly Told[] } & Called)
  | ({ kind: 'compacted'; input: SessionInput; answer: CompactAnswer } & Called)

/** An event that the observer was told about, and when it happened. */
export type Told = Pick<MemoryEvent, 'id' | 'at'>

/** What an effect cost, whatever came of it. */
interface Called {
  calls: readonly ModelCall[]
}

export interface Machine {
  value: StateValue
  context: SessionContext
}

/** Who and where the session is; the newest event says. */
export type SessionOrigin = Pick<SessionState, 'project' | 'client' | 'cwd' | 'transcriptPath' | 'heardAt'>

/** `now` bounds a clock that is ahead. */
export function originOf(event: MemoryEvent, now: number): SessionOrigin {
  const { project, client, cwd, transcriptPath, at } = event
  return { project, client, cwd, transcriptPath, heardAt: Math.min(at, now) }
}

export function inputOf(event: MemoryEvent): SessionInput {
  switch (event.kind) {
    case 'session_start':
      return { type: 'SESSION_START' }
    case 'prompt':
      return { type: 'PROMPT', promptId: event.promptId, private: event.private }
    case 'tool_use':
    case 'tool_failure':
    case 'subagent_end':
      return { type: 'MESSAGE', promptId: event.promptId }
    case 'turn_end':
      return { type: 'TURN_END', promptId: event.promptId }
    case 'pre_compact':
      return { type: 'PRE_COMPACT' }
    case 'session_end':
      return { type: 'SESSION_END' }
  }
}

export function stateOf({ value, context }: Machine, origin: SessionOrigin, policy: Policy): SessionState {
  const state = stateName(value)
  return {
    ...origin,
    status: context.outcome === 'active' || state !== 'closed' ? 'active' : context.outcome,
    state,
    snapshot: writeSnapshot(value, context),
    machineVersion: SESSION_MACHINE_VERSION,
    wakeAt: wakeAtOf(state, context, policy),
    effect: context.effect,
    waiting: isWaiting(state) || context.effect !== null ? (context.waiting?.reason ?? null) : null,
    prompts: context.prompt,
    generation: context.generation,
    contextTokens: context.contextTokens,
    usage: context.usage,
  }
}

/**
 * Adds one decision to the commit it belongs to. `before` is the machine as it was: an answer's turns belong to
 * the generation that gave it.
 */
export function addDecision(
  commit: CommitParts,
  delivery: Delivery,
  before: Machine,
  after: Machine,
  at: number,
): void {
  const { decided } = after.context
  const reason = decided?.reason ?? ''
  const changes = decided?.changes ?? []
  const event = delivery.kind === 'event' ? delivery.event : null
  if (event !== null) commit.events.push({ event, receivedAt: at, outcome: outcomeAtOnce(event, changes) })
  for (const change of changes) apply(commit, change, delivery, at)
  addCalls(commit, delivery)
  addTurns(commit, delivery, before, after, at)
  commit.trace.push({
    at,
    event: delivery.input.type,
    eventId: event?.id ?? null,
    from: stateName(before.value),
    to: stateName(after.value),
    reason: delivery.kind === 'observed' ? `${reason}; ${toldOf(delivery.answer)}` : reason,
    effectId: after.context.effect?.id ?? before.context.effect?.id ?? null,
  })
}

/** Money is spent even where nobody wants the answer any more. */
export function addCalls(commit: CommitParts, delivery: Delivery): void {
  if ('calls' in delivery) commit.calls.push(...delivery.calls)
}

/** How many notes came of a batch, and why the rest was left out. */
function toldOf({ observations, skipped, folded }: ObserveAnswer): string {
  const reasons = new Map<string, number>()
  for (const { reason } of [...skipped, ...folded]) reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
  const left = [...reasons].map(([reason, count]) => `${count} ${reason}`).join(', ')
  return `${observations.length} notes${left === '' ? '' : `; left out: ${left}`}`
}

function outcomeAtOnce(event: MemoryEvent, changes: readonly Change[]): Commit['events'][number]['outcome'] {
  const skipped = changes.find((change) => change.do === 'skip_event')
  if (skipped !== undefined) return { kind: 'skipped', reason: skipped.reason }
  const waits = changes.some((change) => change.do === 'add_message' || change.do === 'add_turn_end')
  return waits ? null : { kind: 'noted', reason: event.kind }
}

function apply(commit: CommitParts, change: Change, delivery: Delivery, at: number): void {
  const event = delivery.kind === 'event' ? delivery.event : null
  switch (change.do) {
    case 'add_prompt':
      if (event?.kind === 'prompt') {
        const text = change.private ? '' : event.text
        commit.prompts.push({ eventId: event.id, number: change.number, text, private: change.private, at: event.at })
      }
      return
    case 'add_message':
    case 'add_turn_end':
      if (event !== null) commit.inbox.push({ do: 'add', event, prompt: change.prompt, at })
      return
    case 'claim': {
      const { effect } = change
      if (effect.kind === 'compact') return
      const limit = effect.kind === 'observe' ? effect.limit : Number.MAX_SAFE_INTEGER
      commit.inbox.push({ do: 'claim', effectId: effect.id, kind: effect.kind, prompt: effect.prompt, limit, at })
      return
    }
    case 'release':
      commit.inbox.push({ do: 'release', effectId: change.effectId, counted: change.counted, error: change.reason })
      return
    case 'set_aside':
      commit.inbox.push({ do: 'set_aside', effectId: change.effectId, error: change.reason })
      return
    case 'retry_failed':
      commit.inbox.push({ do: 'retry_failed' })
      return
    case 'clear':
      commit.inbox.push({ do: 'clear', pending: change.pending, at })
      return
    case 'settle':
      settle(commit, change.effectId, change.prompt, delivery, at)
      return
    case 'skip_event':
      return
  }
}

function settle(commit: CommitParts, effectId: string, prompt: number, delivery: Delivery, at: number): void {
  if (delivery.kind === 'observed') {
    addObservations(commit, delivery, effectId, prompt, at)
    commit.seen.push(...delivery.answer.seen)
    commit.inbox.push({ do: 'settle', effectId, outcomes: outcomesOf(delivery.answer, delivery.messages), at })
  } else if (delivery.kind === 'summarized') {
    addObservations(commit, delivery, effectId, prompt, at)
    const { summary, model, skipReason } = delivery.answer
    const createdAt = learnedAt(delivery.messages, at)
    if (summary !== null) commit.summaries.push({ draft: summary, promptNumber: prompt, model, effectId, createdAt })
    const outcomes = delivery.messages.map(
      ({ id: eventId }): EventOutcome =>
        summary === null
          ? { eventId, kind: 'skipped', reason: skipReason }
          : { eventId, kind: 'folded', reason: 'the turn was summarised' },
    )
    commit.inbox.push({ do: 'settle', effectId, outcomes, at })
  }
}

type Answered = Extract<Delivery, { kind: 'observed' | 'summarized' }>

function addObservations(
  commit: CommitParts,
  { answer, messages }: Answered,
  effectId: string,
  prompt: number,
  at: number,
): void {
  for (const draft of answer.observations) {
    const named = messages.filter(({ id }) => draft.sources.includes(id))
    const told = named.length > 0 ? named : messages
    commit.observations.push({
      draft,
      sources: draft.sources.length > 0 ? draft.sources : messages.map(({ id }) => id),
      promptNumber: prompt,
      contentHash: contentHash(draft),
      promptVersion: answer.promptVersion,
      model: answer.model,
      effectId,
      createdAt: learnedAt(told, at),
      links: (draft.supersedes ?? []).map((to) => ({ to, kind: 'supersedes', by: 'model' })),
    })
  }
}

/** When it happened, not when it was observed: a spool, a provider that is down or a transcript may lie between. */
function learnedAt(told: readonly Told[], now: number): number {
  return told.length === 0 ? now : Math.min(now, Math.max(...told.map(({ at }) => at)))
}

function outcomesOf(answer: ObserveAnswer, messages: readonly Told[]): EventOutcome[] {
  const folded = new Map(answer.folded.map((item) => [item.eventId, item.reason]))
  const skipped = new Map(answer.skipped.map((item) => [item.eventId, item.reason]))
  return messages.map(({ id: eventId }) => {
    const fold = folded.get(eventId)
    if (fold !== undefined) return { eventId, kind: 'folded', reason: fold }
    const skip = skipped.get(eventId)
    if (skip !== undefined) return { eventId, kind: 'skipped', reason: skip }
    return answer.observations.length > 0
      ? { eventId, kind: 'observed', reason: null }
      : { eventId, kind: 'skipped', reason: 'the observer found nothing to keep' }
  })
}

function addTurns(commit: CommitParts, delivery: Delivery, before: Machine, after: Machine, at: number): void {
  if (!('answer' in delivery) || after.context.decided === null) return
  const generation = delivery.kind === 'compacted' ? after.context.generation : before.context.generation
  commit.turns.push(...delivery.answer.turns.map((turn) => ({ ...turn, generation, at })))
}
