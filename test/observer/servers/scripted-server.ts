/**
 * A model API on loopback: validates requests like the real one, counts tokens, and answers with the result of a handler,
 * including faults. One subclass per API. Works without a test runner.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ApiError, Fault, Handler, ModelRequest, RecordedRequest, TokenCount } from './fault.ts'

export interface ServerOptions {
  /** Any other key is rejected; default: any key is accepted. */
  apiKey?: string
  /** Any other model is unknown; default: all are known. */
  models?: readonly string[]
  /** Context window in tokens; more is "too long". */
  contextTokens?: number
  /** Epoch ms. */
  clock?: () => number
}

type Finish = 'end' | 'length' | 'refused'

/** An answer, independent of the API. */
export interface Answer {
  text: string
  finish: Finish
  model: string
  usage: TokenCount
}

/** A request, independent of the API. */
export interface ParsedRequest {
  call: Omit<ModelRequest, 'index'>
  model: string
  maxTokens: number
}

export const countTokens = (text: string): number => Math.ceil(text.length / 4)

export abstract class ScriptedServer {
  readonly requests: RecordedRequest[] = []
  protected readonly options: ServerOptions
  readonly #handler: Handler
  readonly #server: Server
  #calls = 0
  #waiting: { count: number; resolve: () => void }[] = []

  protected constructor(handler: Handler, options: ServerOptions) {
    this.options = options
    this.#handler = handler
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch((error: unknown) => response.destroy(asError(error)))
    })
  }

  protected async start(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
  }

  get origin(): string {
    const address = this.#server.address() as AddressInfo
    return `http://127.0.0.1:${address.port}`
  }

  /** The base URL for a provider. */
  get url(): string {
    return this.origin
  }

  /** Resolves after that many requests. */
  async arrived(count: number): Promise<void> {
    if (this.requests.length >= count) return
    await new Promise<void>((resolve) => this.#waiting.push({ count, resolve }))
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  /** The parsed request, or the error for an invalid one. */
  protected abstract read(request: RecordedRequest): ParsedRequest | ApiError
  protected abstract errorBody(error: ApiError, retryAfterSeconds: number | null): object
  protected abstract answerBody(answer: Answer): object
  protected abstract tooLong(inputTokens: number): ApiError
  /** The API's default error type for a status. */
  protected abstract errorType(status: number): string
  /** The reply for a blocked prompt; null if the API has none. */
  protected abstract blockedBody(answer: Answer): object | null
  /** Most APIs send the wait in a header. */
  protected waitHeaders(seconds: number): Record<string, string> {
    return { 'retry-after': String(seconds) }
  }

  /** Tokens of a successful call; overridden by APIs with a prompt cache. */
  protected usage({ call }: ParsedRequest, _body: unknown, text: string): TokenCount {
    return { input: inputTokens(call), output: countTokens(text), cacheRead: 0, cacheWrite: 0 }
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const recorded: RecordedRequest = {
      method: request.method ?? '',
      path: new URL(request.url ?? '/', this.origin).pathname,
      headers: requestHeaders(request),
      body: parseJson(await readAll(request)),
      call: null,
      usage: null,
    }
    const parsed = this.read(recorded)
    if (!('status' in parsed)) recorded.call = { ...parsed.call, index: this.#calls++ }
    this.requests.push(recorded)
    this.#resolveWaiting()
    if ('status' in parsed) return this.#fail(response, parsed)
    const limit = this.options.contextTokens
    const size = inputTokens(parsed.call)
    if (limit !== undefined && size + parsed.maxTokens > limit) return this.#fail(response, this.tooLong(size))
    if (recorded.call === null) return
    await this.#act(await this.#handler(recorded.call), recorded, parsed, response)
  }

  #resolveWaiting(): void {
    const due = this.#waiting.filter(({ count }) => count <= this.requests.length)
    this.#waiting = this.#waiting.filter((waiting) => !due.includes(waiting))
    for (const { resolve } of due) resolve()
  }

  async #act(
    behaviour: string | Fault,
    recorded: RecordedRequest,
    parsed: ParsedRequest,
    response: ServerResponse,
  ): Promise<void> {
    const answer = (text: string, finish: Finish): Answer => {
      const room = parsed.maxTokens * 4
      const cut = text.length > room
      const kept = cut ? text.slice(0, room) : text
      const usage = this.usage(parsed, recorded.body, kept)
      recorded.usage = usage
      return { text: kept, finish: cut ? 'length' : finish, model: parsed.model, usage }
    }
    const reply = (text: string, finish: Finish) => sendJson(response, 200, this.answerBody(answer(text, finish)))
    if (typeof behaviour === 'string') return reply(behaviour, 'end')
    switch (behaviour.fault) {
      case 'status': {
        const {
          status,
          message = `scripted ${status}`,
          type = this.errorType(status),
          retryAfterSeconds = null,
        } = behaviour
        return this.#fail(response, { status, type, message }, retryAfterSeconds, behaviour.headers)
      }
      case 'hang':
        return
      case 'slow-headers':
        await behaviour.until
        return reply(behaviour.text, 'end')
      case 'reset':
        response.req.socket.destroy()
        return
      case 'reset-mid-body':
        return sendHalf(response, this.answerBody(answer(behaviour.text ?? 'half of this is lost', 'end')))
      case 'empty-body':
        return send(response, 200, 'application/json', '')
      case 'wrong-json':
        return send(response, 200, 'application/json', behaviour.body ?? '{"content": [{"type": "te')
      case 'other-json':
        return sendJson(response, 200, behaviour.body)
      case 'html':
        return send(response, behaviour.status, 'text/html; charset=utf-8', PROXY_PAGE)
      case 'truncated':
        return reply(behaviour.text, 'length')
      case 'refusal':
        return reply(behaviour.text ?? '', 'refused')
      case 'blocked': {
        const blocked = answer('', 'refused')
        return sendJson(response, 200, this.blockedBody(blocked) ?? this.answerBody(blocked))
      }
      case 'no-text':
        return reply('', 'end')
      case 'too-long':
        return this.#fail(response, this.tooLong(inputTokens(parsed.call)))
      case 'error-in-200':
        return sendJson(response, 200, { error: { message: behaviour.message, code: behaviour.code } })
      case 'redirect':
        response.writeHead(307, { location: behaviour.to })
        response.end()
        return
      case 'endless-body':
        return sendWithoutEnd(response)
    }
  }

  #fail(
    response: ServerResponse,
    error: ApiError,
    wait: number | null = null,
    headers: Record<string, string> = {},
  ): void {
    const waiting = wait === null ? {} : this.waitHeaders(wait)
    sendJson(response, error.status, this.errorBody(error, wait), { ...waiting, ...headers })
  }
}

