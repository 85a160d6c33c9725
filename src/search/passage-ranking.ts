/**
 * One order of memories and passages. Both get the same score, a weighted sum of parts from 0 to 1, times the weight of
 * their kind:
 *
 * score = kind · (L + .3 W + 2 V + 1.5 C + .5 T + .1 R)
 *
 * L  BM25, divided by the best of its table for this query
 * W  share of the words of the query that the text contains
 * V  cosine of the word vectors of query and text, divided by the best
 * C  coverage: for each word of the query how close the closest word of the text is
 * T  how well its turn matches as a whole, divided by the best
 * R  1 for the newest of the candidates, 0 for the oldest
 *
 * The weights are rounded means of the best of 1,500 random choices on recorded sessions with questions. Chosen with one
 * session left out and measured on that one they answer fewer: .61 instead of .67 within 400 tokens, .80 instead of .82
 * within 1,200. Most may be halved or doubled with little effect, but V, C and the kinds are needed. Without word vectors
 * V and C are 0 for all.
 *
 * A passage is evidence: it lifts the observation that was made of its event to its own place, and is shown with it.
 */
import type { PassageKind } from '../domain/passage.ts'
import type { Explanation, HitKind } from '../domain/search-query.ts'
import type { FoundMemory, FoundPassage } from '../store/search-port.ts'
import type { QueryComparer, TextSimilarity } from './embedders/static.ts'
import type { RankedMemory } from './ranking.ts'

export interface MatchedPassage {
  passage: FoundPassage
  /** BM25. */
  lexical: number
}

/** A hit before it is shown: a memory, a passage, or a memory with the passage that is its evidence. */
export interface JointHit {
  /** Null: a passage without a memory. */
  memory: FoundMemory | null
  /** Null: the memory itself matches. */
  passage: FoundPassage | null
  /** Ids of near-duplicates that are not listed. */
  similar: number[]
  explanation: Omit<Explanation, 'matched'>
}

export const LEXICAL_PASSAGE_WEIGHTS = { text: 1, around: 0.25 }

const PART_WEIGHTS = { lexical: 1, words: 0.3, vector: 2, coverage: 1.5, turn: 0.5, recency: 0.1 }

/** Sentences that someone wrote for others to read answer more questions than what programs print. */
const PASSAGE_KIND_WEIGHTS: Record<PassageKind, number> = {
  prompt: 1.1,
  answer: 1.4,
  closing: 1.5,
  words: 1.25,
  report: 0.9,
  commit: 1.45,
  check: 0.7,
  status: 0.7,
  link: 0.7,
  command: 0.7,
  file: 0.65,
  edit: 0.65,
  result: 0.55,
}
const MEMORY_KIND_WEIGHTS: Record<Exclude<HitKind, 'passage'>, number> = { observation: 1, summary: 0.9, prompt: 1.1 }
const BEST_KIND_WEIGHT = 1.5

interface Candidate {
  memory: RankedMemory | null
  passage: FoundPassage | null
  lexical: number
  /** Share of the words of the query, and how close its words are to them. */
  words: number
  similarity: TextSimilarity
  turn: string
  at: number
  weight: number
}

export interface JointQuery {
  /** The words that are searched for, without stop words. */
  words: readonly string[]
  /** Null without word vectors. */
  compare: QueryComparer | null
}

/** Only the best passages lift observations that did not match: reading and comparing those takes longer than the rest. */
const MAX_LIFTING = 20

/**
 * `memories`: in their own order, with their texts. Superseded observations come after all others. `evidenced`: reads the
 * observations behind passages that are not among them.
 */
