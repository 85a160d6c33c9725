/** Small valid values that a test changes where it matters. */
import type { Change, Effect } from '../../machines/session/types.ts'
import type { MemoryEvent, PromptEvent, ToolUseEvent, TurnEndEvent } from '../../src/domain/event.ts'
import type { ModelCall } from '../../src/domain/model-call.ts'
import { NO_USAGE } from '../../src/domain/observation.ts'
import type { PassageDraft } from '../../src/domain/passage.ts'
import {
  type Commit,
  type EventOutcome,
  type EventRecord,
  emptyCommit,
  type InboxUpdate,
  type NewObservation,
  type NewSummary,
  type ObserverTurn,
  type SessionState,
  type TraceEntry,
} from '../../src/store/commit.ts'

export const NOW = Date.UTC(2026, 10, 30, 12)
export const DAY_MS = 86_400_000
export const PROJECT = { key: 'git:/home/me/shop', name: 'shop' }

function base(session: string, id: string) {
  return {
    id,
    session,
    at: NOW,
    client: 'claude-code',
    project: PROJECT,
    cwd: '/home/me/shop',
    transcriptPath: null,
    promptId: null,
    agent: null,
  }
}

export function toolUse(session: string, id: string, response: unknown = 'ok'): ToolUseEvent {
  return { ...base(session, id), kind: 'tool_use', tool: 'Read', input: { file: 'a.ts' }, response, durationMs: 3 }
}

export function turnEnd(session: string, id: string): TurnEndEvent {
  return { ...base(session, id), kind: 'turn_end', lastMessage: 'done', error: null, words: [] }
}

export function promptOf(session: string, id: string, text = 'fix the login'): PromptEvent {
  return { ...base(session, id), kind: 'prompt', text, private: false }
}

export function passageOf(text: string, over: Partial<PassageDraft> = {}): PassageDraft {
  const place = { eventId: 'e1', position: 0, promptNumber: 1, at: NOW }
  return { kind: 'words', subject: null, outcome: null, text, ...place, ...over }
}

export function record(event: MemoryEvent, outcome: EventRecord['outcome'] = null): EventRecord {
  return { event, receivedAt: NOW + 5, outcome }
}

export function stateOf(over: Partial<SessionState> = {}): SessionState {
  return {
    project: PROJECT,
    client: 'claude-code',
    cwd: '/home/me/shop',
    transcriptPath: '/t.jsonl',
    heardAt: NOW,
    status: 'active',
    state: 'observing',
    snapshot: '{"value":"observing"}',
    machineVersion: 1,
    wakeAt: null,
    effect: null,
    waiting: null,
    prompts: 1,
    generation: 0,
    contextTokens: 0,
    usage: NO_USAGE,
    ...over,
  }
}

export function effectOf(id: string): Effect {
  return { id, kind: 'summarize', prompt: 1, timeoutMs: 60_000, deadline: NOW + 60_000, offline: null, starts: 0 }
}

/** What it holds was heard at the moment of the commit. */
export function commitOf(session: string, revision: number, over: Partial<Commit> = {}): Commit {
  const commit: Commit = {
    ...emptyCommit(session, revision, NOW + revision),
    state: stateOf(),
    ...over,
  }
  return { ...commit, state: { ...commit.state, heardAt: commit.at } }
}

/** One change of a decision, as it reaches the inbox. */
export function inboxUpdate(change: Change, over: Partial<InboxUpdate> = {}): InboxUpdate {
  return { at: NOW, changes: [change], event: null, outcomes: [], ...over }
}

export function add(event: MemoryEvent, prompt = 1): InboxUpdate {
  return inboxUpdate({ type: 'add_message', prompt }, { event })
}

export function settle(effectId: string, outcomes: EventOutcome[] = [], at = NOW): InboxUpdate {
  return inboxUpdate({ type: 'settle', effectId, prompt: 1, kind: 'observe' }, { outcomes, at })
}

export function release(effectId: string, counted: boolean, reason: string): InboxUpdate {
  return inboxUpdate({ type: 'release', effectId, counted, reason })
}

export function failMessages(effectId: string, reason: string): InboxUpdate {
  return inboxUpdate({ type: 'fail', effectId, reason })
}

export function retryFailed(): InboxUpdate {
  return inboxUpdate({ type: 'retry_failed' })
}

export function clear(pending: boolean): InboxUpdate {
  return inboxUpdate({ type: 'clear', pending })
}

/** Accepts events, all of them into the inbox. */
export function accepting(session: string, revision: number, events: readonly MemoryEvent[], prompt = 1): Commit {
  return commitOf(session, revision, {
    events: events.map((event) => record(event)),
    inbox: events.map((event) => add(event, prompt)),
  })
}

export function claim(
  effectId: string,
  kind: 'observe' | 'summarize' = 'observe',
  limit = 20,
  prompt = 1,
): InboxUpdate {
  const base = { id: effectId, prompt, timeoutMs: 60_000, deadline: NOW + 60_000, offline: null, starts: 0 }
  const effect: Effect = kind === 'observe' ? { ...base, kind, limit } : { ...base, kind }
  return inboxUpdate({ type: 'claim', effect }, { at: NOW + 10 })
}

export function observationOf(sources: string[], over: Partial<NewObservation> = {}): NewObservation {
  return {
    type: 'bugfix',
    title: 'Login fixed',
    subtitle: null,
    narrative: 'The token had expired.',
    facts: ['tokens live an hour'],
    concepts: ['auth'],
    filesRead: ['a.ts'],
    filesModified: [],
    functionsChanged: [{ name: 'login', file: 'a.ts', action: 'modified' }],
    agent: null,
    discoveryTokens: 120,
    discoveryEstimated: true,
    sources,
    promptNumber: 1,
    contentHash: 'hash',
    promptVersion: 'observe-1',
    model: 'claude-haiku-4-5',
    createdAt: NOW + 20,
    ...over,
  }
}

export function summaryOf(over: Partial<NewSummary> = {}): NewSummary {
  return {
    request: 'fix the login',
    investigated: null,
    learned: 'tokens live an hour',
    completed: 'fixed',
    nextSteps: null,
    notes: null,
    filesRead: ['a.ts'],
    filesEdited: [],
    promptNumber: 1,
    model: null,
    createdAt: NOW + 30,
    effectId: 'effect',
    ...over,
  }
}

export function turnOf(role: 'user' | 'assistant', content: string, over: Partial<ObserverTurn> = {}): ObserverTurn {
  return { generation: 0, role, content, model: null, usage: null, at: NOW, ...over }
}

export function traceOf(reason: string, at = NOW): TraceEntry {
  return { at, event: 'MESSAGE', eventId: null, from: 'observing', to: 'observing', reason, effectId: null }
}

let callCount = 0

export function callOf(effectId: string, over: Partial<ModelCall> = {}): ModelCall {
  return {
    callId: `call-${++callCount}`,
    effectId,
    kind: 'observe',
    provider: 'anthropic',
    model: 'claude-haiku-4-5',
    promptVersion: 'observe-1',
    at: NOW,
    durationMs: 900,
    usage: { input: 100, output: 20, cacheRead: 1_000, cacheWrite: 50 },
    cost: 0.25,
    error: null,
    sent: 'what happened',
    received: '<skip/>',
    ...over,
  }
}