function inputTokens({ system, messages }: Omit<ModelRequest, 'index'>): number {
  return messages.reduce((sum, { content }) => sum + countTokens(content), countTokens(system))
}

/** Violations of the conversation rules that all of these APIs have; null if there is none. */
export function conversationError(messages: readonly { role: string; content: string }[]): string | null {
  if (messages.length === 0) return 'at least one message is required'
  if (messages[0]?.role !== 'user') return 'first message must use the "user" role'
  const empty = messages.findIndex(({ content }) => content.trim() === '')
  if (empty !== -1) return `messages.${empty}: text content blocks must be non-empty`
  const twice = messages.findIndex(({ role }, index) => index > 0 && role === messages[index - 1]?.role)
  if (twice !== -1) return `messages.${twice}: roles must alternate between "user" and "assistant"`
  return messages.at(-1)?.role === 'user' ? null : 'the conversation must end with a user message'
}

export function plainObject(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {}
}

/** The error page of a proxy. */
const PROXY_PAGE = `<!doctype html><html><head><title>502 Bad Gateway</title><style>h1 { color: red }</style></head>
<body><h1>502 Bad Gateway</h1><hr>nginx/1.27.0</body></html>`

/** Writes until the client disconnects. */
function sendWithoutEnd(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' })
  const chunk = ' '.repeat(65_536)
  const more = () => {
    while (!response.destroyed && response.write(chunk));
  }
  response.on('drain', more)
  more()
}

/** Sends half of the announced length, then closes the connection. */
function sendHalf(response: ServerResponse, value: object): void {
  const body = JSON.stringify(value)
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
  response.write(body.slice(0, body.length / 2), () => response.req.socket.destroy())
}

function requestHeaders({ headers }: IncomingMessage): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
}

function sendJson(
  response: ServerResponse,
  status: number,
  value: unknown,
  headers: Record<string, string> = {},
): void {
  send(response, status, 'application/json', JSON.stringify(value), headers)
}

function send(
  response: ServerResponse,
  status: number,
  type: string,
  body: string,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(body), ...headers })
  response.end(body)
}

async function readAll(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks).toString('utf8')
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}
