/**
 * Pushing records. A batch is one statement. If PostgreSQL refuses it, it is tried again in halves until the record that it
 * does not accept is alone, so that one bad record never holds up the others.
 */

import { NAME_RULE } from '../../domain/names.ts'
import type { RecordOrigin, TeamRecord } from '../../domain/team-record.ts'
import { OWN_STATES, TeamError } from '../errors.ts'
import type { PushOutcome } from '../shared-log.ts'
import type { PostgresDatabase } from './connection.ts'
import { LOG_SCHEMA_VERSION } from './migrations/index.ts'

/** The schema accepts 1000 in a statement. */
const MAX_BATCH_RECORDS = 500
/** About what is sent with one statement; a single record may be larger than half of it. */
const MAX_BATCH_BYTES = 2 * 1024 * 1024
/** The schema's limit, which is measured as PostgreSQL prints it and in its binary form: about the same size. */
export const MAX_RECORD_BYTES = 256 * 1024

const REASONS: Record<string, string> = {
  unknown_repository: 'the repository is not in the shared log, or this role has no grant for it',
  not_writable: 'this role may only read this repository',
  not_erasable: "the record is another author's, and this role may not erase those",
}

const CONSTRAINT_REASONS: Record<string, string> = {
  records_id: 'its id is not 32 hexadecimal digits',
  records_kind: 'its kind is unknown',
  records_machine: `the name of the machine does not have ${NAME_RULE}`,
  records_made_at: 'its time is out of range',
  records_body: 'it is too large, or its body is not an object',
  records_target: 'a tombstone needs a target, and other records have none',
}

interface Prepared {
  /** Index in the caller's list. */
  n: number
  json: string
}

type SentOutcome = { n: number; outcome: string }

export async function pushRecords(
  database: PostgresDatabase,
  records: readonly TeamRecord[],
  origin: RecordOrigin,
): Promise<PushOutcome[]> {
  const outcomes: PushOutcome[] = records.map(() => ({ is: 'known' }))
  const seen = new Set<string>()
  const prepared: Prepared[] = []
  records.forEach((record, n) => {
    const key = `${record.repository} ${record.id}`
    if (seen.has(key)) return
    seen.add(key)
    const json = recordJson(record, n)
    if (Buffer.byteLength(json) > MAX_RECORD_BYTES) outcomes[n] = { is: 'refused', reason: 'it is too large' }
    else prepared.push({ n, json })
  })
  for (const batch of batches(prepared)) {
    for (const [n, outcome] of await pushBatch(database, batch, origin)) outcomes[n] = outcome
  }
  return outcomes
}

function* batches(prepared: readonly Prepared[]): Generator<Prepared[]> {
  let batch: Prepared[] = []
  let bytes = 0
  for (const record of prepared) {
    if (batch.length === MAX_BATCH_RECORDS || (batch.length > 0 && bytes + record.json.length > MAX_BATCH_BYTES)) {
      yield batch
      batch = []
      bytes = 0
    }
    batch.push(record)
    bytes += record.json.length
  }
  if (batch.length > 0) yield batch
}

async function pushBatch(
  database: PostgresDatabase,
  batch: readonly Prepared[],
  origin: RecordOrigin,
): Promise<[number, PushOutcome][]> {
  try {
    const [row] = await database.query<{ outcomes: SentOutcome[] }>(
      'SELECT claude_mem.push($1::pg_catalog.jsonb, $2::pg_catalog.text, $3::pg_catalog.text, $4::pg_catalog.int4) AS outcomes',
      [`[${batch.map(({ json }) => json).join(',')}]`, origin.author, origin.machine, LOG_SCHEMA_VERSION],
    )
    return (row?.outcomes ?? []).map(({ n, outcome }) => [n, toOutcome(outcome)])
  } catch (error) {
    if (!(error instanceof TeamError) || !isAboutRecords(error)) throw error
    const [only, ...others] = batch
    if (only !== undefined && others.length === 0) return [[only.n, { is: 'refused', reason: refusalReason(error) }]]
    const half = Math.ceil(batch.length / 2)
    return [
      ...(await pushBatch(database, batch.slice(0, half), origin)),
      ...(await pushBatch(database, batch.slice(half), origin)),
    ]
  }
}

/** A name of an author that is taken concerns the whole push: the user chooses another one. */
function isAboutRecords(error: TeamError): boolean {
  if (error.state === OWN_STATES.authorName) return false
  return error.code === 'refused' || (error.code === 'denied' && error.state === '42501')
}

function toOutcome(outcome: string): PushOutcome {
  if (outcome === 'stored' || outcome === 'known' || outcome === 'others') return { is: outcome }
  return { is: 'refused', reason: REASONS[outcome] ?? outcome }
}

function refusalReason(error: TeamError): string {
  return CONSTRAINT_REASONS[error.constraint ?? ''] ?? error.message
}

function recordJson(record: TeamRecord, n: number): string {
  const { id, kind, repository, at } = record
  const target = record.kind === 'tombstone' ? record.body.target : null
  const body = record.kind === 'tombstone' ? null : record.body
  const row = { n, id, kind, repository, at, target, body }
  const json = JSON.stringify(row)
  return NOT_IN_JSONB.test(json) ? JSON.stringify(row, acceptableText) : json
}

/** Escapes of NUL and of halves of surrogate pairs: valid in JSON, not in jsonb. A text that was cut may end with one. */
const NOT_IN_JSONB = /\\u(?:0000|d[89a-f])/i

function acceptableText(_: string, value: unknown): unknown {
  return typeof value === 'string' ? Buffer.from(value).toString().replaceAll('\0', '') : value
}
