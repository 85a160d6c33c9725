/**
 * What can be a line of the context: statements of observations, summaries, closing messages, commits and of the user,
 * each with its section and its weight. Which of them are shown is decided in selection.ts.
 */
import { isOwn } from '../domain/authorship.ts'
import { DAY_MS } from '../domain/dates.ts'
import { isHandWritten, type Observation, type ObservationType, type Summary } from '../domain/observation.ts'
import { plainText, truncateAtWord } from '../domain/plain-text.ts'
import { AGENT_WORDS, quoted, reportedText } from '../domain/reported-speech.ts'
import type { Speaker } from '../domain/speaker.ts'
import type { ContextMaterial } from '../store/port.ts'
import { observationWords, type SectionPart } from './lines.ts'
import { reliableCandidates } from './reliability.ts'
import { COMMIT_WORDS, type CommitNote, commitNotes } from './state.ts'
import {
  choicesOf,
  hasSubstance,
  informativeTerms,
  isHedged,
  messageStatements,
  summaryStatements,
} from './statements.ts'
import { chosenOption, type SpokenTurn, timeOfTurn, turnKeyOf } from './turns.ts'

export interface Candidate {
  part: SectionPart
  /** The text of its line. */
  text: string
  /** What it says: the informative terms of its text. */
  terms: ReadonlyMap<string, number>
  /** What may follow in the line. */
  more: () => readonly string[]
  observation: Observation | null
  /** A model wrote it: it has weighed what it says. */
  byModel: boolean
  /** Whose words it is made of. A commit is what was really done. */
  said: 'user' | 'agent' | 'commit'
  session: string
  promptNumber: number
  at: number
  weight: number
  /** `by alice, Nov 16`: whose it is; absent: one's own. */
  by?: string
}

const nothing = (): readonly string[] => []

const TYPE_PARTS: Record<ObservationType, SectionPart> = {
  decision: 'decisions',
  bugfix: 'fixes',
  feature: 'fixes',
  refactor: 'fixes',
  change: 'fixes',
  discovery: 'learned',
}
const TYPE_WEIGHTS: Record<ObservationType, number> = {
  decision: 1.6,
  bugfix: 1.5,
  feature: 1.2,
  discovery: 1.2,
  refactor: 1.1,
  change: 0.8,
}
/** What the user said counts most, a page least: anybody may have written it. */
const SPEAKER_WEIGHTS: Record<Speaker, number> = { person: 1.4, agent: 1, tool: 0.8, web: 0.6 }
const OPEN_WEIGHT = 2
const ANSWER_WEIGHT = 1.6
const CHOICE_WEIGHT = 1.3
const COMMIT_WEIGHT = 1.5
const SUMMARY_WEIGHT = 1
const CLOSING_WEIGHT = 1
/** The last turn says how things are now. */
const LAST_TURN_WEIGHT = 1.4
const HEDGED_WEIGHT = 0.5
const OTHER_SESSION_WEIGHT = 0.8
/** Weight of the beginning of the last session compared with its end. */
const SESSION_START_WEIGHT = 0.75
/** Age at which the weight is halved, in days. */
const HALF_LIFE_DAYS = 7

/** The session that is continued, and when it was. */
export interface LastSession {
  session: string
  from: number
  to: number
}

/**
 * One's own session with the newest memory, on any of one's machines; null if there is nothing but notes that were written
 * by hand. Other people's sessions are not continued.
 */
export function findLastSession(material: ContextMaterial, me: string | null = null): LastSession | null {
  const { observations, summaries, passages } = material
  const moments = [
    ...[...observations, ...summaries].map((one) => ({ ...one, at: one.createdAt })),
    ...passages,
  ].filter((one) => !isHandWritten(one) && isOwn(one, me))
  const newest = moments.reduce<(typeof moments)[number] | null>(
    (best, one) =>
      best === null || one.at > best.at || (one.at === best.at && one.session < best.session) ? one : best,
    null,
  )
  if (newest === null) return null
  const times = moments.filter(({ session }) => session === newest.session).map(({ at }) => at)
  return { session: newest.session, from: times.reduce((a, b) => Math.min(a, b), newest.at), to: newest.at }
}

