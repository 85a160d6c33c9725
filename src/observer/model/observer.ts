/**
 * The observer with a model: what is sent, how the reply is read, and how the conversation grows. Which model it is, and
 * how it is reached, is hidden behind `ChatModel`.
 */
import { basename } from 'node:path'
import type { InboxEvent } from '../../domain/event.ts'
import {
  CHARS_PER_TOKEN,
  estimateTokens,
  NO_USAGE,
  type Observation,
  type ObservationDraft,
  type Summary,
  type Usage,
} from '../../domain/observation.ts'
import { workingTreeRoot } from '../../domain/project.ts'
import { errorMessage } from '../../lib/errors.ts'
import { asFields, stringField } from '../../reading/fields.ts'
import { withoutBoilerplate } from '../../reading/prompt.ts'
import type { ObserverTurn } from '../../store/commit.ts'
import { composeSessionSummary } from '../offline/session-summary.ts'
import {
  type CompactAnswer,
  type CompactRequest,
  type LeftOutMessage,
  type ObserveAnswer,
  type ObserveRequest,
  type Observer,
  type ObserverAnswer,
  ObserverError,
  type ObserverSession,
  type SummarizeAnswer,
  type SummarizeRequest,
} from '../port.ts'
import { type ModelPrice, usageCost } from '../prices.ts'
import { type ChatMessage, type ChatModel, type ChatReply, estimateRequestTokens } from './chat.ts'
import { conversationDigest } from './digest.ts'
import {
  conversationHasRequest,
  renderBatch,
  renderCompaction,
  renderObservation,
  renderOpening,
  renderSessionSummary,
  renderSummary,
  type TurnRequest,
} from './messages.ts'
import { prepareNovelty } from './novelty.ts'
import type { Prompts } from './prompts.ts'
import { type ParsedObservation, type ParsedReply, parseReply } from './reply/index.ts'
import { checkLines, isFromModel, openLines, sendableObservations, storedLines, storedUpTo } from './stored-notes.ts'
import type { WithheldFilter } from './withheld.ts'

interface ModelObserverOptions {
  chat: ChatModel
  prompts: Prompts
  /** The system text of every call. */
  system: string
  /** Size at which the conversation is compacted. One call adds much less than this. */
  compactTokens: number
  /** Leave out what adds nothing before the model is called. */
  novelty: boolean
  withheld: WithheldFilter
  /** Null: no price is known. */
  priceOf(model: string): ModelPrice | null
}

/** Limit of one tool input or output, in characters: the informative parts are its head, its tail and errors. */
const FIELD_CHARS = 4_000
/** Limit of a batch, in characters: about ten thousand tokens. */
const BATCH_CHARS = 40_000
/** Limit of an answer, in tokens: twenty tool uses rarely make more than five observations of 300 tokens. */
const ANSWER_TOKENS = 8_192
const DIGEST_TOKENS = 4_000
/** Limit of the agent's last message: it is the densest text of a turn, and nearly every one is shorter. */
const LAST_MESSAGE_CHARS = 10_240
/** Shares of `compactTokens` that one batch, one last message, one answer and one digest may take. */
const BATCH_SHARE = 0.4
const LAST_MESSAGE_SHARE = 0.2
const ANSWER_SHARE = 0.5
const DIGEST_SHARE = 0.25

export class ModelObserver implements Observer {
  readonly provider: string
  readonly #options: ModelObserverOptions
  readonly #unusableReplies: UnusableReplies

  constructor(options: ModelObserverOptions) {
    this.provider = options.chat.provider
    this.#options = options
    this.#unusableReplies = new UnusableReplies(options.chat.model)
  }

