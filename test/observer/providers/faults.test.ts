/** Every fault of every provider, through the real client: its owner, the wait, and the message. */
import { createServer } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { ObserverError } from '../../../src/observer/port.ts'
import type { Fault } from '../servers/fault.ts'
import type { ScriptedServer } from '../servers/scripted-server.ts'
import { ask, failureOf, KEY, MODEL, PROVIDER_CASES, REQUEST } from './provider-cases.ts'

const status = (code: number, more: Partial<Fault & { fault: 'status' }> = {}): Fault => ({
  fault: 'status',
  status: code,
  ...more,
})

/** Too deep for the stack. */
const NESTED = `${'['.repeat(200_000)}${']'.repeat(200_000)}`

const open: ScriptedServer[] = []
afterEach(async () => {
  for (const server of open.splice(0)) await server.close()
})

describe.each(PROVIDER_CASES)('faults.$name', (provider) => {
  test.each([
    [401, 'rejected the key', 'provider'],
    [402, 'no credit left', 'provider'],
    [403, 'rejected the key', 'provider'],
    [404, `no model "${MODEL}"`, 'provider'],
    [408, 'is not available', 'provider'],
    [409, 'is not available', 'provider'],
    [429, 'rate limit', 'provider'],
    [500, 'is not available', 'provider'],
    [503, 'is not available', 'provider'],
    [529, 'is not available', 'provider'],
    [400, 'refused the request', 'message'],
    [422, 'refused the request', 'message'],
    [413, 'too long', 'context'],
  ])('HTTP %i: %s, owner %s', async (code, words, owner) => {
    const failure = await failureOf(provider, status(code, { message: 'these are its words' }))
    expect(failure.owner).toBe(owner)
    expect(failure.message).toContain(words)
    expect(failure.message).toContain(`HTTP ${code}: these are its words`)
    expect(failure.retryAfterMs).toBeNull()
  })

  test('a rejected key is reported with the command that sets it', async () => {
    const failure = await failureOf(provider, 'never said', { apiKey: 'another key' })
    expect(failure.owner).toBe('provider')
    expect(failure.message).toContain(`claude-mem config set ${provider.keySetting} KEY`)
  })

  test('an unknown model is named, with the command that sets another', async () => {
    const failure = await failureOf(provider, 'never said', { models: ['some-other-model'] })
    expect(failure.owner).toBe('provider')
    expect(failure.message).toContain(`"${MODEL}"`)
    expect(failure.message).toContain('claude-mem config set model MODEL')
  })

  test('a missing key is reported before anything is sent', async () => {
    const server = await provider.listen(() => 'never said')
    open.push(server)
    for (const apiKey of ['', 'two\nlines']) {
      const model = provider.model({ apiKey, baseUrl: server.url, model: MODEL })
      // Local servers need no key.
      if (provider.name === 'openrouter' && apiKey === '') continue
      const failure = await model.complete(REQUEST, new AbortController().signal).catch((error: unknown) => error)
      expect(failure).toBeInstanceOf(ObserverError)
      expect(failure).toMatchObject({ owner: 'provider' })
      expect(String(failure)).toContain(`claude-mem config set ${provider.keySetting} KEY`)
      expect(String(failure)).not.toContain('two')
    }
    expect(server.requests).toEqual([])
  })

  test('the wait of the provider is passed on', async () => {
    for (const code of [429, 529]) {
      const failure = await failureOf(provider, status(code, { retryAfterSeconds: 7 }))
      expect(failure.owner).toBe('provider')
      expect(failure.retryAfterMs).toBe(7_000)
    }
  })

  test('a too long request belongs to the context', async () => {
    expect((await failureOf(provider, { fault: 'too-long' })).owner).toBe('context')
    const noticed = await failureOf(provider, 'never said', { contextTokens: 100 })
    expect(noticed.owner).toBe('context')
    expect(noticed.message).toContain(`too long for ${MODEL}`)
  })

  test.each<{ said: Fault; words: string }>([
    { said: { fault: 'reset' }, words: 'broke off' },
    { said: { fault: 'reset-mid-body' }, words: 'broke off' },
    { said: { fault: 'empty-body' }, words: 'an empty body' },
    { said: { fault: 'wrong-json' }, words: 'something that is not JSON' },
    { said: { fault: 'html', status: 200 }, words: 'something that is not JSON' },
    { said: { fault: 'html', status: 502 }, words: 'HTTP 502: 502 Bad Gateway' },
    { said: { fault: 'other-json', body: { hello: 'world' } }, words: 'something that is no' },
    { said: { fault: 'other-json', body: ['?'] }, words: 'something that is no' },
    { said: { fault: 'other-json', body: null }, words: 'something that is no' },
    { said: { fault: 'wrong-json', body: NESTED }, words: 'something that is no' },
    { said: { fault: 'endless-body' }, words: 'more than 8 MB' },
  ])('$said.fault belongs to the provider: $words', async ({ said, words }) => {
    const failure = await failureOf(provider, said)
    expect(failure.owner).toBe('provider')
    expect(failure.message).toContain(words)
    expect(failure.message).not.toMatch(/[<>\n]/)
  })

  test('an answer without text belongs to the message', async () => {
    const failure = await failureOf(provider, { fault: 'no-text' })
    expect(failure.owner).toBe('message')
    expect(failure.message).toContain('without any text')
  })

  test('a refusal is an answer, as prose and as a stop reason', async () => {
    expect((await ask(provider, 'I cannot help with that.')).reply).toMatchObject({ stop: 'end' })
    expect((await ask(provider, { fault: 'refusal' })).reply).toMatchObject({ stop: 'refused', text: '' })
    expect((await ask(provider, { fault: 'refusal', text: 'no' })).reply).toMatchObject({ stop: 'refused', text: 'no' })
    expect((await ask(provider, { fault: 'blocked' })).reply).toMatchObject({ stop: 'refused', text: '' })
  })

  test('a cut-off answer is marked', async () => {
    expect((await ask(provider, { fault: 'truncated', text: '<observation><ti' })).reply).toMatchObject({
      stop: 'length',
      text: '<observation><ti',
    })
    expect((await ask(provider, 'x'.repeat(10_000))).reply).toMatchObject({ stop: 'length' })
  })

  test('a redirect is not followed with the key', async () => {
    const elsewhere = await provider.listen(() => 'caught')
    open.push(elsewhere)
    const failure = await failureOf(provider, { fault: 'redirect', to: `${elsewhere.origin}/v1/messages?key=1` })
    expect(elsewhere.requests).toEqual([])
    expect(failure.owner).toBe('provider')
    expect(failure.message).toContain(`redirects to ${elsewhere.origin}/v1/messages (HTTP 307)`)
    expect(failure.message).toContain(`claude-mem config set ${provider.addressSetting} URL`)
  })

  test('the key is in no message and no cause, even if the server repeats it', async () => {
    const echo = `Incorrect key ${KEY} (${encodeURIComponent(KEY)}) provided`
    for (const fault of [
      status(401, { message: echo }),
      status(400, { message: echo }),
      status(500, { message: `${'long '.repeat(55)}${echo}` }),
      { fault: 'wrong-json', body: echo } as const,
      { fault: 'other-json', body: { echo } } as const,
    ]) {
      const failure = await failureOf(provider, fault)
      expect(`${failure.stack} ${JSON.stringify(failure)} ${String(failure.cause)}`).not.toContain(KEY)
    }
  })

  test('a long error is cut to one line', async () => {
    const failure = await failureOf(provider, status(400, { message: `a\u0007b\n\t${'c'.repeat(100_000)}` }))
    expect(failure.message).toContain('HTTP 400: a b ccc')
    expect(failure.message.length).toBeLessThan(500)
  })

  test('a refused connection is reported with the address and its setting', async () => {
    const port = await unusedPort()
    const model = provider.model({ apiKey: KEY, baseUrl: `http://127.0.0.1:${port}`, model: MODEL })
    const failure = await model.complete(REQUEST, new AbortController().signal).catch((error: unknown) => error)
    expect(failure).toMatchObject({ owner: 'provider' })
    expect(String(failure)).toContain(`nothing answers at http://127.0.0.1:${port}/`)
    expect(String(failure)).toContain(`claude-mem config set ${provider.addressSetting} URL`)
  })

  test.each(['http://name:pass@127.0.0.1:1', 'http://', 'nonsense'])(
    'the address %s is shown without a password',
    async (baseUrl) => {
      const model = provider.model({ apiKey: KEY, baseUrl, model: MODEL })
      const failure = await model.complete(REQUEST, new AbortController().signal).catch((error: unknown) => error)
      expect(failure).toBeInstanceOf(ObserverError)
      expect(failure).toMatchObject({ owner: 'provider' })
      expect(String(failure)).not.toContain('pass@')
    },
  )

  test('a call that hangs ends with the reason of its signal', async () => {
    const server = await provider.listen(() => ({ fault: 'hang' }))
    open.push(server)
    const controller = new AbortController()
    const model = provider.model({ apiKey: KEY, baseUrl: server.url, model: MODEL })
    const call = model.complete(REQUEST, controller.signal).catch((error: unknown) => error)
    await server.arrived(1)
    const reason = new Error('the deadline has passed')
    controller.abort(reason)
    expect(await call).toBe(reason)
    expect(await model.complete(REQUEST, controller.signal).catch((error: unknown) => error)).toBe(reason)
    expect(server.requests).toHaveLength(1)
  })

  test('a slow answer arrives', async () => {
    let answerNow = () => {}
    const until = new Promise<void>((resolve) => {
      answerNow = resolve
    })
    const server = await provider.listen(() => ({ fault: 'slow-headers', text: 'at last', until }))
    open.push(server)
    const call = provider
      .model({ apiKey: KEY, baseUrl: server.url, model: MODEL })
      .complete(REQUEST, new AbortController().signal)
    await server.arrived(1)
    answerNow()
    expect((await call).text).toBe('at last')
  })

  test('nothing is retried', async () => {
    for (const fault of [status(500), status(429, { retryAfterSeconds: 1 }), { fault: 'reset' } as const]) {
      expect((await ask(provider, fault)).server.requests).toHaveLength(1)
    }
  })

  test('a request that the API rejects belongs to the message', async () => {
    const server = await provider.listen(() => 'never said')
    open.push(server)
    const model = provider.model({ apiKey: KEY, baseUrl: server.url, model: MODEL })
    for (const messages of [
      [],
      [{ role: 'assistant' as const, content: 'me first' }],
      [{ role: 'user' as const, content: '' }],
    ]) {
      const failure = await model
        .complete({ ...REQUEST, messages }, new AbortController().signal)
        .catch((e: unknown) => e)
      expect(failure).toMatchObject({ owner: 'message' })
    }
  })
})

