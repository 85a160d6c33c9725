/**
 * An export reads everything that passes the filters in one transaction, so that it sees one state of the database while
 * a daemon writes. It keeps only ids in memory and reads the rows in pages.
 */

import { exportedId } from '../../domain/event.ts'
import { boundedName, MAX_PROJECT_NAME_CHARS } from '../../domain/event-names.ts'
import { memoryOrigin, type Observation, type Summary } from '../../domain/observation.ts'
import type { Passage, PassageKind } from '../../domain/passage.ts'
import { MEMORY_KINDS, type MemoryKind, type SearchFilters } from '../../domain/search-query.ts'
import type {
  ExportRecord,
  LinkRecord,
  MemoryRecord,
  ObservationRecord,
  PassageRecord,
  PinRecord,
  PromptRecord,
  SessionRecord,
  SummaryRecord,
} from '../exchange-records.ts'
import { memoryIds, searchRowId, searchRowKind } from '../search-port.ts'
import { allOf, type Database, type Sql, sql } from './database.ts'
import { selectObservationsById, summariesFrom } from './memories.ts'
import { passageConditions } from './passage-search.ts'
import { passagesFrom } from './passages.ts'
import { selectProjects } from './projects.ts'
import { openForReading } from './reader.ts'
import { filterConditions } from './search-rows.ts'

/** Rows in memory at the same time, a few KB each. */
const PAGE_ROWS = 200

/** A memory in a timeline; its content is read later. */
interface ExportedMoment {
  row: number
  session: string
  at: number
}

export class SqliteExport {
  readonly #db: Database
  readonly #filters: SearchFilters
  /** In increasing order. */
  readonly #rows: number[]

  private constructor(db: Database, filters: SearchFilters) {
    this.#db = db
    this.#filters = filters
    db.run`BEGIN`
    this.#rows = db.ids`SELECT s.id FROM search_rows s WHERE ${filterConditions(filters)} ORDER BY s.id`
  }

  /** `filters`: with the project's key and the session's full id. */
  static open(file: string, filters: SearchFilters): SqliteExport {
    const db = openForReading(file)
    try {
      return new SqliteExport(db, filters)
    } catch (error) {
      db.close()
      throw error
    }
  }

