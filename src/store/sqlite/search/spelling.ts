/**
 * Words that no memory says are most often misspelt ones. What is spelt like them is taken from the index's own list of
 * words, so that only what can be found is ever proposed. Other tables are needed for that, in the connection's own
 * temporary database: the file stays read-only.
 */
import { wordsOf } from '../../../search/tokens.ts'
import { all, type Connection, get, run } from '../statement.ts'
import { withoutRuns } from './grams.ts'
import { STOP_WORDS } from './stop-words.ts'

/** Shorter words, and shorter stems, are like too many others; longer ones are data. */
const LEAST_CHARS = 5
const MOST_CHARS = 30
/** A question has a few misspelt words; a pasted log has many unknown ones that are none. */
const MAX_WORDS = 64
const MAX_UNKNOWN = 4
const MAX_ALIKE = 2
/** People get the beginning of a word right. It bounds how much of the list is looked through. */
const SAME_BEGINNING = 2
/** From this length on two letters may be wrong. */
const LONG_CHARS = 8
const MAX_LISTED = 20_000

/** For each word that nothing says: what is spelt like it, in the index's own form. */
export function selectAlike(db: Connection, text: string): Map<string, string[]> {
  const alike = new Map<string, string[]>()
  const words = [...new Set(wordsOf(withoutRuns(text)).filter(isPlain))].slice(0, MAX_WORDS)
  const unknown = words.filter((word) => !isSaid(db, word)).slice(0, MAX_UNKNOWN)
  for (const word of unknown) {
    const terms = closestTerms(db, stemOf(db, word), word.length < LONG_CHARS ? 1 : 2)
    if (terms.length > 0) alike.set(word, terms)
  }
  return alike
}

function closestTerms(db: Connection, stem: string, most: number): string[] {
  if (stem.length < LEAST_CHARS) return []
  const near = termsLike(db, stem)
    .map(({ term, doc }) => ({ term, doc, distance: distanceWithin(stem, term, most) }))
    .filter(({ distance }) => distance <= most)
    .sort((a, b) => a.distance - b.distance || b.doc - a.doc || (a.term < b.term ? -1 : 1))
  const least = near[0]?.distance
  return near.flatMap(({ term, distance }) => (distance === least ? [term] : [])).slice(0, MAX_ALIKE)
}

function isPlain(word: string): boolean {
  return word.length >= LEAST_CHARS && word.length <= MOST_CHARS && /^[a-z]+$/.test(word) && !STOP_WORDS.has(word)
}

function isSaid(db: Connection, word: string): boolean {
  return get(db, 'SELECT 1 AS n FROM memory_fts WHERE memory_fts MATCH ? LIMIT 1', [`"${word}"`]) !== undefined
}

function termsLike(db: Connection, stem: string): { term: string; doc: number }[] {
  run(db, `CREATE VIRTUAL TABLE IF NOT EXISTS temp.memory_terms USING fts5vocab (main, memory_fts, row)`)
  const from = stem.slice(0, SAME_BEGINNING)
  return all(
    db,
    `SELECT term, doc FROM temp.memory_terms WHERE term >= @from AND term < @to
       AND length(term) BETWEEN @least AND @most LIMIT ${MAX_LISTED}`,
    // Letters only: `{` comes right after `z`.
    { from, to: `${from}{`, least: stem.length - 2, most: stem.length + 2 },
  )
}

/** What the tokenizer makes of a word: it alone knows. */
function stemOf(db: Connection, word: string): string {
  run(
    db,
    `CREATE VIRTUAL TABLE IF NOT EXISTS temp.stems USING fts5 (word, tokenize = 'porter unicode61 remove_diacritics 2')`,
  )
  run(db, 'CREATE VIRTUAL TABLE IF NOT EXISTS temp.stem_terms USING fts5vocab (temp, stems, row)')
  run(db, 'INSERT INTO temp.stems (rowid, word) VALUES (1, ?)', [word])
  try {
    return get<{ term: string }>(db, 'SELECT term FROM temp.stem_terms')?.term ?? word
  } finally {
    run(db, 'DELETE FROM temp.stems')
  }
}

/** Letters put in, left out, changed or swapped with the next; more than `most` is `most + 1`. */
export function distanceWithin(a: string, b: string, most: number): number {
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
