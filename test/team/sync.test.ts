import { afterEach, describe, expect, test } from 'vitest'
import { TeamSync } from '../../src/team/sync.ts'
import { waitUntil } from '../support/waiting.ts'
import { MemoryServer, MemoryTeamStore } from './memory-team.ts'
import { observationRecord, SHOP } from './records.ts'

const ANA = { author: 'ana', machine: 'laptop' }
const BEN = { author: 'ben', machine: 'desktop' }

interface Machine {
  store: MemoryTeamStore
  sync: TeamSync
  notices: string[]
}

const running: TeamSync[] = []

afterEach(async () => {
  await Promise.all(running.splice(0).map((sync) => sync.stop(0)))
})

function machine(server: MemoryServer, origin = ANA, store = new MemoryTeamStore(), callTimeoutMs?: number): Machine {
  const notices: string[] = []
  const sync = new TeamSync({
    store,
    open: async () => {
      const log = server.connect()
      await server.fault('repositories', log)
      return log
    },
    origin: () => origin,
    receive: (records, cursors) => store.applyRecords(records, cursors),
    notice: (_, text) => notices.push(text),
    log: () => undefined,
    // A pause is as short as it can be: half of a second at first.
    random: () => 0,
    ...(callTimeoutMs === undefined ? {} : { callTimeoutMs }),
  })
  running.push(sync)
  return { store, sync, notices }
}

async function share({ store, sync }: Machine, project = SHOP): Promise<void> {
  await store.shareProject({ project, since: 0, passages: false }, 1, false)
  sync.projectsChanged()
}

const titles = ({ store }: Machine): (string | null)[] =>
  [...store.has.values()].map((record) => (record.kind === 'observation' ? (record.body?.title ?? null) : null))

const LONG_MS = 20_000

