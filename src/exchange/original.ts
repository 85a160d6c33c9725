/** The memory of the original claude-mem as records of ours. What cannot be a record is told, with its number. */
import { OBSERVATION_TYPES } from '../memory/observation.ts'
import type { ObservationRecord, PromptRecord, SessionRecord, SummaryRecord } from '../store/import-port.ts'
import type { OriginalDatabase, OriginalRow, OriginalTable } from '../store/sqlite/import-original.ts'
import { epochOf, listOf, numberOf, textOf } from './original-values.ts'
import { importedKey } from './project-map.ts'
import { complaintOf, recordSchema } from './schema.ts'
import type { Source, SourceItem } from './source.ts'

export function originalSource(database: OriginalDatabase): Source {
  return {
    what: 'original',
    total: database.size,
    items: () => itemsOf(database),
    close: () => database.close(),
  }
}

async function* itemsOf(database: OriginalDatabase): AsyncGenerator<SourceItem> {
  const original = new Original(database)
  let done = 0
  for (const made of original.records()) {
    const { at } = made
    if (at !== '') done += 1
    if ('problem' in made) {
      yield { at, done, problem: made.problem }
      continue
    }
    const checked = recordSchema.safeParse(made.record)
    yield checked.success ? { at, done, record: checked.data } : { at, done, problem: complaintOf(checked.error) }
  }
}

/** What was made of a row; checked before it is used. */
type Made = { /** Empty for what is no row of its own. */ at: string } & ({ record: object } | { problem: string })

/** What a session has beside its own row. */
interface Extent {
  prompts: number
  first: number
  last: number
}

const NOTHING: Extent = { prompts: 0, first: Number.POSITIVE_INFINITY, last: 0 }

class Original {
  readonly #database: OriginalDatabase
  /** From the observer's session to the user's. */
  readonly #contentSessions = new Map<string, string>()
  readonly #extents = new Map<string, Extent>()

  constructor(database: OriginalDatabase) {
    this.#database = database
  }

