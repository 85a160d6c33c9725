/** Changes made by hand, and what is published of them. */
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { StreamItem } from '../../src/daemon/actors/stream.ts'
import { Forgetting } from '../../src/daemon/forgetting.ts'
import { MemoryChanges, rememberedSession } from '../../src/daemon/memory-changes.ts'
import { RenderedContextCache } from '../../src/daemon/rendered-context-cache.ts'
import { CONTEXT_SETTINGS } from '../context/samples.ts'
import { learn, type SearchFixture, searchFixture } from '../search/search-fixture.ts'
import { NOW, PROJECT } from '../store/samples.ts'
import { NO_ACTORS } from '../support/forgetting.ts'

let here: SearchFixture
let memory: MemoryChanges
let forgetting: Forgetting
let heard: StreamItem[]

beforeEach(async () => {
  here = await searchFixture(null)
  await here.open()
  heard = []
  const contextCache = new RenderedContextCache({
    reader: here.store,
    directory: join(here.directory, 'context'),
    settings: () => CONTEXT_SETTINGS,
    notice: (text) => here.messages.push(text),
  })
  memory = new MemoryChanges({
    store: here.store,
    search: async () => here.calls(),
    indexer: here.indexer(),
    contextCache,
    publish: (item) => heard.push(item),
    now: () => NOW,
  })
  forgetting = new Forgetting({
    store: here.store,
    sessions: NO_ACTORS,
    search: async () => here.calls(),
    indexer: here.indexer(),
    contextCache,
    publish: (item) => heard.push(item),
    keepBackups: () => 7,
    now: () => NOW,
  })
  await learn(here, 's', [
    { title: 'Port is 8080', narrative: 'The server listens on 8080.', facts: ['8080'], concepts: ['server'] },
    { title: 'Retry added', narrative: 'The queue is tried again.' },
  ])
})
afterEach(() => here.dispose())

const view = async (id: number) => (await here.calls().observations([id]))[0]
const NOTE = {
  project: PROJECT,
  cwd: '/w',
  title: null,
  kind: 'decision',
  concepts: [],
  files: [],
  by: 'person',
  client: 'cli',
  session: null,
} as const

describe('what is remembered', () => {
  test('is told as the commit that it is', async () => {
    const id = await memory.remember({ ...NOTE, text: 'Deploy on Fridays.' })
    expect(heard).toMatchObject([
      {
        type: 'commit',
        seq: await here.store.lastSeq(),
        session: rememberedSession(PROJECT),
        project: PROJECT.key,
        status: 'completed',
        observations: [{ id, title: 'Deploy on Fridays', type: 'decision' }],
      },
    ])
  })
})

describe('a correction', () => {
  test('is a new observation in the place of the old one, in one commit', async () => {
    const id = await memory.correct({
      observation: 1,
      text: 'It listens on <private>x</private>9090.',
      facts: ['9090', ' 9090'],
    })
    expect(await view(id)).toMatchObject({
      title: 'Port is 8080',
      narrative: 'It listens on [private]9090.',
      facts: ['9090'],
      concepts: ['server'],
      supersedes: [1],
      model: null,
      session: rememberedSession(PROJECT),
    })
    expect((await view(1))?.supersededBy).toBe(id)
    expect(heard).toMatchObject([{ type: 'commit', observations: [{ id }], transitions: [{ event: 'REMEMBER' }] }])
  })

  test('takes over the pin', async () => {
    await memory.pin([1], true)
    const id = await memory.correct({ observation: 1, title: 'Port is 9090' })
    expect([(await view(1))?.pinned, (await view(id))?.pinned]).toEqual([false, true])
  })

  test('masks secrets', async () => {
    const key = `sk-ant-api03-${'a1B2'.repeat(20)}`
    const id = await memory.correct({ observation: 1, text: `The key is ${key}`, facts: [`key ${key}`] })
    expect(JSON.stringify(await view(id))).not.toContain(key)
  })

  test('that cannot be is refused, and nobody hears of it', async () => {
    await expect(memory.correct({ observation: 99, title: 'x' })).rejects.toMatchObject({ code: 'not_found' })
    await expect(memory.correct({ observation: 1 })).rejects.toThrow('already has this content')
    await expect(memory.correct({ observation: 1, title: 'Port is 8080' })).rejects.toThrow('already has this content')
    await expect(memory.correct({ observation: 1, title: ' \n' })).rejects.toThrow('the title is empty')
    await expect(memory.correct({ observation: 1, text: '<private>all</private>' })).rejects.toThrow('private')
    await expect(memory.correct({ observation: 1, text: '' })).rejects.toThrow('the text is empty')
    expect(heard).toEqual([])
  })
})

describe('what is changed by hand', () => {
  test('is told once, with a number of its own', async () => {
    const before = await here.store.lastSeq()
    await memory.pin([1, 99], true)
    await memory.pin([1], true)
    await memory.link(2, 1, 'supersedes', true)
    await memory.link(2, 1, 'supersedes', true)
    await memory.link(2, 1, 'supersedes', false)
    await forgetting.forget({ ids: [2], filters: null, related: false, confirm: false })
    await forgetting.forget({ ids: [2], filters: null, related: false, confirm: true })
    await forgetting.forget({ ids: [2], filters: null, related: false, confirm: true })
    expect(heard).toEqual(
      [
        { change: 'pinned', ids: [1], on: true },
        { change: 'linked', from: 2, to: 1, on: true },
        { change: 'linked', from: 2, to: 1, on: false },
        { change: 'forgotten', ids: [2], summaries: 0, prompts: 0 },
      ].map((change, i) => ({ type: 'change', seq: before + 1 + i, at: NOW, ...change })),
    )
  })
})
