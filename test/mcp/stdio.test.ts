import { PassThrough } from 'node:stream'
import { afterEach, describe, expect, it } from 'vitest'
import type { SearchAnswer } from '../../src/domain/search-query.ts'
import type { Paths } from '../../src/lib/paths.ts'
import { serveMemory } from '../../src/mcp/server.ts'
import { makePlace, StandInDaemon } from './stand-in-daemon.ts'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

describe('a server on standard input and output', () => {
  function start(paths: Paths) {
    const input = new PassThrough()
    const output = new PassThrough()
    const said: string[] = []
    const served = serveMemory({
      paths,
      env: { CLAUDE_PROJECT_DIR: paths.dataDir },
      input,
      output,
      start: () => Promise.reject(new Error('nothing starts here')),
      log: (line) => said.push(line),
    })
    const say = (...messages: object[]) => {
      for (const message of messages) input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
    }
    const lines = () => {
      const text = String(output.read() ?? '')
      return text
        .split('\n')
        .filter((line) => line !== '')
        .map((line): Record<string, unknown> => JSON.parse(line))
    }
    return { input, served, say, lines, said }
  }
  const hello = {
    id: 0,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
  }
  const search = { id: 1, method: 'tools/call', params: { name: 'search_memory', arguments: { query: 'x' } } }
  const nothing: SearchAnswer = { mode: 'hybrid', notes: [], hits: [], total: 0, tookMs: 1, embedder: null }

  it('ends with its client, once what was asked is answered', async () => {
    const { paths, remove } = makePlace()
    closing.push(remove)
    const daemon = await StandInDaemon.listen(paths, { memory: { search: async () => nothing } })
    closing.push(() => daemon.stop())
    const { input, served, say, lines } = start(paths)
    say(hello, search)
    input.end()
    await served
    expect(lines()).toMatchObject([
      { id: 0, result: { serverInfo: { name: 'claude-mem' }, instructions: expect.stringContaining('search_memory') } },
      { id: 1, result: { structuredContent: { total: 0 } } },
    ])
  })

  it('does not wait for what the client took back', async () => {
    const { paths, remove } = makePlace()
    closing.push(remove)
    let answer: () => void = () => undefined
    const asked = new Promise<void>((resolve) => {
      answer = resolve
    })
    const daemon = await StandInDaemon.listen(paths, {
      memory: {
        search: () => {
          answer()
          return new Promise(() => undefined)
        },
      },
    })
    closing.push(() => daemon.stop())
    const { input, served, say, lines } = start(paths)
    say(hello, { method: 'notifications/initialized' }, search)
    await asked
    say({ method: 'notifications/cancelled', params: { requestId: 1 } })
    input.end()
    await served
    expect(lines()).toMatchObject([{ id: 0 }])
  })

  it('says that it does not know a method, and goes on after nonsense', async () => {
    const { paths, remove } = makePlace()
    closing.push(remove)
    const { input, served, say, lines, said } = start(paths)
    say({ id: 'probe', method: 'server/discover', params: {} })
    input.write('no json\n[]\n{"jsonrpc":"1.0"}\n\n')
    say(hello, { id: 2, method: 'ping' })
    input.end()
    await served
    expect(lines()).toMatchObject([
      { id: 'probe', error: { code: -32601 } },
      { id: 0, result: {} },
      { id: 2, result: {} },
    ])
    expect(new Set(said)).toEqual(new Set(['claude-mem mcp: a message of the client is not valid']))
  })

  it('ends when a message never does', async () => {
    const { paths, remove } = makePlace()
    closing.push(remove)
    const { input, served, lines } = start(paths)
    for (let i = 0; i < 11; i++) input.write(Buffer.alloc(1024 * 1024, 'x'))
    await served
    expect(lines()).toEqual([])
  })

  it('tells the model what to do while the memory cannot be reached', async () => {
    const { paths, remove } = makePlace()
    closing.push(remove)
    const { input, served, say, lines } = start(paths)
    say(hello, search)
    input.end()
    await served
    expect(lines().at(-1)).toMatchObject({
      id: 1,
      result: {
        isError: true,
        content: [
          {
            text: expect.stringMatching(/^nothing starts here\. Continue without the memory for now;.*claude-mem logs/),
          },
        ],
      },
    })
  })
})
