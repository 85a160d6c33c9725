/** The summary of a turn, from its prompt, the statements of the closing message and the observations. */
import type { Observation, ObservationDraft, SummaryDraft } from '../../domain/observation.ts'
import { clipAtWord, singleLine, unique } from '../tool-events/text.ts'
import { joinBest } from './drafts.ts'
import type { OpenQuestion } from './memo.ts'
import type { Statement } from './statements.ts'

interface SummaryInput {
  /** What the user wanted, in his own words. */
  request: string | null
  statements: readonly Statement[]
  asked: OpenQuestion | null
  /** The client's error with which the turn ended. */
  error: string | null
  /** Those that are stored and those that are made with the summary. */
  observations: readonly (Observation | ObservationDraft)[]
  filesEdited: readonly string[]
}

const MAX_FIELD_CHARS = 900
const MAX_NEXT_CHARS = 600
const MAX_FILES = 8

export function composeSummary(input: SummaryInput): SummaryDraft {
  const { request, statements, asked, error, observations } = input
  const texts = (...roles: Statement['role'][]) =>
    statements.filter(({ role }) => roles.includes(role)).map(({ text }) => text)
  const changes = observations.filter(({ type }) => type !== 'discovery' && type !== 'decision')
  const done = joinBest(texts('result', 'choice'), MAX_FIELD_CHARS)
  return {
    request,
    investigated: null,
    learned: joinBest(texts('cause'), MAX_FIELD_CHARS),
    // Without a closing message, the titles of what was changed.
    completed:
      done ?? joinBest(unique(changes.flatMap(({ title }) => (title === null ? [] : [`${title}.`]))), MAX_FIELD_CHARS),
    nextSteps: nextSteps(texts('next'), asked),
    notes: error === null ? null : clipAtWord(`The turn ended with an error: ${singleLine(error, 160)}`, 200),
    filesRead: [],
    filesEdited: unique([...observations.flatMap((one) => one.filesModified), ...input.filesEdited]).slice(
      0,
      MAX_FILES,
    ),
  }
}

/** Only what the closing words say: a command that failed may be of no importance any more. */
function nextSteps(next: readonly string[], asked: OpenQuestion | null): string | null {
  const options = asked === null || asked.options.length === 0 ? '' : ` Options: ${asked.options.join(' ')}`
  const question =
    asked === null ? [] : [clipAtWord(`The agent asked: “${asked.question}”${options}`, MAX_NEXT_CHARS / 2)]
  const steps = joinInOrder(next, MAX_NEXT_CHARS - (question[0]?.length ?? 0))
  const parts = [...(steps === '' ? [] : [steps]), ...question]
  return parts.length === 0 ? null : parts.join(' ')
}

/** The first next step comes first. */
function joinInOrder(statements: readonly string[], maxChars: number): string {
  let joined = ''
  for (const statement of unique(statements.map(withoutHeading))) {
    if (joined.length + statement.length + 1 > maxChars) break
    joined += `${joined === '' ? '' : ' '}${statement}`
  }
  return joined === '' && statements[0] !== undefined ? clipAtWord(statements[0], maxChars) : joined
}

function withoutHeading(statement: string): string {
  return statement.replace(/^(?:next steps?|next|to-?do|follow-?ups?|remaining)\s*:\s*/i, '')
}
