/** One number for everything that can be found: `search_rows.id` and the full-text table's rowid. */
import { MEMORY_KINDS, type MemoryKind } from '../../../search/query.ts'

/** Four kinds fit; three are used. */
const KINDS_PER_ID = 4

export function rowOf(kind: MemoryKind, id: number): number {
  return id * KINDS_PER_ID + MEMORY_KINDS.indexOf(kind)
}

export function kindOf(row: number): MemoryKind {
  return MEMORY_KINDS[row % KINDS_PER_ID] ?? 'observation'
}

export function idOf(row: number): number {
  return Math.floor(row / KINDS_PER_ID)
}
