/** Does one effect: reads what the observer needs, asks it, and makes a delivery of its answer. */
import type { Effect } from '../../machines/session/types.ts'
import { isMessage } from '../memory/event.ts'
import { untoldDeed } from '../observer/model/novelty.ts'
import {
  type CompactAnswer,
  type ObserveAnswer,
  type Observer,
  ObserverError,
  type SessionMatter,
  type SummarizeAnswer,
} from '../observer/port.ts'
import type { Store } from '../store/port.ts'
import type { EffectCalls } from './call-ledger.ts'
import type { Delivery } from './decision.ts'

/** What a digest is made from at most, newest first: more would not fit into it. */
const DIGEST_OBSERVATIONS = 300
const DIGEST_SUMMARIES = 50

export interface Performance {
  store: Store
  observer: Observer
  session: string
  effect: Effect
  calls: EffectCalls
  at: number
}

export async function perform(
  { store, observer, session, effect, calls, at }: Performance,
  signal: AbortSignal,
): Promise<Delivery> {
  const [row, claimed, material] = await Promise.all([
    store.session(session),
    store.claimed(session, effect.id),
    store.turnMaterial(session, effect.prompt),
  ])
  if (row === null) throw new ObserverError('message', `there is no session ${session}`)
  const matter: SessionMatter = {
    session,
    project: row.project,
    cwd: row.cwd,
    at,
    promptNumber: effect.prompt,
    prompt: material.prompt?.text ?? null,
    conversation: await store.conversation(session, row.generation),
    contextTokens: row.contextTokens,
    calls,
  }
  const result = ({ usage, contextTokens }: ObserveAnswer | SummarizeAnswer | CompactAnswer) => ({
    effectId: effect.id,
    usage,
    contextTokens,
  })
  switch (effect.kind) {
    case 'observe': {
      const messages = claimed.map((message) => message.event).filter(isMessage)
      const seen = (subjects: readonly string[]) => store.seen(session, subjects)
      const answer = await observer.observe({ ...matter, messages, seen }, signal)
      const marked = effect.offline === null ? answer : { ...answer, seen: [untoldDeed(effect.id)] }
      return {
        kind: 'observed',
        input: { type: 'OBSERVED', ...result(answer) },
        answer: marked,
        messages: messages.map(({ id, at: happenedAt }) => ({ id, at: happenedAt })),
        calls: calls.list(null),
      }
    }
    case 'summarize': {
      const turnEnd = claimed.map((message) => message.event).findLast((event) => event.kind === 'turn_end') ?? null
      const answer = await observer.summarize({ ...matter, turnEnd, observations: material.observations }, signal)
      const messages = claimed.map(({ eventId, event }) => ({ id: eventId, at: event.at }))
      const input = { type: 'SUMMARIZED', ...result(answer) } as const
      return { kind: 'summarized', input, answer, messages, calls: calls.list(null) }
    }
    case 'compact': {
      const [observations, summaries] = await Promise.all([
        store.observations({ session, limit: DIGEST_OBSERVATIONS }),
        store.summaries({ session, limit: DIGEST_SUMMARIES }),
      ])
      const answer = await observer.compact({ ...matter, observations, summaries }, signal)
      const input = { type: 'COMPACTED', ...result(answer) } as const
      return { kind: 'compacted', input, answer, calls: calls.list(null) }
    }
  }
}