export function rankJointly(
  memories: readonly RankedMemory[],
  passages: readonly MatchedPassage[],
  query: JointQuery,
  evidenced: (passages: readonly FoundPassage[]) => RankedMemory[],
): JointHit[] {
  const compare = textComparer(query)
  const best = Math.max(Number.MIN_VALUE, ...passages.map(({ lexical }) => lexical))
  const matching = [
    ...memories.map((memory) => memoryCandidate(memory, compare)),
    ...passages.map((matched) => passageCandidate(matched, best, compare)),
  ]
  const lifting = scoreCandidates(matching)
    .filter(({ memory }) => memory === null)
    .sort(byJointScore)
    .slice(0, MAX_LIFTING)
  const further = evidenced(lifting.flatMap(({ passage }) => passage ?? []))
  const scored = scoreCandidates([...matching, ...further.map((memory) => memoryCandidate(memory, compare))])
  return liftObservations(scored).sort(byJointScore)
}

type ComparedText = Pick<Candidate, 'words' | 'similarity'>

function textComparer({ words, compare }: JointQuery): (text: string) => ComparedText {
  const stems = words.map(stemOf)
  return (text) => {
    const folded = text.toLowerCase()
    return {
      words: stems.length === 0 ? 0 : stems.filter((stem) => folded.includes(stem)).length / stems.length,
      similarity: compare?.(text) ?? { cosine: 0, coverage: 0 },
    }
  }
}

function memoryCandidate(ranked: RankedMemory, compare: (text: string) => ComparedText): Candidate {
  const { memory, explanation } = ranked
  return {
    ...compare([memory.title, memory.text, ...memory.facts].join('\n')),
    memory: ranked,
    passage: null,
    lexical: explanation.lexical,
    turn: turnKey(memory.session, memory.promptNumber),
    at: memory.createdAt,
    weight: MEMORY_KIND_WEIGHTS[memory.kind],
  }
}

/** `best`: the BM25 of the best passage. */
function passageCandidate(
  { passage, lexical }: MatchedPassage,
  best: number,
  compare: (text: string) => ComparedText,
): Candidate {
  return {
    ...compare(passageWords(passage)),
    memory: null,
    passage,
    lexical: lexical / best,
    turn: turnKey(passage.session, passage.promptNumber),
    at: passage.at,
    weight: PASSAGE_KIND_WEIGHTS[passage.kind],
  }
}

const turnKey = (session: string, prompt: number): string => `${prompt} ${session}`
const passageWords = ({ subject, text }: FoundPassage): string => (subject === null ? text : `${subject}\n${text}`)

function scoreCandidates(candidates: readonly Candidate[]): JointHit[] {
  const bestCosine = Math.max(Number.MIN_VALUE, ...candidates.map(({ similarity }) => similarity.cosine))
  const turns = turnScores(candidates)
  const bestTurn = Math.max(Number.MIN_VALUE, ...turns.values())
  const times = candidates.map(({ at }) => at)
  const [oldest, newest] = [Math.min(...times), Math.max(...times)]
  return candidates.map((candidate) => {
    const parts = {
      lexical: candidate.lexical,
      words: candidate.words,
      vector: candidate.similarity.cosine / bestCosine,
      coverage: candidate.similarity.coverage,
      turn: (turns.get(candidate.turn) ?? 0) / bestTurn,
      recency: newest === oldest ? 1 : (candidate.at - oldest) / (newest - oldest),
    }
    const sum =
      PART_WEIGHTS.lexical * parts.lexical +
      PART_WEIGHTS.words * parts.words +
      PART_WEIGHTS.vector * parts.vector +
      PART_WEIGHTS.coverage * parts.coverage +
      PART_WEIGHTS.turn * parts.turn +
      PART_WEIGHTS.recency * parts.recency
    const explanation = {
      lexical: parts.lexical,
      semantic: parts.vector,
      session: parts.turn,
      recency: parts.recency,
      type: candidate.weight / BEST_KIND_WEIGHT,
      score: sum * candidate.weight,
      fragment: candidate.memory?.explanation.fragment ?? null,
    }
    return { memory: candidate.memory?.memory ?? null, passage: candidate.passage, similar: [], explanation }
  })
}

/** Square root: a turn with many matches is not better in proportion. */
function turnScores(candidates: readonly Candidate[]): Map<string, number> {
  const sums = new Map<string, number>()
  for (const { turn, lexical } of candidates) sums.set(turn, (sums.get(turn) ?? 0) + lexical)
  return new Map([...sums].map(([turn, sum]) => [turn, Math.sqrt(sum)]))
}

