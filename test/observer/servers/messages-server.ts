/** Anthropic's Messages API, with its prompt cache. */
import type { ApiError, Handler, RecordedRequest, TokenCount } from './fault.ts'
import { type Block, MAX_MARKS, PromptCache } from './prompt-cache.ts'
import {
  type Answer,
  conversationError,
  countTokens,
  type ParsedRequest,
  plainObject,
  ScriptedServer,
  type ServerOptions,
} from './scripted-server.ts'

const VERSIONS = ['2023-06-01', '2026-10-21']
/** Removed in the newer version. */
const REMOVED = ['temperature', 'top_p', 'top_k']
const TYPES: Record<number, string> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  504: 'timeout_error',
  529: 'overloaded_error',
}
const STOP = { end: 'end_turn', length: 'max_tokens', refused: 'refusal' }

export class MessagesServer extends ScriptedServer {
  readonly #cache: PromptCache
  #next = 0

  private constructor(handler: Handler, options: ServerOptions) {
    super(handler, options)
    this.#cache = new PromptCache(options.clock ?? Date.now)
  }

  static async listen(handler: Handler, options: ServerOptions = {}): Promise<MessagesServer> {
    const server = new MessagesServer(handler, options)
    await server.start()
    return server
  }

  protected override read({ method, path, headers, body }: RecordedRequest): ParsedRequest | ApiError {
    if (path !== '/v1/messages' || method !== 'POST') return fail(404, 'Not found')
    const key = headers['x-api-key'] ?? /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1]
    if (key === undefined) return fail(401, 'x-api-key header is required')
    if (this.options.apiKey !== undefined && key !== this.options.apiKey) return fail(401, 'invalid x-api-key')
    const version = headers['anthropic-version']
    if (version === undefined || !VERSIONS.includes(version)) return fail(400, 'anthropic-version: header is required')
    if (!headers['content-type']?.startsWith('application/json')) return fail(400, 'the body must be JSON')
    const fields = plainObject(body)
    const { model, max_tokens: maxTokens, stream } = fields
    if (typeof model !== 'string' || model === '') return fail(400, 'model: Field required')
    if (this.options.models?.includes(model) === false) return fail(404, `model: ${model}`)
    if (typeof maxTokens !== 'number' || !Number.isInteger(maxTokens)) return fail(400, 'max_tokens: Field required')
    if (maxTokens < 1) return fail(400, 'max_tokens: must be greater than or equal to 1')
    const removed = REMOVED.find((name) => name in fields)
    if (version !== VERSIONS[0] && removed !== undefined) return fail(400, `${removed}: Extra inputs are not permitted`)
    if (stream === true) return fail(400, 'stream: this server does not stream')
    const system = parseBlocks('system', fields.system ?? [])
    const messages = parseMessages(fields.messages)
    if (system === null || messages === null) return fail(400, 'messages: Input should be a valid list')
    const blocks = [...system, ...messages.flat()]
    if (blocks.some(({ text }) => text === '')) return fail(400, 'messages: text content blocks must be non-empty')
    if (blocks.filter(({ marked }) => marked).length > MAX_MARKS) {
      return fail(400, `A maximum of ${MAX_MARKS} blocks with cache_control may be provided.`)
    }
    const conversation = messages.map((parts) => ({
      role: messageRole(parts),
      content: parts.map(({ text }) => text).join(''),
    }))
    const error = conversationError(conversation)
    if (error !== null) return fail(400, `messages: ${error}`)
    return { call: { system: system.map(({ text }) => text).join(''), messages: conversation }, model, maxTokens }
  }

  protected override usage({ model }: ParsedRequest, body: unknown, text: string): TokenCount {
    const fields = plainObject(body)
    const blocks = [
      ...(parseBlocks('system', fields.system ?? []) ?? []),
      ...(parseMessages(fields.messages) ?? []).flat(),
    ]
    return { ...this.#cache.use(model, blocks), output: countTokens(text) }
  }

  protected override errorBody({ type, message }: ApiError): object {
    return { type: 'error', error: { type, message }, request_id: `req_${++this.#next}` }
  }

  protected override answerBody({ text, finish, model, usage }: Answer): object {
    return {
      id: `msg_${++this.#next}`,
      type: 'message',
      role: 'assistant',
      model,
      content: text === '' ? [] : [{ type: 'text', text, citations: null }],
      stop_reason: STOP[finish],
      stop_sequence: null,
      usage: {
        input_tokens: usage.input,
        output_tokens: usage.output,
        cache_read_input_tokens: usage.cacheRead,
        cache_creation_input_tokens: usage.cacheWrite,
      },
    }
  }

  protected override tooLong(tokens: number): ApiError {
    return fail(400, `prompt is too long: ${tokens} tokens > ${this.options.contextTokens ?? 200_000} maximum`)
  }

  protected override errorType(status: number): string {
    return TYPES[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error')
  }

  protected override blockedBody(): null {
    return null
  }
}

function fail(status: number, message: string): ApiError {
  return { status, type: TYPES[status] ?? 'invalid_request_error', message }
}

function messageRole(parts: readonly Block[]): 'user' | 'assistant' {
  return parts[0]?.role === 'assistant' ? 'assistant' : 'user'
}

function parseMessages(value: unknown): Block[][] | null {
  if (!Array.isArray(value)) return null
  const messages = value.map((message: unknown) => {
    const { role, content } = plainObject(message)
    return role === 'user' || role === 'assistant' ? parseBlocks(role, content) : null
  })
  return messages.every((message) => message !== null && message.length > 0) ? messages.flatMap((m) => [m ?? []]) : null
}

/** A string stands for one block. */
function parseBlocks(role: string, content: unknown): Block[] | null {
  if (typeof content === 'string') return [{ role, text: content, marked: false }]
  if (!Array.isArray(content)) return null
  const blocks: Block[] = []
  for (const part of content) {
    const { type, text, cache_control: mark } = plainObject(part)
    if (type !== 'text' || typeof text !== 'string') return null
    blocks.push({ role, text, marked: plainObject(mark).type === 'ephemeral' })
  }
  return blocks
}
