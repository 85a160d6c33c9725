/** The Gemini API's `generateContent`. */
import type { ApiError, Handler, RecordedRequest } from './fault.ts'
import {
  type Answer,
  conversationError,
  type ParsedRequest,
  plainObject,
  ScriptedServer,
  type ServerOptions,
} from './scripted-server.ts'

const TYPES: Record<number, string> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  402: 'RESOURCE_EXHAUSTED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  409: 'ABORTED',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
}
const FINISH = { end: 'STOP', length: 'MAX_TOKENS', refused: 'SAFETY' }
const PATH = /^\/v1beta\/models\/([^/:]+):generateContent$/

export class GeminiServer extends ScriptedServer {
  static async listen(handler: Handler, options: ServerOptions = {}): Promise<GeminiServer> {
    const server = new GeminiServer(handler, options)
    await server.start()
    return server
  }

  protected override read({ method, path, headers, body }: RecordedRequest): ParsedRequest | ApiError {
    const model = PATH.exec(path)?.[1]
    if (model === undefined || method !== 'POST') return fail(404, 'Requested entity was not found.')
    const key = headers['x-goog-api-key']
    if (key === undefined) return fail(403, 'Method does not allow unregistered callers.')
    if (this.options.apiKey !== undefined && key !== this.options.apiKey) {
      return { status: 400, type: BAD_KEY, message: 'API key not valid. Please pass a valid API key.' }
    }
    const name = decodeURIComponent(model)
    if (this.options.models?.includes(name) === false) {
      return fail(404, `models/${name} is not found for API version v1beta, or is not supported for generateContent.`)
    }
    const { contents, systemInstruction, generationConfig } = plainObject(body)
    if (!Array.isArray(contents)) return fail(400, '* GenerateContentRequest.contents: contents is not specified')
    const messages: ParsedRequest['call']['messages'] = []
    for (const content of contents) {
      const { role, parts } = plainObject(content)
      if (role !== 'user' && role !== 'model') return fail(400, 'Please use a valid role: user, model.')
      messages.push({ role: role === 'model' ? 'assistant' : 'user', content: partsText(parts) })
    }
    const error = conversationError(messages)
    if (error !== null) return fail(400, `* GenerateContentRequest.contents: ${error}`)
    const limit = plainObject(generationConfig).maxOutputTokens ?? 65_536
    if (typeof limit !== 'number' || limit < 1) return fail(400, 'max_output_tokens must be positive.')
    const system = partsText(plainObject(systemInstruction).parts ?? [])
    return { call: { system, messages }, model: name, maxTokens: limit }
  }

  protected override errorBody({ status, type, message }: ApiError, retryAfterSeconds: number | null): object {
    const details = [
      ...(type === BAD_KEY
        ? [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: BAD_KEY, domain: 'googleapis.com' }]
        : []),
      ...(retryAfterSeconds === null
        ? []
        : [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: `${retryAfterSeconds}s` }]),
    ]
    const name = type === BAD_KEY ? 'INVALID_ARGUMENT' : type
    return { error: { code: status, message, status: name, ...(details.length === 0 ? {} : { details }) } }
  }

  /** The wait is in the body only. */
  protected override waitHeaders(): Record<string, string> {
    return {}
  }

  protected override answerBody({ text, finish, model, usage }: Answer): object {
    const content = text === '' ? { role: 'model' } : { role: 'model', parts: [{ text }] }
    return {
      candidates: [{ content, finishReason: FINISH[finish], index: 0 }],
      usageMetadata: {
        promptTokenCount: usage.input,
        candidatesTokenCount: usage.output,
        totalTokenCount: usage.input + usage.output,
      },
      modelVersion: model,
    }
  }

  protected override tooLong(tokens: number): ApiError {
    const limit = this.options.contextTokens ?? 1_048_576
    return fail(400, `The input token count (${tokens}) exceeds the maximum number of tokens allowed (${limit}).`)
  }

  protected override errorType(status: number): string {
    return TYPES[status] ?? (status < 500 ? 'INVALID_ARGUMENT' : 'INTERNAL')
  }

  protected override blockedBody({ usage, model }: Answer): object {
    return {
      promptFeedback: { blockReason: 'PROHIBITED_CONTENT' },
      usageMetadata: { promptTokenCount: usage.input, totalTokenCount: usage.input },
      modelVersion: model,
    }
  }
}

const BAD_KEY = 'API_KEY_INVALID'

function fail(status: number, message: string): ApiError {
  return { status, type: TYPES[status] ?? 'INVALID_ARGUMENT', message }
}

function partsText(parts: unknown): string {
  return Array.isArray(parts) ? parts.map((part: unknown) => String(plainObject(part).text ?? '')).join('') : ''
}
