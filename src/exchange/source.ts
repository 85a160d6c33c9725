/** Where memories are imported from, whatever its form. */
import type { ExportRecord } from '../store/import-port.ts'

export type SourceItem = { /** `line 12`, `observation 5`: for people. */ at: string; done: number } & (
  | { record: ExportRecord }
  /** Something that cannot be used; the rest can. */
  | { problem: string }
)

export interface Source {
  what: 'export' | 'original'
  /** What `done` of the last item comes to: bytes or rows. */
  total: number
  items(): AsyncIterable<SourceItem>
  close(): void
}
