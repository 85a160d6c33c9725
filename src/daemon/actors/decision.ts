/** Builds the commit from what the machine decided. Pure: the commit is a value. */
import type { SnapshotFrom } from 'xstate'
import type { sessionMachine } from '../../../machines/session/machine.ts'
import { SESSION_MACHINE_VERSION } from '../../../machines/session/migrations.ts'
import { stateName, writeSnapshot } from '../../../machines/session/snapshot.ts'
import { wakeAtOf } from '../../../machines/session/timeouts.ts'
import type { Change, Policy, SessionAction, SessionInput } from '../../../machines/session/types.ts'
import type { MemoryEvent } from '../../domain/event.ts'
import type { ModelCall } from '../../domain/model-call.ts'
import { staysInProject } from '../../domain/project.ts'
import { withSpeaker } from '../../domain/speaker.ts'
import type { CompactAnswer, ObserveAnswer, SummarizeAnswer } from '../../observer/port.ts'
import { type Commit, type CommitParts, contentHash, type EventOutcome, type SessionState } from '../../store/commit.ts'

/** An entry of a session's mailbox: the machine's input and its content. */
export type Delivery = { input: SessionInput } & (
  | { kind: 'event'; event: MemoryEvent }
  | { kind: 'plain' }
  /** The result of an effect. `calls`: its model calls, successful or not. `messages`: the events that the observer read. */
  | { kind: 'begun' | 'failed'; calls: readonly ModelCall[] }
  | { kind: 'observed'; answer: ObserveAnswer; messages: readonly MemoryEvent[]; calls: readonly ModelCall[] }
  /** `whole`: the summary is of the whole session. */
  | {
      kind: 'summarized'
      whole: boolean
      answer: SummarizeAnswer
      messages: readonly MemoryEvent[]
      calls: readonly ModelCall[]
    }
  | { kind: 'compacted'; answer: CompactAnswer; calls: readonly ModelCall[] }
)

export type MachineState = Pick<SnapshotFrom<typeof sessionMachine>, 'value' | 'context' | 'tags'>

/** Where the session runs, from its newest event. */
export type SessionDetails = Pick<SessionState, 'project' | 'client' | 'cwd' | 'transcriptPath' | 'heardAt'>

export function detailsOf({ project, client, cwd, transcriptPath, heardAt }: SessionDetails): SessionDetails {
  return { project, client, cwd, transcriptPath, heardAt }
}

/** `before`: null for the first event of a session. An event time is at most `now`: a client's clock may be ahead. */
export function detailsOfEvent(event: MemoryEvent, now: number, before: SessionDetails | null): SessionDetails {
  const stays = before !== null && staysInProject(before.project, event.project)
  const project = stays ? before.project : event.project
  const { client, cwd, transcriptPath } = event
  return { project, client, cwd, transcriptPath, heardAt: Math.min(event.at, now) }
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
      return { type: 'MESSAGE', promptId: event.promptId, agentId: event.agent?.id ?? null }
    case 'turn_end':
      return { type: 'TURN_END', promptId: event.promptId, agentId: event.agent?.id ?? null }
    case 'pre_compact':
      return { type: 'PRE_COMPACT' }
    case 'session_end':
      return { type: 'SESSION_END' }
  }
}

export function stateOf(machine: MachineState, details: SessionDetails, policy: Policy): SessionState {
  const { value, context, tags } = machine
  const state = stateName(value)
  // Written out: copied with a spread, the object of each event would become a slow one of several KB.
  return {
    project: details.project,
    client: details.client,
    cwd: details.cwd,
    transcriptPath: details.transcriptPath,
    heardAt: details.heardAt,
    status: context.outcome === 'active' || state !== 'closed' ? 'active' : context.outcome,
    state,
    snapshot: writeSnapshot(value, context),
    machineVersion: SESSION_MACHINE_VERSION,
    wakeAt: wakeAtOf(machine, policy),
    effect: context.effect,
    waiting: tags.has('waiting') || tags.has('calling') ? (context.waiting?.reason ?? null) : null,
    prompts: context.prompt,
    generation: context.generation,
    contextTokens: context.contextTokens,
    usage: context.usage,
  }
}

interface DecisionOptions {
  /** Time of the decision, epoch ms. */
  at: number
  /** Time of the session's newest event. */
  heardAt: number
}

/** One decision of the machine: its state before and after, and what it emitted. */
export interface Decided {
  before: MachineState
  after: MachineState
  actions: readonly SessionAction[]
}

/** Adds one decision to the commit it belongs to. */
export function addDecision(
  commit: CommitParts,
  delivery: Delivery,
  { before, after, actions }: Decided,
  { at, heardAt }: DecisionOptions,
): void {
  const reason = actions.flatMap((action) => (action.type === 'explain' ? [action.reason] : [])).join('; ')
  const changes = actions.filter((action) => action.type !== 'explain')
  const event = delivery.kind === 'event' ? delivery.event : null
  if (event !== null) commit.events.push({ event, receivedAt: at, outcome: immediateOutcome(event, changes) })
  if (changes.length > 0) commit.inbox.push({ at, changes, event, outcomes: messageOutcomes(delivery) })
  addPrompt(commit, event, changes)
  addAnswer(commit, delivery, changes, at, heardAt)
  addCalls(commit, delivery)
  addTurns(commit, delivery, before, after, at)
  commit.trace.push({
    at,
    event: delivery.input.type,
    eventId: event?.id ?? null,
    from: stateName(before.value),
    to: stateName(after.value),
    reason: delivery.kind === 'observed' ? `${reason}; ${describeAnswer(delivery.answer)}` : reason,
    effectId: after.context.effect?.id ?? before.context.effect?.id ?? null,
  })
}