/** Endings that may differ between a question and a text. */
const stemOf = (word: string): string => {
  const folded = word.toLowerCase()
  return folded.length < 5 ? folded : folded.replace(/(?:ing|ed|es|s|ly|er|ion)$/, '')
}

/** The best passage of an observation's events becomes its evidence; its other passages stay hits of their own. */
function liftObservations(scored: readonly JointHit[]): JointHit[] {
  const hits: JointHit[] = scored.filter(({ memory }) => memory !== null).map((hit) => ({ ...hit }))
  const byId = new Map(
    hits.flatMap((hit) => (hit.memory?.kind === 'observation' ? [[hit.memory.id, hit] as const] : [])),
  )
  const passages = scored.filter(({ memory }) => memory === null).sort(byJointScore)
  for (const hit of passages) {
    const owner = (hit.passage?.observationIds ?? [])
      .map((id) => byId.get(id))
      .find((one) => one !== undefined && one.passage === null && one.memory?.supersededBy === null)
    if (owner === undefined) {
      hits.push(hit)
      continue
    }
    owner.passage = hit.passage
    if (hit.explanation.score > owner.explanation.score) owner.explanation = hit.explanation
  }
  return hits
}

/** With equal scores memories come first, then the newer one, so that the order is stable. */
function byJointScore(a: JointHit, b: JointHit): number {
  const superseded = Number(isSuperseded(a)) - Number(isSuperseded(b))
  return (
    superseded ||
    b.explanation.score - a.explanation.score ||
    Number(a.memory === null) - Number(b.memory === null) ||
    timeOf(b) - timeOf(a) ||
    idOf(b) - idOf(a)
  )
}

const isSuperseded = ({ memory }: JointHit): boolean => memory !== null && memory.supersededBy !== null
const timeOf = ({ memory, passage }: JointHit): number => memory?.createdAt ?? passage?.at ?? 0
const idOf = ({ memory, passage }: JointHit): number => memory?.id ?? passage?.id ?? 0

/** Hits that are compared with the ones before them. */
const MAX_REPEATED_HITS = 40
/** Share of the words of a hit that one before it has, from which on it says nothing new. */
const MIN_REPEATED_WORDS = 0.9

/** Leaves out hits that only repeat one before them. An observation that says what a passage says takes its place. */
export function withoutRepetitions(hits: readonly JointHit[]): JointHit[] {
  const kept: { hit: JointHit; words: ReadonlySet<string> }[] = []
  for (const hit of hits.slice(0, MAX_REPEATED_HITS)) {
    const words = comparedWords(hit)
    const same = kept.find((other) => isSameProject(other.hit, hit) && isContained(words, other.words))
    if (same === undefined) kept.push({ hit: { ...hit }, words })
    else if (hit.memory?.kind !== 'observation') continue
    else if (same.hit.memory === null) same.hit.memory = hit.memory
    else same.hit.similar = [...same.hit.similar, hit.memory.id]
  }
  return [...kept.map(({ hit }) => hit), ...hits.slice(MAX_REPEATED_HITS)]
}

const projectOf = ({ memory, passage }: JointHit): string | undefined => memory?.project ?? passage?.project
const isSameProject = (a: JointHit, b: JointHit): boolean => projectOf(a) === projectOf(b)

function comparedWords({ memory, passage }: JointHit): Set<string> {
  const own = memory === null ? '' : passage === null ? `${memory.title}\n${memory.text}` : memory.title
  const text = `${own}\n${passage === null ? '' : passageWords(passage)}`
  return new Set(text.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? [])
}

/** Numbers have to be equal: a different count or port says something else. */
function isContained(words: ReadonlySet<string>, others: ReadonlySet<string>): boolean {
  const most = words.size * (1 - MIN_REPEATED_WORDS)
  let missing = 0
  for (const word of words) {
    if (others.has(word)) continue
    missing += 1
    if (missing > most || /\p{N}/u.test(word)) return false
  }
  return true
}
