/** Cache marks of the anthropic provider, against a server with the prompt cache of the Messages API. */
import { afterEach, describe, expect, test } from 'vitest'
import type { ChatMessage, ChatModel } from '../../../src/observer/model/chat.ts'
import { API_PROVIDERS } from '../../../src/observer/provider-choice.ts'
import { anthropicModel } from '../../../src/observer/providers/anthropic.ts'
import { MessagesServer } from '../servers/messages-server.ts'
import { plainObject } from '../servers/scripted-server.ts'
import { KEY } from './provider-cases.ts'

const signal = new AbortController().signal
const open: MessagesServer[] = []
let now = 0
afterEach(async () => {
  for (const server of open.splice(0)) await server.close()
})

async function start(model = API_PROVIDERS.anthropic.model): Promise<{ server: MessagesServer; chat: ChatModel }> {
  const server = await MessagesServer.listen(() => 'seen', { clock: () => now })
  open.push(server)
  return { server, chat: anthropicModel({ apiKey: KEY, baseUrl: server.url, model }) }
}

const user = (content: string): ChatMessage => ({ role: 'user', content })
const assistant = (content: string): ChatMessage => ({ role: 'assistant', content })
const SYSTEM = 's'.repeat(5_000 * 4)
const first = [user('a'.repeat(400))]
const second = [...first, assistant('seen'), user('b'.repeat(800))]
const ask = async (chat: ChatModel, messages: readonly ChatMessage[], system = SYSTEM) =>
  (await chat.complete({ system, messages, maxTokens: 100 }, signal)).usage

describe('prompt-cache', () => {
  test('the second call reads everything that the first one sent', async () => {
    const { chat } = await start()
    expect(await ask(chat, first)).toEqual({ input: 0, output: 1, cacheRead: 0, cacheWrite: 5_100 })
    expect(await ask(chat, second)).toEqual({ input: 0, output: 1, cacheRead: 5_100, cacheWrite: 201 })
  })

  test('a withdrawn message leaves the conversation before it in the cache', async () => {
    const { chat } = await start()
    await ask(chat, second)
    const usage = await ask(chat, [...second.slice(0, 2), user('c'.repeat(40))])
    expect(usage).toEqual({ input: 0, output: 1, cacheRead: 5_101, cacheWrite: 10 })
  })

  test('another session reads the system text', async () => {
    const { chat } = await start()
    await ask(chat, first)
    expect(await ask(chat, [user('z'.repeat(40))])).toMatchObject({ cacheRead: 5_000, cacheWrite: 10 })
  })

  test('there are at most three marks: the system text and the last two messages', async () => {
    const { server, chat } = await start()
    const long = Array.from({ length: 51 }, (_, index) =>
      index % 2 === 0 ? user(`u${index}`) : assistant(`a${index}`),
    )
    await ask(chat, long)
    const { system, messages } = plainObject(server.requests[0]?.body)
    expect(JSON.stringify(system).match(/cache_control/g)).toHaveLength(1)
    const marked = Array.isArray(messages)
      ? messages.map((message) => JSON.stringify(message).includes('cache_control'))
      : []
    expect(marked.flatMap((is, index) => (is ? [index] : []))).toEqual([49, 50])
  })

  test('a prefix below the minimum size is not cached', async () => {
    const { chat } = await start()
    const small = 's'.repeat(2_000 * 4)
    await ask(chat, first, small)
    expect(await ask(chat, first, small)).toEqual({ input: 2_100, output: 1, cacheRead: 0, cacheWrite: 0 })
    const other = await start('claude-sonnet-5')
    await ask(other.chat, first, small)
    expect(await ask(other.chat, first, small)).toEqual({ input: 0, output: 1, cacheRead: 2_100, cacheWrite: 0 })
  })

  test('an entry expires after five minutes without a read; a read renews it', async () => {
    const { chat } = await start()
    await ask(chat, first)
    now += 299_000
    expect(await ask(chat, first)).toMatchObject({ cacheRead: 5_100 })
    now += 299_000
    expect(await ask(chat, first)).toMatchObject({ cacheRead: 5_100 })
    now += 300_000
    expect(await ask(chat, first)).toMatchObject({ cacheRead: 0, cacheWrite: 5_100 })
  })

  test('an early difference invalidates everything after it', async () => {
    const { chat } = await start()
    await ask(chat, second)
    expect(await ask(chat, second, `S${SYSTEM.slice(1)}`)).toMatchObject({ cacheRead: 0 })
  })

  test('a prefix more than twenty blocks back is not found, but the system text is', async () => {
    const { chat } = await start()
    await ask(chat, first)
    const far = [...first, ...Array.from({ length: 24 }, (_, i) => (i % 2 === 0 ? assistant('seen') : user('u')))]
    expect(await ask(chat, far)).toMatchObject({ cacheRead: 5_000 })
  })
})
