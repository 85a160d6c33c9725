/** Reads the database of the original claude-mem as import records. A row that is not a valid record is a problem. */

import { exportRecordSchema, firstIssue } from '../../api/record-schemas.ts'
import { MAX_RECORD_ITEMS, MAX_RECORD_TEXT_CHARS } from '../../domain/clean-record.ts'
import { OBSERVATION_TYPES } from '../../domain/observation.ts'
import { importedProjectKey } from '../../domain/project.ts'
import { cutText } from '../../domain/sanitize.ts'
import type { ObservationRecord, PromptRecord, SessionRecord, SummaryRecord } from '../../store/exchange-records.ts'
import type { OriginalDatabase, OriginalRow, OriginalTable } from '../../store/sqlite/original-database.ts'
import type { ImportItem, ImportSource } from './import.ts'

export function originalSource(database: OriginalDatabase): ImportSource {
  return {
    what: 'original',
    total: database.size,
    items: () => itemsOf(database),
    close: () => database.close(),
  }
}

async function* itemsOf(database: OriginalDatabase): AsyncGenerator<ImportItem> {
  const reader = new OriginalReader(database)
  let done = 0
  for (const made of reader.records()) {
    const { at } = made
    if (at !== '') done += 1
    if ('problem' in made) {
      yield { at, done, problem: made.problem }
      continue
    }
    const checked = exportRecordSchema.safeParse(made.record)
    yield checked.success ? { at, done, record: checked.data } : { at, done, problem: firstIssue(checked.error) }
  }
}

/** The record made from a row, not yet validated. */
type RowResult = {
  /** Empty for a record that is not made from one row. */
  at: string
} & ({ record: object } | { problem: string })

/** Number of prompts and times of a session, from its prompts, observations and summaries. */
interface SessionExtent {
  prompts: number
  first: number
  last: number
}

const NO_EXTENT: SessionExtent = { prompts: 0, first: Number.POSITIVE_INFINITY, last: 0 }

class OriginalReader {
  readonly #database: OriginalDatabase
  /** From the id of the observer's session to the id of the user's session. */
  readonly #contentSessions = new Map<string, string>()
  readonly #extents = new Map<string, SessionExtent>()

  constructor(database: OriginalDatabase) {
    this.#database = database
  }

  *records(): Generator<RowResult> {
    const sessions = [...this.#database.rows('sdk_sessions')]
    for (const row of sessions) {
      const memory = textValue(row.memory_session_id)
      if (memory !== null) this.#contentSessions.set(memory, sessionIdOf(row))
    }
    const names = new Set([...this.#database.projects()].map(projectOf))
    for (const name of names) yield { at: '', record: { kind: 'project', key: importedProjectKey(name), name } }
    const orphans = this.#orphans()
    for (const row of sessions) yield { at: `session ${row.id}`, record: this.#session(row) }
    for (const row of orphans) yield { at: '', record: this.#session(row) }
    yield* this.#prompts(sessions)
    yield* this.#tableRecords('observations', 'observation', (row) => this.#observation(row))
    yield* this.#tableRecords('session_summaries', 'summary', (row) => this.#summary(row))
  }

  *#tableRecords(table: OriginalTable, what: string, make: (row: OriginalRow) => object): Generator<RowResult> {
    const rows = this.#database.rows(table)
    let next = rows.next()
    for (; next.done !== true; next = rows.next()) yield { at: `${what} ${next.value.id}`, record: make(next.value) }
    if (!next.value) yield { at: table, problem: 'the table is damaged: some rows could not be read' }
  }

  /**
   * Collects the extents of all sessions. Old versions did not enforce foreign keys: memories without a session row get a
   * new session, which is returned.
   */
  #orphans(): OriginalRow[] {
    const orphans = new Map<string, OriginalRow>()
    for (const table of ['user_prompts', 'observations', 'session_summaries'] as const) {
      for (const row of this.#database.extents(table)) {
        const given = textValue(row.session)
        if (given === null) continue
        const session = table === 'user_prompts' ? given : this.#contentSession(given)
        this.#extend(session, row)
        if (table !== 'user_prompts' && !this.#contentSessions.has(given))
          orphans.set(given, { content_session_id: given, project: row.project })
      }
    }
    return [...orphans.values()]
  }

  #extend(session: string, row: OriginalRow): void {
    const { prompts, first, last } = this.#extents.get(session) ?? NO_EXTENT
    this.#extents.set(session, {
      prompts: Math.max(prompts, numberValue(row.prompts)),
      first: Math.min(first, epochValue(row.first, null) ?? first),
      last: Math.max(last, epochValue(row.last, null) ?? last),
    })
  }

  #session(row: OriginalRow): SessionRecord {
    const id = sessionIdOf(row)
    const { prompts, first, last } = this.#extents.get(id) ?? NO_EXTENT
    const startedAt = epochValue(row.started_at_epoch, row.started_at) ?? Math.min(first, last)
    return {
      kind: 'session',
      id,
      project: importedProjectKey(projectOf(row)),
      client: clientOf(row),
      cwd: '',
      prompts: Math.max(prompts, numberValue(row.prompt_counter), textValue(row.user_prompt) === null ? 0 : 1),
      startedAt,
      heardAt: Math.max(startedAt, last, epochValue(row.completed_at_epoch, null) ?? 0),
    }
  }

