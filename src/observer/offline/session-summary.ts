/** The summary of a whole session, from the summaries of its turns and its observations. */
import type { Observation, Summary, SummaryDraft } from '../../domain/observation.ts'
import { clipAtWord, singleLine, unique } from '../../reading/text.ts'

/** Longest field, in characters: a session has many turns, and a reader wants one page. */
const FIELD_CHARS = 1_200
const REQUEST_CHARS = 300
const MAX_DECISIONS = 10
/** Files that a reader should open first; the observations have the others. */
const MAX_FILES_EDITED = 10
const MAX_FILES_READ = 5

/** Both oldest first. */
export function composeSessionSummary(turns: readonly Summary[], observations: readonly Observation[]): SummaryDraft {
  const filesEdited = mostUsed(
    observations.flatMap((one) => one.filesModified),
    MAX_FILES_EDITED,
  )
  const filesRead = observations.flatMap((one) => one.filesRead).filter((file) => !filesEdited.includes(file))
  const titlesOf = (types: readonly Observation['type'][]) =>
    observations.flatMap(({ type, title }) => (types.includes(type) && title !== null ? [`${title}.`] : []))
  return {
    request: joinRequests(turns),
    investigated: joinNewest(turns.map((turn) => turn.investigated)) ?? joinNewest(titlesOf(['discovery'])),
    learned: joinNewest(turns.map((turn) => turn.learned)),
    completed:
      joinNewest(turns.map((turn) => turn.completed)) ??
      joinNewest(titlesOf(['bugfix', 'feature', 'refactor', 'change'])),
    // The next steps of an earlier turn were taken, or dropped.
    nextSteps: turns.findLast(saysAnything)?.nextSteps ?? null,
    notes: decisionsLine(observations),
    filesRead: mostUsed(filesRead, MAX_FILES_READ),
    filesEdited,
  }
}

const saysAnything = ({ completed, learned, nextSteps }: Summary): boolean =>
  completed !== null || learned !== null || nextSteps !== null

function joinRequests(turns: readonly Summary[]): string | null {
  const requests = unique(
    turns.flatMap(({ request }) => (request === null ? [] : [singleLine(request, REQUEST_CHARS)])),
  )
  return requests.length === 0 ? null : clipAtWord(requests.join('; then: '), REQUEST_CHARS)
}

/** Where not everything fits, the end of the session counts more than its beginning. */
function joinNewest(texts: readonly (string | null)[]): string | null {
  const kept: string[] = []
  let left = FIELD_CHARS
  for (const text of unique(texts.flatMap((text) => text ?? [])).toReversed()) {
    if (text.length > left && kept.length > 0) break
    kept.unshift(clipAtWord(text, left))
    left -= text.length + 1
  }
  return kept.length === 0 ? null : kept.join(' ')
}

function decisionsLine(observations: readonly Observation[]): string | null {
  const titles = observations.flatMap(({ type, title }) => (type === 'decision' && title !== null ? [title] : []))
  const decisions = unique(titles).slice(-MAX_DECISIONS)
  return decisions.length === 0 ? null : clipAtWord(`Decisions: ${decisions.join('; ')}`, FIELD_CHARS)
}

/** Most frequent first, then in the order of their first use. */
function mostUsed(files: readonly string[], limit: number): string[] {
  const counts = new Map<string, number>()
  for (const file of files) counts.set(file, (counts.get(file) ?? 0) + 1)
  return [...counts]
    .sort(([, a], [, b]) => b - a)
    .slice(0, limit)
    .map(([file]) => file)
}
