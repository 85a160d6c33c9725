/**
 * The observer without a model: free, instant and private. The turn is the atom. What happens in it is kept as passages;
 * at its end it becomes one observation in the agent's own closing words, one for each commit that explains itself, and one
 * for each explicit choice of the user. Nothing is reworded, and no list of phrases decides anything (docs/offline-observer.md).
 */
import {
  NO_USAGE,
  type Observation,
  type ObservationDraft,
  type ObservationType,
  type SummaryDraft,
  tokensForChars,
} from '../../domain/observation.ts'
import type { Speaker } from '../../domain/speaker.ts'
import { functionsChanged } from '../../reading/declarations.ts'
import type { CommitRecord } from '../../reading/git.ts'
import { clipAtWord, singleLine } from '../../reading/text.ts'
import { withHeading } from '../../reading/words.ts'
import type { ObserveAnswer, ObserveRequest, Observer, SummarizeAnswer, SummarizeRequest } from '../port.ts'
import { composeSessionSummary } from './session-summary.ts'
import {
  comparableText,
  lastPart,
  mostInformative,
  openingText,
  saysSomething,
  statementsOf,
  titleFrom,
  withoutMarks,
} from './statements.ts'
import { commitType, type ObservedTurn, readTurn, type TurnChoice, turnType } from './turn.ts'

/** Stored with each observation; changed when the observer writes something else. */
const COMMON_ANSWER = { usage: NO_USAGE, model: 'offline', promptVersion: 'offline-3', turns: [] }
const KEPT = 'kept as passages; the end of the turn says what came of it'

export const offlineObserver: Observer = {
  provider: 'offline',
  observe,
  summarize,
  compact: async () => ({ ...COMMON_ANSWER, contextTokens: 0 }),
}

async function observe({ messages, contextTokens }: ObserveRequest): Promise<ObserveAnswer> {
  return {
    ...COMMON_ANSWER,
    // Unchanged: the conversation may be that of a model that observed before.
    contextTokens,
    observations: [],
    folded: [],
    seen: [],
    skipped: messages.map(({ id }) => ({ eventId: id, reason: KEPT })),
  }
}

async function summarize(request: SummarizeRequest): Promise<SummarizeAnswer> {
  const { turns, observations, contextTokens, turnEnd } = request
  const common = { ...COMMON_ANSWER, contextTokens }
  if (turns !== null)
    return { ...common, summary: composeSessionSummary(turns, observations), skipReason: null, observations: [] }
  const turn = readTurn(await request.turnPassages(), request)
  const summary = summaryOf(turn, turnEnd?.error ?? null)
  const made = observationsOf(turn, await request.recorded())
  return {
    ...common,
    summary,
    skipReason: summary === null ? 'nothing was asked, said or done' : null,
    observations: made,
  }
}

/** A shorter text, such as "Yes", may be a part of any other. */
const MIN_COMPARED_CHARS = 24
/** A shorter body of a commit explains nothing: it gets no observation of its own. */
const MIN_BODY_CHARS = 40

function observationsOf(turn: ObservedTurn, recorded: readonly Observation[]): ObservationDraft[] {
  const said = recorded.map((one) => comparableText([one.title, one.narrative, ...one.facts].join('\n'))).join('\n')
  const isNew = (text: string): boolean => text.length < MIN_COMPARED_CHARS || !said.includes(comparableText(text))
  const explained = turn.commits.filter(({ body }) => body.length >= MIN_BODY_CHARS && isNew(body))
  const whole = wholeTurn(turn, explained.length > 0, isNew)
  return [
    ...turn.choices.filter(({ answer }) => isNew(answer)).map((choice) => choiceOf(turn, choice)),
    ...explained.map((commit) => commitOf(turn, commit)),
    ...(whole === null ? [] : [whole]),
  ]
}

const MAX_NARRATIVE_CHARS = 700
const MAX_FACTS_CHARS = 2_400
const MAX_FACTS = 12
const MAX_FILES = 10
const MAX_FUNCTIONS = 8
const MAX_SOURCES = 24

