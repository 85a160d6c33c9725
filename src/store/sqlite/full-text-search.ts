/**
 * Search by words: from a text to FTS5 expressions, the queries on the full-text tables, and suggestions for misspelt
 * words.
 *
 * Languages without spaces: the FTS5 tokenizer makes one word of a whole Chinese sentence, and SQLite's trigram tokenizer
 * does not find words of two characters, which most Chinese words are. So letters of such languages are indexed as
 * overlapping pairs in a column of their own, and a query looks for its pairs in sequence. The last letter of a run is
 * also indexed alone, so that a prefix search finds a single letter.
 */
import type { SearchFilters } from '../../domain/search-query.ts'
import { STOP_WORDS, splitWords } from '../../lib/words.ts'
import {
  type ColumnWeights,
  type LexicalQuery,
  type ScoredChunk,
  type ScoredRow,
  searchRowMemoryId,
} from '../search-port.ts'
import { type Database, EMPTY_SQL, raw, type Sql, sql } from './database.ts'
import { filterConditions, kindsOnly } from './search-rows.ts'

/** Combining marks are removed, because the tokenizer splits at them. */
const UNSPACED_RUN =
  /(?:(?=[\p{L}\p{N}\p{M}])[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}\p{scx=Bopomofo}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}\p{scx=Tibetan}])+/gu
const NEEDS_PAIRS =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Tibetan}]/u

/** The letter pairs of a text that are indexed; empty for most texts. */
export function indexedPairs(text: string): string {
  if (!NEEDS_PAIRS.test(text)) return ''
  return unspacedRuns(text)
    .map((letters) => [...letterPairs(letters), letters.at(-1)].join(' '))
    .join(' ')
}

/** The runs of letters without spaces, each as a list of letters. */
function unspacedRuns(text: string): string[][] {
  const runs: string[][] = []
  for (const [run] of text.normalize('NFKC').matchAll(UNSPACED_RUN)) {
    const letters = [...run.replace(/\p{M}/gu, '')]
    if (letters.length > 0 && NEEDS_PAIRS.test(run)) runs.push(letters)
  }
  return runs
}

/** The text without those runs. */
function withoutRuns(text: string): string {
  if (!NEEDS_PAIRS.test(text)) return text
  return text.normalize('NFKC').replace(UNSPACED_RUN, (run) => (NEEDS_PAIRS.test(run) ? ' ' : run))
}

function letterPairs(letters: readonly string[]): string[] {
  return letters.slice(1).map((letter, before) => `${letters[before]}${letter}`)
}

/** A pasted log has thousands of words; the first ones are enough to find it. */
export const MAX_TERMS = 64
const MAX_QUERY_CHARS = 10_000
/** Longer than any name. */
const MAX_WORD_CHARS = 200

/** The columns of the text itself, without its neighbours. */
const OWN_COLUMNS = { memory_fts: '{title body facts names grams}', passage_fts: '{text}' }
type RankedTable = keyof typeof OWN_COLUMNS

/** Null if the text has no words. Every word is quoted, so no part of the text is read as an FTS5 operator. */
export function matchExpression(query: LexicalQuery, table: RankedTable = 'memory_fts'): string | null {
  const terms = termsOf(query)
  if (terms.length === 0) return null
  return query.how === 'any' ? terms.join(' OR ') : `${OWN_COLUMNS[table]} : (${terms.join(' AND ')})`
}

/** For the chunk table, which has one column. */
function chunkExpression(text: string): string | null {
  const terms = [...termsOf({ text, how: 'any' }), ...phrasesOf(text)]
  return terms.length === 0 ? null : terms.join(' OR ')
}

/** Adjacent words of the query as phrases. */
function phrasesOf(text: string): string[] {
  const words = wordsIn(text).filter((word) => unspacedRuns(word).length === 0)
  const phrases = words.slice(1).flatMap((word, i) => {
    const before = words[i] ?? ''
    return isStopWord(before) || isStopWord(word) ? [] : [quoted(`${before} ${word}`.toLowerCase())]
  })
  return phrases.slice(0, MAX_TERMS)
}

/** The words of a query as the user wrote them, without stop words unless there are no others. */
export function queryWords(text: string): string[] {
  const words = wordsIn(text)
  const kept = words.filter((word) => !isStopWord(word))
  return kept.length > 0 ? kept : words
}

/** The words of a query; a word of a language without spaces as its pairs of letters, which other texts contain. */
export function comparedTerms(text: string): string[] {
  return queryWords(text).flatMap((word) => {
    const [run] = unspacedRuns(word)
    return run === undefined || run.length < 3 ? [word] : letterPairs(run)
  })
}

