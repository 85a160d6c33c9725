import { afterEach, beforeEach, expect, test } from 'vitest'
import { events, Harness } from '../../daemon/actors/harness.ts'
import { observationRecord, promptRecord, sessionOf } from '../../store/import-contract.ts'
import { NOW } from '../../store/samples.ts'

let h: Harness
beforeEach(async () => {
  h = await new Harness().start()
})
afterEach(() => h.dispose())

const taken = async (records: Parameters<typeof h.store.importBatch>[0]['records'], prompts: number) => {
  const batch = { sessions: [sessionOf('s', { prompts })], records, dryRun: false }
  return (await h.store.importBatch(batch, NOW + 60_000)).outcomes.map(({ is }) => is)
}

test('exchange.resumed: an imported session continues when its client opens it again', async () => {
  expect(await taken([promptRecord('s', 1), promptRecord('s', 2), observationRecord('s')], 2)).not.toContain('refused')
  expect(await h.supervisor.accept(events.prompt('s', 'p3'))).toMatchObject({ duplicate: false })
  expect(await h.store.session('s')).toMatchObject({ prompts: 3, status: 'active' })
  // Now it is a live one: what is missing is added, and its own next number stays its own.
  expect(await taken([promptRecord('s', 4), observationRecord('s', { narrative: 'More.' })], 4)).toEqual([
    'refused',
    'added',
  ])
  await h.supervisor.accept(events.prompt('s', 'p4'))
  expect(await h.store.session('s')).toMatchObject({ prompts: 4 })
  expect(await h.store.observations({ session: 's' })).toHaveLength(2)
})
