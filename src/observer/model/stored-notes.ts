/**
 * Stored observations in the requests to a model, with their numbers and what they say, so that it can name them in
 * `supersedes`, `<amends>` and `<resolved>`.
 *
 * A request lists what was stored since the request before it, one line each: `stored: #22 Fix the login: …`. What is listed is
 * read back from the conversation, because that is what the model sees: a request that failed is not part of it, and
 * its lines are sent again.
 */
import type { InboxEvent } from '../../domain/event.ts'
import type { Observation } from '../../domain/observation.ts'
import { singleLine, unique } from '../../reading/text.ts'
import { readToolUse } from '../../reading/tool-use.ts'
import type { ObserverTurn } from '../../store/commit.ts'
import { promptLine, promptText } from './prompt-text.ts'
import type { WithheldFilter } from './withheld.ts'

/** Most lines in one request. More are only stored at once after an import, or when the conversation was deleted. */
const MAX_LISTED = 40
/** Of a note that the conversation has whole, mostly in the answer before: enough to recognise it. */
const TITLE_CHARS = 110
/** Of a note of an earlier session, which this conversation has never seen. */
const OPEN_CHARS = 400

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

/** `#22 Fix the login, open: what the note says`, on one line: its title, then its first statements, as far as they fit. */
export function noteLine({ id, title, subtitle, narrative, facts, status }: Observation, maxChars: number): string {
  const [first = 'without a title', ...statements] = [title, subtitle ?? narrative, ...facts]
    .map((text) => singleLine((text ?? '').slice(0, 4 * maxChars), maxChars))
    .filter((text) => text !== '')
  const mark = status === null || status === undefined ? '' : `, ${status}`
  const said = unique(statements).join(' | ')
  return promptText(singleLine(`#${id} ${first}${mark}${said === '' ? '' : `: ${said}`}`, maxChars))
}

/** The same without its statements. */
export function noteHeading(observation: Observation): string {
  return noteLine({ ...observation, subtitle: null, narrative: null, facts: [] }, TITLE_CHARS)
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
    .map((one) => `stored: ${noteHeading(one)}`)
  return lines.join('\n')
}

/** Most open problems in an opening: an older one is rarely what a session is about. */
const MAX_OPEN = 10

/** One line for each open problem of earlier sessions, oldest first; '' if there is none. */
export function openLines(problems: readonly Observation[], session: string): string {
  const lines = problems
    .filter((one) => one.session !== session)
    .slice(0, MAX_OPEN)
    .map((one) => `open: ${noteLine({ ...one, status: null }, OPEN_CHARS)}`)
  return lines.reverse().join('\n')
}

/** Notes and commands in one line about checks. */
const MAX_CHECKED_NOTES = 5
const MAX_CHECKS = 3
const COMMAND_CHARS = 120

/**
 * `check of #12: npm test passed (tool use 3)`: the checks of a batch are also those of changes that an earlier batch left open
 * or untested. '' if there are none of either. `observations`: of the session, newest first.
 */
export function checkLines(observations: readonly Observation[], messages: readonly InboxEvent[]): string {
  const notes = observations
    .filter(({ status, filesModified }) => status === 'untested' || (status === 'open' && filesModified.length > 0))
    .slice(0, MAX_CHECKED_NOTES)
    .map(({ id }) => `#${id}`)
  if (notes.length === 0) return ''
  const checks = new Map(messages.flatMap((message, i) => checkOf(message, i + 1)))
  const lines = [...checks].slice(-MAX_CHECKS).map(([command, outcome]) => {
    return `check of ${notes.join(', ')}: ${promptLine(command, COMMAND_CHARS)} ${outcome}`
  })
  return lines.join('\n')
}

/** The command and its outcome; empty where the message is no check. A later run of the same command replaces an earlier one. */
function checkOf(message: InboxEvent, n: number): [string, string][] {
  const reading = message.kind === 'subagent_end' ? null : readToolUse(message)
  if (reading?.kind !== 'command' || reading.command.kind !== 'check') return []
  const outcome = reading.outcome === null ? 'has an unknown outcome' : reading.outcome === 'ok' ? 'passed' : 'failed'
  return [[reading.command.shown, `${outcome} (tool use ${n})`]]
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