  async observe(request: ObserveRequest, signal: AbortSignal): Promise<ObserveAnswer> {
    const { prompts, novelty, withheld } = this.#options
    const { allowed, skipped } = separateWithheld(request.messages, withheld)
    const { fresh, folded, seen } = novelty
      ? await leaveOutRepeated(allowed, request)
      : { fresh: allowed, folded: [], seen: [] }
    const { conversation, contextTokens } = request
    const promptVersion = prompts.version
    if (fresh.length === 0) {
      const empty = { usage: NO_USAGE, turns: [], observations: [], model: null }
      return { ...empty, contextTokens, promptVersion, folded, skipped, seen }
    }
    const batch = renderBatch(fresh, {
      projectDir: workingTreeRoot(request.cwd),
      fieldChars: FIELD_CHARS,
      totalChars: this.#charsFor(BATCH_CHARS, BATCH_SHARE),
      folded: leftOutEvents(request.messages, folded),
      withheld: leftOutEvents(request.messages, skipped),
    })
    const asked = await turnRequest(request)
    const opening = await this.#openingIfNew(request, asked)
    const isKnown = opening !== '' || conversationHasRequest(prompts, asked, modelTurns(conversation))
    const notes = await this.#notes(request)
    const question = renderObservation(prompts, {
      stored: storedLines(notes, modelTurns(conversation)),
      checks: checkLines(notes, fresh),
      request: isKnown ? null : asked,
      batch,
    })
    const content = joinParagraphs(opening, question)
    const { reply, result } = await this.#call(
      request,
      content,
      ({ observations, skip, resolved }) => observations.length > 0 || skip !== null || resolved.length > 0,
      signal,
    )
    const observations = observationDrafts(reply.observations, fresh)
    return {
      ...result,
      observations,
      folded,
      skipped: [...skipped, ...withoutObservation(fresh, observations, reply.skip)],
      seen,
      resolved: reply.resolved,
    }
  }

  async summarize(request: SummarizeRequest, signal: AbortSignal): Promise<SummarizeAnswer> {
    const { prompts } = this.#options
    const { turnEnd, turns } = request
    const sendable = turns === null ? null : this.#sendable(turns, request)
    // Without a turn that a model has read, there is nothing that it may be asked about.
    if (turns !== null && sendable?.turns.length === 0) return composedAnswer(turns, request)
    const opening = await this.#openingIfNew(request, null)
    const asked = await turnRequest(request)
    const conversation = modelTurns(request.conversation)
    const question =
      sendable === null
        ? renderSummary(prompts, {
            stored: storedLines(await this.#notes(request), conversation),
            request: asked,
            isKnown: conversationHasRequest(prompts, asked, conversation),
            turnEnd,
            maxMessageChars: this.#charsFor(LAST_MESSAGE_CHARS, LAST_MESSAGE_SHARE),
          })
        : renderSessionSummary(prompts, sendable)
    const content = joinParagraphs(opening, question)
    const { reply, result } = await this.#call(
      request,
      content,
      ({ summary, skipSummary, skip }) => summary !== null || skipSummary !== null || skip !== null,
      signal,
    )
    const skipReason = reply.summary === null ? (reply.skipSummary ?? reply.skip) : null
    const found = turns === null ? observationDrafts(reply.observations, []) : []
    const resolved = turns === null ? reply.resolved : []
    return { ...result, summary: reply.summary, skipReason, observations: found, resolved }
  }

  /** Fewer for a model with a small context. */
  #charsFor(most: number, share: number): number {
    return Math.min(most, Math.floor(this.#options.compactTokens * CHARS_PER_TOKEN * share))
  }

  /** The notes of the session that the model may see, newest first. */
  async #notes({ recorded, cwd }: ObserverSession): Promise<Observation[]> {
    return sendableObservations(await recorded(), this.#options.withheld, cwd)
  }

  /** Without what the rules wrote, and what is about files that are never sent: a model has not read it. */
  #sendable(turns: readonly Summary[], { observations, cwd }: SummarizeRequest) {
    const isAllowed = (files: readonly string[]) => !this.#options.withheld.mentions(files, cwd)
    return {
      turns: turns.filter((one) => isFromModel(one.model) && isAllowed([...one.filesRead, ...one.filesEdited])),
      observations: sendableObservations(observations, this.#options.withheld, cwd),
    }
  }

  /** Without a call: the digest is built from what is stored, so that it costs nothing and cannot fail. */
  async compact(request: CompactRequest): Promise<CompactAnswer> {
    const { chat, prompts, system, compactTokens, withheld } = this.#options
    const digest = conversationDigest(request, {
      maxTokens: Math.min(DIGEST_TOKENS, Math.floor(compactTokens * DIGEST_SHARE)),
      withheld,
    })
    const opening = await this.#opening(request, await turnRequest(request))
    const stored = storedUpTo(sendableObservations(request.observations, withheld, request.cwd))
    const content = renderCompaction(prompts, { opening, stored, digest })
    return {
      usage: NO_USAGE,
      turns: [{ role: 'user', content, model: chat.model, usage: null }],
      contextTokens: estimateTokens(system) + estimateTokens(content),
      model: chat.model,
      promptVersion: prompts.version,
    }
  }

  /** One call, recorded whatever its result. Throws if the reply is not `wanted`. */
  async #call(
    session: ObserverSession,
    content: string,
    wanted: (reply: ParsedReply) => boolean,
    signal: AbortSignal,
  ): Promise<{ reply: ParsedReply; result: ObserverAnswer }> {
    const { chat, prompts, system, compactTokens } = this.#options
    const messages = chatMessages(modelTurns(session.conversation), content)
    const requestTokens = estimateRequestTokens({ system, messages })
    const expected = { ...NO_USAGE, input: requestTokens }
    const endCall = await session.calls.begin({
      provider: chat.provider,
      model: chat.model,
      promptVersion: prompts.version,
      // The last message also contains the digest if that opens the conversation.
      sent: messages.at(-1)?.content ?? content,
      expected: { usage: expected, cost: this.#cost(chat.model, expected) },
    })
    let reply: ChatReply
    try {
      const maxTokens = Math.min(ANSWER_TOKENS, Math.floor(compactTokens * ANSWER_SHARE))
      reply = await chat.complete({ system, messages, maxTokens }, signal)
    } catch (error) {
      const usage = (error instanceof ObserverError ? error.usage : null) ?? NO_USAGE
      endCall({ usage, cost: this.#cost(chat.model, usage), error: errorMessage(error), received: null })
      throw error
    }
    const { text, model, usage } = reply
    const cost = reply.cost ?? this.#cost(model, usage) ?? this.#cost(chat.model, usage)
    const parsed = parseReply(text)
    const problem = wanted(parsed) ? null : replyProblem(reply)
    endCall({ usage, cost, error: problem, received: text })
    if (problem !== null) throw this.#unusableReplies.failure(problem, reply, session.session)
    this.#unusableReplies.reset()
    const turns: ObserverAnswer['turns'] = [
      { role: 'user', content, model, usage: null },
      { role: 'assistant', content: text.trim(), model, usage },
    ]
    const contextTokens = conversationTokens(usage, requestTokens, text)
    return { reply: parsed, result: { usage, turns, contextTokens, model, promptVersion: prompts.version } }
  }

  #cost(model: string, usage: Usage): number | null {
    const price = this.#options.priceOf(model)
    return usage === NO_USAGE ? 0 : price === null ? null : usageCost(usage, price)
  }

  /** Empty if the conversation has already begun. */
  async #openingIfNew(session: ObserverSession, request: TurnRequest | null): Promise<string> {
    return modelTurns(session.conversation).length > 0 ? '' : await this.#opening(session, request)
  }

  async #opening(
    { session, project, cwd, at, openProblems }: ObserverSession,
    request: TurnRequest | null,
  ): Promise<string> {
    const open = openLines(sendableObservations(await openProblems(), this.#options.withheld, cwd), session)
    const name = project.name || basename(cwd)
    return renderOpening(this.#options.prompts, { project: name, cwd, at, open, request })
  }
}

/** A request this short says little without the report that it answers: "yes", "the second one", "ok, do it". */
const SHORT_REQUEST_CHARS = 24
/** Of that report: its last lines, where the open questions are. */
const REPORT_END_CHARS = 600

async function turnRequest({ prompt, reportBefore }: ObserverSession): Promise<TurnRequest | null> {
  if (prompt === null) return null
  const text = withoutBoilerplate(prompt)
  const report = text.length > SHORT_REQUEST_CHARS ? null : ((await reportBefore?.()) ?? null)
  return { text, answers: report === null ? null : endOf(report, REPORT_END_CHARS) }
}

/** The last whole lines that fit, or the end of a longer line. */
function endOf(text: string, maxChars: number): string {
  const whole = text.trim()
  if (whole.length <= maxChars) return whole
  const end = whole.slice(-maxChars)
  const line = end.indexOf('\n')
  return `… ${(line < 0 ? end.replace(/^\S*\s/, '') : end.slice(line + 1)).trim()}`
}

/** The summary of a whole session by rules, without a call. */
function composedAnswer(turns: readonly Summary[], { observations, contextTokens }: SummarizeRequest): SummarizeAnswer {
  const summary = composeSessionSummary(turns, observations)
  const noCall = { usage: NO_USAGE, turns: [], model: 'offline', promptVersion: null }
  return { ...noCall, contextTokens, summary, skipReason: null, observations: [] }
}

function separateWithheld(messages: readonly InboxEvent[], withheld: WithheldFilter) {
  const allowed: InboxEvent[] = []
  const skipped: LeftOutMessage[] = []
  for (const message of messages) {
    const reason = withheld.reasonFor(message)
    if (reason === null) allowed.push(message)
    else skipped.push({ eventId: message.id, reason })
  }
  return { allowed, skipped }
}

function leftOutEvents(messages: readonly InboxEvent[], leftOut: readonly LeftOutMessage[]): InboxEvent[] {
  const ids = new Set(leftOut.map(({ eventId }) => eventId))
  return messages.filter(({ id }) => ids.has(id))
}

async function leaveOutRepeated(messages: readonly InboxEvent[], { seen }: ObserveRequest) {
  const { subjects, fold } = prepareNovelty(messages)
  return fold(await seen(subjects))
}

/** The tool uses that are no observation's source. */
function withoutObservation(
  fresh: readonly InboxEvent[],
  observations: readonly ObservationDraft[],
  skip: string | null,
): LeftOutMessage[] {
  const sources = new Set(observations.flatMap((observation) => observation.sources))
  const reason = skip ?? 'the model made no observation of it'
  return fresh.filter(({ id }) => !sources.has(id)).map(({ id }) => ({ eventId: id, reason }))
}

function joinParagraphs(...parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join('\n\n')
}

/** Turns of the offline observer have no model. */
function modelTurns(conversation: readonly ObserverTurn[]): ObserverTurn[] {
  return conversation.filter((turn) => turn.model !== null)
}

/** Many servers require alternating roles: adjacent turns of one role become one message. */
function chatMessages(turns: readonly ObserverTurn[], content: string): ChatMessage[] {
  const messages: ChatMessage[] = []
  for (const turn of [...turns, { role: 'user' as const, content }]) {
    const last = messages.at(-1)
    if (last?.role === turn.role) last.content = `${last.content}\n\n${turn.content}`
    else messages.push({ role: turn.role, content: turn.content })
  }
  // A conversation whose beginning was removed may start with an answer.
  return messages[0]?.role === 'assistant' ? messages.slice(1) : messages
}

/** Some servers report only uncached tokens, which is too little; our estimate may be too much. */
const ESTIMATE_FACTOR = 0.75

/** Size of the conversation after a call; the next call sends all of it. */
function conversationTokens(usage: Usage, requestTokens: number, answer: string): number {
  const { input, output, cacheRead, cacheWrite } = usage
  const estimate = Math.floor((requestTokens + estimateTokens(answer)) * ESTIMATE_FACTOR)
  return Math.max(input + output + cacheRead + cacheWrite, estimate)
}

/** `messages` are numbered from 1, as in the prompt. */
function observationDrafts(
  observations: readonly ParsedObservation[],
  messages: readonly InboxEvent[],
): ObservationDraft[] {
  return observations.map(({ from, ...content }) => {
    const sources = sourceEvents(from, [...content.filesModified, ...content.filesRead], messages)
    const agents = new Set(sources.map((event) => event.agent?.type ?? null))
    const [agent = null] = agents
    return {
      ...content,
      agent: agents.size === 1 ? agent : null,
      discoveryTokens: sources.reduce((total, event) => total + estimateTokens(JSON.stringify(event)), 0),
      discoveryEstimated: true,
      sources: sources.map((event) => event.id),
    }
  })
}

/** The tool uses that the reply names; else those of its files; else the whole batch. */
function sourceEvents(
  from: readonly number[],
  files: readonly string[],
  messages: readonly InboxEvent[],
): readonly InboxEvent[] {
  const named = messages.filter((_, i) => from.includes(i + 1))
  if (named.length > 0) return named
  const touching = messages.filter((event) => files.some((file) => isUsedOn(event, file)))
  return touching.length > 0 ? touching : messages
}

function isUsedOn(event: InboxEvent, file: string): boolean {
  const path = event.kind === 'subagent_end' ? '' : stringField(asFields(event.input), 'file_path')
  return path !== '' && (path === file || path.replaceAll('\\', '/').endsWith(`/${file.replace(/^\.?\//, '')}`))
}

/** Unusable replies in a row after which the model is at fault. Bisecting a batch of 500 for a bad message takes ten. */
const MAX_UNUSABLE_IN_A_ROW = 12

/** Decides whether an unusable reply is the fault of the message or of the model. */
class UnusableReplies {
  readonly #model: string
  readonly #sessions = new Set<string>()
  #inARow = 0
  #everUsable = false

  constructor(model: string) {
    this.#model = model
  }

  /** After a usable reply. */
  reset(): void {
    this.#everUsable = true
    this.#startRow()
  }

  /**
   * A refusal depends on the request. Many other unusable replies in a row, from a model that never gave a usable one or
   * to several sessions, are the model's fault. The row then starts again, so that the content of one session never blocks
   * the others.
   */
  failure(problem: string, { stop, usage }: ChatReply, session: string): ObserverError {
    if (stop === 'refused') return new ObserverError('message', problem, { usage })
    this.#inARow += 1
    this.#sessions.add(session)
    const inARow = this.#inARow
    const isModel = inARow >= MAX_UNUSABLE_IN_A_ROW && (!this.#everUsable || this.#sessions.size > 1)
    if (!isModel) return new ObserverError('message', problem, { usage })
    this.#startRow()
    return new ObserverError(
      'provider',
      `${this.#model} gave ${inARow} answers in a row that cannot be used; choose another model: claude-mem config set model NAME. The last: ${problem}`,
      { usage },
    )
  }

  #startRow(): void {
    this.#inARow = 0
    this.#sessions.clear()
  }
}

/** Never quotes the reply: the problem is logged and stored where forgetting a memory does not look for its words. */
function replyProblem({ text, stop }: ChatReply): string {
  if (stop === 'refused') return 'the model refused to answer'
  if (stop === 'length') return 'the answer was cut off before it had any content'
  if (text.trim() === '') return 'the answer was empty'
  return `the answer is not in the requested format (${text.length} characters; its text is kept with the call)`
}
