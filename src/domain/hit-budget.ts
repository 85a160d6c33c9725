/** Fills a number of tokens with the hits of a search, best first. */
import { CHARS_PER_TOKEN } from './observation.ts'
import { truncateAtWord } from './plain-text.ts'
import type { HitPiece, SearchHit } from './search-query.ts'

/** Characters of the line above a text, without title and subject: id, date, kind, quotation marks. */
const HEAD_CHARS = 40
/** The same of a further piece, which has no date. */
const FURTHER_HEAD_CHARS = 20
/** Characters of title and subject that are shown. */
const MAX_NAME_CHARS = 120
/** A shorter rest of a text says nothing. */
const MIN_SNIPPET_CHARS = 40

/** The first hits that fit, at least one; the text of the last piece is cut at a word. */
export function hitsWithinTokens(hits: readonly SearchHit[], tokens: number): SearchHit[] {
  const kept: SearchHit[] = []
  let left = tokens * CHARS_PER_TOKEN
  for (const hit of hits) {
    const least = kept.length === 0 ? MIN_SNIPPET_CHARS : 0
    const first = fitPiece(hit, Math.max(least, left - HEAD_CHARS - nameChars(hit)))
    if (first === null) break
    left -= HEAD_CHARS + pieceChars(first)
    const further: HitPiece[] = []
    for (const piece of hit.further) {
      const fitting = fitPiece(piece, left - FURTHER_HEAD_CHARS - nameChars(piece))
      if (fitting === null) break
      further.push(fitting)
      left -= FURTHER_HEAD_CHARS + pieceChars(fitting)
    }
    kept.push({ ...first, further })
    if (left <= 0) break
  }
  return kept
}

/** The piece with at most `room` characters of its text; null where that would say nothing. */
function fitPiece<P extends HitPiece>(piece: P, room: number): P | null {
  if (piece.snippet.length <= room) return piece
  return room < MIN_SNIPPET_CHARS ? null : { ...piece, snippet: truncateAtWord(piece.snippet, room) }
}

const pieceChars = (piece: HitPiece): number => nameChars(piece) + piece.snippet.length

function nameChars({ kind, title, passage }: HitPiece): number {
  const name = kind === 'passage' ? 0 : Math.min(title.length, MAX_NAME_CHARS)
  return name + Math.min(passage?.subject?.length ?? 0, MAX_NAME_CHARS)
}
