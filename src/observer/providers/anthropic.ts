/**
 * The Messages API through the official SDK: it knows the API's version, its headers and its error shapes. What it would
 * do on its own is switched off: no retry (the breaker's), no time limit (the signal's), no log, no trace, and nothing
 * from the environment, where keys and addresses of other programs stand.
 */
import type Anthropic from '@anthropic-ai/sdk'
import { z } from 'zod'
import type { Usage } from '../../memory/observation.ts'
import type { ChatModel, ChatReply, ChatRequest } from '../model/chat.ts'
import { ObserverError } from '../port.ts'
import { addressOf, type Endpoint, keyOf } from './endpoint.ts'
import { connectionFailure, httpFailure, noText, unusableReply } from './failure.ts'
import { exchange, jsonOf } from './http.ts'

export const DEFAULT_MODEL = 'claude-haiku-4-5'
export const DEFAULT_BASE_URL = 'https://api.anthropic.com'

/** The longest that a timer can wait: the signal ends the call long before. */
const NO_TIMEOUT_MS = 2 ** 31 - 1

const TIMED_OUT = { code: 'ETIMEDOUT' }

const count = z.number().int().nonnegative().nullish()
const Message = z.object({
  model: z.string().optional(),
  content: z.array(z.object({ type: z.string(), text: z.string().optional() })),
  stop_reason: z.string().nullish(),
  usage: z.object({
    input_tokens: z.number().int().nonnegative(),
    output_tokens: z.number().int().nonnegative(),
    cache_read_input_tokens: count,
    cache_creation_input_tokens: count,
  }),
})

export interface AnthropicOptions {
  apiKey: string
  baseUrl: string
  model: string
}

export function anthropicModel({ apiKey, baseUrl, model }: AnthropicOptions): ChatModel {
  const endpoint: Endpoint = {
    provider: 'anthropic',
    model,
    url: addressOf(baseUrl, '/v1/messages'),
    apiKey,
    keySetting: 'anthropic-api-key',
    addressSetting: 'anthropic-base-url',
  }
  let client: Promise<Anthropic> | null = null
  return {
    provider: endpoint.provider,
    model,
    async complete(request, signal) {
      signal.throwIfAborted()
      const key = keyOf(endpoint)
      client ??= connect(endpoint, key, baseUrl).catch((error: unknown) => {
        client = null
        throw error
      })
      // The SDK's listener on a signal outlives a response that is read here, so it gets a signal of its own.
      const linked = new AbortController()
      const abort = () => linked.abort()
      signal.addEventListener('abort', abort, { once: true })
      try {
        const call = (await client).messages.create(paramsOf(request, model), { signal: linked.signal })
        const response = await call.asResponse()
        const { status, headers } = response
        return replyOf(endpoint, jsonOf(endpoint, { status, headers, text: await response.text() }))
      } catch (error) {
        throw signal.aborted ? signal.reason : await failureOf(endpoint, error)
      } finally {
        signal.removeEventListener('abort', abort)
      }
    },
  }
}

/** The SDK is loaded with the first call: a daemon that never makes one starts without it. */
async function connect(endpoint: Endpoint, apiKey: string, baseUrl: string): Promise<Anthropic> {
  const { default: Anthropic } = await import('@anthropic-ai/sdk')
  return new Anthropic({
    apiKey,
    authToken: null,
    baseURL: addressOf(baseUrl, ''),
    maxRetries: 0,
    timeout: NO_TIMEOUT_MS,
    logLevel: 'off',
    openTelemetry: false,
    defaultHeaders: withoutCustomHeaders(process.env.ANTHROPIC_CUSTOM_HEADERS),
    // The body is read here, with its bound and its failures; the SDK sees a whole one.
    fetch: async (_url, init) => {
      const { status, headers, text } = await exchange(endpoint, init ?? {})
      return new Response(text === '' ? null : text, { status, headers })
    },
  })
}

