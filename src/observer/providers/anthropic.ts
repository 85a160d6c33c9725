/**
 * The Messages API through the official SDK, which knows the API version, the headers and the error shapes. The SDK's own
 * retries, timeout, logging, tracing and environment variables are switched off: the circuit breaker retries, the signal
 * ends the call, and the environment holds keys and addresses of other programs.
 */
import type Anthropic from '@anthropic-ai/sdk'
import * as z from 'zod'
import type { Usage } from '../../domain/observation.ts'
import type { ChatModel, ChatReply, ChatRequest } from '../model/chat.ts'
import { ObserverError } from '../port.ts'
import { connectionFailure, type Endpoint, emptyReply, httpFailure, requireApiKey, unusableReply } from './failures.ts'
import { type ApiModelOptions, apiEndpoint, endpointUrl, fetchReply, parseJsonReply } from './http.ts'

/** The longest timeout that a timer accepts: the signal ends the call long before. */
const NO_TIMEOUT_MS = 2 ** 31 - 1

const tokenCount = z.number().int().nonnegative()
const Message = z.object({
  model: z.string().optional(),
  content: z.array(z.object({ type: z.string(), text: z.string().optional() })),
  stop_reason: z.string().nullish(),
  usage: z.object({
    input_tokens: tokenCount,
    output_tokens: tokenCount,
    cache_read_input_tokens: tokenCount.nullish(),
    cache_creation_input_tokens: tokenCount.nullish(),
  }),
})

export function anthropicModel(options: ApiModelOptions): ChatModel {
  const { baseUrl, model } = options
  const endpoint = apiEndpoint('anthropic', options, '/v1/messages')
  let client: Promise<Anthropic> | null = null
  return {
    provider: endpoint.provider,
    model,
    async complete(request, signal) {
      signal.throwIfAborted()
      const key = requireApiKey(endpoint)
      client ??= createClient(endpoint, key, baseUrl).catch((error: unknown) => {
        client = null
        throw error
      })
      // The SDK never removes its listener from the signal if the response is read here, so it gets a private signal.
      const linked = new AbortController()
      const abort = () => linked.abort()
      signal.addEventListener('abort', abort, { once: true })
      try {
        const call = (await client).messages.create(messageParams(request, model), { signal: linked.signal })
        const response = await call.asResponse()
        const { status, headers } = response
        return readReply(endpoint, parseJsonReply(endpoint, { status, headers, text: await response.text() }))
      } catch (error) {
        throw signal.aborted ? signal.reason : await readFailure(endpoint, error)
      } finally {
        signal.removeEventListener('abort', abort)
      }
    },
  }
}

/** The SDK is imported with the first call, which keeps it out of a daemon that never makes one. */
async function createClient(endpoint: Endpoint, apiKey: string, baseUrl: string): Promise<Anthropic> {
  const { default: Anthropic } = await import('@anthropic-ai/sdk')
  return new Anthropic({
    apiKey,
    authToken: null,
    baseURL: endpointUrl(baseUrl, ''),
    maxRetries: 0,
    timeout: NO_TIMEOUT_MS,
    logLevel: 'off',
    openTelemetry: false,
    defaultHeaders: removeCustomHeaders(process.env.ANTHROPIC_CUSTOM_HEADERS),
    // The body is read by `fetchReply`, with its size limit and failures; the SDK gets a complete one.
    fetch: async (_url, init) => {
      const { status, headers, text } = await fetchReply(endpoint, init ?? {})
      return new Response(text === '' ? null : text, { status, headers })
    },
  })
}

/**
 * The SDK sends the headers of ANTHROPIC_CUSTOM_HEADERS; an undefined default header of the same name removes each of
 * them and leaves the SDK's own headers alone.
 */
function removeCustomHeaders(custom: string | undefined): Record<string, undefined> {
  const names = (custom ?? '')
    .split('\n')
    .filter((line) => line.includes(':'))
    .map((line) => line.slice(0, line.indexOf(':')).trim())
  return Object.fromEntries(names.map((name) => [name, undefined]))
}

/**
 * Cache marks end a cached prefix: the system text, shared by all sessions (if it is long enough for the model: 4,096
 * tokens for Haiku 4.5); the conversation before the newest message, on which the next call builds even if this message
 * is withdrawn; and the newest message, which the next call follows. A prefix that is marked twice is paid once.
 */
function messageParams(
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

/** The API rejects a mark on an empty text. */
function textBlock(text: string, marked: boolean): Anthropic.TextBlockParam {
  return { type: 'text', text, ...(marked && text !== '' ? { cache_control: { type: 'ephemeral' } } : {}) }
}

function readReply(endpoint: Endpoint, value: unknown): ChatReply {
  const parsed = Message.safeParse(value)
  if (!parsed.success) throw unusableReply(endpoint, 'something that is no message', value)
  const { model, content, stop_reason: stopReason, usage: reported } = parsed.data
  const text = content.flatMap((block) => (block.type === 'text' ? [block.text ?? ''] : [])).join('')
  const usage: Usage = {
    input: reported.input_tokens,
    output: reported.output_tokens,
    cacheRead: reported.cache_read_input_tokens ?? 0,
    cacheWrite: reported.cache_creation_input_tokens ?? 0,
  }
  // The context window was full before the answer was complete: compacting makes room for it.
  if (stopReason === 'model_context_window_exceeded') {
    const message = `too long for ${endpoint.model} at ${endpoint.provider} (${stopReason})`
    throw new ObserverError('context', message, { usage })
  }
  const stop = stopReason === 'refusal' ? 'refused' : stopReason === 'max_tokens' ? 'length' : 'end'
  if (stop !== 'refused' && text.trim() === '') {
    throw emptyReply(endpoint, `stop reason ${stopReason ?? 'unknown'}`, usage)
  }
  return { text, usage, model: model ?? endpoint.model, stop, cost: null }
}

/** The SDK's errors quote the server, which may quote the key: none of them becomes a `cause`. */
async function readFailure(endpoint: Endpoint, error: unknown): Promise<ObserverError> {
  if (error instanceof ObserverError) return error
  if (!URL.canParse(endpoint.url)) return connectionFailure(endpoint, error)
  const { APIConnectionError, APIError } = await import('@anthropic-ai/sdk')
  if (error instanceof APIConnectionError) {
    // The SDK drops the cause of a timeout.
    const cause = error.cause ?? { code: 'ETIMEDOUT' }
    return cause instanceof ObserverError ? cause : connectionFailure(endpoint, cause)
  }
  if (error instanceof APIError && error.status !== undefined) {
    // A body that is not JSON is in the message, after the status.
    const text = error.error === undefined ? error.message.replace(/^\d+ /, '') : JSON.stringify(error.error)
    return httpFailure(endpoint, { status: error.status, headers: error.headers ?? new Headers(), text })
  }
  // The SDK refused to send the request.
  return new ObserverError('message', `the request to ${endpoint.provider} could not be made`, { cause: error })
}
