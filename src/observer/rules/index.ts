/**
 * The observer without a model: deterministic rules over the tool events, free, instant and private.
 * What it has to remember between batches is its conversation: each batch appends one turn with a `RulesMemo`.
 */
import type { InboxEvent } from '../../domain/event.ts'
import { NO_USAGE, type ObservationDraft } from '../../domain/observation.ts'
import { ownWords } from '../../domain/reported-speech.ts'
import type { ObserverTurn } from '../../store/commit.ts'
import type { ObserveAnswer, ObserveRequest, Observer, SummarizeAnswer, SummarizeRequest } from '../port.ts'
import { asFields } from '../tool-events/json-fields.ts'
import { readToolAction, type ToolAction } from '../tool-events/tool-action.ts'
import { composeDecision, findDecisions, findUserRules } from './decisions.ts'
import { type Episode, groupIntoEpisodes, type OpenFailure } from './episodes.ts'
import { composeObservation, fitToBudget } from './observation.ts'
import { composeSessionSummary } from './session-summary.ts'
import { composeSummary } from './summary.ts'

/** Stored with each observation; changed when the rules change what they write. */
const RULES_VERSION = 'offline-1'
const COMMON_ANSWER = { usage: NO_USAGE, model: 'offline', promptVersion: RULES_VERSION }

export const offlineObserver: Observer = {
  provider: 'offline',
  observe,
  summarize: async (request) => summarize(request),
  compact: async ({ conversation }) => ({
    ...COMMON_ANSWER,
    contextTokens: 0,
    turns: [memoTurn(readMemo(conversation))],
  }),
}

async function observe(given: ObserveRequest): Promise<ObserveAnswer> {
  const { messages, prompt, promptNumber, conversation, contextTokens } = given
  const memo = readMemo(conversation)
  const actions = await readActions(messages)
  const { episodes, open } = groupIntoEpisodes(actions, memo.open)
  const largest = largestEpisode(episodes)
  const request = prompt === null ? null : ownWords(prompt, 'prompt')
  const drafts = episodes
    .map((episode) =>
      composeObservation(episode, { prompt: request, wholePrompt: prompt, mayUseRequest: episode === largest }),
    )
    .filter(isInformative)
  const rules = memo.decidedIn < promptNumber && prompt !== null ? findUserRules(prompt) : []
  const firstIds = messages.slice(0, 1).map((message) => message.id)
  const decision = composeDecision(rules, 'person', firstIds)
  const charsIn = actions.reduce((total, action) => total + action.size, 0)
  const observations = fitToBudget(decision === null ? drafts : [...drafts, decision], charsIn)
  const sources = new Set(observations.flatMap((observation) => observation.sources))
  return {
    ...COMMON_ANSWER,
    // Unchanged: the conversation may be that of a model that observed before.
    contextTokens,
    observations,
    folded: [],
    seen: [],
    skipped: actions
      .filter((action) => !sources.has(action.id))
      .map((action) => ({ eventId: action.id, reason: skipReason(action) })),
    turns: [memoTurn({ open, decidedIn: promptNumber })],
  }
}

/** How long the daemon's thread may be blocked, in ms: hooks wait for their acks meanwhile. */
const MAX_BLOCKED_MS = 8

async function readActions(messages: readonly InboxEvent[]): Promise<ToolAction[]> {
  const actions: ToolAction[] = []
  let since = performance.now()
  for (const message of messages) {
    actions.push(readToolAction(message, JSON.stringify(message).length))
    if (performance.now() - since < MAX_BLOCKED_MS) continue
    await new Promise((resolve) => setImmediate(resolve))
    since = performance.now()
  }
  return actions
}

/** The one with the request as its title. */
function largestEpisode(episodes: readonly Episode[]): Episode | undefined {
  const weight = ({ edits, lookups, findings }: Episode) => edits.length * 10 + lookups.length + findings.length
  return episodes.filter(({ kind }) => kind !== 'unresolved').sort((a, b) => weight(b) - weight(a))[0]
}

/** A lookup without a fact and with a single file is routine. */
function isInformative({ concepts, facts, filesModified, filesRead }: ObservationDraft): boolean {
  return concepts.includes('gotcha') || facts.length > 0 || filesModified.length > 0 || filesRead.length >= 2
}

function skipReason(action: ToolAction): string {
  switch (action.kind) {
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

function summarize(request: SummarizeRequest): SummarizeAnswer {
  const { prompt, promptNumber, turnEnd, observations, turns, conversation, contextTokens } = request
  if (turns !== null) {
    const summary = composeSessionSummary(turns, observations)
    return { ...COMMON_ANSWER, contextTokens, summary, skipReason: null, observations: [], turns: [] }
  }
  const lastMessage = turnEnd?.lastMessage ?? null
  const memo = readMemo(conversation)
  // Without a tool use in the turn, `observe` has not read the prompt.
  const rules = observations.length === 0 && prompt !== null ? findUserRules(prompt) : []
  const decisions = findDecisions(lastMessage ?? '')
  const sources = turnEnd === null ? [] : [turnEnd.id]
  const said = [composeDecision(rules, 'person', sources), composeDecision(decisions, 'agent', sources)]
  const summary = composeSummary({
    prompt: prompt === null ? null : ownWords(prompt, 'prompt'),
    lastMessage: lastMessage === null ? null : ownWords(lastMessage, 'message'),
    error: turnEnd?.error ?? null,
    observations,
    // Without a batch in this turn the failures are old and were in an earlier summary.
    failing: memo.decidedIn === promptNumber ? memo.open : [],
    decisions: new Set(decisions),
  })
  return {
    ...COMMON_ANSWER,
    contextTokens,
    summary,
    skipReason: null,
    observations: said.filter((decision) => decision !== null),
    turns: [],
  }
}

interface RulesMemo {
  /** Commands that failed and have not succeeded since. */
  open: OpenFailure[]
  /** Number of the last prompt that was searched for decisions. */
  decidedIn: number
}

const EMPTY_MEMO: RulesMemo = { open: [], decidedIn: 0 }

function memoTurn(memo: RulesMemo): Omit<ObserverTurn, 'generation' | 'at'> {
  return { role: 'assistant', content: JSON.stringify(memo), model: null, usage: null }
}

/** The newest memo; turns of a model are ignored. */
function readMemo(conversation: readonly ObserverTurn[]): RulesMemo {
  const last = conversation.findLast((turn) => turn.model === null)
  if (last === undefined) return EMPTY_MEMO
  try {
    const { open, decidedIn } = asFields(JSON.parse(last.content))
    return Array.isArray(open) && typeof decidedIn === 'number' ? { open, decidedIn } : EMPTY_MEMO
  } catch {
    return EMPTY_MEMO
  }
}
