/**
 * Conversations in the LoCoMo format: sessions of turns with dates, and questions that name the turns which answer them.
 * Each conversation becomes a project and each turn an observation. Leave-one-out fitting shows whether the weights of
 * the ranking are good in general: each conversation is ranked with the weights that are best for all others.
 */
import { readFileSync } from 'node:fs'
import { z } from 'zod'
import type { ObservationDraft } from '../../src/domain/observation.ts'
import { type Explanation, SCORE_WEIGHTS, type SearchHit } from '../../src/domain/search-query.ts'
import { meanOf, PlainFts5, type Score, type SearchedMemory, scoreOf, TOP } from './searched-memory.ts'

interface Turn {
  id: string
  text: string
}

interface Session {
  name: string
  /** Epoch ms. */
  at: number
  turns: Turn[]
}

interface Question {
  text: string
  /** Ids of turns. An id that does not exist counts as missed. */
  evidence: string[]
}

export interface Conversation {
  name: string
  sessions: Session[]
  questions: Question[]
}

const turnShape = z.object({
  speaker: z.string(),
  dia_id: z.string(),
  text: z.string(),
  blip_caption: z.string().optional(),
})
const turnsShape = z.array(turnShape)
const fileShape = z.array(
  z.object({
    sample_id: z.union([z.string(), z.number()]),
    conversation: z.record(z.string(), z.unknown()),
    qa: z.array(z.object({ question: z.string(), evidence: z.array(z.string()).default([]) })),
  }),
)

export function readConversations(file: string): Conversation[] {
  return fileShape.parse(JSON.parse(readFileSync(file, 'utf8'))).map(({ sample_id, conversation, qa }) => ({
    name: String(sample_id),
    sessions: sessionsOf(conversation),
    questions: qa.flatMap(({ question, evidence }) => {
      const ids = [...new Set(evidence.join(' ').match(/D\d+:\d+/g) ?? [])]
      return ids.length === 0 ? [] : [{ text: question, evidence: ids }]
    }),
  }))
}

function sessionsOf(conversation: Record<string, unknown>): Session[] {
  return Object.keys(conversation)
    .flatMap((name) => /^session_(\d+)$/.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => a - b)
    .map((number) => ({
      name: `session_${number}`,
      at: timeOf(z.string().parse(conversation[`session_${number}_date_time`])),
      turns: turnsShape
        .parse(conversation[`session_${number}`])
        .map(({ dia_id, speaker, text, blip_caption = '' }) => ({
          id: dia_id,
          text: `${speaker}: ${text} ${blip_caption}`.trim(),
        })),
    }))
}

/** `1:56 pm on 8 May, 2023`, read as UTC. */
function timeOf(text: string): number {
  const [time, day] = text.split(' on ')
  const at = Date.parse(`${day} ${time} UTC`)
  if (Number.isNaN(at)) throw new Error(`"${text}" is not a date`)
  return at
}

type Parts = Pick<Explanation, 'words' | 'meaning' | 'around' | 'recency'>

interface RankedQuestion {
  /** Number of right answers, found or not. */
  evidence: number
  candidates: { right: boolean; explanation: Parts }[]
}

interface Weighting {
  meaning: number
  around: number
}

interface Fitted {
  weights: Weighting
  scores: Score[]
}

/** The weight of words is 1: only the ratio to the other weights matters. */
const GRID: Weighting[] = [0.3, 0.5, 0.7, 0.9, 1.1].flatMap((meaning) =>
  [0, 0.2, 0.3, 0.5, 0.7].map((around) => ({ meaning, around })),
)

/** For each group its scores with the weights that are best for the other groups. */
export function leaveOneOut(groups: readonly (readonly RankedQuestion[])[]): Fitted[] {
  const tried = GRID.map((weights) => ({ weights, scores: groups.map((asked) => asked.map(scored(weights))) }))
  return groups.map((_, left) => {
    const worth = ({ scores }: (typeof tried)[number]) => {
      const { recall, ndcg } = meanOf(scores.filter((_, group) => group !== left).flat())
      return recall + ndcg
    }
    const best = tried.reduce((a, b) => (worth(b) > worth(a) ? b : a))
    return { weights: best.weights, scores: best.scores[left] ?? [] }
  })
}

function scored({ meaning, around }: Weighting): (asked: RankedQuestion) => Score {
  const total = (parts: Parts) =>
    parts.words + meaning * parts.meaning + around * parts.around + SCORE_WEIGHTS.recency * parts.recency
  return ({ evidence, candidates }) => {
    const first = candidates
      .map(({ right, explanation }) => ({ right, score: total(explanation) }))
      .sort((a, b) => b.score - a.score)
      .slice(0, TOP)
    const names = Array.from({ length: evidence }, (_, i) => `right ${i}`)
    let hits = 0
    return scoreOf(
      first.map(({ right }) => (right ? `right ${hits++}` : 'other')),
      names,
    )
  }
}

export interface Answered {
  name: string
  scores: Score[]
  plain: Score[]
  /** The best candidates of each question, for fitting weights. */
  asked: RankedQuestion[]
}

/** Candidates below this rank do not reach the first ten with other weights. */
const FITTED_ON = 60
/** Time between two turns of a session, in ms. */
const BETWEEN_TURNS_MS = 60_000

export async function keepConversation(
  memory: SearchedMemory,
  conversation: Conversation,
): Promise<Map<number, string>> {
  const turnOf = new Map<number, string>()
  for (const { name, at, turns } of conversation.sessions) {
    const { observations } = await memory.keep({
      id: `${conversation.name}/${name}`,
      project: projectOf(conversation),
      observations: turns.map(({ text }, i) => ({
        draft: draftOf(text),
        promptNumber: i + 1,
        at: at + i * BETWEEN_TURNS_MS,
      })),
      summaries: [],
    })
    for (const [i, id] of observations.entries()) turnOf.set(id, turns[i]?.id ?? '')
  }
  return turnOf
}

export async function askConversation(
  memory: SearchedMemory,
  conversation: Conversation,
  turnOf: ReadonlyMap<number, string>,
): Promise<Answered> {
  const plain = new PlainFts5(conversation.sessions.flatMap(({ turns }) => turns))
  const answered: Answered = { name: conversation.name, scores: [], plain: [], asked: [] }
  const project = projectOf(conversation).key
  const turnsOf = (hits: readonly SearchHit[]) => hits.map(({ id }) => turnOf.get(id) ?? '')
  for (const { text, evidence } of conversation.questions) {
    const hits = await memory.ask(text, { project }, FITTED_ON)
    answered.scores.push(scoreOf(turnsOf(hits.slice(0, TOP)), evidence))
    answered.plain.push(scoreOf(plain.search(text, TOP), evidence))
    const right = new Set(evidence)
    answered.asked.push({
      evidence: evidence.length,
      candidates: hits.map(({ id, explanation }) => ({ right: right.has(turnOf.get(id) ?? ''), explanation })),
    })
  }
  plain.close()
  return answered
}

function projectOf({ name }: Conversation): { key: string; name: string } {
  return { key: `dir:/${name}`, name }
}

function draftOf(narrative: string): ObservationDraft {
  return {
    type: 'discovery',
    title: null,
    subtitle: null,
    narrative,
    facts: [],
    concepts: [],
    filesRead: [],
    filesModified: [],
    functionsChanged: [],
    agent: null,
    discoveryTokens: 0,
    discoveryEstimated: true,
    sources: [],
  }
}