  /** The number of memories to export. */
  counts(): Record<MemoryKind, number> {
    const counts = { observation: 0, summary: 0, prompt: 0 }
    for (const row of this.#rows) counts[searchRowKind(row)] += 1
    return counts
  }

  *records(): Generator<ExportRecord> {
    for (const { key, name } of this.projects()) yield { kind: 'project', key, name }
    yield* eachSession(this.#db, this.#filters)
    for (const kind of ['prompt', 'observation', 'summary'] as const) {
      yield* this.memories(this.#rows.filter((row) => searchRowKind(row) === kind))
    }
    yield* this.#passages()
    const exported = new Set(memoryIds(this.#rows, 'observation'))
    const links = this.#db.each<LinkRecord>`
      SELECT 'link' AS kind, from_id AS "from", to_id AS "to", kind AS link, made_by AS "by", at FROM links ORDER BY id`
    for (const link of links) if (exported.has(link.from) && exported.has(link.to)) yield link
    const pins = this.#db.each<PinRecord>`SELECT 'pin' AS kind, id AS observation, at FROM pins ORDER BY id`
    for (const pin of pins) if (exported.has(pin.observation)) yield pin
  }

  /** The number of passages to export. */
  passages(): number {
    return this.#db.number`SELECT count(*) AS n FROM passages p WHERE ${exportedPassages(this.#filters)}`
  }

  *#passages(): Generator<PassageRecord> {
    let page = this.#passagesAfter(0)
    while (page.length > 0) {
      for (const { id: _, kind, ...passage } of page) yield passageRecord(kind, passage)
      page = this.#passagesAfter(page.at(-1)?.id ?? 0)
    }
  }

  #passagesAfter(id: number): Passage[] {
    return passagesFrom(this.#db)`
      passages p WHERE p.id > ${id} AND ${exportedPassages(this.#filters)} ORDER BY p.id LIMIT ${PAGE_ROWS}`
  }

  /** Sorted by name. A project without sessions has its key as its name, shortened because a name is shorter than a key. */
  projects(): { key: string; name: string }[] {
    const names = new Map(selectProjects(this.#db, {}).map(({ key, name }) => [key, name]))
    return selectProjectKeys(this.#db, this.#filters)
      .map((key) => ({ key, name: names.get(key) ?? boundedName(key, MAX_PROJECT_NAME_CHARS) }))
      .sort((a, b) => compare(a.name, b.name) || compare(a.key, b.key))
  }

  /** Oldest first. */
  *moments(project: string): Generator<ExportedMoment> {
    yield* this.#db.each<ExportedMoment>`
      SELECT s.id AS row, s.content_session_id AS session, s.created_at_epoch AS at FROM search_rows s
      WHERE ${filterConditions(this.#filters)} AND s.project = ${project} ORDER BY s.created_at_epoch, s.id`
  }

  /** In the order of the rows. */
  *memories(rows: readonly number[]): Generator<MemoryRecord> {
    for (let from = 0; from < rows.length; from += PAGE_ROWS) {
      yield* selectRecords(this.#db, rows.slice(from, from + PAGE_ROWS))
    }
  }

  close(): void {
    this.#db.close()
  }
}

/** Projects of the memories and of their sessions: a session may have moved to another project. */
function selectProjectKeys(db: Database, filters: SearchFilters): string[] {
  return db.ids<string>`
    WITH passing AS MATERIALIZED (
      SELECT DISTINCT s.project, s.content_session_id FROM search_rows s WHERE ${filterConditions(filters)}
      UNION SELECT p.project, p.content_session_id FROM passages p WHERE ${exportedPassages(filters)})
    SELECT project AS id FROM passing
    UNION SELECT t.project FROM passing JOIN sdk_sessions t USING (content_session_id)`
}

function eachSession(db: Database, filters: SearchFilters): Generator<SessionRecord> {
  return db.each<SessionRecord>`
    SELECT 'session' AS kind, content_session_id AS id, project, client, cwd, prompts, created_at_epoch AS startedAt,
      updated_at_epoch AS heardAt
    FROM sdk_sessions WHERE content_session_id IN (
      SELECT s.content_session_id FROM search_rows s WHERE ${filterConditions(filters)}
      UNION SELECT p.content_session_id FROM passages p WHERE ${exportedPassages(filters)})
    ORDER BY id`
}

/** Independent of the locale. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** In the order of the rows. */
function selectRecords(db: Database, rows: readonly number[]): MemoryRecord[] {
  const found = new Map<number, MemoryRecord>()
  for (const row of selectObservationsById(db, memoryIds(rows, 'observation'))) {
    found.set(searchRowId('observation', row.id), observationRecord(row))
  }
  const summaries = summariesFrom(db)`
    json_each(${memoryIds(rows, 'summary')}) wanted CROSS JOIN session_summaries m ON m.id = wanted.value`
  for (const row of summaries) {
    found.set(searchRowId('summary', row.id), summaryRecord(row))
  }
  for (const { id, ...prompt } of selectExportPrompts(db, memoryIds(rows, 'prompt'))) {
    found.set(searchRowId('prompt', id), prompt)
  }
  return rows.flatMap((row) => found.get(row) ?? [])
}

/** Written out because the order of the fields in an exported line is fixed. */
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
    sources: row.sources.map(exportedId),
    model: row.model,
    promptVersion: row.promptVersion,
    saidBy: row.saidBy ?? null,
    saidIn: row.saidIn ?? null,
    status: row.status ?? null,
    ...memoryOrigin(row),
  }
}

function summaryRecord({ id: _, saidBy: __, session, project, createdAt, ...content }: Summary): SummaryRecord {
  return { kind: 'summary', session, project, createdAt, ...content, ...memoryOrigin(content) }
}

/** Over `passages p`: where the filters select some kinds of memories only, passages are not among them. */
function exportedPassages(filters: SearchFilters): Sql {
  const kinds: readonly string[] = filters.kinds
  const isWanted = kinds.length === 0 || kinds.includes('passage') || MEMORY_KINDS.every((kind) => kinds.includes(kind))
  return isWanted ? allOf([sql`p.transient = 0`, ...passageConditions(filters)]) : sql`FALSE`
}

/** Written out because the order of the fields in an exported line is fixed. */
function passageRecord(passage: PassageKind, row: Omit<Passage, 'id' | 'kind'>): PassageRecord {
  return {
    kind: 'passage',
    session: row.session,
    project: row.project,
    eventId: exportedId(row.eventId),
    position: row.position,
    promptNumber: row.promptNumber,
    at: row.at,
    passage,
    subject: row.subject,
    outcome: row.outcome,
    text: row.text,
    ...memoryOrigin(row),
  }
}

/** Private prompts have no search row; this condition is a second safeguard. */
function selectExportPrompts(db: Database, ids: readonly number[]): (PromptRecord & { id: number })[] {
  return db.all<PromptRecord & { id: number }>`
    SELECT 'prompt' AS kind, p.id, p.content_session_id AS session, p.prompt_number AS number, p.prompt_text AS text,
      p.created_at_epoch AS at
    FROM json_each(${ids}) wanted CROSS JOIN user_prompts p ON p.id = wanted.value WHERE p.private = 0`
}
