/** Daemons of two versions in one data directory. */
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { buildVersion, DaemonSandbox } from '../support/daemon.ts'
import { exited } from '../support/programs.ts'

const NEWER = '99.0.0'
let newer: string
beforeAll(() => {
  newer = buildVersion(NEWER)
})

let place: DaemonSandbox
beforeEach(() => {
  place = new DaemonSandbox()
})
afterEach(() => place.dispose())

const base = { session_id: 'demo', cwd: '/nowhere/shop', prompt_id: 'p1' }
const prompt = { ...base, hook_event_name: 'UserPromptSubmit', prompt: 'add a cart' }
const tool = (id: string) => ({
  ...base,
  hook_event_name: 'PostToolUse',
  tool_name: 'Edit',
  tool_input: { file_path: '/nowhere/shop/cart.ts' },
  tool_response: { ok: true },
  tool_use_id: id,
})

async function servesNewer(): Promise<void> {
  const version = async () => (await place.status().catch(() => null))?.version
  await expect.poll(version, { timeout: 15_000 }).toBe(NEWER)
}

describe('daemon.update', () => {
  test('an older daemon hands over to a newer one without losing an event', async () => {
    const old = await place.start()
    await place.hook(prompt)
    const sent: Promise<unknown>[] = []
    const ids = Array.from({ length: 40 }, (_, i) => `t${i}`)
    for (const [i, id] of ids.entries()) {
      if (i === 10) place.spawn({}, newer)
      sent.push(place.hook(tool(id)))
      await sleep(15)
    }
    await Promise.all(sent)
    await exited(old)
    await servesNewer()
    await place.drained()
    expect((await place.stored('demo')).filter((id) => id.startsWith('t')).sort()).toEqual([...ids].sort())
  })

  test('a newer hook brings the newer daemon by itself', async () => {
    await place.start()
    await place.hook(prompt, {}, { dist: newer })
    await servesNewer()
  })

  test('an older daemon never takes over from a newer one', async () => {
    await place.start({}, newer)
    expect(await exited(place.spawn())).toBe(3)
    expect((await place.status()).version).toBe(NEWER)
  })
})
