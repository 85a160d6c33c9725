/** What a request searches for: its mode, its words, and the names in it that have to match as a whole. */
import type { AnsweredMode, SearchRequest } from '../domain/search-query.ts'

export interface ResolvedQuery {
  mode: AnsweredMode
  /** The words that are searched for. */
  text: string
  /** For the user: why it is answered in another way than asked. */
  notes: string[]
}

const QUOTED = /^["“”]([^"“”]+)["“”]$/su

/** The mode that answers a request. A query in quotes is searched word for word. */
export function resolveQuery(
  { query, mode }: Pick<SearchRequest, 'query' | 'mode'>,
  hasVectors: boolean,
): ResolvedQuery {
  const text = query.trim()
  if (text === '') return { mode: 'filter', text, notes: [] }
  if (mode === 'strict') return { mode, text, notes: [] }
  const quoted = QUOTED.exec(text)?.[1]
  if (mode === 'auto' && quoted !== undefined) return { mode: 'strict', text: quoted, notes: [] }
  if (hasVectors) return { mode: mode === 'semantic' ? 'semantic' : 'hybrid', text, notes: [] }
  const notes = ['no embedder could be loaded: searched by words only (claude-mem status shows the reason)']
  return { mode: 'hybrid', text, notes }
}

/** Adds similarly spelled words for words of the query that no memory contains. */
export function withSpellingVariants(
  { mode, text, notes }: ResolvedQuery,
  variants: ReadonlyMap<string, readonly string[]>,
): ResolvedQuery {
  if (variants.size === 0) return { mode, text, notes }
  const words = [...variants.keys()].map((word) => `"${word}"`).join(', ')
  const note = `no memory contains ${words}: words with a similar spelling were searched too`
  return { mode, text: [text, ...[...variants.values()].flat()].join(' '), notes: [...notes, note] }
}

/** An identifier, a path or a quoted phrase of the query. */
export interface QueryName {
  text: string
  /** It counts however many pieces have it: it was quoted, or nothing else was asked for. */
  isWanted: boolean
}

/** A question has few; a pasted log has many. */
const MAX_NAMES = 8
const MAX_NAME_CHARS = 200
const QUOTED_PART = /["“”`]([^"“”`]{2,200})["“”`]/gu
const BLANK_OR_BRACKET = /[\s,;()[\]{}<>]+/u
/** `max_retry_count`, `src/auth/jwt.ts`, `jwt.ts`, `std::mutex`, `getUserById` */
const NAME = /[\p{L}\p{N}]_|_[\p{L}\p{N}]|[\p{L}\p{N}][./\\:]+[\p{L}\p{N}]|\p{Ll}\p{Lu}/u
const EDGES = /^[^\p{L}\p{N}_./]+|[^\p{L}\p{N}_]+$/gu

export function namesOfQuery(query: string): QueryName[] {
  const quoted = [...query.matchAll(QUOTED_PART)].map(([, text = '']) => text.trim())
  const single = query
    .replace(QUOTED_PART, ' ')
    .split(BLANK_OR_BRACKET)
    .map((word) => word.slice(0, MAX_NAME_CHARS).replace(EDGES, ''))
    .filter((word) => NAME.test(word))
  const texts = [...new Set([...quoted, ...single])].filter((text) => text !== '').slice(0, MAX_NAMES)
  const isAll = texts.join(' ').length >= query.trim().length
  return texts.map((text) => ({ text, isWanted: isAll || quoted.includes(text) }))
}
