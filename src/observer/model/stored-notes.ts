/**
 * The numbers of stored observations in the requests to a model, so that it can name them in `supersedes` and `<resolved>`.
 *
 * A request lists what was stored since the request before it, one line each: `stored: #22 Fix the login`. What is listed is
 * read back from the conversation, because that is what the model sees: a request that failed is not part of it, and
 * its lines are sent again.
 */
import type { Observation } from '../../domain/observation.ts'
import type { ObserverTurn } from '../../store/commit.ts'
import { singleLine } from '../tool-events/text.ts'
import { promptLine } from './prompt-text.ts'
import type { WithheldFilter } from './withheld.ts'

/** Most lines in one request. More are only stored at once after an import, or when the conversation was deleted. */
const MAX_LISTED = 40
const TITLE_CHARS = 110

/** Notes of the rules may contain what must not be sent to a model. */
export function isFromModel(model: string | null): boolean {
  return model !== null && model !== 'offline'
}

/** Without what the rules wrote, and what is about files that are never sent: a model has not read it. */
export function sendableObservations(
  observations: readonly Observation[],
  withheld: Pick<WithheldFilter, 'mentions'>,
  cwd: string,
): Observation[] {
  return observations.filter(
    ({ model, filesRead, filesModified, functionsChanged }) =>
      isFromModel(model) &&
      !withheld.mentions([...filesRead, ...filesModified, ...functionsChanged.map(({ file }) => file)], cwd),
  )
}

export function noteTitle({ title, narrative }: Observation): string {
  const text = title ?? narrative ?? ''
  // Four times the limit is read, because white space and control characters are removed.
  return singleLine(text.slice(0, 4 * TITLE_CHARS), TITLE_CHARS) || 'without a title'
}

/** `, open`: where it has a status. */
export function statusMark({ status }: Pick<Observation, 'status'>): string {
  return status === null || status === undefined ? '' : `, ${status}`
}

/**
 * One line for each observation that the conversation does not have yet, oldest first; '' if there is none.
 * `observations`: of the session, newest first.
 */
export function storedLines(observations: readonly Observation[], turns: readonly ObserverTurn[]): string {
  const listed = highestListed(turns)
  const lines = observations
    .filter(({ id }) => id > listed)
    .sort((one, other) => one.id - other.id)
    .slice(-MAX_LISTED)
    .map((one) => `stored: #${one.id} ${promptLine(noteTitle(one), TITLE_CHARS * 2)}${statusMark(one)}`)
  return lines.join('\n')
}

/** Most open problems in an opening: an older one is rarely what a session is about. */
const MAX_OPEN = 10

/** One line for each open problem of earlier sessions, oldest first; '' if there is none. */
export function openLines(problems: readonly Observation[], session: string): string {
  const lines = problems
    .filter((one) => one.session !== session)
    .slice(0, MAX_OPEN)
    .map((one) => `open: #${one.id} ${promptLine(noteTitle(one), TITLE_CHARS * 2)}`)
  return lines.reverse().join('\n')
}

/** The first line of a digest; '' for one without observations. */
export function storedUpTo(observations: readonly Observation[]): string {
  const highest = observations.reduce((most, { id }) => Math.max(most, id), 0)
  return highest === 0 ? '' : `stored: up to #${highest}`
}

const LISTED = /^stored: (?:up to )?#(\d{1,15})/gm

/** Foreign text cannot contain such a line: `promptText` changes it. */
function highestListed(turns: readonly ObserverTurn[]): number {
  let highest = 0
  for (const { role, content } of turns) {
    if (role !== 'user') continue
    for (const [, number] of content.matchAll(LISTED)) highest = Math.max(highest, Number(number))
  }
  return highest
}
