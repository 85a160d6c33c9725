/** Rows of memories as records that leave the store. */
import type { Observation, Summary } from '../../memory/observation.ts'
import type { MemoryKind } from '../../search/query.ts'
import type { MemoryRecord, ObservationRecord, PromptRecord, SummaryRecord } from '../import-port.ts'
import { type ObservationRow, type SummaryRow, toObservation, toSummary } from './memories.ts'
import { idOf, kindOf, rowOf } from './search/rows.ts'
import { all, type Connection } from './statement.ts'

/** In the order of the rows. */
export function selectRecords(db: Connection, rows: readonly number[]): MemoryRecord[] {
  const idsOf = (kind: MemoryKind) => JSON.stringify(rows.filter((row) => kindOf(row) === kind).map(idOf))
  const found = new Map<number, MemoryRecord>()
  for (const row of selectObservations(db, idsOf('observation'))) {
    found.set(rowOf('observation', row.id), observationRecord(toObservation(row)))
  }
  for (const row of selectSummaries(db, idsOf('summary'))) {
    found.set(rowOf('summary', row.id), summaryRecord(toSummary(row)))
  }
  for (const { id, ...prompt } of selectPrompts(db, idsOf('prompt'))) found.set(rowOf('prompt', id), prompt)
  return rows.flatMap((row) => found.get(row) ?? [])
}

/** Field by field: their order in a line is part of what people read. */
function observationRecord(row: Observation): ObservationRecord {
  return {
    kind: 'observation',
    id: row.id,
    session: row.session,
    project: row.project,
    createdAt: row.createdAt,
    type: row.type,
    title: row.title,
    subtitle: row.subtitle,
    narrative: row.narrative,
    facts: row.facts,
    concepts: row.concepts,
    filesRead: row.filesRead,
    filesModified: row.filesModified,
    functionsChanged: row.functionsChanged,
    agent: row.agent,
    promptNumber: row.promptNumber,
    discoveryTokens: row.discoveryTokens,
    discoveryEstimated: row.discoveryEstimated,
    sources: row.sources,
    model: row.model,
    promptVersion: row.promptVersion,
  }
}

function summaryRecord(row: Summary): SummaryRecord {
  return {
    kind: 'summary',
    session: row.session,
    project: row.project,
    createdAt: row.createdAt,
    request: row.request,
    investigated: row.investigated,
    learned: row.learned,
    completed: row.completed,
    nextSteps: row.nextSteps,
    notes: row.notes,
    filesRead: row.filesRead,
    filesEdited: row.filesEdited,
    promptNumber: row.promptNumber,
    model: row.model,
  }
}

function selectObservations(db: Connection, ids: string): ObservationRow[] {
  return all(db, 'SELECT o.* FROM json_each(?) wanted CROSS JOIN observations o ON o.id = wanted.value', [ids])
}

function selectSummaries(db: Connection, ids: string): SummaryRow[] {
  return all(db, 'SELECT m.* FROM json_each(?) wanted CROSS JOIN session_summaries m ON m.id = wanted.value', [ids])
}

/** Private ones are in no list of what can be found; this is the second lock. */
function selectPrompts(db: Connection, ids: string): (PromptRecord & { id: number })[] {
  return all(
    db,
    `SELECT 'prompt' AS kind, p.id, p.content_session_id AS session, p.prompt_number AS number, p.prompt_text AS text,
       p.created_at_epoch AS at
     FROM json_each(?) wanted CROSS JOIN user_prompts p ON p.id = wanted.value WHERE p.private = 0`,
    [ids],
  )
}
