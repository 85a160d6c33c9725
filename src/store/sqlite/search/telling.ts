/**
 * In a large memory most of what a question matches has only its common words, and scoring all of that takes longest. So
 * first only what has one of the other words is scored, its common words included. Where that fills the list, what has
 * nothing but common words is left out of it.
 */
import { type Connection, count } from '../statement.ts'
import { anyTerms } from './match.ts'
import { idOf } from './rows.ts'

/** A word that stands in more memories than this says little about any of them. */
const COMMON_FROM = 10_000
/** With so many telling words the others are not missed: a pasted log takes no longer than a question. */
const MAX_TELLING = 16

export interface Telling {
  match: string
  /** Its scores are so many times as high as those of the whole question. */
  factor: number
}

/** Null where it would be no narrower than the whole question. */
export function tellingExpression(db: Connection, text: string, commonFrom = COMMON_FROM): Telling | null {
  if (mostObservations(db) <= commonFrom) return null
  const counted = anyTerms(text).map((term) => ({ term, memories: countUpTo(db, term, commonFrom + 1) }))
  const telling = counted.filter(({ memories }) => memories <= commonFrom)
  const common = counted.filter(({ memories }) => memories > commonFrom)
  if (telling.length > MAX_TELLING) {
    const rarest = telling.sort((a, b) => a.memories - b.memories).slice(0, MAX_TELLING)
    return { match: anyOf(rarest), factor: 1 }
  }
  if (common.length === 0 || telling.length === 0) return null
  // FTS5 knows no word that may be there: what must be there is asked for apart, and so each word stands there twice.
  return { match: `(${anyOf(telling)}) AND (${anyOf([...telling, ...common, ...common])})`, factor: 2 }
}

function anyOf(terms: readonly { term: string }[]): string {
  return terms.map(({ term }) => term).join(' OR ')
}

function countUpTo(db: Connection, term: string, most: number): number {
  return count(db, 'SELECT count(*) AS n FROM (SELECT 1 FROM memory_fts WHERE memory_fts MATCH @term LIMIT @most)', {
    term,
    most,
  })
}

/** There are no more than this, and seldom more of anything else. */
function mostObservations(db: Connection): number {
  return idOf(count(db, 'SELECT max(id) AS n FROM search_rows'))
}