  *records(): Generator<Made> {
    const sessions = [...this.#database.rows('sdk_sessions')]
    for (const row of sessions) {
      const memory = textOf(row.memory_session_id)
      if (memory !== null) this.#contentSessions.set(memory, sessionIdOf(row))
    }
    const names = new Set([...this.#database.projects()].map(projectOf))
    for (const name of names) yield { at: '', record: { kind: 'project', key: importedKey(name), name } }
    const orphans = this.#orphans()
    for (const row of sessions) yield { at: `session ${row.id}`, record: this.#session(row) }
    for (const row of orphans) yield { at: '', record: this.#session(row) }
    yield* this.#prompts(sessions)
    yield* this.#made('observations', 'observation', (row) => this.#observation(row))
    yield* this.#made('session_summaries', 'summary', (row) => this.#summary(row))
  }

  *#made(table: OriginalTable, what: string, make: (row: OriginalRow) => object): Generator<Made> {
    const rows = this.#database.rows(table)
    let next = rows.next()
    for (; next.done !== true; next = rows.next()) yield { at: `${what} ${next.value.id}`, record: make(next.value) }
    if (!next.value) yield { at: table, problem: 'the table is damaged: some of it could not be read' }
  }

  /**
   * How far each session reaches. Old versions did not hold their foreign keys: memories whose session is gone get one
   * of their own, which is returned.
   */
  #orphans(): OriginalRow[] {
    const orphans = new Map<string, OriginalRow>()
    for (const table of ['user_prompts', 'observations', 'session_summaries'] as const) {
      for (const row of this.#database.extents(table)) {
        const given = textOf(row.session)
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
    const { prompts, first, last } = this.#extents.get(session) ?? NOTHING
    this.#extents.set(session, {
      prompts: Math.max(prompts, numberOf(row.prompts)),
      first: Math.min(first, epochOf(row.first, null) ?? first),
      last: Math.max(last, epochOf(row.last, null) ?? last),
    })
  }

  #session(row: OriginalRow): SessionRecord {
    const id = sessionIdOf(row)
    const { prompts, first, last } = this.#extents.get(id) ?? NOTHING
    const startedAt = epochOf(row.started_at_epoch, row.started_at) ?? Math.min(first, last)
    return {
      kind: 'session',
      id,
      project: importedKey(projectOf(row)),
      client: clientOf(row),
      cwd: '',
      prompts: Math.max(prompts, numberOf(row.prompt_counter), textOf(row.user_prompt) === null ? 0 : 1),
      startedAt,
      heardAt: Math.max(startedAt, last, epochOf(row.completed_at_epoch, null) ?? 0),
    }
  }

  *#prompts(sessions: readonly OriginalRow[]): Generator<Made> {
    const prompted = new Set<string>()
    yield* this.#made('user_prompts', 'prompt', (row) => {
      const session = textOf(row.content_session_id) ?? ''
      prompted.add(session)
      const [number, text] = [numberOf(row.prompt_number), textOf(row.prompt_text) ?? '']
      return { kind: 'prompt', session, number, text, at: epochOf(row.created_at_epoch, row.created_at) }
    })
    // Before it had a table for them, a session knew its first prompt.
    for (const row of sessions) {
      const text = textOf(row.user_prompt)
      const session = sessionIdOf(row)
      const at = epochOf(row.started_at_epoch, row.started_at)
      if (text === null || at === null || prompted.has(session)) continue
      const record: PromptRecord = { kind: 'prompt', session, number: 1, text, at }
      yield { at: '', record }
    }
  }

  #observation(row: OriginalRow): Omit<ObservationRecord, 'createdAt'> & { createdAt: number | null } {
    const given = textOf(row.type)
    const type = OBSERVATION_TYPES.find((known) => known === given) ?? 'change'
    const concepts = listOf(row.concepts)
    return {
      kind: 'observation',
      id: numberOf(row.id),
      session: this.#contentSession(textOf(row.memory_session_id) ?? ''),
      project: importedKey(projectOf(row)),
      createdAt: epochOf(row.created_at_epoch, row.created_at),
      type,
      title: textOf(row.title),
      subtitle: textOf(row.subtitle),
      narrative: textOf(row.narrative) ?? textOf(row.text),
      facts: listOf(row.facts),
      // A type of somebody's own is kept as a word to look for.
      concepts: given === null || given === type || concepts.includes(given) ? concepts : [...concepts, given],
      filesRead: listOf(row.files_read),
      filesModified: listOf(row.files_modified),
      functionsChanged: [],
      agent: textOf(row.agent_type),
      promptNumber: numberOf(row.prompt_number),
      discoveryTokens: numberOf(row.discovery_tokens),
      discoveryEstimated: true,
      sources: [],
      model: textOf(row.generated_by_model),
      promptVersion: null,
    }
  }

  #summary(row: OriginalRow): Omit<SummaryRecord, 'createdAt'> & { createdAt: number | null } {
    return {
      kind: 'summary',
      session: this.#contentSession(textOf(row.memory_session_id) ?? ''),
      project: importedKey(projectOf(row)),
      createdAt: epochOf(row.created_at_epoch, row.created_at),
      request: textOf(row.request),
      investigated: textOf(row.investigated),
      learned: textOf(row.learned),
      completed: textOf(row.completed),
      nextSteps: textOf(row.next_steps),
      notes: textOf(row.notes),
      filesRead: listOf(row.files_read),
      filesEdited: listOf(row.files_edited),
      promptNumber: numberOf(row.prompt_number),
      model: null,
    }
  }

  #contentSession(memory: string): string {
    return this.#contentSessions.get(memory) ?? memory
  }
}

function sessionIdOf(row: OriginalRow): string {
  return textOf(row.content_session_id) ?? textOf(row.memory_session_id) ?? ''
}

/** A worktree that was merged into its repository belongs there. */
function projectOf(row: OriginalRow): string {
  return textOf(row.merged_into_project) ?? textOf(row.project) ?? 'unknown'
}

function clientOf(row: OriginalRow): string {
  const platform = textOf(row.platform_source)
  return platform === null || platform === 'claude' ? 'claude-code' : platform
}
