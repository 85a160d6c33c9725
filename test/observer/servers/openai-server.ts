/** The OpenAI chat API of OpenRouter and local servers. */
import type { ApiError, Handler, RecordedRequest } from './fault.ts'
import {
  type Answer,
  conversationError,
  type ParsedRequest,
  plainObject,
  ScriptedServer,
  type ServerOptions,
} from './scripted-server.ts'

export interface OpenAiServerOptions extends ServerOptions {
  /** A local server wants no key; left out: one is wanted. */
  keyless?: boolean
  /** Some local servers count nothing. */
  reportsUsage?: boolean
  /** OpenRouter tells what a call cost, if it is asked to; others refuse the question. In US dollars. */
  cost?: number
}

const FINISH = { end: 'stop', length: 'length', refused: 'content_filter' }
const KNOWN = ['model', 'messages', 'max_tokens', 'max_completion_tokens']

export class OpenAiServer extends ScriptedServer {
  readonly #own: OpenAiServerOptions
  #next = 0

  private constructor(handler: Handler, options: OpenAiServerOptions) {
    super(handler, options)
    this.#own = options
  }

  static async listen(handler: Handler, options: OpenAiServerOptions = {}): Promise<OpenAiServer> {
    const server = new OpenAiServer(handler, options)
    await server.start()
    return server
  }

  override get url(): string {
    return `${this.origin}/v1`
  }

  protected override read({ method, path, headers, body }: RecordedRequest): ParsedRequest | ApiError {
    if (path !== '/v1/chat/completions' || method !== 'POST') return fail(404, `Unknown request URL: ${method} ${path}`)
    const key = /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1]
    if (this.#own.keyless !== true) {
      if (key === undefined) return fail(401, "You didn't provide an API key.")
      if (this.#own.apiKey !== undefined && key !== this.#own.apiKey) return fail(401, 'Incorrect API key provided.')
    }
    const fields = plainObject(body)
    const { model, messages: given, max_tokens: maxTokens, max_completion_tokens: maxCompletion } = fields
    const known = this.#own.cost === undefined ? KNOWN : [...KNOWN, 'usage']
    const unknown = Object.keys(fields).find((name) => !known.includes(name))
    if (unknown !== undefined) return fail(400, `Unrecognized request argument supplied: ${unknown}`)
    if (typeof model !== 'string' || model === '') return fail(400, 'you must provide a model parameter')
    if (this.#own.models?.includes(model) === false) {
      return { status: 404, type: 'model_not_found', message: `The model \`${model}\` does not exist.` }
    }
    const limit = maxTokens ?? maxCompletion ?? 4_096
    if (typeof limit !== 'number' || limit < 1) return fail(400, "Invalid 'max_tokens': must be at least 1")
    if (!Array.isArray(given)) return fail(400, "Missing required parameter: 'messages'.")
    const read: { role: string; content: string }[] = given.map((message: unknown) => {
      const { role, content } = plainObject(message)
      return { role: String(role), content: typeof content === 'string' ? content : '' }
    })
    const system = read[0]?.role === 'system' ? read[0].content : ''
    const messages: ParsedRequest['call']['messages'] = []
    for (const { role, content } of read.slice(system === '' ? 0 : 1)) {
      if (role !== 'user' && role !== 'assistant')
        return fail(400, `Invalid value: '${role}'. Supported: user, assistant`)
      messages.push({ role, content })
    }
    const error = conversationError(messages)
    return error === null ? { call: { system, messages }, model, maxTokens: limit } : fail(400, error)
  }

  protected override errorBody({ status, type, message }: ApiError): object {
    const code = type === 'model_not_found' || type === 'context_length_exceeded' ? type : null
    return { error: { message, type: status < 500 ? 'invalid_request_error' : 'server_error', param: null, code } }
  }

  protected override answerBody({ text, finish, model, usage }: Answer): object {
    const { reportsUsage, cost } = this.#own
    return {
      id: `chatcmpl-${++this.#next}`,
      object: 'chat.completion',
      model,
      choices: [
        { index: 0, message: { role: 'assistant', content: text === '' ? null : text }, finish_reason: FINISH[finish] },
      ],
      ...(reportsUsage === false
        ? {}
        : {
            usage: {
              prompt_tokens: usage.input,
              completion_tokens: usage.output,
              total_tokens: usage.input + usage.output,
              ...(cost === undefined ? {} : { cost }),
            },
          }),
    }
  }

  protected override tooLong(tokens: number): ApiError {
    const limit = this.#own.contextTokens ?? 128_000
    const message = `This model's maximum context length is ${limit} tokens. However, your messages resulted in ${tokens} tokens. Please reduce the length of the messages.`
    return { status: 400, type: 'context_length_exceeded', message }
  }

  protected override errorType(): string {
    return 'invalid_request_error'
  }

  protected override blockedBody(): null {
    return null
  }
}

function fail(status: number, message: string): ApiError {
  return { status, type: 'invalid_request_error', message }
}
