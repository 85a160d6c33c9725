import { expect, test } from 'vitest'
import { createActor } from 'xstate'
import { getShortestPaths } from 'xstate/graph'
import { supervisorMachine } from '../../machines/supervisor/machine.ts'

test('supervisor.life: restoring, serving, draining, stopped; a second reason to drain changes nothing', () => {
  const actor = createActor(supervisorMachine).start()
  expect(actor.getSnapshot().value).toBe('restoring')
  actor.send({ type: 'RESTORED' })
  expect(actor.getSnapshot().value).toBe('serving')
  actor.send({ type: 'DRAIN' })
  actor.send({ type: 'DRAIN' })
  expect(actor.getSnapshot().value).toBe('draining')
  actor.send({ type: 'DRAINED' })
  expect(actor.getSnapshot()).toMatchObject({ value: 'stopped', status: 'done' })
})

test('supervisor.paths: every state leads to stopped', () => {
  const paths = getShortestPaths(supervisorMachine, {
    events: [{ type: 'RESTORED' }, { type: 'DRAIN' }, { type: 'DRAINED' }, { type: 'FAILED' }],
  })
  const values = new Set(paths.map((path) => path.state.value))
  expect([...values].sort()).toEqual(['draining', 'restoring', 'serving', 'stopped'])
  for (const path of paths) {
    const actor = createActor(supervisorMachine).start()
    for (const { event } of path.steps) if (!event.type.startsWith('xstate.')) actor.send(event as never)
    if (actor.getSnapshot().status === 'active') {
      actor.send({ type: 'DRAIN' })
      actor.send({ type: 'DRAINED' })
    }
    expect(actor.getSnapshot().value).toBe('stopped')
  }
})
