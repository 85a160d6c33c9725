/** From ranked pieces to hits: the best pieces of each turn together, each text once. */
import { SCORE_WEIGHTS } from '../domain/search-query.ts'
import type { FoundMemory } from '../store/search-port.ts'
import { type Piece, type RankedPiece, turnOf } from './ranking.ts'
import { containedWords } from './snippets.ts'

export type LoadedPiece = RankedPiece<FoundMemory>

/** The pieces of a hit, best first. */
export interface TurnHit {
  pieces: [LoadedPiece, ...LoadedPiece[]]
  /** Ids of observations that only repeat one of the pieces. */
  similar: number[]
}

/** With fewer, facts that stand in two places of a turn are not found together; more fill the answer with weaker ones. */
const MAX_PIECES = 3
/** Share of the best score at which results stop. Of 137 questions no more were answered without an end. */
const MIN_HIT_SCORE = 0.45

/** In a small memory all words are common, and BM25 tells nothing: a piece with so many of them is relevant too. */
const MIN_SHARED_TERMS = 0.5

/** A name lifts what has it, but does not make the others less relevant. */
const unnamedScore = ({ explanation: { score, names } }: LoadedPiece): number => score - SCORE_WEIGHTS.names * names

/** The pieces that are relevant in relation to the best one. */
export function relevantPieces(ranked: readonly LoadedPiece[], terms: readonly string[]): LoadedPiece[] {
  const best = Math.max(0, ...ranked.map(unnamedScore))
  const sharesTerms = (piece: LoadedPiece['piece']) =>
    terms.length > 0 &&
    containedWords(terms, [nameOf(piece), ...pieceTexts(piece)].join('\n')).length >= MIN_SHARED_TERMS * terms.length
  return ranked.filter(({ piece, explanation }) => explanation.score >= MIN_HIT_SCORE * best || sharesTerms(piece))
}

/**
 * `ranked`: best first. A turn is one hit, in the place of its best piece. A long turn with more good pieces than a hit shows
 * comes again with the next ones, where these belong: with one hit for each turn, however long, fewer questions are
 * answered.
 */
export function turnHits(ranked: readonly LoadedPiece[]): TurnHit[] {
  const hits: TurnHit[] = []
  const open = new Map<string, TurnHit>()
  const told: ToldPiece[] = []
  for (const ranking of ranked) {
    const { piece } = ranking
    const words = wordsOf(piece)
    const same = told.find((other) => isRepetition(piece, words, other))
    if (same !== undefined) {
      if (piece.is === 'memory' && piece.memory.kind === 'observation') same.hit.similar.push(piece.memory.id)
      continue
    }
    const turn = turnOf(piece)
    let hit = open.get(turn)
    if (hit === undefined || hit.pieces.length === MAX_PIECES) {
      hit = { pieces: [ranking], similar: [] }
      hits.push(hit)
      open.set(turn, hit)
    } else hit.pieces.push(ranking)
    told.push({ piece, words, hit })
  }
  return hits
}

export function pieceTexts(piece: Piece<FoundMemory>): string[] {
  return piece.is === 'memory' ? [piece.memory.text, ...piece.memory.facts] : [piece.passage.text]
}

const nameOf = (piece: Piece<FoundMemory>): string =>
  piece.is === 'memory' ? piece.memory.title : (piece.passage.subject ?? '')

const wordsOf = (piece: Piece<FoundMemory>): Set<string> => textWords([nameOf(piece), ...pieceTexts(piece)].join('\n'))

export const textWords = (text: string): Set<string> => new Set(text.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? [])

interface ToldPiece {
  piece: Piece<FoundMemory>
  words: ReadonlySet<string>
  hit: TurnHit
}

/** A longer text is shown by its best sentences: what else it contains is not shown with it. */
const SHOWN_WHOLE_CHARS = 600

/** Observations that are linked as repetitions, or a text that only has words of another one that is shown whole. */
function isRepetition(piece: Piece<FoundMemory>, words: ReadonlySet<string>, other: ToldPiece): boolean {
  if (projectOf(piece) !== projectOf(other.piece)) return false
  if (piece.is === 'memory' && other.piece.is === 'memory' && areLinked(piece.memory, other.piece.memory)) return true
  const isWhole = pieceTexts(other.piece).reduce((chars, text) => chars + text.length, 0) <= SHOWN_WHOLE_CHARS
  return isWhole && isContained(words, other.words)
}

const projectOf = (piece: Piece): string => (piece.is === 'memory' ? piece.memory.project : piece.passage.project)

const areLinked = (a: FoundMemory, b: FoundMemory): boolean =>
  a.kind === 'observation' && b.kind === 'observation' && (a.repeats.includes(b.id) || b.repeats.includes(a.id))

/** Share of the words of a text that another one has, from which on it says nothing new. */
const MIN_REPEATED_WORDS = 0.9

/** Numbers have to be equal: a different count or port says something else. */
export function isContained(words: ReadonlySet<string>, others: ReadonlySet<string>): boolean {
  const most = words.size * (1 - MIN_REPEATED_WORDS)
  let missing = 0
  for (const word of words) {
    if (others.has(word)) continue
    missing += 1
    if (missing > most || /\p{N}/u.test(word)) return false
  }
  return true
}
