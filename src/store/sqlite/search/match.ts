/** Makes a full-text query out of any text. Every word is quoted, so nothing in it is ever taken for an operator. */
import { wordsOf } from '../../../search/tokens.ts'
import type { LexicalQuery } from '../../search-port.ts'
import { pairs, runsOf, withoutRuns } from './grams.ts'
import { STOP_WORDS } from './stop-words.ts'

/** A pasted log has thousands of words; the first of them say what it is. */
export const MAX_TERMS = 64
const MAX_QUERY_CHARS = 10_000
/** Longer than any name; what is longer is data. */
const MAX_WORD_CHARS = 200

/** The columns of the memory itself, without what stands beside it. */
const OWN_COLUMNS = '{title body facts names grams}'

/** Null where the text has nothing that could be looked for. */
export function matchExpression(query: LexicalQuery): string | null {
  const terms = termsOf(query)
  if (terms.length === 0) return null
  return query.how === 'every' ? `${OWN_COLUMNS} : (${terms.join(' AND ')})` : terms.join(' OR ')
}

/** Each makes a memory match by itself. */
export function anyTerms(text: string): string[] {
  return termsOf({ text, how: 'any' })
}

/** For the chunks, which have one column. */
export function chunkExpression(text: string): string | null {
  const terms = [...termsOf({ text, how: 'any' }), ...phrasesOf(text)]
  return terms.length === 0 ? null : terms.join(' OR ')
}

/** Words that stand side by side in the query, and so perhaps in what it asks for. */
function phrasesOf(text: string): string[] {
  const words = wordsIn(text).filter((word) => runsOf(word).length === 0)
  const phrases = words.slice(1).flatMap((word, i) => {
    const before = words[i] ?? ''
    return isStopWord(before) || isStopWord(word) ? [] : [quoted(`${before} ${word}`.toLowerCase())]
  })
  return phrases.slice(0, MAX_TERMS)
}

/** The words of a query as people see them, those that say nothing left out. */
export function queryWords(text: string): string[] {
  return telling(wordsIn(text))
}

/** Looks for one of `queryWords` in the memory itself. */
export function wordExpression(word: string): string | null {
  return matchExpression({ text: word, how: 'every' })
}

function termsOf({ text, how }: LexicalQuery): string[] {
  const words = queryWords(text)
  const terms =
    how === 'every' ? words.flatMap(wholeTerms) : words.flatMap((word) => [...wholeTerms(word), ...partTerms(word)])
  return [...new Set(terms)].slice(0, MAX_TERMS)
}

/** Runs of a language without spaces are words of their own, also within a longer one. */
function wordsIn(text: string): string[] {
  const clean = text.slice(0, MAX_QUERY_CHARS).replace(/[\0\p{Surrogate}]/gu, ' ')
  const spaced = withoutRuns(clean)
    .split(/\s+/u)
    .map((word) => word.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, '').slice(0, MAX_WORD_CHARS))
    .filter((word) => word !== '')
  return [...new Set([...spaced, ...runsOf(clean).map((letters) => letters.join(''))])]
}

function telling(words: readonly string[]): string[] {
  const kept = words.filter((word) => !isStopWord(word))
  return kept.length > 0 ? kept : [...words]
}

function isStopWord(word: string): boolean {
  return STOP_WORDS.has(word.toLowerCase()) || wordsOf(word).every((part) => STOP_WORDS.has(part))
}

/** The tokenizer makes a phrase of what it splits: `src/auth/jwt.ts` is four words in this order. */
function wholeTerms(word: string): string[] {
  const [run] = runsOf(word)
  if (run === undefined) return [quoted(word.toLowerCase())]
  if (run.length === 1) return [`${quoted(run.join(''))} *`]
  return [quoted(pairs(run).join(' '))]
}

function partTerms(word: string): string[] {
  const [run] = runsOf(word)
  if (run !== undefined) return run.length > 2 ? pairs(run).map(quoted) : []
  const parts = wordsOf(word)
  return parts.length > 1 ? parts.filter((part) => !STOP_WORDS.has(part)).map(quoted) : []
}

function quoted(text: string): string {
  return `"${text.replaceAll('"', '""')}"`
}