/** Relative to the newest memory, not to now: after a holiday the last working day still counts fully. */
function ageWeight(one: { session: string; at: number }, last: LastSession | null): number {
  if (last === null || isHandWritten(one)) return 1
  const { session, at } = one
  if (session !== last.session) return OTHER_SESSION_WEIGHT / (1 + Math.max(0, last.to - at) / DAY_MS / HALF_LIFE_DAYS)
  // A pinned one, which does not count for the session's times, may be older than its other memories.
  const progress = last.to === last.from ? 1 : Math.max(0, at - last.from) / (last.to - last.from)
  return SESSION_START_WEIGHT + (1 - SESSION_START_WEIGHT) * progress
}

/** `material` and `observations`: one's own only. */
export function allCandidates(
  material: ContextMaterial,
  observations: readonly Observation[],
  turns: readonly SpokenTurn[],
  last: LastSession | null,
  me: string | null,
): Candidate[] {
  const found = [
    ...observations.map((one) => observationCandidate(one, me)),
    ...summaryCandidates(material, last),
    ...closingCandidates(turns, observedTurns(material)),
    ...userCandidates(material, turns),
    ...commitNotes(material.passages).flatMap(commitCandidates),
  ]
  const reliable = reliableCandidates(found, { passages: material.passages, turns, last })
  return reliable.map((one) => ({ ...one, weight: one.weight * ageWeight(one, last) }))
}