/** What the turn came to, in the closing words. Null: nothing was done, and nothing new was said. */
function wholeTurn(
  turn: ObservedTurn,
  isExplained: boolean,
  isNew: (text: string) => boolean,
): ObservationDraft | null {
  const { closing, commits, files, hasResult } = turn
  const statements = statementsOf(closing).filter(({ text }) => isNew(text))
  if (statements.length === 0 && isExplained) return null
  if (!hasResult && !statements.some(({ text }) => saysSomething(text))) return null
  const own = titleFrom(statements)
  const title = own ?? commits[0]?.title ?? titleFrom(closing) ?? changedTitle(files)
  if (title === null) return null
  const narrative = mostInformative(
    statements.filter(({ kind }) => kind === 'sentence'),
    MAX_NARRATIVE_CHARS,
  )
  const facts = mostInformative(
    statements.filter((one) => !narrative.includes(one)),
    MAX_FACTS_CHARS,
  )
  return draftOf(turn, {
    type: turnType(turn),
    title,
    narrative: narrative.map(({ text }) => text).join(' ') || null,
    facts: facts.slice(0, MAX_FACTS).map((fact, i) => withHeading(fact, facts[i - 1])),
    sources: turn.sources,
    saidBy: own === null && commits.length > 0 ? 'tool' : 'agent',
  })
}

/** Of a turn that was cut off. */
function changedTitle(files: readonly string[]): string | null {
  if (files.length === 0) return null
  const more = files.length > 3 ? ` and ${files.length - 3} more` : ''
  return `Changed ${files.slice(0, 3).join(', ')}${more}`
}

function commitOf(turn: ObservedTurn, { title, body, eventId }: CommitRecord): ObservationDraft {
  const type = commitType(title) ?? turnType(turn)
  return draftOf(turn, {
    type,
    title,
    narrative: clipAtWord(body, MAX_FACTS_CHARS),
    facts: [],
    sources: [eventId],
    saidBy: 'tool',
  })
}

const MAX_QUESTION_CHARS = 160

function choiceOf(turn: ObservedTurn, { question, answer, eventId }: TurnChoice): ObservationDraft {
  const [chosen = ''] = answer.split('\n')
  const asked = withoutMarks(singleLine(question, MAX_QUESTION_CHARS))
  return {
    ...draftOf(turn, {
      saidBy: 'person',
      type: 'decision',
      title: `${asked}${/[?？؟]$/.test(asked) ? '' : ':'} ${chosen}`.trim(),
      narrative: `${question}\n${answer}`,
      facts: [],
      sources: [eventId],
    }),
    filesModified: [],
    functionsChanged: [],
  }
}

interface DraftParts {
  type: ObservationType
  title: string
  narrative: string | null
  facts: string[]
  sources: readonly string[]
  /** What git prints of a commit may be somebody else's message. */
  saidBy: Speaker
}

function draftOf(turn: ObservedTurn, { sources, ...parts }: DraftParts): ObservationDraft {
  return {
    ...parts,
    subtitle: null,
    concepts: [],
    filesRead: [],
    filesModified: turn.files.slice(0, MAX_FILES),
    functionsChanged: functionsChanged(turn.edits).slice(0, MAX_FUNCTIONS),
    agent: null,
    discoveryTokens: tokensForChars(turn.chars),
    discoveryEstimated: true,
    sources: sources.slice(0, MAX_SOURCES),
  }
}

const MAX_FIELD_CHARS = 900
const MAX_REQUEST_CHARS = 600
const MAX_NEXT_CHARS = 600

/** The eight fields, each only with evidence. Null: nothing was asked, said or done. */
function summaryOf(turn: ObservedTurn, error: string | null): SummaryDraft | null {
  const { request, closing, commits, hasResult, files } = turn
  if (request === null && closing.length === 0 && !hasResult && error === null) return null
  const next = lastPart(closing)
  const first = statementsOf(closing.filter((block) => !next.includes(block)))
  const opening = openingText(first.length > 0 ? first : statementsOf(closing), MAX_FIELD_CHARS)
  const done = opening ?? (commits.map(({ title }) => title).join('\n') || null)
  return {
    request: request === null ? null : clipAtWord(request, MAX_REQUEST_CHARS),
    investigated: null,
    learned: hasResult ? null : opening,
    completed: hasResult ? done : null,
    nextSteps: openingText(next, MAX_NEXT_CHARS),
    notes: error === null ? null : singleLine(error, MAX_NEXT_CHARS),
    filesRead: [],
    filesEdited: files.slice(0, MAX_FILES),
  }
}
