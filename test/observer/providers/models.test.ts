/** Requests and successful replies of each HTTP provider. */
import { afterEach, describe, expect, test } from 'vitest'
import { BASE_URL_PRESETS, chatServerAt } from '../../../src/observer/provider-choice.ts'
import { anthropicModel } from '../../../src/observer/providers/anthropic.ts'
import { geminiModel } from '../../../src/observer/providers/gemini.ts'
import { openrouterModel } from '../../../src/observer/providers/openrouter.ts'
import { GeminiServer } from '../servers/gemini-server.ts'
import { MessagesServer } from '../servers/messages-server.ts'
import { OpenAiServer, type OpenAiServerOptions } from '../servers/openai-server.ts'
import type { ScriptedServer } from '../servers/scripted-server.ts'
import { ask, KEY, MODEL, PROVIDER_CASES, REQUEST } from './provider-cases.ts'

const signal = new AbortController().signal
const open: ScriptedServer[] = []
const opened = <T extends ScriptedServer>(server: T): T => {
  open.push(server)
  return server
}
afterEach(async () => {
  for (const server of open.splice(0)) await server.close()
})

describe.each(PROVIDER_CASES)('models.$name', (provider) => {
  test('system text and conversation arrive, text and usage are returned', async () => {
    const { reply, server } = await ask(provider, 'an answer', { apiKey: KEY, models: [MODEL] })
    expect(server.requests.map(({ call }) => call)).toEqual([
      { system: REQUEST.system, messages: REQUEST.messages, index: 0 },
    ])
    expect(reply).toEqual({
      text: 'an answer',
      usage: { input: 6 + 2 + 1 + 2, output: 3, cacheRead: 0, cacheWrite: 0 },
      model: MODEL,
      stop: 'end',
      cost: provider.name === 'openrouter' ? 0 : null,
    })
  })

  test('an address may end with slashes, the system text may be empty', async () => {
    const server = opened(await provider.listen(({ system }) => `[${system}]`))
    const model = provider.model({ apiKey: KEY, baseUrl: `${server.url}//`, model: MODEL })
    expect((await model.complete({ ...REQUEST, system: '' }, signal)).text).toBe('[]')
  })

  test('text of any kind and length arrives unchanged', async () => {
    const text = `\u{1f41b} <b>&amp;</b> "quoted" \\ \u2028 ${'日本語'.repeat(20_000)}`
    const server = opened(await provider.listen(({ messages }) => messages.at(-1)?.content ?? ''))
    const model = provider.model({ apiKey: KEY, baseUrl: server.url, model: MODEL })
    const request = { ...REQUEST, messages: [{ role: 'user' as const, content: text }], maxTokens: 100_000 }
    expect((await model.complete(request, signal)).text).toBe(text)
  })

  test('parallel calls do not mix', async () => {
    const server = opened(await provider.listen(({ messages }) => `answer to ${messages[0]?.content}`))
    const model = provider.model({ apiKey: KEY, baseUrl: server.url, model: MODEL })
    const replies = await Promise.all(
      ['a', 'b', 'c'].map((content) => model.complete({ ...REQUEST, messages: [{ role: 'user', content }] }, signal)),
    )
    expect(replies.map(({ text }) => text)).toEqual(['answer to a', 'answer to b', 'answer to c'])
  })
})

describe('models.anthropic.environment', () => {
  const foreign: Record<string, string> = {
    ANTHROPIC_API_KEY: 'sk-from-the-environment',
    ANTHROPIC_AUTH_TOKEN: 'token-from-the-environment',
    ANTHROPIC_BASE_URL: 'http://127.0.0.1:9',
    ANTHROPIC_CUSTOM_HEADERS: 'x-foreign: yes\nAuthorization: Bearer foreign\nanthropic-version: 1999-01-01\nno colon',
    ANTHROPIC_LOG: 'debug',
    ANTHROPIC_PROFILE: 'foreign',
    ANTHROPIC_OPEN_TELEMETRY: 'true',
  }
  const before = new Map(Object.keys(foreign).map((name) => [name, process.env[name]]))
  afterEach(() => {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
  })

  test('nothing from the environment is used', async () => {
    const headersSent = async () => {
      const server = opened(await MessagesServer.listen(() => 'ok', { apiKey: KEY }))
      await anthropicModel({ apiKey: KEY, baseUrl: server.url, model: MODEL }).complete(REQUEST, signal)
      const { host: _host, ...headers } = server.requests[0]?.headers ?? {}
      return headers
    }
    const plain = await headersSent()
    Object.assign(process.env, foreign)
    expect(await headersSent()).toEqual(plain)
    expect(plain.authorization).toBe(`Bearer ${KEY}`)
  })
})

