/** Fills a number of tokens with the hits of a search, best first. */
import { CHARS_PER_TOKEN } from './observation.ts'
import { truncateAtWord } from './plain-text.ts'
import type { SearchHit } from './search-query.ts'

/** Characters of the line above a hit's text, without title and subject: id, date, kind, quotation marks. */
const HEAD_CHARS = 40
/** Characters of title and subject that are shown. */
const MAX_NAME_CHARS = 120
/** A shorter rest of a text says nothing. */
const MIN_SNIPPET_CHARS = 40

/** The first hits that fit, at least one; the text of the last one is cut at a word. */
export function hitsWithinTokens(hits: readonly SearchHit[], tokens: number): SearchHit[] {
  const kept: SearchHit[] = []
  let left = tokens * CHARS_PER_TOKEN
  for (const hit of hits) {
    const room = left - headChars(hit)
    if (hit.snippet.length <= room) kept.push(hit)
    else if (room >= MIN_SNIPPET_CHARS || kept.length === 0) {
      kept.push({ ...hit, snippet: truncateAtWord(hit.snippet, Math.max(MIN_SNIPPET_CHARS, room)) })
    }
    left = room - hit.snippet.length
    if (left <= 0) break
  }
  return kept
}

function headChars({ kind, title, passage }: SearchHit): number {
  const name = kind === 'passage' ? 0 : Math.min(title.length, MAX_NAME_CHARS)
  return HEAD_CHARS + name + Math.min(passage?.subject?.length ?? 0, MAX_NAME_CHARS)
}
