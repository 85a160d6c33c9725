/** Each HTTP provider with a server on loopback that implements its API. */
import type { ChatModel, ChatReply, ChatRequest } from '../../../src/observer/model/chat.ts'
import { ObserverError } from '../../../src/observer/port.ts'
import { anthropicModel } from '../../../src/observer/providers/anthropic.ts'
import { geminiModel } from '../../../src/observer/providers/gemini.ts'
import { openrouterModel } from '../../../src/observer/providers/openrouter.ts'
import type { Fault, Handler } from '../servers/fault.ts'
import { GeminiServer } from '../servers/gemini-server.ts'
import { MessagesServer } from '../servers/messages-server.ts'
import { OpenAiServer } from '../servers/openai-server.ts'
import type { ScriptedServer, ServerOptions } from '../servers/scripted-server.ts'

export const KEY = 'sk-test-0123456789abcdef'
export const MODEL = 'scripted-model'

export interface ProviderCase {
  name: string
  keySetting: string
  addressSetting: string
  listen(handler: Handler, options?: ServerOptions): Promise<ScriptedServer>
  model(options: { apiKey: string; baseUrl: string; model: string }): ChatModel
}

export const PROVIDER_CASES: ProviderCase[] = [
  {
    name: 'anthropic',
    keySetting: 'anthropic-api-key',
    addressSetting: 'anthropic-base-url',
    listen: (handler, options) => MessagesServer.listen(handler, options),
    model: (options) => anthropicModel(options),
  },
  {
    name: 'gemini',
    keySetting: 'gemini-api-key',
    addressSetting: 'gemini-base-url',
    listen: (handler, options) => GeminiServer.listen(handler, options),
    model: (options) => geminiModel(options),
  },
  {
    name: 'openrouter',
    keySetting: 'openrouter-api-key',
    addressSetting: 'openrouter-base-url',
    listen: (handler, options) => OpenAiServer.listen(handler, options),
    model: (options) => openrouterModel(options),
  },
]

export const REQUEST: ChatRequest = {
  system: 'You watch another agent.',
  messages: [
    { role: 'user', content: 'first' },
    { role: 'assistant', content: 'seen' },
    { role: 'user', content: 'second' },
  ],
  maxTokens: 1_000,
}

/** One call to a server that gives this answer; the server is closed afterwards. */
export async function ask(
  provider: ProviderCase,
  said: string | Fault,
  options: ServerOptions = {},
): Promise<{ reply: ChatReply | null; failure: ObserverError | null; server: ScriptedServer }> {
  const server = await provider.listen(() => said, options)
  try {
    const model = provider.model({ apiKey: KEY, baseUrl: server.url, model: MODEL })
    const reply = await model.complete(REQUEST, new AbortController().signal)
    return { reply, failure: null, server }
  } catch (error) {
    if (error instanceof ObserverError) return { reply: null, failure: error, server }
    throw error
  } finally {
    await server.close()
  }
}

export async function failureOf(
  provider: ProviderCase,
  said: string | Fault,
  options: ServerOptions = {},
): Promise<ObserverError> {
  const { failure } = await ask(provider, said, options)
  if (failure === null) throw new Error('the call was expected to fail')
  return failure
}
