/** Memories have the time of what happened in the session, not of the day on which it was read. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { offlineObserver } from '../../../src/observer/offline/index.ts'
import { loadSettings } from '../../../src/settings/settings.ts'
import { readTranscriptEvents } from '../../../src/transfer/transcripts/index.ts'
import { TranscriptLines } from '../../support/transcript-lines.ts'
import { Harness } from './harness.ts'

let harness: Harness
beforeEach(async () => {
  harness = new Harness()
  harness.observer = offlineObserver
  await harness.start()
})
afterEach(() => harness.dispose())

const AT = Date.UTC(2025, 4, 5, 9)
const HOUR_MS = 3_600_000

async function backfill(lines: TranscriptLines): Promise<void> {
  const file = join(harness.directory, 's-1.jsonl')
  writeFileSync(file, lines.text)
  for await (const event of readTranscriptEvents(file, { settings: loadSettings('', {}).values })) {
    await harness.supervisor.accept(event)
  }
  await harness.settle()
}

const edit = { file_path: '/w/shop/total.ts', old_string: 'tax(tax(sum))', new_string: 'tax(sum)' }

it('a backfilled session whose last turn was interrupted is as old as it is', async () => {
  const lines = new TranscriptLines({ at: AT })
    .prompt('Fix the total')
    .tool('Edit', edit, 'ok')
    .says('Fixed: the tax was added twice.')
    .prompt('And add a test for the total')
    .tool('Bash', { command: 'npm test' }, '15 passed')
  await backfill(lines)
  const [observations, summaries] = await Promise.all([
    harness.store.observations({ limit: 100 }),
    harness.store.summaries({ limit: 100 }),
  ])
  expect(summaries.map(({ promptNumber }) => promptNumber).sort()).toEqual([1, 2])
  for (const { createdAt } of [...observations, ...summaries]) {
    expect(createdAt).toBeGreaterThanOrEqual(AT)
    expect(createdAt).toBeLessThan(AT + HOUR_MS)
  }
})

it('a session that is summarised by hand later is as old as it is', async () => {
  await backfill(new TranscriptLines({ at: AT }).prompt('Fix the total').tool('Edit', edit, 'ok').says('Fixed it.'))
  await harness.supervisor.summarize('s-1', null)
  await harness.settle()
  const summaries = await harness.store.summaries({ limit: 100 })
  expect(summaries.some(({ whole }) => whole === true)).toBe(true)
  for (const { createdAt } of summaries) expect(createdAt).toBeLessThan(AT + HOUR_MS)
})
