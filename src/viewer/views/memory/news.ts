/** What the stream tells of new memories, as rows of the list, and which of them pass its filters. */
import type { StreamMessage } from '../../../channel/protocol.ts'
import { estimateTokens } from '../../../memory/observation.ts'
import type { MemoryKind, SearchFilters, SearchHit } from '../../../search/query.ts'

export type Row = SearchHit
export type Commit = Extract<StreamMessage, { type: 'commit' }>

export interface Arrival {
  row: Row
  concepts: readonly string[]
  agent: string | null
  /** Earlier ones that it replaces. */
  replaces: readonly number[]
}

const SNIPPET_CHARS = 160
const TITLE_CHARS = 120
const UNRANKED = {
  lexical: 0,
  semantic: 0,
  session: 0,
  recency: 0,
  type: 0,
  score: 0,
  matched: [],
  fragment: null,
}

export function rowKey({ kind, id }: { kind: MemoryKind; id: number }): string {
  return `${kind}:${id}`
}

/** Most commits only move a session along. */
export function changesMemory(item: StreamMessage): boolean {
  return item.type === 'change' || item.observations.length + item.summaries.length + item.newPrompts.length > 0
}

/** What stands in the address for it. */
export function placeOf({
  kind,
  id,
  session,
  promptNumber,
}: Pick<Row, 'kind' | 'id' | 'session' | 'promptNumber'>): string {
  if (kind === 'observation') return `${id}`
  return kind === 'summary' ? `summary.${id}.${session}` : `prompt.${promptNumber}.${session}`
}

/** In the order in which the list would show them: newest first. */
export function arrivalsOf(item: Commit): Arrival[] {
  const { session, project, projectName } = item
  const row = (
    kind: MemoryKind,
    id: number,
    own: Pick<Row, 'title' | 'createdAt' | 'promptNumber'> & Partial<Row>,
  ) => ({
    kind,
    id,
    session,
    project,
    projectName,
    type: null,
    snippet: '',
    files: [],
    pinned: false,
    supersededBy: null,
    similar: [],
    tokens: 0,
    explanation: UNRANKED,
    completes: false,
    ...own,
  })
  const prompts = item.newPrompts
    .filter((prompt) => !prompt.private)
    .map(({ id, text, number: promptNumber, at: createdAt }) =>
      plain(
        row('prompt', id, {
          title: beginning(text, TITLE_CHARS),
          snippet: beginning(text, SNIPPET_CHARS),
          createdAt,
          promptNumber,
          tokens: estimateTokens(text),
        }),
      ),
    )
  const observations = item.observations.map((one): Arrival => {
    const { title, subtitle, narrative, facts, concepts, filesModified, filesRead, createdAt, promptNumber } = one
    const text = [subtitle, narrative, ...facts].filter((part) => part !== null && part !== '').join(' ')
    return {
      row: row('observation', one.id, {
        type: one.type,
        title: title ?? subtitle ?? beginning(narrative ?? '', TITLE_CHARS),
        snippet: beginning(text, SNIPPET_CHARS),
        files: [...new Set([...filesModified, ...filesRead])],
        createdAt,
        promptNumber,
        tokens: estimateTokens([title ?? '', text, ...concepts, ...filesModified, ...filesRead].join('')),
      }),
      concepts,
      agent: one.agent,
      replaces: one.supersedes ?? [],
    }
  })
  const summaries = item.summaries.map((one) => {
    const { request, investigated, learned, completed, nextSteps, notes, filesRead, filesEdited } = one
    const text = [investigated, learned, completed, nextSteps, notes].filter((part) => part !== null).join(' ')
    return plain(
      row('summary', one.id, {
        title: request ?? beginning(text, TITLE_CHARS),
        snippet: beginning(text, SNIPPET_CHARS),
        files: [...new Set([...filesEdited, ...filesRead])],
        createdAt: one.createdAt,
        promptNumber: one.promptNumber,
        tokens: estimateTokens((request ?? '') + text),
      }),
    )
  })
  return [...prompts, ...observations, ...summaries].reverse()
}

function plain(row: Row): Arrival {
  return { row, concepts: [], agent: null, replaces: [] }
}

function beginning(text: string, chars: number): string {
  const line = text
    .slice(0, chars * 3)
    .replace(/\s+/g, ' ')
    .trim()
  const letters = [...line]
  return letters.length > chars ? `${letters.slice(0, chars).join('')}…` : line
}

const folded = (text: string) => text.replace(/\s+/g, ' ').trim().toLowerCase()
const foldedPath = (path: string) => path.replaceAll('\\', '/').toLowerCase()

/** As the daemon filters. */
export function passes({ row, concepts, agent }: Arrival, filters: SearchFilters): boolean {
  const { project, kinds, types, since, until, session, pinned } = filters
  if (project !== null && row.project !== project) return false
  if (!kinds.includes(row.kind)) return false
  if (types.length > 0 && (row.type === null || !types.includes(row.type))) return false
  if (since !== null && row.createdAt < since) return false
  if (until !== null && row.createdAt > until) return false
  if (session !== null && !row.session.startsWith(session)) return false
  if (filters.agent !== null && agent !== filters.agent) return false
  if (pinned && !row.pinned) return false
  const has = concepts.map(folded)
  if (filters.concepts.length > 0 && !filters.concepts.some((one) => has.includes(folded(one)))) return false
  const paths = row.files.map(foldedPath)
  const inPath = (part: string) => paths.some((path) => path.includes(foldedPath(part)))
  return filters.files.length === 0 || filters.files.some(inPath)
}
