/**
 * A model's API on loopback: it checks requests as the real one does, counts tokens, and answers what a handler says,
 * faults included. One subclass an API. Needs no test runner.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ApiError, Call, Fault, Handler, RecordedRequest, TokenCount } from './fault.ts'
import { asError, headersOf, json, PAGE, parse, readAll, send, sendHalf, sendWithoutEnd } from './wire.ts'

export interface ServerOptions {
  /** Any other key is refused; left out: any key will do. */
  apiKey?: string
  /** Any other model is unknown; left out: all are known. */
  models?: readonly string[]
  /** Tokens in and out that the model can hold; more is "too long". */
  contextTokens?: number
  /** Epoch ms. */
  clock?: () => number
}

export type Finish = 'end' | 'length' | 'refused'

/** What an API's answer is made of. */
export interface Answer {
  text: string
  finish: Finish
  model: string
  usage: TokenCount
}

/** A request as the API reads it. */
export interface Reading {
  call: Omit<Call, 'index'>
  model: string
  maxTokens: number
}

export const tokensIn = (text: string): number => Math.ceil(text.length / 4)

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

  /** What a provider takes as its base URL. */
  get url(): string {
    return this.origin
  }

  /** Resolves once that many requests have come. */
  async arrived(count: number): Promise<void> {
    if (this.requests.length >= count) return
    await new Promise<void>((resolve) => this.#waiting.push({ count, resolve }))
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  /** What the API says to a request that it would not take; otherwise what it read. */
  protected abstract read(request: RecordedRequest): Reading | ApiError
  protected abstract errorBody(error: ApiError, retryAfterSeconds: number | null): object
  protected abstract answerBody(answer: Answer): object
  protected abstract tooLong(inputTokens: number): ApiError
  /** The API's usual name for an error of this status. */
  protected abstract errorType(status: number): string
  /** How the API says that it would not even look at the prompt; null: it has no such way. */
  protected abstract blockedBody(answer: Answer): object | null
  /** Most of them tell the wait in a header. */
  protected waitHeaders(seconds: number): Record<string, string> {
    return { 'retry-after': String(seconds) }
  }

  /** Tokens of a successful call; APIs with a prompt cache know better. */
  protected usage({ call }: Reading, _body: unknown, text: string): TokenCount {
    return { input: inputTokens(call), output: tokensIn(text), cacheRead: 0, cacheWrite: 0 }
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const recorded: RecordedRequest = {
      method: request.method ?? '',
      path: new URL(request.url ?? '/', this.origin).pathname,
      headers: headersOf(request),
      body: parse(await readAll(request)),
      call: null,
      usage: null,
    }
    const reading = this.read(recorded)
    if (!('status' in reading)) recorded.call = { ...reading.call, index: this.#calls++ }
    this.requests.push(recorded)
    this.#announce()
    if ('status' in reading) return this.#fail(response, reading)
    const limit = this.options.contextTokens
    const size = inputTokens(reading.call)
    if (limit !== undefined && size + reading.maxTokens > limit) return this.#fail(response, this.tooLong(size))
    if (recorded.call === null) return
    await this.#act(await this.#handler(recorded.call), recorded, reading, response)
  }

  #announce(): void {
    const due = this.#waiting.filter(({ count }) => count <= this.requests.length)
    this.#waiting = this.#waiting.filter((waiting) => !due.includes(waiting))
    for (const { resolve } of due) resolve()
  }

  async #act(
    said: string | Fault,
    recorded: RecordedRequest,
    reading: Reading,
    response: ServerResponse,
  ): Promise<void> {
    const answer = (text: string, finish: Finish): Answer => {
      const room = reading.maxTokens * 4
      const cut = text.length > room
      const kept = cut ? text.slice(0, room) : text
      const usage = this.usage(reading, recorded.body, kept)
      recorded.usage = usage
      return { text: kept, finish: cut ? 'length' : finish, model: reading.model, usage }
    }
    const reply = (text: string, finish: Finish) => json(response, 200, this.answerBody(answer(text, finish)))
    if (typeof said === 'string') return reply(said, 'end')
    switch (said.fault) {
      case 'status': {
        const { status, message = `scripted ${status}`, type = this.errorType(status), retryAfterSeconds = null } = said
        return this.#fail(response, { status, type, message }, retryAfterSeconds, said.headers)
      }
      case 'hang':
        return
      case 'slow-headers':
        await said.until
        return reply(said.text, 'end')
      case 'reset':
        response.req.socket.destroy()
        return
      case 'reset-mid-body':
        return sendHalf(response, this.answerBody(answer(said.text ?? 'half of this is lost', 'end')))
      case 'empty-body':
        return send(response, 200, 'application/json', '')
      case 'wrong-json':
        return send(response, 200, 'application/json', said.body ?? '{"content": [{"type": "te')
      case 'other-json':
        return json(response, 200, said.body)
      case 'html':
        return send(response, said.status, 'text/html; charset=utf-8', PAGE)
      case 'truncated':
        return reply(said.text, 'length')
      case 'refusal':
        return reply(said.text ?? '', 'refused')
      case 'blocked': {
        const blocked = answer('', 'refused')
        return json(response, 200, this.blockedBody(blocked) ?? this.answerBody(blocked))
      }
      case 'no-text':
        return reply('', 'end')
      case 'too-long':
        return this.#fail(response, this.tooLong(inputTokens(reading.call)))
      case 'error-in-200':
        return json(response, 200, { error: { message: said.message, code: said.code } })
      case 'redirect':
        response.writeHead(307, { location: said.to })
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
    json(response, error.status, this.errorBody(error, wait), { ...waiting, ...headers })
  }
}

export function inputTokens({ system, messages }: Omit<Call, 'index'>): number {
  return messages.reduce((sum, { content }) => sum + tokensIn(content), tokensIn(system))
}

/** The rules that all of these APIs have for a conversation; null: it keeps them. */
export function conversationFault(messages: readonly { role: string; content: string }[]): string | null {
  if (messages.length === 0) return 'at least one message is required'
  if (messages[0]?.role !== 'user') return 'first message must use the "user" role'
  const empty = messages.findIndex(({ content }) => content.trim() === '')
  if (empty !== -1) return `messages.${empty}: text content blocks must be non-empty`
  const twice = messages.findIndex(({ role }, index) => index > 0 && role === messages[index - 1]?.role)
  if (twice !== -1) return `messages.${twice}: roles must alternate between "user" and "assistant"`
  return messages.at(-1)?.role === 'user' ? null : 'the conversation must end with a user message'
}

export function objectOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {}
}
