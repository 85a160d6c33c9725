/** A connection that outlives the daemon: what it misses, what it is told again, when it says that it is stale. */
import { afterEach, describe, expect, test } from 'vitest'
import { openSocketAt } from '../../scripts/lib/load.ts'
import { LiveConnection, type LiveState } from '../../src/transport/live-connection.ts'
import { DaemonServer } from '../../src/transport/server.ts'
import { events } from '../daemon/actors/harness.ts'
import { type Served, served } from './served.ts'

let s: Served
let server: DaemonServer | null = null
let channel: LiveConnection
let told: string[]

afterEach(async () => {
  channel.close()
  await server?.close()
  server = null
  await s.close()
})

function follow(since: number | null = null): Promise<void> {
  told = []
  return new Promise((resolve) => {
    channel = new LiveConnection({
      open: () => openSocketAt(s.paths.socket),
      onLoad: () => told.push('load'),
      onItem: ({ seq }) => told.push(String(seq)),
      onState: (state: LiveState) => {
        told.push(state)
        if (state === 'live') resolve()
      },
      since,
    })
    channel.start()
  })
}

async function restart(before: () => Promise<unknown> = async () => undefined): Promise<void> {
  await s.server.close()
  await before()
  const { paths, context, token } = s
  server = new DaemonServer({
    paths,
    token,
    context,
    port: 0,
    maxMessageBytes: 1_000_000,
    seq: await s.h.store.lastSeq(),
    log: () => undefined,
  })
  await server.listen()
}

describe('live', () => {
  test('is live, loads once, and takes every item in order', async () => {
    s = await served()
    await follow()
    await s.h.supervisor.accept(events.prompt('a', 'p'))
    await s.h.supervisor.accept(events.tool('a', 't'))
    await expect.poll(() => told).toEqual(['live', 'load', '1', '2'])
    expect(channel.seq).toBe(2)
    expect((await channel.call('status')).status.sessions).toBe(1)
  })

  test('goes on after the item that it has, without loading', async () => {
    s = await served()
    // Items are kept from the first subscriber on.
    await s.client.call('subscribe', { since: null })
    await s.h.supervisor.accept(events.prompt('a', 'p'))
    await s.h.supervisor.accept(events.tool('a', 't'))
    await follow(1)
    await expect.poll(() => told).toEqual(['live', '2'])
  })

  test('a daemon that dies makes it stale; one that comes back with nothing new is simply live', async () => {
    s = await served()
    await follow()
    await s.h.supervisor.accept(events.prompt('a', 'p'))
    await expect.poll(() => told.at(-1)).toBe('1')
    await restart()
    await expect.poll(() => told).toEqual(['live', 'load', '1', 'stale', 'live'])
  })

  test('what it missed and nobody remembers has to be loaded', async () => {
    s = await served()
    await follow()
    await restart(() => s.h.supervisor.accept(events.prompt('a', 'p')))
    await expect.poll(() => told).toEqual(['live', 'load', 'stale', 'live', 'load'])
    await s.h.supervisor.accept(events.tool('a', 't'))
    await expect.poll(() => told.at(-1)).toBe('2')
  })

  test('a memory that was replaced by an older one is loaded, and followed from its own numbers', async () => {
    s = await served()
    await follow(1_000)
    await expect.poll(() => told).toEqual(['live', 'load'])
    await s.h.supervisor.accept(events.prompt('a', 'p'))
    await expect.poll(() => told.at(-1)).toBe('1')
  })

  test('without a daemon questions are refused at once, and it waits for one', async () => {
    s = await served()
    await s.server.close()
    const live = follow()
    await expect(channel.call('status')).rejects.toMatchObject({ code: 'not_running' })
    await restart()
    await live
    expect(told).toEqual(['live', 'load'])
  })

  test('a daemon that breaks off in the middle of a question lets nobody wait', async () => {
    s = await served()
    await follow()
    const asked = channel.call('flush', { session: null, wait: true })
    const refused = expect(asked).rejects.toMatchObject({ code: 'not_running' })
    channel.close()
    await refused
    expect(channel.state).toBe('closed')
  })
})