describe('faults.texts', () => {
  const [anthropic, gemini, openrouter] = PROVIDER_CASES

  test('missing credit belongs to the provider, whatever the status', async () => {
    if (anthropic === undefined) throw new Error('no anthropic')
    const message = 'Your credit balance is too low to access the Anthropic API.'
    expect(await failureOf(anthropic, status(400, { message }))).toMatchObject({ owner: 'provider' })
  })

  test('the 400 of Gemini for a bad key or country belongs to the provider', async () => {
    if (gemini === undefined) throw new Error('no gemini')
    expect(await failureOf(gemini, 'never said', { apiKey: 'another' })).toMatchObject({
      message: expect.stringContaining('gemini rejected the key (HTTP 400: API key not valid'),
    })
    const abroad = status(400, {
      type: 'FAILED_PRECONDITION',
      message: 'User location is not supported for the API use.',
    })
    expect(await failureOf(gemini, abroad)).toMatchObject({ owner: 'provider' })
  })

  test.each<[string, number | null, string]>([
    ['Rate limited', 429, 'provider'],
    ['Provider returned error', null, 'provider'],
    ['This endpoint’s maximum context length is 8192 tokens', 400, 'context'],
    ['Your input was flagged', 403, 'message'],
    ['google/nothing is not a valid model ID', 400, 'provider'],
    ['Insufficient credits', 402, 'provider'],
  ])('an error in a 200: %s (%s), owner %s', async (message, code, owner) => {
    if (openrouter === undefined) throw new Error('no openrouter')
    const failure = await failureOf(openrouter, { fault: 'error-in-200', message, code })
    expect(failure.owner).toBe(owner)
    expect(failure.message).toContain(message)
  })

  test('an error in the choice, a bare one, and the one in the metadata of OpenRouter', async () => {
    if (openrouter === undefined) throw new Error('no openrouter')
    const within = { choices: [{ error: { code: 502, message: 'Upstream died' }, message: { content: '' } }] }
    expect(await failureOf(openrouter, { fault: 'other-json', body: within })).toMatchObject({
      owner: 'provider',
      message: expect.stringContaining('HTTP 502: Upstream died'),
    })
    const bare = { error: 'the request exceeds the available context size' }
    expect(await failureOf(openrouter, { fault: 'other-json', body: bare })).toMatchObject({ owner: 'context' })
    const raw = JSON.stringify({ error: { message: "This model's maximum context length is 262144 tokens." } })
    const hidden = { error: { message: 'Provider returned error', code: 400, metadata: { raw } } }
    expect(await failureOf(openrouter, { fault: 'other-json', body: hidden })).toMatchObject({
      owner: 'context',
      message: expect.stringContaining("Provider returned error: This model's maximum context length"),
    })
  })
})

/** A port without a listener. */
async function unusedPort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}
