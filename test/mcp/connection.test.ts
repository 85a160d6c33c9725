import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { MemError } from '../../src/lib/errors.ts'
import type { Paths } from '../../src/lib/paths.ts'
import { Connection, callsOver } from '../../src/mcp/connection.ts'
import { makePlace, observation, type StandIn, StandInDaemon } from './stand-in-daemon.ts'

let paths: Paths
let closing: (() => unknown)[]
beforeEach(() => {
  const place = makePlace()
  paths = place.paths
  closing = [place.remove]
})
afterEach(async () => {
  for (const close of closing.reverse()) await close()
})

const MEMORY: StandIn['memory'] = {
  observations: async (ids) => ({ observations: ids.map((id) => observation({ id })), missing: [] }),
  remember: async () => ({ id: 7 }),
}
const NOTE = {
  project: { key: 'dir:/x', name: 'x' },
  cwd: '/x',
  title: 'a',
  text: 'b',
  kind: 'decision' as const,
  concepts: [],
  files: [],
}

async function daemon(standIn: Partial<StandIn> = {}): Promise<StandInDaemon> {
  return await StandInDaemon.listen(paths, { memory: MEMORY, ...standIn })
}

function connect(start: () => Promise<void> = () => Promise.reject(new Error('not expected'))) {
  const connection = new Connection({ paths, project: 'dir:/test', start })
  closing.push(() => connection.close())
  return callsOver(connection)
}

describe('a connection', () => {
  it('starts the daemon, once for all who ask at the same time', async () => {
    let starts = 0
    const { call } = connect(async () => {
      starts++
      const started = await daemon()
      closing.push(() => started.stop())
    })
    const found = await Promise.all([1, 2, 3].map((id) => call('observations', { ids: [id] })))
    expect(found.map(({ observations }) => observations[0]?.id)).toEqual([1, 2, 3])
    expect(starts).toBe(1)
  })

  it('tries again with the next call where it could not be made', async () => {
    let fails = true
    const { call } = connect(async () => {
      if (fails) throw new MemError('not_running', 'it does not start')
      const started = await daemon()
      closing.push(() => started.stop())
    })
    await expect(call('observations', { ids: [1] })).rejects.toThrow('it does not start')
    fails = false
    expect((await call('observations', { ids: [1] })).observations).toHaveLength(1)
  })

  it('is made again after the daemon was restarted between two calls', async () => {
    const first = await daemon()
    const { call } = connect(async () => {
      const second = await daemon()
      closing.push(() => second.stop())
    })
    await call('observations', { ids: [1] })
    await first.stop()
    expect((await call('observations', { ids: [2] })).observations).toHaveLength(1)
  })

  it('asks a question once more when the daemon goes away in the middle of it', async () => {
    const first = await daemon()
    closing.push(() => first.stop())
    let drops = 1
    first.fault = ({ type }) => (type === 'observations' && drops-- > 0 ? 'drop' : null)
    const { call } = connect()
    expect((await call('observations', { ids: [1] })).observations).toHaveLength(1)
    expect(first.asked).toHaveLength(2)
  })

  it('asks once more, not for ever', async () => {
    const first = await daemon()
    closing.push(() => first.stop())
    first.fault = ({ type }) => (type === 'observations' ? 'drop' : null)
    await expect(connect().call('observations', { ids: [1] })).rejects.toThrow('closed the connection')
    expect(first.asked).toHaveLength(2)
  })

  it('never makes a change twice: it says that it cannot know', async () => {
    const first = await daemon()
    closing.push(() => first.stop())
    first.fault = ({ type }) => (type === 'remember' ? 'drop' : null)
    const { callOnce } = connect()
    await expect(callOnce('remember', NOTE)).rejects.toThrow('this may have been done or not')
    expect(first.asked).toHaveLength(1)
    first.fault = () => null
    expect(await callOnce('remember', NOTE)).toEqual({ observation: 7 })
  })

  it('makes a change with the next daemon that the stopping one refused', async () => {
    const stopping = await daemon()
    stopping.fault = ({ type }) =>
      type === 'remember' ? new MemError('draining', 'it stops', { retryable: true }) : null
    const { callOnce } = connect(async () => {
      await stopping.stop()
      const started = await daemon()
      closing.push(() => started.stop())
    })
    expect(await callOnce('remember', NOTE)).toEqual({ observation: 7 })
  })

  it('has an older daemon replaced', async () => {
    const old = await daemon({ version: '0.0.0-older' })
    const { call } = connect(async () => {
      await old.stop()
      const started = await daemon()
      closing.push(() => started.stop())
    })
    expect((await call('observations', { ids: [1] })).observations).toHaveLength(1)
    expect(old.asked).toEqual([])
  })

  it('passes on what the daemon says about a question', async () => {
    const first = await daemon()
    closing.push(() => first.stop())
    first.fault = ({ type }) => (type === 'observations' ? new MemError('bad_request', 'not like that') : null)
    await expect(connect().call('observations', { ids: [1] })).rejects.toMatchObject({
      code: 'bad_request',
      message: 'not like that',
    })
    expect(first.asked).toHaveLength(1)
  })
})