/** Also used for an answer that the machine ignores: its cost counts. */
export function addCalls(commit: CommitParts, delivery: Delivery): void {
  if ('calls' in delivery) commit.calls.push(...delivery.calls)
}

/** For the trace: the number of observations, and why events were left out. */
function describeAnswer({ observations, skipped, folded }: ObserveAnswer): string {
  const reasons = new Map<string, number>()
  for (const { reason } of [...skipped, ...folded]) reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
  const leftOut = [...reasons].map(([reason, count]) => `${count} ${reason}`).join(', ')
  return `${observations.length} observations${leftOut === '' ? '' : `; left out: ${leftOut}`}`
}

/** Null if the event is pending in the inbox. */
function immediateOutcome(event: MemoryEvent, changes: readonly Change[]): Commit['events'][number]['outcome'] {
  const skipped = changes.find((change) => change.type === 'skip_event')
  if (skipped !== undefined) return { kind: 'skipped', reason: skipped.reason }
  const isPending = changes.some((change) => change.type === 'add_message' || change.type === 'add_turn_end')
  return isPending ? null : { kind: 'noted', reason: event.kind }
}

function addPrompt(commit: CommitParts, event: MemoryEvent | null, changes: readonly Change[]): void {
  const added = changes.find((change) => change.type === 'add_prompt')
  if (added === undefined || event?.kind !== 'prompt') return
  const text = added.private ? '' : event.text
  commit.prompts.push({ eventId: event.id, number: added.number, text, private: added.private, at: event.at })
}

/** Adds the observer's answer, if the machine settled the effect with it. */
function addAnswer(
  commit: CommitParts,
  delivery: Delivery,
  changes: readonly Change[],
  at: number,
  heardAt: number,
): void {
  const settled = changes.find((change) => change.type === 'settle')
  if (settled === undefined || (delivery.kind !== 'observed' && delivery.kind !== 'summarized')) return
  const { effectId, prompt: promptNumber } = settled
  const { answer, messages } = delivery
  const { promptVersion, model } = answer
  for (const given of answer.observations) {
    const named = messages.filter(({ id }) => given.sources.includes(id))
    const sources = named.length > 0 ? named : messages
    const draft = withSpeaker(given, sources)
    commit.observations.push({
      ...draft,
      sources: draft.sources.length > 0 ? draft.sources : messages.map(({ id }) => id),
      promptNumber,
      contentHash: contentHash(draft),
      promptVersion,
      model,
      effectId,
      createdAt: learnedAt(sources, at, heardAt),
      links: [
        ...(draft.supersedes ?? []).map((to) => ({ to, kind: 'supersedes', by: 'model' }) as const),
        ...(draft.amends ?? []).map((to) => ({ to, kind: 'amends', by: 'model' }) as const),
      ],
    })
  }
  commit.resolved.push(...(answer.resolved ?? []))
  if ('seen' in answer) commit.seen.push(...answer.seen)
  else if (answer.summary !== null) {
    const whole = delivery.kind === 'summarized' && delivery.whole ? { whole: true as const } : {}
    const createdAt = learnedAt(messages, at, heardAt)
    commit.summaries.push({ ...answer.summary, ...whole, promptNumber, model, effectId, createdAt })
  }
}

/**
 * When it happened, not when it was observed: it may have been spooled, retried, or read from a transcript. A turn that was
 * interrupted has no events left when it is summarised: it is as old as the newest event of its session.
 */
function learnedAt(events: readonly MemoryEvent[], now: number, heardAt: number): number {
  return Math.min(now, events.length === 0 ? heardAt : Math.max(...events.map(({ at }) => at)))
}

/** The outcome of each message that the observer read. */
function messageOutcomes(delivery: Delivery): EventOutcome[] {
  if (delivery.kind === 'summarized') {
    const { summary, skipReason, observations } = delivery.answer
    return delivery.messages.map(({ id: eventId }) => {
      const isSource = observations.some(({ sources }) => sources.length === 0 || sources.includes(eventId))
      if (isSource) return { eventId, kind: 'observed', reason: null }
      return summary === null
        ? { eventId, kind: 'skipped', reason: skipReason }
        : { eventId, kind: 'folded', reason: 'the turn was summarised' }
    })
  }
  if (delivery.kind !== 'observed') return []
  const { answer, messages } = delivery
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

/** The conversation turns of an answer belong to the generation that gave it; those of a compaction to the new one. */
function addTurns(
  commit: CommitParts,
  delivery: Delivery,
  before: MachineState,
  after: MachineState,
  at: number,
): void {
  if (!('answer' in delivery)) return
  const generation = delivery.kind === 'compacted' ? after.context.generation : before.context.generation
  commit.turns.push(...delivery.answer.turns.map((turn) => ({ ...turn, generation, at })))
}