describe('team sync', () => {
  test('what one machine makes is received by another, and leaves the outbox once the log has it', async () => {
    const server = new MemoryServer()
    const [ana, ben] = [machine(server), machine(server, BEN)]
    for (const one of [ana, ben]) {
      one.sync.start()
      await share(one)
    }
    ana.store.make(observationRecord('Tokens live 15 minutes'))
    ana.sync.changed()
    await waitUntil('ben has it', () => titles(ben).includes('Tokens live 15 minutes'))
    expect(await ana.sync.untilPushed(LONG_MS)).toBe(true)
    expect((await ana.sync.status()).pushed).toBe(1)
    expect((await ben.sync.status()).received).toBe(1)
  })

  test('a project that is not shared is not pushed', async () => {
    const server = new MemoryServer()
    const ana = machine(server)
    ana.sync.start()
    await share(ana)
    ana.store.make(observationRecord('secret plan', {}, 'repo:github.com/acme/secret'))
    ana.store.make(observationRecord('open plan'))
    expect(await ana.sync.untilPushed(LONG_MS)).toBe(true)
    expect(JSON.stringify(server.records)).not.toContain('secret plan')
    expect(JSON.stringify(server.records)).toContain('open plan')
  })

  test('a batch whose answer was lost is sent again, and the log has each record once', async () => {
    const server = new MemoryServer()
    const ana = machine(server)
    const records = Array.from({ length: 1_200 }, (_, i) => observationRecord(`note ${i}`))
    ana.store.shared.set(SHOP, { project: SHOP, since: 0, passages: false, at: 1 })
    ana.store.make(...records)
    let cuts = 0
    server.fault = (method, connection) => {
      if (method !== 'pull' || cuts >= 3 || server.records.length === 0) return
      cuts += 1
      server.connections.delete(connection)
      throw Object.assign(new Error('connection lost'), { code: 'unreachable', retryable: true })
    }
    ana.sync.start()
    for (let i = 0; i < 4; i++) {
      await waitUntil('it is sent, or waits for the next attempt', async () => {
        const { phase, outbox } = await ana.sync.status()
        return phase.is === 'waiting' || outbox.waiting === 0
      })
      ana.sync.retryNow()
    }
    expect(await ana.sync.untilPushed(LONG_MS)).toBe(true)
    expect(server.records.map(({ id }) => id).sort()).toEqual(records.map(({ id }) => id).sort())
  })

  test('a repository is registered before its first records are pushed, also one that is shared later', async () => {
    const server = new MemoryServer()
    const ana = machine(server)
    ana.store.make(observationRecord('made before it was shared'))
    ana.sync.start()
    await waitUntil('it is connected', async () => (await ana.sync.status()).phase.is === 'connected')
    await ana.store.shareProject({ project: SHOP, since: 0, passages: false }, 1, false)
    // The outbox is read before anybody says that the projects have changed.
    ana.sync.pushNow()
    expect(await ana.sync.untilPushed(LONG_MS)).toBe(true)
    expect(server.records).toHaveLength(1)
    expect((await ana.sync.status()).refusedPushed).toBe(0)
  })

  test('what the log refuses leaves the outbox, is counted with its reason, and gives one notice', async () => {
    const server = new MemoryServer()
    const ana = machine(server)
    server.refuse = (record) => (JSON.stringify(record).includes('bad') ? 'no right to write here' : null)
    ana.sync.start()
    await share(ana)
    ana.store.make(observationRecord('bad one'), observationRecord('good'), observationRecord('bad two'))
    expect(await ana.sync.untilPushed(LONG_MS)).toBe(true)
    const status = await ana.sync.status()
    expect([status.pushed, status.refusedPushed]).toEqual([1, 2])
    expect(status.refused.map(({ reason }) => reason)).toEqual(['no right to write here', 'no right to write here'])
    expect(ana.notices.filter((text) => text.includes('no right to write here'))).toHaveLength(1)
  })

  test('a record that makes every batch fail is alone in the end, and the others are sent', async () => {
    const server = new MemoryServer()
    const ana = machine(server)
    const poison = observationRecord('poison')
    const push = server.connect
    server.connect = function connect() {
      const log = push.call(server)
      const original = log.push.bind(log)
      log.push = async (records, origin) => {
        if (records.some(({ id }) => id === poison.id)) {
          throw Object.assign(new Error('does not accept this'), { code: 'refused', retryable: false })
        }
        return await original(records, origin)
      }
      return log
    }
    ana.sync.start()
    await share(ana)
    ana.store.make(...Array.from({ length: 40 }, (_, i) => observationRecord(`note ${i}`)), poison)
    ana.store.make(...Array.from({ length: 40 }, (_, i) => observationRecord(`later ${i}`)))
    expect(await ana.sync.untilPushed(LONG_MS)).toBe(true)
    expect(server.records).toHaveLength(80)
    expect((await ana.sync.status()).refused.map(({ id }) => id)).toEqual([poison.id])
  })

  test('a machine without anything gets the newest first, then the whole, and continues after a restart', async () => {
    const server = new MemoryServer()
    server.repositories.set(SHOP, { key: SHOP, mayWrite: true, mayEraseOthers: false })
    const notes = Array.from({ length: 1_000 }, (_, i) => observationRecord(`note ${i}`))
    server.put(notes, BEN)
    const store = new MemoryTeamStore()
    const first = machine(server, ANA, store)
    let pulls = 0
    const never = new Promise<void>(() => undefined)
    server.fault = (method) => (method === 'pull' && ++pulls > 1 ? never : undefined)
    first.sync.start()
    await share(first)
    expect(await first.sync.untilBegun(SHOP, LONG_MS)).toBe(true)
    expect(titles(first)).toContain('note 999')
    await waitUntil('one part of the whole is here', () => titles(first).includes('note 0'))
    await waitUntil('its progress is known', async () => (await first.sync.status()).loading !== null)
    expect((await first.sync.status()).loading).toMatchObject({ done: 200, total: 1_000 })
    await first.sync.stop(0)
    const before = store.has.size
    expect(before).toBeLessThan(1_000)
    server.fault = () => undefined
    server.calls = []
    const second = machine(server, ANA, store)
    second.sync.start()
    expect(await second.sync.untilCurrent(LONG_MS)).toBe(true)
    expect(store.has.size).toBe(1_000)
    // It continued at its cursor, without asking for the newest again.
    expect(server.calls.filter((method) => method === 'newest')).toEqual([])
  })

  test('a server that is down, and one that does not answer, are said in the status; the next attempt succeeds', async () => {
    const server = new MemoryServer()
    const ana = machine(server, ANA, new MemoryTeamStore(), 50)
    server.fault = () => {
      throw Object.assign(new Error('cannot be reached'), { code: 'unreachable', retryable: true })
    }
    ana.sync.start()
    ana.store.shared.set(SHOP, { project: SHOP, since: 0, passages: false, at: 1 })
    ana.store.make(observationRecord('waits'))
    await waitUntil('it waits', async () => (await ana.sync.status()).phase.is === 'waiting')
    const { phase, outbox } = await ana.sync.status()
    expect(phase).toMatchObject({ failure: { code: 'unreachable', message: 'cannot be reached', retryable: true } })
    expect(outbox).toEqual({ waiting: 1, oldestAt: 1_000 })
    server.fault = () => new Promise(() => undefined)
    ana.sync.retryNow()
    await waitUntil('the call that hangs has failed', async () => {
      const now = await ana.sync.status()
      return now.phase.is === 'waiting' && now.phase.failure.message.includes('did not answer')
    })
    server.fault = () => undefined
    expect(await ana.sync.untilPushed(LONG_MS)).toBe(true)
  })

  test('waiting for the outbox ends at once where only a person can help', async () => {
    const server = new MemoryServer()
    const ana = machine(server)
    server.fault = () => {
      throw Object.assign(new Error('wrong password'), { code: 'auth', retryable: false })
    }
    ana.store.shared.set(SHOP, { project: SHOP, since: 0, passages: false, at: 1 })
    ana.store.make(observationRecord('waits'))
    ana.sync.start()
    await waitUntil('it waits', async () => (await ana.sync.status()).phase.is === 'waiting')
    server.fault = () => {
      throw Object.assign(new Error('wrong password still'), { code: 'auth', retryable: false })
    }
    expect(await ana.sync.untilPushed(600_000)).toBe(false)
  })

  test('a stop does not wait for a server that hangs', async () => {
    const server = new MemoryServer()
    const ana = machine(server)
    ana.sync.start()
    await share(ana)
    await waitUntil('it is connected', async () => (await ana.sync.status()).phase.is === 'connected')
    server.fault = () => new Promise(() => undefined)
    ana.store.make(observationRecord('too late'))
    await ana.sync.stop(50)
    expect((await ana.sync.status()).phase).toEqual({ is: 'off' })
    expect((await ana.store.outboxStats()).waiting).toBe(1)
  })

  test('a stop sends what is left', async () => {
    const server = new MemoryServer()
    const ana = machine(server)
    ana.sync.start()
    await share(ana)
    await waitUntil('it is connected', async () => (await ana.sync.status()).phase.is === 'connected')
    ana.store.make(...Array.from({ length: 3_000 }, (_, i) => observationRecord(`last ${i}`)))
    await ana.sync.stop(LONG_MS)
    expect(server.records).toHaveLength(3_000)
  })

  test('without notifications the log is asked again and again', async () => {
    const server = new MemoryServer()
    server.canListen = false
    const ana = machine(server)
    ana.sync.start()
    await share(ana)
    expect(await ana.sync.untilCurrent(LONG_MS)).toBe(true)
    expect((await ana.sync.status()).phase).toMatchObject({ is: 'connected', listening: false })
    server.put([observationRecord('found by asking')], BEN)
    await waitUntil('it is here', () => titles(ana).includes('found by asking'))
  })

  test('a received record that is not valid, or that the store cannot take, does not stop the others', async () => {
    const server = new MemoryServer()
    server.repositories.set(SHOP, { key: SHOP, mayWrite: true, mayEraseOthers: false })
    const ana = machine(server)
    const [good, bad, poison] = [observationRecord('good'), observationRecord('bad'), observationRecord('poison')]
    ana.store.poison.add(poison.id)
    const invalid = { ...bad, body: { ...bad.body, type: 'order' } } as never
    const foreign = observationRecord('of another repository', {}, SHOP)
    server.put([invalid, poison, good], BEN)
    server.put([{ ...foreign, id: 'not an id' }], BEN)
    ana.sync.start()
    await share(ana)
    await waitUntil('the good one is here', () => titles(ana).includes('good'))
    expect(await ana.sync.untilCurrent(LONG_MS)).toBe(true)
    expect(titles(ana)).toEqual(['good'])
    const { refused } = await ana.sync.status()
    expect(refused.map(({ id }) => id)).toEqual(expect.arrayContaining([bad.id, poison.id, 'not an id']))
    expect(ana.store.cursors.get(SHOP)?.sequence).toBe('4')
  })

  test('a log that was made anew is received from its start, and gets everything again', async () => {
    const server = new MemoryServer()
    const store = new MemoryTeamStore()
    const ana = machine(server, ANA, store)
    ana.sync.start()
    await share(ana)
    ana.store.make(observationRecord('mine'))
    expect(await ana.sync.untilPushed(LONG_MS)).toBe(true)
    expect(await ana.sync.untilCurrent(LONG_MS)).toBe(true)
    await ana.sync.stop(0)
    server.records.length = 0
    server.generation = 'two'
    const again = machine(server, ANA, store)
    again.sync.start()
    await waitUntil('the log has it again', () => server.records.length === 1)
    expect(await again.sync.untilCurrent(LONG_MS)).toBe(true)
    expect(store.cursors.get(SHOP)?.generation).toBe('two')
  })

  test('two machines with one name: the one that sees memories it did not make says so, and nothing is lost', async () => {
    const server = new MemoryServer()
    const [original, copy] = [machine(server), machine(server)]
    for (const one of [original, copy]) {
      one.sync.start()
      await share(one)
      expect(await one.sync.untilCurrent(LONG_MS)).toBe(true)
    }
    original.store.make(observationRecord('made by the original'))
    original.sync.changed()
    await waitUntil('the copy has it', () => titles(copy).includes('made by the original'))
    await waitUntil('the copy says so', () => copy.notices.some((text) => text.includes('team-machine')))
    expect(original.notices).toEqual([])
  })

  test('a role that may only read gets the memory, and its own memories are sent when it may write', async () => {
    const server = new MemoryServer()
    server.repositories.set(SHOP, { key: SHOP, mayWrite: false, mayEraseOthers: false })
    server.refuse = () => (server.repositories.get(SHOP)?.mayWrite ? null : 'no right to write')
    server.put([observationRecord('from ben')], BEN)
    const ana = machine(server)
    ana.sync.start()
    await share(ana)
    ana.store.make(observationRecord('from ana'))
    expect(await ana.sync.untilPushed(LONG_MS)).toBe(true)
    expect(await ana.sync.untilCurrent(LONG_MS)).toBe(true)
    expect(titles(ana)).toContain('from ben')
    expect(server.records).toHaveLength(1)
    server.repositories.set(SHOP, { key: SHOP, mayWrite: true, mayEraseOthers: false })
    ana.sync.projectsChanged()
    await waitUntil('it is sent', () => server.records.length === 2)
  })
})
