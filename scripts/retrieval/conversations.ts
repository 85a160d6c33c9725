/** Each conversation as a project, each turn as an observation: do the questions find the turns that answer them? */
import type { ObservationDraft } from '../../src/memory/observation.ts'
import type { SearchHit } from '../../src/search/query.ts'
import type { Asked } from './fitted.ts'
import type { Conversation } from './locomo.ts'
import type { SearchedMemory } from './memory.ts'
import { PlainFts5 } from './plain-fts5.ts'
import { type Score, scoreOf, TOP } from './score.ts'

export interface Answered {
  name: string
  scores: Score[]
  plain: Score[]
  /** The first of what was ranked for each question, for fitting weights. */
  asked: Asked[]
}

/** Other weights bring nothing from further down into the first ten. */
const FITTED_ON = 60
/** Turns of a session follow each other. */
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
        promptNumber: 1,
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
