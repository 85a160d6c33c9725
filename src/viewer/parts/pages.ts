/** Which rows of a long list are drawn, asked for and kept. Arithmetic only: the list is in `virtual-list.tsx`. */

export interface Range {
  /** The first row and the one after the last. */
  from: number
  to: number
}

/** Browsers draw nothing that is higher than some 17 million pixels: the list ends before. */
const HIGHEST_PX = 16_000_000

export function mostRows(rowHeight: number): number {
  return Math.floor(HIGHEST_PX / rowHeight)
}

/** The rows that can be seen, with some beyond either edge. Begins at a multiple of `step`: fewer drawings. */
export function drawnRange(
  scrollTop: number,
  viewport: number,
  rowHeight: number,
  count: number,
  beyond: number,
  step = 1,
): Range {
  const first = Math.floor(Math.max(0, scrollTop) / rowHeight)
  const seen = Math.ceil(viewport / rowHeight) + 1
  const from = Math.floor(Math.max(0, Math.min(first, count - seen) - beyond) / step) * step
  return { from, to: Math.min(count, from + seen + 2 * beyond + step) }
}

/** The pages that have to be asked for, so that every row of the range is there. */
export function missingPages(range: Range, pageSize: number, has: (index: number) => boolean): number[] {
  const pages: number[] = []
  for (let index = range.from; index < range.to; index += 1) {
    const page = Math.floor(index / pageSize)
    if (has(index)) continue
    pages.push(page)
    index = (page + 1) * pageSize - 1
  }
  return pages
}

/** Rows far from where the reader is are let go: they are asked for again when somebody comes back. */
export function keptNear<T>(rows: ReadonlyMap<number, T>, centre: number, most: number): Map<number, T> {
  if (rows.size <= most) return new Map(rows)
  const nearest = [...rows.keys()].sort((a, b) => Math.abs(a - centre) - Math.abs(b - centre)).slice(0, most)
  return new Map(
    nearest.flatMap((index) => {
      const row = rows.get(index)
      return row === undefined ? [] : [[index, row]]
    }),
  )
}

/** Some rows are gone: what stood behind them moves up. */
export function withoutRows<T>(rows: ReadonlyMap<number, T>, gone: ReadonlySet<number>): Map<number, T> {
  const sorted = [...gone].sort((a, b) => a - b)
  const kept = [...rows].filter(([index]) => !gone.has(index)).sort(([a], [b]) => a - b)
  let passed = 0
  return new Map(
    kept.map(([index, row]) => {
      while ((sorted[passed] ?? Number.POSITIVE_INFINITY) < index) passed += 1
      return [index - passed, row]
    }),
  )
}

/** Where to scroll so that a row is in sight; null: it is. `covered`: what lies above the rows at the list's top. */
export function scrollFor(
  index: number,
  scrollTop: number,
  viewport: number,
  rowHeight: number,
  covered = 0,
): number | null {
  const top = index * rowHeight
  if (top < scrollTop + covered) return Math.max(0, top - covered)
  const bottom = top + rowHeight
  return bottom > scrollTop + viewport ? bottom - viewport : null
}
