/**
 * The observer with a model: what is told, how the answer is understood, and what the conversation becomes. Which
 * model it is, and how it is reached, is behind `ChatModel`.
 */
import { basename } from 'node:path'
import { messageOf } from '../../errors.ts'
import type { MessageEvent } from '../../memory/event.ts'
import { estimateTokens, NO_USAGE, type ObservationDraft, type Usage } from '../../memory/observation.ts'
import { projectRoot } from '../../memory/project.ts'
import type { ObserverTurn } from '../../store/commit.ts'
import {
  type CompactAnswer,
  type CompactRequest,
  type ObserveAnswer,
  type ObserveRequest,
  type Observer,
  ObserverError,
  type SessionMatter,
  type SummarizeAnswer,
  type SummarizeRequest,
} from '../port.ts'
import { costOf, type Price } from '../prices.ts'
import { renderBatch } from './batch.ts'
import type { ChatModel, ChatReply } from './chat.ts'
import { messagesOf, modelTurns, requestTokens, sizeAfter } from './conversation.ts'
import { digestOf } from './digest.ts'
import { draftsOf } from './drafts.ts'
import { noveltyOf, subjectsOf } from './novelty.ts'
import { isTold, renderCompaction, renderObservation, renderOpening, renderSummary } from './opening.ts'
import type { Prompts } from './prompts.ts'
import { isAnswer, type ParsedReply, parseReply } from './reply/index.ts'
import { technologiesOf } from './technologies.ts'
import { faultOf, Unusable } from './unusable.ts'
import type { Withheld } from './withheld.ts'

export interface ModelObserverOptions {
  chat: ChatModel
  prompts: Prompts
  /** The fixed part of every call. */
  system: string
  /** Size at which the conversation is compacted; what one call adds stays well below it. */
  compactTokens: number
  /** Leave out what adds nothing before the model is asked. */
  novelty: boolean
  withheld: Withheld
  /** Null: no price is known. */
  priceOf(model: string): Price | null
}

