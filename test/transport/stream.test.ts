import { once } from 'node:events'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { openSocketAt } from '../../scripts/lib/load.ts'
import type { ChangeItem } from '../../src/daemon/actors/stream.ts'
import { PROTOCOL_VERSION } from '../../src/domain/protocol.ts'
import { DaemonClient } from '../../src/transport/client.ts'
import type { StreamMessage } from '../../src/transport/messages.ts'
import { CLOSE_TOO_SLOW, Subscriptions } from '../../src/transport/subscriptions.ts'
import { events } from '../daemon/actors/harness.ts'
import { type Served, served } from './served.ts'

let s: Served
beforeEach(async () => {
  s = await served()
})
afterEach(() => s.close())

const news = (seq: number, words = ''): ChangeItem => ({
  type: 'change',
  seq,
  at: seq,
  change: 'imported',
  projects: [words],
})

/** Everything that comes over a connection of its own, in order. */
async function follower(since: number | null): Promise<{ socket: WebSocket; got: { type: string; seq: number }[] }> {
  const socket = openSocketAt(s.paths.socket)
  const got: { type: string; seq: number }[] = []
  socket.on('message', (data) => got.push(JSON.parse(String(data))))
  await once(socket, 'open')
  socket.send(JSON.stringify({ v: PROTOCOL_VERSION, id: '1', type: 'subscribe', since }))
  await once(socket, 'message')
  return { socket, got }
}
const seqs = (got: readonly { type: string; seq: number }[]) => got.slice(1).map(({ seq }) => seq)