/** In the first person: without a quotation the reader would take it for the agent's words. */
const FIRST_PERSON = /^(?!The user|Asked ).*\b(?:I|I['’](?:d|m|ve|ll)|we|we['’](?:d|re|ve|ll)|my|our|let['’]?s)\b/is

export function observationCandidate(observation: Observation, me: string | null = null): Candidate {
  const { type, saidBy, session, promptNumber, createdAt, status } = observation
  const { statement: words, more } = observationWords(observation, me)
  const isUsers = saidBy === 'person' && isOwn(observation, me)
  const statement = isUsers && FIRST_PERSON.test(words) ? `The user: ${quoted(words)}` : words
  return {
    part: status === 'open' ? 'next' : TYPE_PARTS[type],
    text: status == null ? statement : `${status === 'open' ? 'Open' : 'Resolved'}: ${statement}`,
    terms: informativeTerms(statement),
    more,
    observation,
    byModel: isModel(observation.model),
    said: isUsers ? 'user' : 'agent',
    session,
    promptNumber,
    at: createdAt,
    weight: (status === 'open' ? OPEN_WEIGHT : TYPE_WEIGHTS[type]) * SPEAKER_WEIGHTS[saidBy ?? 'agent'],
  }
}

/** The observer without a model stores this name. */
const RULES_MODEL = 'offline'

function isModel(model: string | null): boolean {
  return model !== RULES_MODEL
}

/** Turns of the last session; those of earlier ones have one line for all of them. */
function summaryCandidates({ summaries }: ContextMaterial, last: LastSession | null): Candidate[] {
  return summaries
    .filter(({ session }) => session === last?.session)
    .flatMap((summary) => [
      ...statementsOf(summary, 'fixes', 'completed'),
      ...statementsOf(summary, 'learned', 'learned'),
    ])
}

function statementsOf(summary: Summary, part: SectionPart, field: 'completed' | 'learned'): Candidate[] {
  const { session, promptNumber, createdAt: at } = summary
  return summaryStatements(summary[field] ?? '').flatMap((text) =>
    statementCandidate(text, { part, session, promptNumber, at }, isModel(summary.model)),
  )
}

/** `src/a.ts – what it does`: a list or a sentence that begins with the name of a file. */
const NAMES_PLACE = /^[`'"(]?[\w@.-]*(?:\/[\w@.-]+)*[\w-]\.[a-z]{1,5}\b[`'")]?(?:\s[–—-]|:|\s\()/i
/** Something was wrong, or was changed. */
const TELLS_CHANGE =
  /\b(?:fix(?:e[sd])?|bugs?|caus\w+|errors?|fail\w*|broke\w*|wrong|resolved?|remov\w+|add(?:s|ed)|chang\w+|replac\w+|renam\w+|creat\w+|updat\w+|implement\w+|migrat\w+|upgrad\w+|now (?:use|return|show|match|say|work)\w*|no longer)\b/i

function partOfStatement(text: string): SectionPart {
  if (NAMES_PLACE.test(text)) return 'places'
  return TELLS_CHANGE.test(text) ? 'fixes' : 'learned'
}

/** Turns that an observer has read: what was said at their end is in its observations and summary. */
function observedTurns({ observations, pinned, summaries }: ContextMaterial): ReadonlySet<string> {
  return new Set([...observations, ...pinned, ...summaries].map(turnKeyOf))
}

/**
 * The last closing message, and those of turns that no observer has read yet, because it is behind or has failed. Always as
 * a quotation: a passage does not tell what is a code block or was copied from elsewhere.
 */
function closingCandidates(turns: readonly SpokenTurn[], observed: ReadonlySet<string>): Candidate[] {
  const [last] = turns
  return turns.flatMap((turn) => {
    const { session, promptNumber, closing } = turn
    if (closing === null || (turn !== last && observed.has(turnKeyOf(turn)))) return []
    return messageStatements(closing.text).flatMap((statement) => {
      const part = turn === last ? 'state' : partOfStatement(statement)
      const weight = turn === last ? LAST_TURN_WEIGHT : CLOSING_WEIGHT
      const made = statementCandidate(statement, { part, session, promptNumber, at: closing.at })
      return made.map((one) => ({
        ...one,
        text: `The agent: ${quoted(statement)}`,
        weight: weight * (isHedged(statement) ? HEDGED_WEIGHT : 1),
      }))
    })
  })
}

type Place = Pick<Candidate, 'part' | 'session' | 'promptNumber' | 'at'>

/** In the agent's words. */
function statementCandidate(statement: string, place: Place, byModel = false): Candidate[] {
  const terms = informativeTerms(statement)
  if (!hasSubstance(statement, terms)) return []
  const text = reportedText(statement, AGENT_WORDS)
  return [{ ...place, text, terms, more: nothing, observation: null, byModel, said: 'agent', weight: SUMMARY_WEIGHT }]
}

const MAX_ANSWER_CHARS = 300

/** In the user's words, so always as a quotation: a prompt may have been pasted. */
function userCandidates({ passages }: ContextMaterial, turns: readonly SpokenTurn[]): Candidate[] {
  const byNumber = new Map(turns.map((turn) => [turnKeyOf(turn), turn]))
  const answers = passages
    .filter(({ kind }) => kind === 'answer')
    .map(({ text, session, promptNumber, at }) => ({
      text: quoted(truncateAtWord(plainText(text), MAX_ANSWER_CHARS)),
      session,
      promptNumber,
      at,
    }))
  const chosen = turns.flatMap(({ session, promptNumber, prompt }) => {
    const before = byNumber.get(turnKeyOf({ session, promptNumber: promptNumber - 1 }))?.closing ?? null
    const choice = prompt === null || before === null ? null : chosenOption(before.text, prompt.text)
    return choice === null || prompt === null ? [] : [{ text: choice, session, promptNumber, at: prompt.at }]
  })
  const choices = turns.flatMap((turn) =>
    choicesOf(turn.prompt?.text ?? '').map((sentence) => ({
      text: `The user: ${quoted(sentence)}`,
      session: turn.session,
      promptNumber: turn.promptNumber,
      at: timeOfTurn(turn),
    })),
  )
  const decision = (one: Omit<Place, 'part'> & { text: string }, weight: number): Candidate => ({
    ...{ ...one, weight, part: 'decisions', more: nothing, observation: null, byModel: false, said: 'user' },
    terms: informativeTerms(one.text),
  })
  return [
    ...[...answers, ...chosen].map((one) => decision(one, ANSWER_WEIGHT)),
    ...choices.map((one) => decision(one, CHOICE_WEIGHT)),
  ]
}

/** Files of a commit that somebody has to know about: a directory that was added by mistake, or generated code. */
const MANY_FILES = 100

/** The number of changed files, as git prints it, of a commit like most. */
function isUsualSize(text: string): boolean {
  const files = /^(\d{1,9}) files? changed\b/.exec(text)?.[1]
  return files !== undefined && Number(files) < MANY_FILES
}

/** What the message of a commit says below its title, in one line. The titles are listed together. */
function commitCandidates({ hash, body, passage }: CommitNote): Candidate[] {
  const { session, promptNumber, at } = passage
  const lines = body.split('\n').map((line) => (isUsualSize(line.trim()) ? '' : line))
  const statements = messageStatements(lines.join('\n')).filter((text) => hasSubstance(text))
  const [first, ...more] = statements.map((statement) => reportedText(statement, COMMIT_WORDS))
  if (first === undefined) return []
  const text = `${hash}: ${first}`
  const terms = informativeTerms(first)
  const place = { part: 'fixes', session, promptNumber, at } as const
  return [
    {
      ...place,
      text,
      terms,
      more: () => more,
      observation: null,
      byModel: false,
      said: 'commit',
      weight: COMMIT_WEIGHT,
    },
  ]
}
