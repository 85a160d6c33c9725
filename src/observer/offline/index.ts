/**
 * The observer without a model: deterministic rules over the tool events, free, instant, private. What it has to
 * remember between batches (commands that still fail) is its conversation: one small turn each time.
 */
import type { MessageEvent } from '../../memory/event.ts'
import { NO_USAGE, type ObservationDraft } from '../../memory/observation.ts'
import type {
  CompactAnswer,
  ObserveAnswer,
  ObserveRequest,
  Observer,
  SummarizeAnswer,
  SummarizeRequest,
} from '../port.ts'
import { type Action, actionOf } from './actions.ts'
import { fitted } from './budget.ts'
import { observationOf } from './compose.ts'
import { decisionNote } from './decided.ts'
import { decisionsIn, rulesIn } from './decisions.ts'
import { type Episode, episodesOf } from './episodes.ts'
import { type Memo, memoOf, memoTurn } from './memo.ts'
import { summaryOf } from './summary.ts'

/** Raised when the rules change what they write: stored with each observation. */
const RULES_VERSION = 'offline-1'
/** The size of the conversation is what it was: that of a model which may have begun it. */
const quiet = { usage: NO_USAGE, model: 'offline', promptVersion: RULES_VERSION }

export const offlineObserver: Observer = {
  provider: 'offline',

  observe,

  async summarize(request): Promise<SummarizeAnswer> {
    return summarize(request)
  },

  async compact(matter): Promise<CompactAnswer> {
    return { ...quiet, contextTokens: 0, turns: [memoTurn(memoOf(matter.conversation))] }
  },
}

async function observe(request: ObserveRequest): Promise<ObserveAnswer> {
  const { messages, prompt, promptNumber, conversation } = request
  const memo = memoOf(conversation)
  const actions = await actionsOf(messages)
  const { episodes, open } = episodesOf(actions, memo.open)
  const largest = largestOf(episodes)
  const notes = episodes.map((episode) => observationOf(episode, { prompt, mayUseRequest: episode === largest }))
  const rules = memo.decidedIn < promptNumber && prompt !== null ? rulesIn(prompt) : []
  const decision = decisionNote(
    rules,
    'The user',
    messages.slice(0, 1).map((message) => message.id),
  )
  const kept = notes.filter(saysSomething)
  const charsIn = actions.reduce((total, action) => total + action.size, 0)
  const observations = fitted([...kept, ...(decision === null ? [] : [decision])], charsIn)
  const next: Memo = { open, decidedIn: promptNumber }
  const told = new Set(observations.flatMap((observation) => observation.sources))
  return {
    ...quiet,
    contextTokens: request.contextTokens,
    observations,
    folded: [],
    seen: [],
    skipped: actions
      .filter((action) => !told.has(action.id))
      .map((action) => ({ eventId: action.id, reason: whySkipped(action) })),
    turns: [memoTurn(next)],
  }
}

/** How long the daemon's thread may be held at a stretch, in ms: hooks wait for their acks meanwhile. */
const SLICE_MS = 8

async function actionsOf(messages: readonly MessageEvent[]): Promise<Action[]> {
  const actions: Action[] = []
  let since = performance.now()
  for (const message of messages) {
    actions.push(actionOf(message, JSON.stringify(message).length))
    if (performance.now() - since < SLICE_MS) continue
    await new Promise((resolve) => setImmediate(resolve))
    since = performance.now()
  }
  return actions
}

/** The request is the title of the work it asked for, not of each step on the way. */
function largestOf(episodes: readonly Episode[]): Episode | undefined {
  const weight = (episode: Episode) => episode.edits.length * 10 + episode.looked.length + episode.found.length
  return [...episodes].filter((episode) => episode.kind !== 'open').sort((a, b) => weight(b) - weight(a))[0]
}

/** A look around that found nothing worth a fact is routine. */
function saysSomething(note: ObservationDraft): boolean {
  const fails = note.concepts.includes('gotcha')
  return fails || note.facts.length > 0 || note.filesModified.length > 0 || note.filesRead.length >= 2
}

function whySkipped(action: Action): string {
  switch (action.do) {
    case 'nothing':
      return action.reason
    case 'command':
      return action.result.kind === 'look' ? 'only showed something' : 'nothing in its output to keep'
    case 'read':
    case 'search':
      return 'looked without a finding'
    default:
      return 'nothing to keep'
  }
}

function summarize({
  prompt,
  promptNumber,
  turnEnd,
  observations,
  conversation,
  contextTokens,
}: SummarizeRequest): SummarizeAnswer {
  const lastMessage = turnEnd?.lastMessage ?? null
  const decided = decisionsIn(lastMessage ?? '')
  const memo = memoOf(conversation)
  // Only what began to fail in this turn, or still does since: not an old story told again.
  const failing = memo.decidedIn === promptNumber ? memo.open : []
  // Where no tool was used nobody has looked at the prompt yet.
  const rules = observations.length === 0 && prompt !== null ? rulesIn(prompt) : []
  const decision = decisionNote(
    [...rules, ...decided],
    rules.length > 0 ? 'The user' : 'The agent',
    turnEnd === null ? [] : [turnEnd.id],
  )
  const summary = summaryOf({
    prompt,
    lastMessage,
    error: turnEnd?.error ?? null,
    observations,
    failing,
    told: new Set(decided),
  })
  return {
    ...quiet,
    contextTokens,
    summary,
    skipReason: null,
    observations: decision === null ? [] : [decision],
    turns: [],
  }
}