  *#prompts(sessions: readonly OriginalRow[]): Generator<RowResult> {
    const prompted = new Set<string>()
    yield* this.#tableRecords('user_prompts', 'prompt', (row) => {
      const session = textValue(row.content_session_id) ?? ''
      prompted.add(session)
      const [number, text] = [numberValue(row.prompt_number), textValue(row.prompt_text) ?? '']
      return { kind: 'prompt', session, number, text, at: epochValue(row.created_at_epoch, row.created_at) }
    })
    // Older versions stored only the first prompt, in the session row.
    for (const row of sessions) {
      const text = textValue(row.user_prompt)
      const session = sessionIdOf(row)
      const at = epochValue(row.started_at_epoch, row.started_at)
      if (text === null || at === null || prompted.has(session)) continue
      const record: PromptRecord = { kind: 'prompt', session, number: 1, text, at }
      yield { at: '', record }
    }
  }

  #observation(row: OriginalRow): Omit<ObservationRecord, 'createdAt'> & { createdAt: number | null } {
    const given = textValue(row.type)
    const type = OBSERVATION_TYPES.find((known) => known === given) ?? 'change'
    const concepts = listValue(row.concepts)
    return {
      kind: 'observation',
      id: numberValue(row.id),
      session: this.#contentSession(textValue(row.memory_session_id) ?? ''),
      project: importedProjectKey(projectOf(row)),
      createdAt: epochValue(row.created_at_epoch, row.created_at),
      type,
      title: textValue(row.title),
      subtitle: textValue(row.subtitle),
      narrative: textValue(row.narrative) ?? textValue(row.text),
      facts: listValue(row.facts),
      // A custom type is kept as a concept, so that it can be searched.
      concepts: given === null || given === type || concepts.includes(given) ? concepts : [...concepts, given],
      filesRead: listValue(row.files_read),
      filesModified: listValue(row.files_modified),
      functionsChanged: [],
      agent: textValue(row.agent_type),
      promptNumber: numberValue(row.prompt_number),
      discoveryTokens: numberValue(row.discovery_tokens),
      discoveryEstimated: true,
      sources: [],
      model: textValue(row.generated_by_model),
      promptVersion: null,
    }
  }

  #summary(row: OriginalRow): Omit<SummaryRecord, 'createdAt'> & { createdAt: number | null } {
    return {
      kind: 'summary',
      session: this.#contentSession(textValue(row.memory_session_id) ?? ''),
      project: importedProjectKey(projectOf(row)),
      createdAt: epochValue(row.created_at_epoch, row.created_at),
      request: textValue(row.request),
      investigated: textValue(row.investigated),
      learned: textValue(row.learned),
      completed: textValue(row.completed),
      nextSteps: textValue(row.next_steps),
      notes: textValue(row.notes),
      filesRead: listValue(row.files_read),
      filesEdited: listValue(row.files_edited),
      promptNumber: numberValue(row.prompt_number),
      model: null,
    }
  }

  #contentSession(memory: string): string {
    return this.#contentSessions.get(memory) ?? memory
  }
}

function sessionIdOf(row: OriginalRow): string {
  return textValue(row.content_session_id) ?? textValue(row.memory_session_id) ?? ''
}

/** A worktree that was merged into its repository belongs to the repository. */
function projectOf(row: OriginalRow): string {
  return textValue(row.merged_into_project) ?? textValue(row.project) ?? 'unknown'
}

function clientOf(row: OriginalRow): string {
  const platform = textValue(row.platform_source)
  return platform === null || platform === 'claude' ? 'claude-code' : platform
}

// The original database has no strict types: these functions read a value of any type.

/** Null for empty text. */
function textValue(value: unknown): string | null {
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' && value.trim() !== '' ? cutText(value, MAX_RECORD_TEXT_CHARS) : null
}

function numberValue(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0
}

/** A list stored as JSON, as lines, or as a single item. */
function listValue(value: unknown): string[] {
  if (typeof value !== 'string') return []
  const items = jsonList(value) ?? value.split('\n')
  return items.flatMap((item) => textValue(item)?.trim() ?? []).slice(0, MAX_RECORD_ITEMS)
}

function jsonList(text: string): unknown[] | null {
  if (!text.trimStart().startsWith('[')) return null
  try {
    const value: unknown = JSON.parse(text)
    return Array.isArray(value) ? value : null
  } catch {
    return null
  }
}

/** As milliseconds, a smaller number would be before 1973: it is in seconds. */
const SECONDS_BELOW = 100_000_000_000

/** Epoch ms; null if there is neither. */
function epochValue(epoch: unknown, iso: unknown): number | null {
  if (typeof epoch === 'number' && Number.isFinite(epoch) && epoch > 0) {
    return Math.round(epoch < SECONDS_BELOW ? epoch * 1_000 : epoch)
  }
  const parsed = typeof iso === 'string' ? Date.parse(iso) : Number.NaN
  return Number.isNaN(parsed) ? null : parsed
}
