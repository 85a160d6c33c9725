/** After every kind of change a session starts with what is true then, though the daemon keeps what it rendered. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { MemoryEvent } from '../../src/domain/event.ts'
import type { DaemonClient } from '../../src/transport/client.ts'
import { DaemonSandbox } from '../support/daemon.ts'

const PROJECT = { key: 'dir:/w/shop', name: 'shop' }
let place: DaemonSandbox
let client: DaemonClient
let sessions = 0

beforeAll(async () => {
  place = new DaemonSandbox()
  await place.start({ CLAUDE_MEM_PROVIDER: 'offline' })
  const { DaemonClient } = await import('../../src/transport/client.ts')
  client = await DaemonClient.connect(place.paths)
})
afterAll(async () => {
  client.close()
  await place.dispose()
})

const base = (session: string, id: string) => ({
  id,
  session,
  at: Date.now(),
  client: 'rest',
  project: PROJECT,
  cwd: '/w/shop',
  transcriptPath: null,
  promptId: null,
  agent: null,
})
const send = (event: MemoryEvent) => client.call('event', { event, version: '' })

/** What a new session gets, twice, and what is rendered now. */
async function starts(): Promise<{ first: string; second: string; rendered: string }> {
  const start = async () => {
    const session = `start-${++sessions}`
    const answer = await send({ ...base(session, `${session}-begin`), kind: 'session_start', source: 'startup' })
    return answer.context ?? ''
  }
  const first = await start()
  const second = await start()
  const { context } = await client.call('context', { project: PROJECT.key })
  return { first, second, rendered: context }
}

const remember = async (text: string) =>
  (await client.call('remember', { project: PROJECT, text, kind: 'decision', by: 'person' })).observation

/** Each returns a text that must be in the next start, or must not. */
const CHANGES: Record<string, () => Promise<{ has?: string; hasNot?: string }>> = {
  'a memory by hand': async () => {
    await remember('Use pnpm 9 for the storefront workspace.')
    return { has: 'pnpm 9' }
  },
  'a correction': async () => {
    const id = await remember('Deploy the storefront from the branch release.')
    await client.call('correct', { observation: id, title: 'Deploy from trunk', text: 'Deploy it from trunk only.' })
    return { has: 'from trunk', hasNot: 'branch release' }
  },
  'a superseded memory': async () => {
    const older = await remember('Store carts in Memcached with a lifetime of one hour.')
    const newer = await remember('Store carts in PostgreSQL, table shopping_carts.')
    expect((await starts()).first).toContain('Memcached')
    await client.call('link', { from: newer, to: older, kind: 'supersedes', on: true })
    return { has: 'shopping_carts', hasNot: 'Memcached' }
  },
  'a forgotten memory': async () => {
    const id = await remember('The staging password rotates with vault-agent.')
    expect((await starts()).first).toContain('vault-agent')
    await client.call('forget', { ids: [id], confirm: true })
    return { hasNot: 'vault-agent' }
  },
  'a note that differs from another in one word': async () => {
    await remember('Build the image with node:20-alpine.')
    await remember('Build the image with node:22-alpine.')
    expect((await starts()).first).toContain('node:20-alpine')
    return { has: 'node:22-alpine' }
  },
  'a pinned memory': async () => {
    const id = await remember('Never log the header x-shop-customer.')
    await client.call('pin', { ids: [id], on: true })
    return { has: '## Pinned' }
  },
  'a new name': async () => {
    await client.call('project_rename', { project: PROJECT.key, name: 'storefront-renamed' })
    return { has: 'storefront-renamed' }
  },
  'a turn that goes on': async () => {
    const text = 'Migrate the checkout service to fastify-websocket next, please.'
    await send({ ...base('asked', 'asked-1'), kind: 'prompt', text, private: false })
    const edit = { file_path: '/w/storefront/a.ts', old_string: 'a', new_string: 'b' }
    await send({
      ...base('asked', 'asked-2'),
      kind: 'tool_use',
      tool: 'Edit',
      input: edit,
      response: 'ok',
      durationMs: 1,
    })
    await client.call('flush', { session: 'asked', wait: true })
    return { has: 'fastify-websocket' }
  },
  'a session that is erased': async () => {
    await client.call('forget', {
      session: 'asked',
      kinds: ['observation', 'summary', 'prompt'],
      confirm: true,
    })
    return { hasNot: 'fastify-websocket' }
  },
}

describe('started context', () => {
  test.each(Object.keys(CHANGES))('startedContext.isCurrentAfter %s', async (name) => {
    await starts()
    const { has, hasNot } = (await CHANGES[name]?.()) ?? {}
    const { first, second, rendered } = await starts()
    expect(first).toBe(rendered)
    expect(second).toBe(rendered)
    if (has !== undefined) expect(first).toContain(has)
    if (hasNot !== undefined) expect(first).not.toContain(hasNot)
  })
})
