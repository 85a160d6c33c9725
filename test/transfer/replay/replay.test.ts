import { copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { builtInPromptFolder } from '../../../src/observer/model/prompts.ts'
import { goodAnswer } from '../../observer/servers/answers.ts'
import type { Fault, ModelRequest } from '../../observer/servers/fault.ts'
import { MessagesServer } from '../../observer/servers/messages-server.ts'
import { asks, edits, end, Recorded, SESSION, says, WORK } from './recorded.ts'

let recorded: Recorded
const closing: { close(): Promise<void> }[] = []

beforeEach(async () => {
  recorded = await Recorded.make()
})
afterEach(async () => {
  for (const server of closing.splice(0)) await server.close()
  await recorded.dispose()
})

const kindsOf = (list: readonly { kind: string }[]) => list.map(({ kind }) => kind)
const KEY = 'sk-ant-0123456789-test'

async function model(handler: (call: ModelRequest) => string | Fault = goodAnswer) {
  const server = await MessagesServer.listen(handler, { apiKey: KEY })
  closing.push(server)
  return { server, env: { CLAUDE_MEM_ANTHROPIC_BASE_URL: server.url, CLAUDE_MEM_ANTHROPIC_API_KEY: KEY } }
}

describe('a replay with the observer of then', () => {
  it('comes to the same, and leaves every byte of the memory as it is', async () => {
    await recorded.tell(...WORK)
    const before = recorded.contents()
    const view = await recorded.replay()
    expect(view.observations.length).toBeGreaterThan(0)
    expect(new Set(kindsOf([...view.observations, ...view.summaries]))).toEqual(new Set(['same']))
    expect(view).toMatchObject({
      session: SESSION,
      projectName: 'shop',
      observer: { provider: 'offline', model: null },
      payloads: { total: 4, kept: 4, goneFrom: null },
      toolUses: 4,
      prompts: 2,
      failed: [],
    })
    expect(view.after).toEqual(view.before)
    expect(recorded.contents()).toEqual(before)
    expect(readdirSync(join(recorded.temporary, 'tmp'))).toEqual([])
  })

  it('keeps the time of the session: what was idle then is observed then', async () => {
    await recorded.tell(asks('Look around'), edits('a.ts', 'one', 'two'))
    await recorded.later(3_600_000)
    await recorded.tell(edits('b.ts', 'three', 'four'), says('Done.'), end)
    const view = await recorded.replay()
    expect(kindsOf(view.observations)).not.toContain('changed')
    expect(new Set(kindsOf([...view.observations, ...view.summaries]))).toEqual(new Set(['same']))
  })

  it('does not miss what a private turn never said', async () => {
    await recorded.tell(asks('', true), edits('secret.ts', 'one', 'two'), says('Nobody knows.'), ...WORK.slice(1))
    const view = await recorded.replay()
    expect(view.payloads).toMatchObject({ total: 4, kept: 4, goneFrom: null })
    expect(new Set(kindsOf([...view.observations, ...view.summaries]))).toEqual(new Set(['same']))
  })
})

describe('a replay with another observer', () => {
  it('shows what would change, what would be missing and what would be new', async () => {
    await recorded.tell(...WORK)
    const view = await recorded.replay({ provider: 'plain' })
    expect(view.after.observations).toBe(4)
    expect(kindsOf(view.observations)).not.toContain('same')
    const changed = view.observations.find((one) => one.kind === 'changed')
    expect(changed?.fields.map(({ field }) => field)).toContain('title')
    // What came from the same tool use is the same memory in other words.
    expect(changed?.stored.sources).toEqual(expect.arrayContaining(changed?.fresh.sources ?? ['none']))
  })

  it('uses the given prompts, and does not record the cost', async () => {
    await recorded.tell(...WORK)
    const folder = recorded.directory('prompts')
    copyFileSync(join(builtInPromptFolder(), 'init.md'), join(folder, 'init.md'))
    const ours = readFileSync(join(folder, 'init.md'), 'utf8')
    writeFileSync(join(folder, 'init.md'), `${ours}\nMention every teapot.\n`)
    const { server, env } = await model()
    const before = recorded.contents()
    const view = await recorded.replay({ provider: 'anthropic', promptDir: folder }, env)
    expect(server.requests.map(({ call }) => call?.system.includes('Mention every teapot.'))).toEqual(
      Array(view.after.calls).fill(true),
    )
    expect(view.observer).toEqual({ provider: 'anthropic', model: 'claude-haiku-4-5', promptDir: folder })
    expect(view.after).toMatchObject({ calls: 4, observations: 4, summaries: 2, unpriced: 0 })
    expect(view.after.cost).toBeGreaterThan(0)
    expect(view.before.calls).toBe(0)
    expect(recorded.contents()).toEqual(before)
    expect(await recorded.harness.store.calls({})).toEqual([])
  })

  it('estimates the cost first, and calls no model above the budget', async () => {
    await recorded.tell(...WORK)
    const { server, env } = await model()
    const { cost } = await recorded.prepare({ provider: 'anthropic' }, env)
    expect(cost?.estimate.toolUses).toBe(4)
    expect(cost?.estimate.cost).toBeGreaterThan(0)
    const spent = { ...env, CLAUDE_MEM_DAILY_BUDGET_USD: '0' }
    await expect(recorded.prepare({ provider: 'anthropic' }, spent)).rejects.toThrow(/budget is 0/)
    const little = { ...env, CLAUDE_MEM_DAILY_BUDGET_USD: '0.000001' }
    await expect(recorded.replay({ provider: 'anthropic' }, little)).rejects.toThrow(/daily budget is used up/)
    expect(server.requests).toHaveLength(1)
  })

  it("stops with the provider's error, and leaves no files", async () => {
    await recorded.tell(...WORK)
    const { env } = await model(() => ({ fault: 'status', status: 529, message: 'we are full' }))
    await expect(recorded.replay({ provider: 'anthropic' }, env)).rejects.toThrow(/we are full/)
    expect(readdirSync(join(recorded.temporary, 'tmp'))).toEqual([])
  })

  it('stops on Ctrl-C during a call, and leaves no files', async () => {
    await recorded.tell(...WORK)
    const interrupted = new AbortController()
    const { env } = await model(() => {
      interrupted.abort(new Error('it was interrupted'))
      return { fault: 'hang' }
    })
    await expect(recorded.replay({ provider: 'anthropic' }, env, interrupted.signal)).rejects.toThrow('interrupted')
    expect(readdirSync(join(recorded.temporary, 'tmp'))).toEqual([])
  })

  it('requires a model for prompts, readable prompts, and a complete provider configuration', async () => {
    await recorded.tell(...WORK)
    const { env } = await model()
    const folder = recorded.directory('broken')
    const wish = { provider: 'anthropic', promptDir: folder } as const
    await expect(recorded.prepare({ promptDir: folder })).rejects.toThrow(/offline uses no model/)
    await expect(recorded.prepare({ ...wish, promptDir: join(folder, 'nowhere') }, env)).rejects.toThrow(
      /cannot be read/,
    )
    await expect(recorded.prepare(wish, env)).rejects.toThrow(/contains no prompt/)
    writeFileSync(join(folder, 'inti.md'), 'x')
    await expect(recorded.prepare(wish, env)).rejects.toThrow(/inti\.md: there is no prompt of this name/)
    writeFileSync(join(folder, 'inti.md'), '')
    const other = recorded.directory('other')
    writeFileSync(join(other, 'init.md'), '---\nversion: 1\n---\nNothing to fill in.')
    await expect(recorded.prepare({ ...wish, promptDir: other }, env)).rejects.toThrow(/\{\{verbosity\}\}.* is missing/)
    await expect(recorded.prepare({ provider: 'gemini' })).rejects.toThrow(/gemini cannot be used: there is no key/)
  })
})

describe('a replay with removed payloads', () => {
  it('says how much is gone, and does not compare what came of it', async () => {
    await recorded.tell(...WORK)
    const kept = await recorded.harness.store.recordedEvents(SESSION, 0, 100)
    const last = kept.filter(({ payload }) => payload !== null).slice(-3)
    await recorded.keep(last.reduce((sum, { payload }) => sum + Buffer.byteLength(JSON.stringify(payload)), 0))
    const view = await recorded.replay()
    const first = kept.find(({ kind }) => kind === 'tool_use')
    expect(view.payloads).toMatchObject({ total: 4, kept: 2, goneFrom: first?.at })
    expect(view.leftOut.gone).toBeGreaterThan(0)
    expect(view.leftOut.summaries).toBe(1)
    expect(new Set(kindsOf(view.observations))).toEqual(new Set(['same']))
    expect(view.observations.every((one) => 'fresh' in one && one.fresh.promptNumber === 2)).toBe(true)
  })

  it('refuses a session without payloads, without tool uses, or unknown', async () => {
    await recorded.tell(...WORK)
    await recorded.keep(0)
    await expect(recorded.replay()).rejects.toThrow(/payloads of its 4 tool uses are gone.*KEEP_PAYLOADS_DAYS/s)
    await expect(recorded.prepare({}, {}, 'nobody')).rejects.toThrow(/no session starts with "nobody"/)
    expect(readdirSync(recorded.temporary)).toEqual([])
  })
})
