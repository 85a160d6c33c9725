/** Makes hits of ranked pieces: what each shows, and whose words it is. */
import { estimateTokens, memoryOrigin } from '../domain/observation.ts'
import type { HitPiece, SearchHit } from '../domain/search-query.ts'
import { passageSpeaker } from '../domain/speaker.ts'
import type { FoundMemory, FoundPassage } from '../store/search-port.ts'
import { comparedTerms, queryWords } from '../store/sqlite/full-text-search.ts'
import type { SearchDatabase } from '../store/sqlite/search-reader.ts'
import type { QueryComparer } from './embedders/static.ts'
import type { QueryName } from './query.ts'
import {
  beginningOf,
  bestSentences,
  containedWords,
  FIRST_EXCERPT_CHARS,
  FURTHER_EXCERPT_CHARS,
  sentenceScore,
} from './snippets.ts'
import { isContained, type LoadedPiece, pieceTexts, type TurnHit, textWords } from './turn-hits.ts'

type LoadedHitPiece = LoadedPiece['piece']

export class HitRenderer {
  readonly #reader: SearchDatabase
  readonly #text: string
  readonly #words: readonly string[]
  /** Null for a list without a query. */
  readonly #score: ((sentence: string) => number) | null

  constructor(reader: SearchDatabase, text: string, names: readonly QueryName[], compare: QueryComparer | null) {
    this.#reader = reader
    this.#text = text
    this.#words = text === '' ? [] : queryWords(text)
    this.#score = text === '' ? null : sentenceScore(names, comparedTerms(text), compare)
  }

  render(hits: readonly TurnHit[]): SearchHit[] {
    const rows = hits.flatMap(({ pieces }) =>
      pieces.flatMap(({ piece }) => (piece.is === 'memory' ? piece.memory.row : [])),
    )
    const matched = this.#text === '' ? new Map<number, string[]>() : this.#reader.matchedWords(this.#text, rows)
    return hits.map((hit) => this.#hit(hit, matched))
  }

  #hit({ pieces, similar }: TurnHit, matched: ReadonlyMap<number, string[]>): SearchHit {
    const [first, ...others] = pieces
    const shown = this.#piece(first.piece, FIRST_EXCERPT_CHARS, matched)
    const told = textWords(`${shown.title}\n${shown.snippet}`)
    const further: HitPiece[] = []
    for (const { piece } of others) {
      const next = this.#piece(piece, FURTHER_EXCERPT_CHARS, matched)
      const words = textWords(next.snippet || next.title)
      // Two texts that differ may have the same best sentences.
      if (isContained(words, told)) continue
      for (const word of words) told.add(word)
      further.push(next)
    }
    const place = first.piece.is === 'memory' ? memoryPlace(first.piece.memory) : passagePlace(first.piece.passage)
    return { ...shown, ...place, similar, explanation: first.explanation, further }
  }

  #piece(piece: LoadedHitPiece, most: number, matched: ReadonlyMap<number, string[]>): HitPiece {
    const texts = pieceTexts(piece)
    const snippet = this.#score === null ? beginningOf(texts) : bestSentences(texts, most, this.#score)
    if (piece.is === 'memory') {
      const { kind, id, type, title, saidBy = null, row } = piece.memory
      return { kind, id, type, title, saidBy, snippet, passage: null, matched: matched.get(row) ?? [] }
    }
    const { id, kind, subject, outcome, text } = piece.passage
    return {
      kind: 'passage',
      id,
      type: null,
      title: passageTitle(piece.passage),
      saidBy: passageSpeaker(piece.passage),
      snippet,
      passage: { id, kind, subject, outcome },
      matched: containedWords(this.#words, `${subject ?? ''}\n${text}`),
    }
  }
}

type HitPlace = Omit<SearchHit, keyof HitPiece | 'similar' | 'explanation' | 'further'>

function memoryPlace(memory: FoundMemory): HitPlace {
  const { session, project, projectName, files, createdAt, promptNumber, pinned, supersededBy, amendedBy, tokens } =
    memory
  return {
    session,
    project,
    projectName,
    ...memoryOrigin(memory),
    files,
    createdAt,
    promptNumber,
    pinned,
    supersededBy,
    amendedBy,
    tokens,
  }
}

function passagePlace(passage: FoundPassage): HitPlace {
  const { kind, session, project, projectName, subject, text, at, promptNumber } = passage
  return {
    session,
    project,
    projectName,
    ...memoryOrigin(passage),
    files: (kind === 'edit' || kind === 'file') && subject !== null ? [subject] : [],
    createdAt: at,
    promptNumber,
    pinned: false,
    supersededBy: null,
    amendedBy: [],
    tokens: estimateTokens(text),
  }
}

const PASSAGE_TITLE_CHARS = 100

function passageTitle({ subject, text }: FoundPassage): string {
  const [line = ''] = text.split('\n', 1)
  return [...(subject ?? line)].slice(0, PASSAGE_TITLE_CHARS).join('')
}
