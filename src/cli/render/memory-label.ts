/** What a memory is called in a list: its icon and its number. */
import { ICONS } from '../../context/lines.ts'
import type { ObservationType } from '../../memory/observation.ts'
import type { MemoryKind } from '../../search/query.ts'

interface Labelled {
  kind: MemoryKind
  id: number
  type: ObservationType | null
}

const KIND_ICONS: Record<Exclude<MemoryKind, 'observation'>, string> = { summary: '📋', prompt: '💬' }

export function iconOf({ kind, type }: Labelled): string {
  return kind === 'observation' ? ICONS[type ?? 'change'] : KIND_ICONS[kind]
}

/** Only observations are asked for by their number. */
export function labelOf({ kind, id }: Labelled): string {
  return kind === 'observation' ? `#${id}` : kind
}