/** Most characters of one tool input or output: what a model needs of it stands at its head, at its tail, or in an error. */
const FIELD_CHARS = 4_000
/** Most characters of a batch, about ten thousand tokens. */
const BATCH_CHARS = 40_000
/** Share of the conversation's limit that one batch, one answer and one digest may have. */
const BATCH_SHARE = 0.4
const ANSWER_SHARE = 0.5
const DIGEST_SHARE = 0.25
/** Most tokens of an answer: twenty tool uses rarely make more than five observations of 300 tokens. */
const ANSWER_TOKENS = 8_192
const DIGEST_TOKENS = 4_000
const CHARS_PER_TOKEN = 4
export function modelObserver(options: ModelObserverOptions): Observer {
  const { chat, prompts, system, compactTokens, withheld } = options
  const promptVersion = prompts.version
  const batchChars = Math.min(BATCH_CHARS, Math.floor(compactTokens * CHARS_PER_TOKEN * BATCH_SHARE))
  const maxTokens = Math.min(ANSWER_TOKENS, Math.floor(compactTokens * ANSWER_SHARE))
  const unusable = new Unusable(chat.model)

  function costAt(model: string, usage: Usage): number | null {
    const price = options.priceOf(model)
    return usage === NO_USAGE ? 0 : price === null ? null : costOf(usage, price)
  }

  /** One call, written down whatever comes of it. Null where its answer could not be used: then it throws. */
  async function ask<T>(
    matter: SessionMatter,
    said: string,
    signal: AbortSignal,
    understand: (reply: ParsedReply) => T | null,
  ) {
    const messages = messagesOf(modelTurns(matter.conversation), said)
    const asked = requestTokens(system, messages)
    const usage = { ...NO_USAGE, input: asked }
    const end = matter.calls.begin({
      provider: chat.provider,
      model: chat.model,
      promptVersion,
      // With the digest before it, where one opens the conversation.
      sent: messages.at(-1)?.content ?? said,
      expected: { usage, cost: costAt(chat.model, usage) },
    })
    let reply: ChatReply
    try {
      reply = await chat.complete({ system, messages, maxTokens }, signal)
    } catch (error) {
      const paid = (error instanceof ObserverError ? error.usage : null) ?? NO_USAGE
      end({ usage: paid, cost: costAt(chat.model, paid), error: messageOf(error), received: null })
      throw error
    }
    const { text, model } = reply
    const cost = reply.cost ?? costAt(model, reply.usage) ?? costAt(chat.model, reply.usage)
    const parsed = parseReply(text)
    const answer = isAnswer(parsed) ? understand(parsed) : null
    const fault = answer === null ? faultOf(reply) : null
    end({ usage: reply.usage, cost, error: fault, received: text })
    if (answer === null) throw unusable.failure(fault ?? '', reply, matter.session)
    unusable.forget()
    const turns: Omit<ObserverTurn, 'generation' | 'at'>[] = [
      { role: 'user', content: said, model, usage: null },
      { role: 'assistant', content: text.trim(), model, usage: reply.usage },
    ]
    const contextTokens = sizeAfter(reply.usage, asked, text)
    return { answer, common: { usage: reply.usage, turns, contextTokens, model, promptVersion } }
  }

  async function observe(request: ObserveRequest, signal: AbortSignal): Promise<ObserveAnswer> {
    const { open, skipped } = sorted(request.messages, withheld)
    const { fresh, folded, seen } = options.novelty
      ? noveltyOf(open, await request.seen(subjectsOf(open)))
      : { fresh: open, folded: [], seen: [] }
    const left = { folded, skipped, seen }
    if (fresh.length === 0) {
      const { contextTokens } = request
      return { usage: NO_USAGE, turns: [], contextTokens, model: null, promptVersion, observations: [], ...left }
    }
    const batch = renderBatch(fresh, {
      projectDir: projectRoot(request.cwd),
      fieldChars: FIELD_CHARS,
      totalChars: batchChars,
      folded: folded.length,
      withheld: skipped.length,
    })
    const opening = await openingFor(request)
    const isKnown = opening !== '' || isTold(prompts, request.prompt, modelTurns(request.conversation))
    const said = joined(opening, renderObservation(prompts, { request: isKnown ? null : request.prompt, batch }))
    const { answer, common } = await ask(request, said, signal, (reply) =>
      reply.observations.length > 0 || reply.skip !== null ? reply : null,
    )
    const observations = draftsOf(answer.observations, fresh)
    return { ...common, ...left, observations, skipped: [...skipped, ...untold(fresh, observations, answer.skip)] }
  }

  async function summarize(request: SummarizeRequest, signal: AbortSignal): Promise<SummarizeAnswer> {
    const { prompt, turnEnd } = request
    const said = joined(await openingFor(request, null), renderSummary(prompts, { request: prompt, turnEnd }))
    const { answer, common } = await ask(request, said, signal, (reply) =>
      reply.summary !== null || reply.skipSummary !== null || reply.skip !== null ? reply : null,
    )
    const skipReason = answer.summary === null ? (answer.skipSummary ?? answer.skip) : null
    return { ...common, summary: answer.summary, skipReason, observations: draftsOf(answer.observations, []) }
  }

  /** No call: the digest is made of what was stored, so it costs nothing and cannot fail. */
  async function compact(request: CompactRequest): Promise<CompactAnswer> {
    const digest = digestOf(request, {
      maxTokens: Math.min(DIGEST_TOKENS, Math.floor(compactTokens * DIGEST_SHARE)),
      withheld,
    })
    const opening = await renderedOpening(request, request.prompt)
    const content = renderCompaction(prompts, { opening, digest })
    return {
      usage: NO_USAGE,
      turns: [{ role: 'user', content, model: chat.model, usage: null }],
      contextTokens: estimateTokens(system) + estimateTokens(content),
      model: chat.model,
      promptVersion,
    }
  }

  /** What a conversation begins with; empty where it has begun. */
  async function openingFor(matter: SessionMatter, request: string | null = matter.prompt): Promise<string> {
    return modelTurns(matter.conversation).length > 0 ? '' : await renderedOpening(matter, request)
  }

  async function renderedOpening({ project, cwd, at }: SessionMatter, request: string | null): Promise<string> {
    const technologies = await technologiesOf(projectRoot(cwd))
    return renderOpening(prompts, { project: project.name || basename(cwd), technologies, cwd, at, request })
  }

  return { provider: chat.provider, observe, summarize, compact }
}

function sorted(messages: readonly MessageEvent[], withheld: Withheld) {
  const open: MessageEvent[] = []
  const skipped: { eventId: string; reason: string }[] = []
  for (const message of messages) {
    const reason = withheld.reasonFor(message)
    if (reason === null) open.push(message)
    else skipped.push({ eventId: message.id, reason })
  }
  return { open, skipped }
}

/** The tool uses that no observation came from. */
function untold(fresh: readonly MessageEvent[], observations: readonly ObservationDraft[], skip: string | null) {
  const told = new Set(observations.flatMap((observation) => observation.sources))
  const reason = skip ?? 'the model kept nothing of it'
  return fresh.filter(({ id }) => !told.has(id)).map(({ id }) => ({ eventId: id, reason }))
}

function joined(...parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join('\n\n')
}