function termsOf({ text, how }: LexicalQuery): string[] {
  if (how === 'phrase') return phraseTerms(text)
  const words = queryWords(text)
  const terms =
    how === 'every' ? words.flatMap(wholeTerms) : words.flatMap((word) => [...wholeTerms(word), ...partTerms(word)])
  return [...new Set(terms)].slice(0, MAX_TERMS)
}

/** One phrase of all its words; a run of a language without spaces is a phrase of its own. */
function phraseTerms(text: string): string[] {
  const clean = text.slice(0, MAX_WORD_CHARS).replace(/[\0\p{Surrogate}]/gu, ' ')
  const spaced = withoutRuns(clean).trim()
  const runs = unspacedRuns(clean).flatMap((letters) => wholeTerms(letters.join('')))
  return [...(/[\p{L}\p{N}]/u.test(spaced) ? [quoted(spaced.toLowerCase())] : []), ...runs]
}

/** A run of a language without spaces is a word of its own, also inside a longer word. */
function wordsIn(text: string): string[] {
  const clean = text.slice(0, MAX_QUERY_CHARS).replace(/[\0\p{Surrogate}]/gu, ' ')
  const spaced = withoutRuns(clean)
    .split(/\s+/u)
    .map((word) => word.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, '').slice(0, MAX_WORD_CHARS))
    .filter((word) => word !== '')
  return [...new Set([...spaced, ...unspacedRuns(clean).map((letters) => letters.join(''))])]
}

function isStopWord(word: string): boolean {
  return STOP_WORDS.has(word.toLowerCase()) || splitWords(word).every((part) => STOP_WORDS.has(part))
}

/** The tokenizer makes a phrase of a word that it splits: `src/auth/jwt.ts` is four words in sequence. */
function wholeTerms(word: string): string[] {
  const [run] = unspacedRuns(word)
  if (run === undefined) return [quoted(word.toLowerCase())]
  if (run.length === 1) return [`${quoted(run.join(''))} *`]
  return [quoted(letterPairs(run).join(' '))]
}

function partTerms(word: string): string[] {
  const [run] = unspacedRuns(word)
  if (run !== undefined) return run.length > 2 ? letterPairs(run).map(quoted) : []
  const parts = splitWords(word)
  return parts.length > 1 ? parts.filter((part) => !STOP_WORDS.has(part)).map(quoted) : []
}

function quoted(text: string): string {
  return `"${text.replaceAll('"', '""')}"`
}

/** A word in more memories, or passages, than this is common: it says little about any of them. */
const COMMON_FROM = { memory_fts: 10_000, passage_fts: 5_000 }
/** With so many rare words the common ones are not needed. Keeps the query for a pasted log as fast as a question. */
const MAX_RARE = 16

interface NarrowedQuery {
  match: string
  /** Its scores are this many times as high as those of the whole query. */
  factor: number
}

/**
 * In a large table most matches have only common words of the query, and scoring them takes the longest. This expression
 * matches only rows with at least one rare word; common words still count in the score. Null if it would not be
 * narrower than the whole query.
 */
export function narrowedExpression(
  db: Database,
  text: string,
  table: RankedTable = 'memory_fts',
  commonFrom = COMMON_FROM[table],
): NarrowedQuery | null {
  if (highestId(db, table) <= commonFrom) return null
  const name = raw(table)
  const counted = termsOf({ text, how: 'any' }).map((term) => ({
    term,
    rows: db.number`
      SELECT count(*) AS n FROM (SELECT 1 FROM ${name} WHERE ${name} MATCH ${term} LIMIT ${commonFrom + 1})`,
  }))
  const rare = counted.filter(({ rows }) => rows <= commonFrom)
  const common = counted.filter(({ rows }) => rows > commonFrom)
  if (rare.length > MAX_RARE) {
    const rarest = rare.sort((a, b) => a.rows - b.rows).slice(0, MAX_RARE)
    return { match: joinWithOr(rarest), factor: 1 }
  }
  if (common.length === 0 || rare.length === 0) return null
  // FTS5 has no optional terms: the required ones are given in their own group, so that each term occurs twice.
  return { match: `(${joinWithOr(rare)}) AND (${joinWithOr([...rare, ...common, ...common])})`, factor: 2 }
}

