/**
 * In a large memory most of what a question matches has only its common words, and scoring all of that takes longest. So
 * first only what has one of the others is scored, common words included; if that is enough, nothing else comes close.
 */
import { type Connection, count } from '../statement.ts'
import { anyTerms } from './match.ts'

/** A word that stands in more memories than this says little about any of them. */
const COMMON_FROM = 10_000

/** FTS5 knows no word that may be there: one side asks for the telling words, the other for all, each of them twice in sum. */
export const TELLING_FACTOR = 2

/** Its scores are `TELLING_FACTOR` times as high. Null where it would be no narrower than the whole question. */
export function tellingExpression(db: Connection, text: string, commonFrom = COMMON_FROM): string | null {
  if (mostMemories(db) <= commonFrom) return null
  const terms = anyTerms(text)
  const common = new Set(terms.filter((term) => isCommon(db, term, commonFrom)))
  const telling = terms.filter((term) => !common.has(term))
  if (common.size === 0 || telling.length === 0) return null
  return `(${telling.join(' OR ')}) AND (${[...telling, ...common, ...common].join(' OR ')})`
}

function isCommon(db: Connection, term: string, commonFrom: number): boolean {
  const found = count(
    db,
    'SELECT count(*) AS n FROM (SELECT 1 FROM memory_fts WHERE memory_fts MATCH @term LIMIT @most)',
    { term, most: commonFrom + 1 },
  )
  return found > commonFrom
}

/** There are no more than this: every one has a number of its own. */
function mostMemories(db: Connection): number {
  return count(db, 'SELECT max(id) AS n FROM search_rows')
}
