/** Records for the tests of the shared log. */
import { randomBytes } from 'node:crypto'
import type { ReceivedRecord, RecordId, TeamRecord } from '../../../src/domain/team-record.ts'
import type { LogCursor } from '../../../src/store/team-port.ts'
import type { SharedLog } from '../../../src/team/shared-log.ts'
import { waitUntil } from '../../support/waiting.ts'

export const REPOSITORY = 'repo:example.org/team/app'
export const OTHER_REPOSITORY = 'repo:example.org/team/other'
export const NOW = 1_790_000_000_000

export function recordId(): RecordId {
  return randomBytes(16).toString('hex')
}

export function observationRecord(title: string, repository = REPOSITORY, at = NOW): TeamRecord {
  return {
    id: recordId(),
    kind: 'observation',
    repository,
    at,
    body: {
      title,
      session: { id: 's1', client: 'claude-code', prompts: 1, startedAt: at },
    } as Extract<TeamRecord, { kind: 'observation' }>['body'],
  }
}

export function pinRecord(observation: RecordId, repository = REPOSITORY): TeamRecord {
  return { id: recordId(), kind: 'pin', repository, at: NOW, body: { observation, on: true, version: 1 } }
}

export function tombstone(target: RecordId, repository = REPOSITORY): TeamRecord {
  return { id: recordId(), kind: 'tombstone', repository, at: NOW, body: { target } }
}

export const ORIGIN = { author: '', machine: 'machine-1' }

/**
 * Everything after the cursors, in as many pulls as it takes. Waits while a transaction of anybody else in the server, such
 * as autovacuum, holds records back.
 */
export async function pullAll(log: SharedLog, from: readonly LogCursor[], limit = 100) {
  const records: ReceivedRecord[] = []
  let cursors = [...from]
  let heldBackMs: number | null = null
  await waitUntil('no transaction holds records back', async () => {
    let more = true
    while (more) {
      const pulled = await log.pull(cursors, limit)
      records.push(...pulled.records)
      ;({ cursors, more, heldBackMs } = pulled)
    }
    return heldBackMs === null
  })
  return { records, cursors, heldBackMs }
}