/** An upper bound for the number of observations, and in practice of the other kinds too; or for that of passages. */
function highestId(db: Database, table: RankedTable): number {
  if (table === 'passage_fts') return db.number`SELECT max(id) AS n FROM passages`
  return searchRowMemoryId(db.number`SELECT max(id) AS n FROM search_rows`)
}

function joinWithOr(terms: readonly { term: string }[]): string {
  return terms.map(({ term }) => term).join(' OR ')
}

/** The filters are part of the statement, so that only passing rows are scored. */
export function selectMatches(
  db: Database,
  query: LexicalQuery,
  filters: SearchFilters,
  weights: ColumnWeights,
  limit: number,
): ScoredRow[] {
  const match = matchExpression(query)
  if (match === null) return []
  const score = scoreSql(weights)
  if (query.how !== 'any') return selectNewest(db, filters, match, score, limit)
  return narrowedFirst(db, 'memory_fts', query.text, limit, (narrowed) =>
    selectBest(db, filters, narrowed ?? match, score, limit),
  )
}

/** `select` is called with the narrowed expression, and with null where that is not enough for `limit` rows. */
export function narrowedFirst<Row extends { score: number }>(
  db: Database,
  table: RankedTable,
  text: string,
  limit: number,
  select: (match: string | null) => Row[],
): Row[] {
  const narrowed = narrowedExpression(db, text, table)
  const found = narrowed === null ? [] : select(narrowed.match)
  if (narrowed === null || found.length < limit) return select(null)
  return found.map((row) => ({ ...row, score: row.score / narrowed.factor }))
}

function scoreSql({ title, body, facts, names, grams, neighbours }: ColumnWeights): Sql {
  return sql`-bm25(memory_fts, ${title}, ${body}, ${facts}, ${names}, ${grams}, ${neighbours})`
}

function selectNewest(db: Database, filters: SearchFilters, match: string, score: Sql, limit: number): ScoredRow[] {
  // CROSS JOIN fixes the order: filters are looked up for matching rows, not the other way round.
  return db.all<ScoredRow>`
    SELECT s.id AS row, ${score} AS score FROM memory_fts CROSS JOIN search_rows s ON s.id = memory_fts.rowid
    WHERE memory_fts MATCH ${match} AND ${filterConditions(filters)}
    ORDER BY s.created_at_epoch DESC, s.id DESC LIMIT ${limit}`
}

/** Equal scores: the newer one first. Joining `search_rows` takes half as long again, so only if a filter needs it. */
function selectBest(db: Database, filters: SearchFilters, match: string, score: Sql, limit: number): ScoredRow[] {
  const kinds = kindsOnly(filters, 'memory_fts.rowid')
  const join = kinds === null ? sql`CROSS JOIN search_rows s ON s.id = memory_fts.rowid` : EMPTY_SQL
  return db.all<ScoredRow>`
    SELECT memory_fts.rowid AS row, ${score} AS score FROM memory_fts ${join}
    WHERE memory_fts MATCH ${match} AND ${kinds ?? filterConditions(filters)}
    ORDER BY score DESC, row DESC LIMIT ${limit}`
}

/** Counts up to `atMost`. */
export function countMatches(db: Database, query: LexicalQuery, filters: SearchFilters, atMost: number): number {
  const match = matchExpression(query)
  if (match === null) return 0
  return db.number`
    SELECT count(*) AS n FROM (SELECT 1 FROM memory_fts CROSS JOIN search_rows s ON s.id = memory_fts.rowid
      WHERE memory_fts MATCH ${match} AND ${filterConditions(filters)} LIMIT ${atMost})`
}

/** The words of the query that each of the rows contains. */
export function selectMatchedWords(db: Database, text: string, rows: readonly number[]): Map<number, string[]> {
  const found = new Map<number, string[]>()
  for (const word of queryWords(text).slice(0, MAX_TERMS)) {
    const match = matchExpression({ text: word, how: 'every' })
    if (match === null) continue
    const matching = db.ids`
      SELECT memory_fts.rowid AS id FROM json_each(${rows}) wanted
      CROSS JOIN memory_fts ON memory_fts.rowid = wanted.value WHERE memory_fts MATCH ${match}`
    for (const row of matching) found.set(row, [...(found.get(row) ?? []), word])
  }
  return found
}

/** Chunks of sessions about the text, best first. `project` null: of all projects. */
export function selectChunks(db: Database, text: string, project: string | null, limit: number): ScoredChunk[] {
  const match = chunkExpression(text)
  if (match === null) return []
  const ofProject = project === null ? EMPTY_SQL : sql`AND c.project = ${project}`
  return db.all<ScoredChunk>`
    SELECT c.id AS chunk, -bm25(chunk_fts) AS score
    FROM chunk_fts CROSS JOIN session_chunks c ON c.id = chunk_fts.rowid
    WHERE chunk_fts MATCH ${match} ${ofProject} ORDER BY score DESC, c.id DESC LIMIT ${limit}`
}

