/**
 * What one gets without any of this: the texts in one FTS5 table, porter stemming, the query's words joined by OR without
 * stop words, best first.
 */
import Database from 'better-sqlite3'
import { STOP_WORDS } from '../../src/store/sqlite/search/stop-words.ts'

export class PlainFts5 {
  readonly #db = new Database(':memory:')
  readonly #ids: string[] = []

  constructor(texts: Iterable<{ id: string; text: string }>) {
    this.#db.exec(`CREATE VIRTUAL TABLE memory USING fts5 (text, tokenize = 'porter unicode61')`)
    const insert = this.#db.prepare('INSERT INTO memory (rowid, text) VALUES (?, ?)')
    for (const { id, text } of texts) insert.run(this.#ids.push(id), text)
  }

  search(query: string, limit: number): string[] {
    const match = matchOf(query)
    if (match === '') return []
    const rows = this.#db
      .prepare<[string, number], number>('SELECT rowid FROM memory WHERE memory MATCH ? ORDER BY rank LIMIT ?')
      .pluck()
      .all(match, limit)
    return rows.flatMap((row) => this.#ids[row - 1] ?? [])
  }

  close(): void {
    this.#db.close()
  }
}

function matchOf(query: string): string {
  const words = [...new Set(query.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [])]
  const telling = words.filter((word) => !STOP_WORDS.has(word))
  return (telling.length > 0 ? telling : words).map((word) => `"${word}"`).join(' OR ')
}
