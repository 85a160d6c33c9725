import { expect, test } from 'vitest'
import { createActor } from 'xstate'
import { getShortestPaths } from 'xstate/graph'
import { DRAIN_MS, supervisorMachine } from '../../machines/supervisor/machine.ts'

test('supervisor.life: restoring, serving, draining, stopped', () => {
  const actor = createActor(supervisorMachine, { input: { at: 5 } }).start()
  expect(actor.getSnapshot().value).toBe('restoring')
  actor.send({ type: 'RESTORED', effects: 1, stranded: 2, spooled: 3 })
  expect(actor.getSnapshot()).toMatchObject({
    value: 'serving',
    context: { startedAt: 5, restored: { effects: 1, stranded: 2, spooled: 3 } },
  })
  actor.send({ type: 'DRAIN', reason: 'SIGTERM', at: 10 })
  actor.send({ type: 'DRAIN', reason: 'again', at: 20 })
  expect(actor.getSnapshot()).toMatchObject({
    value: 'draining',
    context: { drain: { reason: 'SIGTERM', deadline: 10 + DRAIN_MS } },
  })
  actor.send({ type: 'DRAINED' })
  expect(actor.getSnapshot()).toMatchObject({ value: 'stopped', status: 'done' })
})

test('supervisor.paths: every state leads to stopped', () => {
  const paths = getShortestPaths(supervisorMachine, {
    input: { at: 0 },
    events: [
      { type: 'RESTORED', effects: 0, stranded: 0, spooled: 0 },
      { type: 'DRAIN', reason: 'x', at: 0 },
      { type: 'DRAINED' },
      { type: 'FAILED', reason: 'x' },
    ],
  })
  const values = new Set(paths.map((path) => path.state.value))
  expect([...values].sort()).toEqual(['draining', 'restoring', 'serving', 'stopped'])
  for (const path of paths) {
    const actor = createActor(supervisorMachine, { input: { at: 0 } }).start()
    for (const { event } of path.steps) if (!event.type.startsWith('xstate.')) actor.send(event as never)
    if (actor.getSnapshot().status === 'active') {
      actor.send({ type: 'DRAIN', reason: 'end', at: 0 })
      actor.send({ type: 'DRAINED' })
    }
    expect(actor.getSnapshot().value).toBe('stopped')
  }
})