/** Shorter words and stems resemble too many others; longer ones are data. */
const MIN_SPELLING_CHARS = 5
const MAX_SPELLING_CHARS = 30
/** A question has few misspelt words; a pasted log has many unknown words that are correct. */
const MAX_SPELLING_WORDS = 64
const MAX_UNKNOWN_WORDS = 4
const MAX_SUGGESTIONS = 2
/** Misspelt words usually start correctly. Bounds the part of the term list that is read. */
const SAME_PREFIX_CHARS = 2
/** From this length on two letters may differ. */
const LONG_WORD_CHARS = 8
const MAX_TERMS_READ = 20_000

/**
 * Suggestions for words that occur in no memory. They come from the terms of the index, so that a suggestion always finds
 * something. The tables for this are in the connection's temporary database: the file itself is opened read-only.
 */
export function selectSpellingSuggestions(db: Database, text: string): Map<string, string[]> {
  const suggestions = new Map<string, string[]>()
  const words = [...new Set(splitWords(withoutRuns(text)).filter(isPlainWord))].slice(0, MAX_SPELLING_WORDS)
  const unknown = words.filter((word) => !occurs(db, word)).slice(0, MAX_UNKNOWN_WORDS)
  for (const word of unknown) {
    const terms = closestTerms(db, stemOf(db, word), word.length < LONG_WORD_CHARS ? 1 : 2)
    if (terms.length > 0) suggestions.set(word, terms)
  }
  return suggestions
}

function closestTerms(db: Database, stem: string, most: number): string[] {
  if (stem.length < MIN_SPELLING_CHARS) return []
  const near = termsLike(db, stem)
    .map(({ term, doc }) => ({ term, doc, distance: distanceWithin(stem, term, most) }))
    .filter(({ distance }) => distance <= most)
    .sort((a, b) => a.distance - b.distance || b.doc - a.doc || (a.term < b.term ? -1 : 1))
  const least = near[0]?.distance
  return near.flatMap(({ term, distance }) => (distance === least ? [term] : [])).slice(0, MAX_SUGGESTIONS)
}

function isPlainWord(word: string): boolean {
  return (
    word.length >= MIN_SPELLING_CHARS &&
    word.length <= MAX_SPELLING_CHARS &&
    /^[a-z]+$/.test(word) &&
    !STOP_WORDS.has(word)
  )
}

function occurs(db: Database, word: string): boolean {
  return db.exists`SELECT 1 FROM memory_fts WHERE memory_fts MATCH ${quoted(word)} LIMIT 1`
}

function termsLike(db: Database, stem: string): { term: string; doc: number }[] {
  db.run`CREATE VIRTUAL TABLE IF NOT EXISTS temp.memory_terms USING fts5vocab (main, memory_fts, row)`
  const from = stem.slice(0, SAME_PREFIX_CHARS)
  // Letters only: `{` comes right after `z`.
  return db.all<{ term: string; doc: number }>`
    SELECT term, doc FROM temp.memory_terms WHERE term >= ${from} AND term < ${`${from}{`}
      AND length(term) BETWEEN ${stem.length - 2} AND ${stem.length + 2} LIMIT ${MAX_TERMS_READ}`
}

/** The stem that the tokenizer makes of a word. */
function stemOf(db: Database, word: string): string {
  db.run`
    CREATE VIRTUAL TABLE IF NOT EXISTS temp.stems USING fts5 (word, tokenize = 'porter unicode61 remove_diacritics 2')`
  db.run`CREATE VIRTUAL TABLE IF NOT EXISTS temp.stem_terms USING fts5vocab (temp, stems, row)`
  db.run`INSERT INTO temp.stems (rowid, word) VALUES (1, ${word})`
  try {
    return db.get<{ term: string }>`SELECT term FROM temp.stem_terms`?.term ?? word
  } finally {
    db.run`DELETE FROM temp.stems`
  }
}

/** Damerau-Levenshtein distance; `most + 1` for anything larger than `most`. */
function distanceWithin(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return most + 1
  let before: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const swapped = isSwap ? (before[j - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY
      row.push(Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + cost, swapped))
    }
    if (Math.min(...row) > most) return most + 1
    before = last
    last = row
  }
  return last[b.length] ?? most + 1
}
