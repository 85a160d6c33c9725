import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { createActor } from 'xstate'
import { readSnapshot, sessionMachine } from '../../machines/session/machine.ts'
import { migrateSnapshot, SESSION_MACHINE_VERSION } from '../../machines/session/migrations.ts'
import { rebuildSnapshot, stateName } from '../../machines/session/snapshot.ts'
import { POLICY, Session } from './inbox-model.ts'

const FIXTURES = new URL('./fixtures/', import.meta.url)
const files = readdirSync(FIXTURES)

describe('snapshot.migrations', () => {
  test('there is a fixture for every released version of the machine', () => {
    expect(files).toEqual([`session-v${SESSION_MACHINE_VERSION}.json`])
  })

  test.each(files)('%s is loaded with its state, and the session continues', (file) => {
    const text = readFileSync(new URL(file, FIXTURES), 'utf8')
    const actor = createActor(sessionMachine, { input: { at: 0 }, snapshot: readSnapshot(text) }).start()
    expect(stateName(actor.getSnapshot().value)).toBe('batching.waiting')
    const env = { at: 2e12, freshId: 'next', policy: POLICY, offline: null }
    actor.send({ type: 'DEADLINE', env })
    expect(stateName(actor.getSnapshot().value)).toBe('batching.calling')
    expect(actor.getSnapshot().context.effect).toMatchObject({ id: 'next', kind: 'observe', prompt: 2, limit: 2 })
  })

  test('are applied one after the other', () => {
    const current = JSON.parse(new Session().snapshot)
    const migrated = migrateSnapshot(
      {
        ...current,
        version: SESSION_MACHINE_VERSION - 2,
        context: { ...current.context, prompt: undefined, promts: 4 },
      },
      {
        [SESSION_MACHINE_VERSION - 2]: (old) => ({
          ...old,
          version: old.version + 1,
          context: { ...old.context, prompts: old.context.promts },
        }),
        [SESSION_MACHINE_VERSION - 1]: (old) => ({
          ...old,
          version: old.version + 1,
          context: { ...old.context, prompt: old.context.prompts },
        }),
      },
    )
    expect(migrated).toMatchObject({ version: SESSION_MACHINE_VERSION, context: { prompt: 4 } })
  })
})

test('snapshot.released: a session of a version that was never released is refused with what it was written by', () => {
  const current = JSON.parse(new Session().snapshot)
  expect(() => migrateSnapshot({ ...current, version: 4 })).toThrow(/before the first release \(session machine 4,/)
})

describe('snapshot.damage', () => {
  const good = JSON.parse(new Session().snapshot)
  test.each([
    ['half a file', '{"version":1,"value":"obs'],
    ['an empty string', ''],
    ['another JSON value', '[]'],
    ['a state that does not exist', JSON.stringify({ ...good, value: { ...good.value, life: 'dreaming' } })],
    ['half a state', JSON.stringify({ ...good, value: { ...good.value, life: { batching: 'dreaming' } } })],
    ['one of its regions', JSON.stringify({ ...good, value: { life: 'observing' } })],
    ['a missing field', JSON.stringify({ ...good, context: { ...good.context, turns: undefined } })],
    ['a field of another type', JSON.stringify({ ...good, context: { ...good.context, turns: {} } })],
    ['a newer machine', JSON.stringify({ ...good, version: SESSION_MACHINE_VERSION + 1 })],
    ['a machine that was never released', JSON.stringify({ ...good, version: SESSION_MACHINE_VERSION - 1 })],
  ])('%s is refused with a reason', (_name, text) => {
    expect(() => readSnapshot(text)).toThrow()
  })

  test('a session can be rebuilt from its rows alone', () => {
    const text = rebuildSnapshot({
      at: 1,
      prompts: 7,
      generation: 2,
      pending: [
        { prompt: 7, count: 1 },
        { prompt: 6, count: 2 },
        { prompt: 6, count: 1 },
      ],
      failed: 3,
      summaries: [5, 7],
    })
    const { context } = createActor(sessionMachine, { input: { at: 0 }, snapshot: readSnapshot(text) }).getSnapshot()
    expect(context).toMatchObject({
      prompt: 7,
      generation: 2,
      failed: 3,
      turns: [
        { prompt: 5, summary: true },
        { prompt: 6, pending: 3 },
        { prompt: 7, pending: 1, summary: true },
      ],
    })
  })
})
