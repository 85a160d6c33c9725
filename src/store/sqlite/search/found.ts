/** Rows of the search as people see them. */
import { estimateTokens, type Observation, tokensOf } from '../../../memory/observation.ts'
import type { MemoryKind } from '../../../search/query.ts'
import type { FoundMemory, LinkedObservation } from '../../search-port.ts'
import { type ObservationRow, type SummaryRow, toObservation, toSummary } from '../memories.ts'
import { shownName } from '../projects.ts'
import { all, type Connection } from '../statement.ts'
import { idOf, kindOf, rowOf } from './rows.ts'
import { charsOf, textOfObservation, textOfSummary } from './texts.ts'

/** A prompt has no title: its beginning is one. */
const PROMPT_TITLE_CHARS = 120

interface Extra {
  project_name: string
  chunk: number | null
  pinned: number
  superseded_by: number | null
  supersedes: string
  repeats: string
}

/** In the order of the rows; one that is gone is left out. */
export function selectFound(db: Connection, rows: readonly number[]): FoundMemory[] {
  const ids = (kind: MemoryKind) => JSON.stringify(rows.filter((row) => kindOf(row) === kind).map(idOf))
  const found = new Map<number, FoundMemory>()
  for (const memory of [
    ...selectWithExtras(db, ids('observation')).map(foundObservation),
    ...selectSummaries(db, ids('summary')).map(foundSummary),
    ...selectPrompts(db, ids('prompt')).map(foundPrompt),
  ]) {
    found.set(memory.row, memory)
  }
  return rows.flatMap((row) => found.get(row) ?? [])
}

/** In the order of the ids; those that are gone are left out. */
export function selectLinked(db: Connection, ids: readonly number[]): LinkedObservation[] {
  const found = new Map<number, LinkedObservation>()
  for (const row of selectWithExtras(db, JSON.stringify(ids))) {
    const observation = toObservation(row)
    const { pinned, supersededBy, repeats } = marksOf(row)
    const supersedes: number[] = JSON.parse(row.supersedes)
    const tokens = tokensOf(charsOf(textOfObservation(observation)))
    found.set(row.id, {
      ...observation,
      projectName: row.project_name,
      pinned,
      supersededBy,
      supersedes,
      repeats,
      tokens,
    })
  }
  return ids.flatMap((id) => found.get(id) ?? [])
}

function foundObservation(row: ObservationRow & Extra): FoundMemory {
  const observation = toObservation(row)
  const { id, session, project, type, facts, concepts, filesRead, filesModified, createdAt, promptNumber } = observation
  const text = textOfObservation(observation)
  return {
    row: rowOf('observation', id),
    kind: 'observation',
    id,
    session,
    project,
    projectName: row.project_name,
    type,
    title: titleOf(observation),
    text: text.body,
    facts,
    concepts,
    files: [...new Set([...filesModified, ...filesRead])],
    createdAt,
    promptNumber,
    tokens: tokensOf(charsOf(text)),
    chunk: row.chunk,
    ...marksOf(row),
  }
}

function titleOf({ title, subtitle, narrative }: Pick<Observation, 'title' | 'subtitle' | 'narrative'>): string {
  return title ?? subtitle ?? beginning(narrative ?? '')
}

function marksOf(row: Extra): Pick<FoundMemory, 'pinned' | 'supersededBy' | 'repeats'> {
  return { pinned: row.pinned === 1, supersededBy: row.superseded_by, repeats: JSON.parse(row.repeats) }
}

const NO_MARKS = { chunk: null, pinned: false, supersededBy: null, repeats: [], facts: [], concepts: [] }

function foundSummary(row: SummaryRow & { project_name: string }): FoundMemory {
  const summary = toSummary(row)
  const { id, session, project, filesRead, filesEdited, createdAt, promptNumber } = summary
  const text = textOfSummary(summary)
  return {
    ...NO_MARKS,
    row: rowOf('summary', id),
    kind: 'summary',
    id,
    session,
    project,
    projectName: row.project_name,
    type: null,
    title: text.title === '' ? beginning(text.body) : text.title,
    text: text.body,
    files: [...new Set([...filesEdited, ...filesRead])],
    createdAt,
    promptNumber,
    tokens: tokensOf(charsOf(text)),
  }
}

interface StoredPrompt {
  id: number
  session: string
  project: string
  project_name: string
  text: string
  number: number
  at: number
}

function foundPrompt(row: StoredPrompt): FoundMemory {
  return {
    ...NO_MARKS,
    row: rowOf('prompt', row.id),
    kind: 'prompt',
    id: row.id,
    session: row.session,
    project: row.project,
    projectName: row.project_name,
    type: null,
    title: beginning(row.text),
    text: row.text,
    files: [],
    createdAt: row.at,
    promptNumber: row.number,
    tokens: estimateTokens(row.text),
  }
}

function beginning(text: string): string {
  const [line = ''] = text.trimStart().split('\n', 1)
  return [...line.slice(0, PROMPT_TITLE_CHARS * 2)].slice(0, PROMPT_TITLE_CHARS).join('')
}

function selectWithExtras(db: Connection, ids: string): (ObservationRow & Extra)[] {
  return all(
    db,
    `SELECT o.*, ${shownName('o.project', 's.project_name')} AS project_name, r.chunk, EXISTS (SELECT 1 FROM pins p WHERE p.id = o.id) AS pinned,
       (SELECT max(from_id) FROM links WHERE to_id = o.id AND kind = 'supersedes') AS superseded_by,
       (SELECT json_group_array(to_id) FROM links WHERE from_id = o.id AND kind = 'supersedes') AS supersedes,
       (SELECT json_group_array(to_id) FROM links WHERE from_id = o.id AND kind = 'repeats') AS repeats
     FROM json_each(?) wanted CROSS JOIN observations o ON o.id = wanted.value
       JOIN sdk_sessions s USING (content_session_id) LEFT JOIN search_rows r ON r.id = o.id * 4`,
    [ids],
  )
}

function selectSummaries(db: Connection, ids: string): (SummaryRow & { project_name: string })[] {
  return all(
    db,
    `SELECT m.*, ${shownName('m.project', 's.project_name')} AS project_name FROM json_each(?) wanted CROSS JOIN session_summaries m ON m.id = wanted.value
       JOIN sdk_sessions s USING (content_session_id)`,
    [ids],
  )
}

function selectPrompts(db: Connection, ids: string): StoredPrompt[] {
  return all(
    db,
    `SELECT p.id, p.content_session_id AS session, r.project,
       ${shownName('r.project', 's.project_name')} AS project_name, p.prompt_text AS text,
       p.prompt_number AS number, p.created_at_epoch AS at
     FROM json_each(?) wanted CROSS JOIN user_prompts p ON p.id = wanted.value
       JOIN search_rows r ON r.id = p.id * 4 + 2 JOIN sdk_sessions s USING (content_session_id)`,
    [ids],
  )
}
