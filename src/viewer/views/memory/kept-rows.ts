/**
 * The rows that are known, each at its place: pages of what was there at one moment, in front of them what is newer,
 * and what waits to come in while the reader is further down. Asks nobody.
 */
import { keptNear, type Range, withoutRows } from '../../parts/pages.ts'
import { type Row, rowKey } from './news.ts'

/** Rows kept at most: an hour of scrolling must not fill the memory of the browser. */
const KEPT = 3_000
/** A row that is told of twice is among the first: it is of the moment at which the pages begin. */
const LOOKED_THROUGH = 60
/** Newer rows, in front of the pages or waiting. */
const MOST_NEWER = 500

export class KeptRows {
  /** Newest first, as is what waits. */
  #front: readonly Row[] = []
  #waiting: readonly Row[] = []
  #pages = new Map<number, Row>()
  /** Rows of the pages, whether they are loaded or not. */
  #paged = 0
  /** So many more wait than are kept. */
  #uncounted = 0

  get count(): number {
    return this.#front.length + this.#paged
  }
  get waiting(): number {
    return this.#waiting.length + this.#uncounted
  }

  /** Undefined: not loaded. */
  at(index: number): Row | undefined {
    return index < this.#front.length ? this.#front[index] : this.#pages.get(index - this.#front.length)
  }

  /** -1: not loaded. */
  indexOf(key: string): number {
    const [kind, id] = key.split(':')
    const isIt = (row: Row) => row.id === Number(id) && row.kind === kind
    const inFront = this.#front.findIndex(isIt)
    if (inFront !== -1) return inFront
    for (const [index, row] of this.#pages) if (isIt(row)) return index + this.#front.length
    return -1
  }

  /** Of rows as they are shown, those that are in pages, by their place there. */
  inPages({ from, to }: Range): Range {
    const ahead = this.#front.length
    return { from: Math.max(0, from - ahead), to: Math.min(this.#paged, Math.max(0, to - ahead)) }
  }
  hasPaged(index: number): boolean {
    return this.#pages.has(index)
  }

  startOver(rows: readonly Row[], total: number): void {
    this.#front = []
    this.#waiting = []
    this.#uncounted = 0
    this.#pages = new Map(rows.map((row, index) => [index, row]))
    this.#paged = total
  }

  /** `near`: what the reader looks at; what is far from it may go. */
  addPage(offset: number, rows: readonly Row[], total: number, near: Range): void {
    for (const [i, row] of rows.entries()) this.#pages.set(offset + i, row)
    this.#paged = total
    const { from, to } = this.inPages(near)
    this.#pages = keptNear(this.#pages, (from + to) / 2, KEPT)
  }

  knows(row: Row): boolean {
    const key = rowKey(row)
    const isIt = (one: Row | undefined) => one !== undefined && rowKey(one) === key
    if (this.#waiting.some(isIt) || this.#front.some(isIt)) return true
    for (let index = 0; index < LOOKED_THROUGH; index += 1) if (isIt(this.#pages.get(index))) return true
    return false
  }

  /** True: what was in front has become part of the pages, which are as of now from here on. */
  add(rows: readonly Row[]): boolean {
    this.#front = [...rows, ...this.#front]
    if (this.#front.length <= MOST_NEWER) return false
    const moved = [...this.#pages].map(([index, row]): [number, Row] => [index + this.#front.length, row])
    const newer = this.#front.map((row, index): [number, Row] => [index, row])
    this.#pages = keptNear(new Map([...newer, ...moved]), 0, KEPT)
    this.#paged += this.#front.length
    this.#front = []
    return true
  }
  wait(rows: readonly Row[]): void {
    const waiting = [...rows, ...this.#waiting]
    this.#waiting = waiting.slice(0, MOST_NEWER)
    this.#uncounted += waiting.length - this.#waiting.length
  }
  /** What waited; null: more did than are kept, and the list has to be asked for anew. */
  waited(): readonly Row[] | null {
    if (this.#uncounted > 0) return null
    const rows = this.#waiting
    this.#waiting = []
    return rows
  }

  /** How many of them were known. */
  remove(keys: ReadonlySet<string>): number {
    const stays = (row: Row) => !keys.has(rowKey(row))
    const before = this.#front.length + this.#waiting.length
    this.#front = this.#front.filter(stays)
    this.#waiting = this.#waiting.filter(stays)
    const gone = new Set([...this.#pages].filter(([, row]) => !stays(row)).map(([index]) => index))
    this.#pages = withoutRows(this.#pages, gone)
    this.#paged -= gone.size
    return before - this.#front.length - this.#waiting.length + gone.size
  }

  /** Of observations. */
  change(ids: readonly number[], change: (row: Row) => Row): void {
    const wanted = new Set(ids)
    const changed = (row: Row) => (row.kind === 'observation' && wanted.has(row.id) ? change(row) : row)
    this.#front = this.#front.map(changed)
    this.#waiting = this.#waiting.map(changed)
    for (const [index, row] of this.#pages) {
      const next = changed(row)
      if (next !== row) this.#pages.set(index, next)
    }
  }
}
