/** The summary on demand: of a turn, of a whole session, with and without a provider that answers. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { COMMANDS } from '../../src/cli/commands/index.ts'
import type { MemoryEvent } from '../../src/domain/event.ts'
import { NO_FILTERS } from '../../src/domain/search-query.ts'
import { offlineObserver } from '../../src/observer/offline/index.ts'
import { type Observer, ObserverError } from '../../src/observer/port.ts'
import { InProcessProgram } from '../cli/in-process-program.ts'
import { events } from '../daemon/actors/harness.ts'
import { type Served, served } from './served.ts'

let s: Served
beforeEach(async () => {
  s = await served()
  const { supervisor } = s.h
  s.h.observer = offlineObserver
  const turn = async (n: number, prompt: string, file: string, lastMessage: string, more: MemoryEvent[] = []) => {
    await supervisor.accept(events.prompt('session-one', `p${n}`, prompt))
    for (const event of more) await supervisor.accept(event)
    const edit = { file_path: `/w/shop/src/${file}`, old_string: 'a', new_string: `const limit${n} = ${n}00` }
    const used = { ...events.tool('session-one', `t${n}`), kind: 'tool_use' as const, tool: 'Edit', input: edit }
    await supervisor.accept({ ...used, response: { filePath: edit.file_path }, durationMs: null })
    await supervisor.accept({
      ...events.turnEnd('session-one', `e${n}`),
      kind: 'turn_end',
      lastMessage,
      error: null,
      words: [],
    })
    await s.h.settle()
  }
  const question = 'How does the mobile app log in?'
  const asked = { questions: [{ question, options: [{ label: 'JWT' }, { label: 'cookies' }] }] }
  const choice = {
    ...events.tool('session-one', 'q1'),
    kind: 'tool_use' as const,
    tool: 'AskUserQuestion',
    input: asked,
  }
  await turn(1, 'Fix the login', 'login.ts', 'The login uses JWT because of the mobile app.', [
    { ...choice, response: { answers: { [question]: 'JWT' } }, durationMs: null },
  ])
  await turn(2, 'Add a cart', 'cart.ts', 'The cart has a limit of 200 items.\n\nShall I add tests?')
})
afterEach(() => s.close())

const post = async (body: object) => {
  const headers = { authorization: `Bearer ${s.token}`, 'content-type': 'application/json' }
  const answer = await fetch(`http://127.0.0.1:${s.port}/api/summarize`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  })
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
}

describe('summarize', () => {
  test('a whole session: composed of its turns, with key files and decisions, stored and found by search', async () => {
    const { status, body } = await post({ session: 'session-o' })
    expect(status).toBe(200)
    expect(body).toMatchObject({ session: 'session-one', done: true, waiting: null })
    expect(body.summary).toMatchObject({ whole: true, request: expect.stringContaining('Fix the login') })
    expect(body.summary).toMatchObject({ nextSteps: expect.stringContaining('add tests') })
    expect(body.keyFiles).toEqual(expect.arrayContaining([expect.stringContaining('cart.ts')]))
    expect(body.decisions).toMatchObject([{ title: expect.stringContaining('JWT') }])
    const stored = (await s.h.store.summaries({ session: 'session-one' })).filter(({ whole }) => whole === true)
    expect(stored).toMatchObject([{ promptNumber: 2 }])
    const { answer } = await s.client.call('search', { ...NO_FILTERS, kinds: ['summary'], query: 'login cart' })
    expect(answer.hits.flatMap((hit) => [hit, ...hit.further]).map(({ id }) => id)).toContain(stored[0]?.id)
  })

  test('asked again, the new summary of the whole session replaces the old one', async () => {
    await post({ session: 'session-one', whole: true })
    await s.h.supervisor.accept(events.prompt('session-one', 'p3', 'Rename the shop'))
    await s.h.supervisor.accept(events.turnEnd('session-one', 'e3'))
    const { body } = await post({ session: 'session-one', whole: true })
    expect(body.summary).toMatchObject({ request: expect.stringContaining('Rename the shop') })
    const summaries = await s.h.store.summaries({ session: 'session-one' })
    expect(summaries.filter(({ whole }) => whole === true)).toHaveLength(1)
    expect(summaries.filter(({ whole }) => whole !== true)).toHaveLength(3)
  })

  test('an open turn: what it did so far', async () => {
    await s.h.supervisor.accept(events.prompt('session-one', 'p3', 'Rename the shop'))
    await s.h.supervisor.accept(events.tool('session-one', 't3'))
    const { body } = await post({ session: 'session-one', prompt: 3 })
    expect(body).toMatchObject({ done: true, summary: { promptNumber: 3, request: 'Rename the shop' } })
    expect(body.summary).not.toHaveProperty('whole')
  })

  test('a provider that fails does not keep a user waiting for the whole session', async () => {
    const down = async (): Promise<never> => {
      throw new ObserverError('provider', 'overloaded')
    }
    const failing: Observer = { provider: 'test', observe: down, summarize: down, compact: down }
    s.h.observer = failing
    expect((await post({ session: 'session-one' })).body).toMatchObject({ done: true, summary: { whole: true } })
    // The circuit breaker is open now.
    expect((await post({ session: 'session-one' })).body).toMatchObject({ done: true, summary: { whole: true } })
  })

  test('a turn whose provider fails is answered with the reason, and made later', async () => {
    const summarize = async (): Promise<never> => {
      throw new ObserverError('provider', 'overloaded')
    }
    s.h.observer = { ...offlineObserver, provider: 'test', summarize }
    const { body } = await post({ session: 'session-one', prompt: 1 })
    expect(body).toMatchObject({ done: false, summary: null, waiting: 'overloaded' })
  })

  test('claude-mem summarize prints it, and claude-mem show --session prints it again', async () => {
    const program = new InProcessProgram(s.paths.dataDir, COMMANDS)
    const before = await program.run(['show', '--session', 'session-o'])
    expect(before.stdout).toContain('turn 1')
    expect(before.stdout).toContain('claude-mem summarize session-one')
    const made = await program.run(['summarize', 'session-o'])
    expect(made).toMatchObject({ code: 0, stdout: expect.stringContaining('session session-one, whole session') })
    expect(made.stdout).toMatch(/key files +.*cart\.ts/)
    expect(made.stdout).toMatch(/decisions +#\d+ .*JWT/)
    const again = await program.run(['show', '--session', 'session-o'])
    expect(again.stdout).toContain('whole session')
    expect(again.stdout).not.toContain('turn 1')
    const turn = await program.run(['summarize', 'session-o', '--turn', '1', '--json'])
    expect(JSON.parse(turn.stdout)).toMatchObject({ done: true, summary: { promptNumber: 1 } })
  })

  test('a turn that does not exist, and both a turn and the whole, are refused', async () => {
    expect((await post({ session: 'session-one', prompt: 9 })).status).toBe(404)
    expect((await post({ session: 'session-one', prompt: 1, whole: true })).status).toBe(422)
    expect((await post({ session: 'nothing-like-it' })).status).toBe(404)
  })
})
