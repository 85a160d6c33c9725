/**
 * Any server that speaks the OpenAI chat API: OpenRouter, Ollama, LM Studio, vLLM. By plain fetch: it is one POST, and a
 * client library for one of them knows nothing of what the others do differently.
 */
import { z } from 'zod'
import type { ChatModel, ChatReply, ChatRequest } from '../model/chat.ts'
import { addressOf, type Endpoint, keyOf } from './endpoint.ts'
import { httpFailure, noText, unusableReply } from './failure.ts'
import { postJson } from './http.ts'
import { usageOf } from './usage.ts'

export const DEFAULT_MODEL = 'google/gemini-3.1-flash-lite'
export const DEFAULT_BASE_URL = 'https://openrouter.ai/api/v1'
export const PRESETS = {
  openrouter: DEFAULT_BASE_URL,
  ollama: 'http://127.0.0.1:11434/v1',
  lmstudio: 'http://127.0.0.1:1234/v1',
} as const

/** What the address says about who answers: some fields are refused by all but one. */
export type ChatServer = 'openrouter' | 'openai' | 'local' | 'other'

const tokens = z.number().int().nonnegative().nullish()
const Completion = z.object({
  model: z.string().nullish(),
  choices: z
    .array(
      z.object({
        message: z.object({
          content: z
            .union([z.string(), z.array(z.object({ type: z.string(), text: z.string().optional() }))])
            .nullish(),
          refusal: z.string().nullish(),
        }),
        finish_reason: z.string().nullish(),
      }),
    )
    .min(1),
  usage: z
    .object({
      prompt_tokens: tokens,
      completion_tokens: tokens,
      prompt_tokens_details: z.object({ cached_tokens: tokens, cache_write_tokens: tokens }).nullish(),
      cost: z.number().nonnegative().nullish(),
    })
    .nullish(),
})
/** OpenRouter and LM Studio answer 200 and then say what went wrong, for some also within the choice. */
const Failed = z.object({ error: z.union([z.string().min(1), z.looseObject({})]) })
const FailedChoice = z.object({ choices: z.tuple([Failed], z.unknown()) })

export interface OpenrouterOptions {
  /** Null: the server wants none. */
  apiKey: string | null
  baseUrl: string
  model: string
}

export function openrouterModel(
  { apiKey, baseUrl, model }: OpenrouterOptions,
  server: ChatServer = chatServerAt(baseUrl),
): ChatModel {
  const endpoint: Endpoint = {
    provider: 'openrouter',
    model,
    url: addressOf(baseUrl, '/chat/completions'),
    apiKey: apiKey === '' ? null : apiKey,
    keySetting: 'openrouter-api-key',
    addressSetting: 'openrouter-base-url',
  }
  return {
    provider: endpoint.provider,
    model,
    async complete(request, signal) {
      const wanted = endpoint.apiKey !== null || server === 'openrouter' || server === 'openai'
      const headers: Record<string, string> = wanted ? { authorization: `Bearer ${keyOf(endpoint)}` } : {}
      const value = await postJson(endpoint, headers, bodyOf(request, model, server), signal)
      return replyOf(endpoint, server, request, value)
    },
  }
}

export function chatServerAt(baseUrl: string): ChatServer {
  const host = URL.canParse(baseUrl) ? new URL(baseUrl).hostname : ''
  if (host === 'openrouter.ai' || host.endsWith('.openrouter.ai')) return 'openrouter'
  if (host === 'api.openai.com') return 'openai'
  return host === 'localhost' || host === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(host) ? 'local' : 'other'
}

function bodyOf({ system, messages, maxTokens }: ChatRequest, model: string, server: ChatServer): object {
  return {
    model,
    messages: [...(system === '' ? [] : [{ role: 'system', content: system }]), ...messages],
    // OpenAI's newer models refuse the old name, most other servers know only that one.
    ...(server === 'openai' ? { max_completion_tokens: maxTokens } : { max_tokens: maxTokens }),
    // What a call cost is told on request, and only here: strict servers refuse a field that they do not know.
    ...(server === 'openrouter' ? { usage: { include: true } } : {}),
  }
}

function replyOf(endpoint: Endpoint, server: ChatServer, request: ChatRequest, value: unknown): ChatReply {
  const error = Failed.safeParse(value).data?.error ?? FailedChoice.safeParse(value).data?.choices[0].error
  if (error !== undefined)
    throw httpFailure(endpoint, { status: statusOf(error), headers: new Headers(), text: JSON.stringify({ error }) })
  const parsed = Completion.safeParse(value)
  const choice = parsed.data?.choices[0]
  if (parsed.data === undefined || choice === undefined) {
    throw unusableReply(endpoint, 'something that is no completion', value)
  }
  const { model, usage: said } = parsed.data
  const text = textOf(choice.message.content) || (choice.message.refusal ?? '')
  const reason = choice.finish_reason ?? 'unknown'
  const refused = reason === 'content_filter' || typeof choice.message.refusal === 'string'
  const usage = usageOf(request, text, {
    prompt: said?.prompt_tokens,
    cached: said?.prompt_tokens_details?.cached_tokens,
    written: said?.prompt_tokens_details?.cache_write_tokens,
    output: said?.completion_tokens,
  })
  if (!refused && text.trim() === '') throw noText(endpoint, `finish reason ${reason}`, usage)
  return {
    text,
    usage,
    model: model ?? endpoint.model,
    stop: refused ? 'refused' : reason === 'length' ? 'length' : 'end',
    cost: server === 'local' ? 0 : server === 'openrouter' ? (said?.cost ?? null) : null,
  }
}

function textOf(content: string | { type: string; text?: string | undefined }[] | null | undefined): string {
  if (typeof content === 'string') return content
  return (content ?? []).flatMap((part) => (part.type === 'text' ? [part.text ?? ''] : [])).join('')
}

/** The status that the error itself names; without one it came from behind the server, which is a bad gateway. */
function statusOf(error: string | { code?: unknown }): number {
  const code = typeof error === 'string' ? Number.NaN : Number(error.code)
  return Number.isInteger(code) && code >= 400 && code <= 599 ? code : 502
}