describe('the stream', () => {
  test('tells of commits with their transitions, and of what changes beside them, in the order of their numbers', async () => {
    const seen: StreamMessage[] = []
    s.client.onStream = (message) => seen.push(message)
    const { seq, resumed } = await s.client.call('subscribe', { since: null })
    expect(resumed).toBe(true)
    await s.h.supervisor.accept(events.prompt('s', 'p', 'make it blue'))
    await s.client.call('project_rename', { project: 'shop', name: 'Museum' })
    await expect.poll(() => seen.length).toBe(2)
    const [commit, change] = seen
    expect(commit).toMatchObject({
      type: 'commit',
      seq: seq + 1,
      session: 's',
      state: 'observing',
      newPrompts: [{ id: 1, number: 1, text: 'make it blue' }],
    })
    expect(commit?.type === 'commit' && commit.transitions[0]).toMatchObject({ from: 'init', to: 'observing' })
    expect(change).toMatchObject({ type: 'change', change: 'projects', seq: seq + 2 })
  })

  test('is in order however its publishers are resumed', async () => {
    const { socket, got } = await follower(null)
    for (const seq of [3, 1, 2]) s.h.supervisor.publish(news(seq))
    await expect.poll(() => got.length).toBe(4)
    expect(seqs(got)).toEqual([1, 2, 3])
    socket.close()
  })

  test('begins after its answer and leaves nothing out, while others publish', async () => {
    // Items are kept while somebody follows.
    const first = await follower(null)
    let last = 0
    let busy = true
    const publishing = (async () => {
      while (busy) {
        s.h.supervisor.publish(news(++last))
        await new Promise(setImmediate)
      }
    })()
    const followers = await Promise.all([follower(null), follower(0), follower(null)])
    const until = last + 5
    await expect.poll(() => followers.every(({ got }) => (got.at(-1)?.seq ?? 0) >= until)).toBe(true)
    busy = false
    await publishing
    for (const { socket, got } of followers) {
      expect(got[0]?.type).toBe('subscribed')
      const numbers = seqs(got)
      expect(numbers).toEqual(numbers.map((_, i) => (numbers[0] ?? 0) + i))
      socket.close()
    }
    first.socket.close()
    const [fromNow, fromStart] = followers
    expect(fromStart?.got[1]?.seq).toBe(1)
    expect(fromNow?.got[1]?.seq).toBe((fromNow?.got[0]?.seq ?? 0) + 1)
  })

  test('keeps nothing while nobody ever followed, and goes on from the newest number', async () => {
    for (let seq = 1; seq <= 3; seq++) s.h.supervisor.publish(news(seq))
    await new Promise(setImmediate)
    const late = await follower(2)
    expect(late.got[0]).toMatchObject({ type: 'subscribed', seq: 3, resumed: false })
    s.h.supervisor.publish(news(4))
    await expect.poll(() => seqs(late.got)).toEqual([4])
    late.socket.close()
    await once(late.socket, 'close')
    s.h.supervisor.publish(news(5))
    await new Promise(setImmediate)
    const back = await follower(4)
    expect(back.got[0]).toMatchObject({ type: 'subscribed', seq: 5, resumed: true })
    await expect.poll(() => seqs(back.got)).toEqual([5])
    back.socket.close()
  })

  test('says where it cannot be taken up again, and goes on from there', async () => {
    const first = await follower(null)
    for (let seq = 1; seq <= 1_500; seq++) s.h.supervisor.publish(news(seq))
    await new Promise(setImmediate)
    const gone = await follower(3)
    expect(gone.got[0]).toMatchObject({ type: 'subscribed', seq: 1_500, resumed: false })
    // Of another memory: a backup was restored meanwhile.
    const ahead = await follower(9_000)
    expect(ahead.got[0]).toMatchObject({ seq: 1_500, resumed: false })
    const there = await follower(1_499)
    expect(there.got[0]).toMatchObject({ seq: 1_500, resumed: true })
    s.h.supervisor.publish(news(1_501))
    first.socket.close()
    for (const { socket, got } of [gone, ahead, there]) {
      await expect.poll(() => got.at(-1)?.seq).toBe(1_501)
      socket.close()
    }
    expect(seqs(gone.got)).toEqual([1_501])
    expect(seqs(there.got)).toEqual([1_500, 1_501])
  })

  test('drops who does not read, who then takes it up where it stopped; nobody else notices', async () => {
    const stuck = await follower(null)
    const quick = await follower(null)
    stuck.socket.pause()
    const closed = once(stuck.socket, 'close')
    let seq = 0
    while (s.server.subscribers === 2) {
      s.h.supervisor.publish(news(++seq, 'x'.repeat(256 * 1024)))
      await new Promise(setImmediate)
    }
    s.h.supervisor.publish(news(++seq))
    await expect.poll(() => quick.got.at(-1)?.seq).toBe(seq)
    expect(seqs(quick.got)).toHaveLength(seq)
    stuck.socket.resume()
    const [code, reason] = await closed
    expect(code).toBe(CLOSE_TOO_SLOW)
    expect(String(reason)).toContain('resume from your last seq')
    const back = await follower(stuck.got.at(-1)?.seq ?? null)
    expect(back.got[0]).toMatchObject({ type: 'subscribed', resumed: true })
    await expect.poll(() => seqs(back.got).at(-1)).toBe(seq)
    expect([...seqs(stuck.got), ...seqs(back.got)]).toEqual(Array.from({ length: seq }, (_, i) => i + 1))
    for (const { socket } of [quick, back]) socket.close()
  })

  test('drops who asks on and on and reads no answer', async () => {
    const QUESTIONS = 40
    const ids = Array.from({ length: 60 }, (_, i) => String(i))
    for (const id of ids) await s.h.supervisor.accept(events.prompt('s', id, id.repeat(60_000)))
    const story = vi.spyOn(s.context.store, 'sessionHistory')
    const { socket, got } = await follower(null)
    socket.pause()
    const closed = once(socket, 'close')
    const question = { v: PROTOCOL_VERSION, type: 'story', session: 's', trace: 0, rows: 60 }
    for (let i = 0; i < QUESTIONS; i++) socket.send(JSON.stringify({ ...question, id: `q${i}` }))
    await expect.poll(() => story.mock.settledResults.filter(({ type }) => type === 'fulfilled').length).toBe(QUESTIONS)
    // The last answers are written, or not, before the next question is answered.
    await s.client.call('status')
    socket.resume()
    const [code] = await closed
    expect(code).toBe(CLOSE_TOO_SLOW)
    expect(got.length).toBeLessThan(QUESTIONS)
    expect(await s.client.call('story', { ...question })).toMatchObject({
      story: { prompts: ids.map(() => ({})) },
    })
  })

  test('tells nobody again what was forgotten', async () => {
    const before = await follower(0)
    await s.h.supervisor.accept(events.prompt('s', 'p', 'a word to forget'))
    await expect.poll(() => JSON.stringify(before.got)).toContain('a word to forget')
    await s.client.call('purge_session', { session: 's' })
    await expect.poll(() => JSON.stringify(before.got)).toContain('erased')
    const late = await follower(0)
    expect(late.got[0]).toMatchObject({ type: 'subscribed', resumed: false })
    const current = await follower(before.got.at(-1)?.seq ?? 0)
    expect(current.got[0]).toMatchObject({ resumed: true })
    s.h.supervisor.publish(news((before.got.at(-1)?.seq ?? 0) + 1, 'after'))
    for (const { got } of [late, current]) {
      await expect.poll(() => JSON.stringify(got)).toContain('after')
      expect(JSON.stringify(got)).not.toContain('a word to forget')
    }
    for (const { socket } of [before, late, current]) socket.close()
  })

  test('lets go of who does not answer any more', async () => {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
    await once(server, 'listening')
    const subscriptions = new Subscriptions(0, 20)
    server.on('connection', (socket) => subscriptions.add(socket, null))
    const address = server.address()
    const url = `ws://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`
    const alive = new WebSocket(url)
    const dead = new WebSocket(url, { autoPong: false })
    const [code] = await once(dead, 'close')
    expect(code).toBe(1006)
    expect(alive.readyState).toBe(WebSocket.OPEN)
    expect(subscriptions.size).toBe(1)
    subscriptions.close()
    alive.terminate()
    await new Promise((resolve) => server.close(resolve))
  })

  test('tells of a session that was erased, and of an import', async () => {
    const seen: StreamMessage[] = []
    await s.h.supervisor.accept(events.prompt('gone', 'p'))
    const other = await DaemonClient.connect(s.paths)
    other.onStream = (message) => seen.push(message)
    await other.call('subscribe', { since: null })
    await s.client.call('purge_session', { session: 'gone' })
    const at = Date.now()
    const project = { key: 'git:/elsewhere', name: 'elsewhere' }
    const session = { id: 'old', project, client: 'x', cwd: '', prompts: 1, startedAt: at, heardAt: at }
    const prompt = { kind: 'prompt', session: 'old', number: 1, text: 'once', at } as const
    await s.context.memory.import({ sessions: [session], records: [prompt], dryRun: true })
    await s.context.memory.import({ sessions: [session], records: [prompt], dryRun: false })
    const changes = () => seen.flatMap((item) => (item.type === 'change' ? [item] : []))
    await expect.poll(() => changes().at(-1)).toMatchObject({ change: 'imported', projects: ['git:/elsewhere'] })
    expect(changes().filter(({ change }) => change === 'imported')).toHaveLength(1)
    expect(changes()).toContainEqual(expect.objectContaining({ change: 'erased', session: 'gone' }))
    other.close()
  })
})