/**
 * The SDK adds the headers that ANTHROPIC_CUSTOM_HEADERS names below the ones it is given here; an undefined one of the
 * same name takes it back, and leaves alone what the SDK itself would send.
 */
function withoutCustomHeaders(custom: string | undefined): Record<string, undefined> {
  const names = (custom ?? '')
    .split('\n')
    .filter((line) => line.includes(':'))
    .map((line) => line.slice(0, line.indexOf(':')).trim())
  return Object.fromEntries(names.map((name) => [name, undefined]))
}

/**
 * Marks say up to where the prompt is kept in the cache: the fixed part, which all sessions share (where it is long enough for the model: 4,096 tokens for Haiku 4.5); the conversation
 * before the newest message, which whatever is asked next can build on, even where this message is taken back; and the
 * newest message, which the next call follows. A prefix that is marked twice is paid once.
 */
function paramsOf(
  { system, messages, maxTokens }: ChatRequest,
  model: string,
): Anthropic.MessageCreateParamsNonStreaming {
  const firstMarked = messages.length - 2
  return {
    model,
    max_tokens: maxTokens,
    ...(system === '' ? {} : { system: [textBlock(system, true)] }),
    messages: messages.map(({ role, content }, index) => ({
      role,
      content: [textBlock(content, index >= firstMarked)],
    })),
  }
}

/** Nothing can be marked where there is nothing. */
function textBlock(text: string, marked: boolean): Anthropic.TextBlockParam {
  return { type: 'text', text, ...(marked && text !== '' ? { cache_control: { type: 'ephemeral' } } : {}) }
}

function replyOf(endpoint: Endpoint, value: unknown): ChatReply {
  const parsed = Message.safeParse(value)
  if (!parsed.success) throw unusableReply(endpoint, 'something that is no message', value)
  const { model, content, stop_reason: stopReason, usage: said } = parsed.data
  const text = content.flatMap((block) => (block.type === 'text' ? [block.text ?? ''] : [])).join('')
  const usage: Usage = {
    input: said.input_tokens,
    output: said.output_tokens,
    cacheRead: said.cache_read_input_tokens ?? 0,
    cacheWrite: said.cache_creation_input_tokens ?? 0,
  }
  // The window was full before the answer was done: a shorter conversation leaves room for it.
  if (stopReason === 'model_context_window_exceeded') {
    throw new ObserverError('context', `too long for ${endpoint.model} at ${endpoint.provider} (${stopReason})`, {
      usage,
    })
  }
  const stop = stopReason === 'refusal' ? 'refused' : stopReason === 'max_tokens' ? 'length' : 'end'
  if (stop !== 'refused' && text.trim() === '') throw noText(endpoint, `stop reason ${stopReason ?? 'unknown'}`, usage)
  return { text, usage, model: model ?? endpoint.model, stop, cost: null }
}

/** The SDK's errors carry the server's words, and those may carry the key: none of them becomes a cause. */
async function failureOf(endpoint: Endpoint, error: unknown): Promise<ObserverError> {
  if (error instanceof ObserverError) return error
  if (!URL.canParse(endpoint.url)) return connectionFailure(endpoint, error)
  const { APIConnectionError, APIError } = await import('@anthropic-ai/sdk')
  if (error instanceof APIConnectionError) {
    // Of a timeout the SDK keeps only that it was one.
    return error.cause instanceof ObserverError ? error.cause : connectionFailure(endpoint, error.cause ?? TIMED_OUT)
  }
  if (error instanceof APIError && error.status !== undefined) {
    // Words that are no JSON stand in the message, behind the status.
    const text = error.error === undefined ? error.message.replace(/^\d+ /, '') : JSON.stringify(error.error)
    return httpFailure(endpoint, { status: error.status, headers: error.headers ?? new Headers(), text })
  }
  // What the SDK itself would not send: the server had no word in it.
  return new ObserverError('message', `the request to ${endpoint.provider} could not be made`, { cause: error })
}