describe('models.gemini', () => {
  const body = (value: object) => ({ fault: 'other-json', body: value }) as const
  const complete = async (value: object, name = MODEL) => {
    const server = opened(await GeminiServer.listen(() => body(value)))
    return geminiModel({ apiKey: KEY, baseUrl: server.url, model: name }).complete(REQUEST, signal)
  }

  test('cached tokens are part of the prompt, thoughts count as output', async () => {
    const reply = await complete({
      candidates: [
        { content: { parts: [{ text: 'hm', thought: true }, { text: 'a' }, { text: 'b' }] }, finishReason: 'STOP' },
      ],
      usageMetadata: {
        promptTokenCount: 100,
        cachedContentTokenCount: 60,
        candidatesTokenCount: 5,
        thoughtsTokenCount: 7,
      },
      modelVersion: 'gemini-exact-001',
    })
    expect(reply).toMatchObject({
      text: 'ab',
      usage: { input: 40, output: 12, cacheRead: 60, cacheWrite: 0 },
      model: 'gemini-exact-001',
    })
  })

  test('missing usage is estimated', async () => {
    const reply = await complete({ candidates: [{ content: { parts: [{ text: '12345' }] } }] })
    expect(reply.usage).toEqual({ input: 11, output: 2, cacheRead: 0, cacheWrite: 0 })
  })

  test('a model name may have the prefix of the API', async () => {
    const server = opened(await GeminiServer.listen(() => 'ok', { models: ['gemini-x'] }))
    await geminiModel({ apiKey: KEY, baseUrl: server.url, model: 'models/gemini-x' }).complete(REQUEST, signal)
    expect(server.requests[0]?.path).toBe('/v1beta/models/gemini-x:generateContent')
  })

  test.each(['SAFETY', 'RECITATION', 'PROHIBITED_CONTENT', 'BLOCKLIST'])('%s is a refusal', async (finishReason) => {
    expect(await complete({ candidates: [{ finishReason }] })).toMatchObject({ stop: 'refused', text: '' })
  })
})

describe('models.openrouter', () => {
  const openai = async (options: OpenAiServerOptions, said: object | string = 'an answer') =>
    opened(
      await OpenAiServer.listen(() => (typeof said === 'string' ? said : { fault: 'other-json', body: said }), options),
    )
  const options = (server: ScriptedServer) => ({ apiKey: KEY, baseUrl: server.url, model: MODEL })

  test('only OpenRouter is asked for the cost', async () => {
    const server = await openai({ cost: 0.00123 })
    expect((await openrouterModel(options(server), 'openrouter').complete(REQUEST, signal)).cost).toBe(0.00123)
    expect(server.requests[0]?.body).toMatchObject({ usage: { include: true }, max_tokens: 1_000 })
    expect((await openrouterModel(options(server), 'other').complete(REQUEST, signal)).cost).toBeNull()
    expect((await openrouterModel(options(server)).complete(REQUEST, signal)).cost).toBe(0)
    expect(server.requests.slice(1).some(({ body }) => JSON.stringify(body).includes('include'))).toBe(false)
  })

  test('OpenAI gets max_completion_tokens', async () => {
    const server = await openai({})
    await openrouterModel(options(server), 'openai').complete(REQUEST, signal)
    expect(server.requests[0]?.body).toMatchObject({ max_completion_tokens: 1_000 })
    expect(server.requests[0]?.body).not.toHaveProperty('max_tokens')
  })

  test('a local server needs no key, OpenRouter does', async () => {
    const server = await openai({ keyless: true })
    for (const apiKey of [null, '']) {
      await openrouterModel({ ...options(server), apiKey }).complete(REQUEST, signal)
      const failure = await openrouterModel({ ...options(server), apiKey }, 'openrouter')
        .complete(REQUEST, signal)
        .catch((error: unknown) => error)
      expect(failure).toMatchObject({ owner: 'provider', message: expect.stringContaining('openrouter-api-key') })
    }
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([undefined, undefined])
  })

  test('tokens reported as 0 are estimated', async () => {
    const server = await openai({ reportsUsage: false })
    const { usage } = await openrouterModel(options(server)).complete(REQUEST, signal)
    expect(usage).toEqual({ input: 11, output: 3, cacheRead: 0, cacheWrite: 0 })
  })

  test('cached tokens are part of the prompt; text may have parts; reasoning is ignored', async () => {
    const content = [
      { type: 'text', text: 'a' },
      { type: 'thinking', text: 'hm' },
      { type: 'text', text: 'b' },
    ]
    const server = await openai(
      {},
      {
        model: 'exact',
        choices: [{ message: { role: 'assistant', content, reasoning: 'long thoughts' }, finish_reason: 'stop' }],
        usage: {
          prompt_tokens: 100,
          completion_tokens: 9,
          prompt_tokens_details: { cached_tokens: 70, cache_write_tokens: 20 },
        },
      },
    )
    expect(await openrouterModel(options(server)).complete(REQUEST, signal)).toEqual({
      text: 'ab',
      usage: { input: 10, output: 9, cacheRead: 70, cacheWrite: 20 },
      model: 'exact',
      stop: 'end',
      cost: 0,
    })
  })

  test('a refusal may be in its own field', async () => {
    const message = { content: null, refusal: 'I would rather not.' }
    const server = await openai({}, { choices: [{ message, finish_reason: 'stop' }] })
    expect(await openrouterModel(options(server)).complete(REQUEST, signal)).toMatchObject({
      stop: 'refused',
      text: 'I would rather not.',
    })
  })

  test.each([
    [BASE_URL_PRESETS.openrouter, 'openrouter'],
    [BASE_URL_PRESETS.ollama, 'local'],
    [BASE_URL_PRESETS.lmstudio, 'local'],
    ['http://localhost:8000/v1', 'local'],
    ['http://[::1]:8000/v1', 'local'],
    ['https://api.openai.com/v1', 'openai'],
    ['https://openrouter.ai.example.com/v1', 'other'],
    ['http://192.168.0.2:1234/v1', 'other'],
    ['', 'other'],
  ])('%s is %s', (address, server) => {
    expect(chatServerAt(address)).toBe(server)
  })
})
