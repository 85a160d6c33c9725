/** The part of a ranked list that is asked for. Only what is compared or shown is read whole. */
import type { FoundMemory, Rankable } from '../store/search-port.ts'
import type { SearchReader } from '../store/sqlite/search/reader.ts'
import type { SearchRequest } from './query.ts'
import type { Ranked } from './rank.ts'
import { type Collapsed, collapsed } from './similar.ts'

/** Whatever page is asked for, it is a page of one list, in which near-duplicates among the first `compared` are one. */
export function pageOf(
  found: readonly Ranked<Rankable>[],
  { offset, limit }: Pick<SearchRequest, 'offset' | 'limit'>,
  compared: number,
  isSame: (a: FoundMemory, b: FoundMemory) => boolean,
  reader: SearchReader,
): Collapsed<Ranked>[] {
  const first = collapsed(readWhole(found.slice(0, compared), reader), isSame)
  const missing = Math.max(0, offset + limit - first.length)
  const rest = readWhole(found.slice(compared, compared + missing), reader).map((kept) => ({ kept, similar: [] }))
  return [...first, ...rest].slice(offset, offset + limit)
}

export function readWhole(hits: readonly Ranked<Rankable>[], reader: SearchReader): Ranked[] {
  const memories = new Map(reader.found(hits.map(({ memory }) => memory.row)).map((one) => [one.row, one]))
  return hits.flatMap(({ memory: { row }, explanation }) => {
    const memory = memories.get(row)
    return memory === undefined ? [] : { memory, explanation }
  })
}
