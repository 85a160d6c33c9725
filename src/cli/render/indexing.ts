/** How far indexing is, in one line. */
import type { IndexProgress } from '../../channel/memory.ts'
import { bar } from '../bar.ts'
import { clean, padEnd } from '../text.ts'

const BAR_COLUMNS = 24

export function progressText({ what, done, total, embedder }: IndexProgress): string {
  const drawn = padEnd(bar(done, total, BAR_COLUMNS), BAR_COLUMNS)
  return `${subjectText(what, embedder)} ▕${drawn}▏ ${done} of ${total}`
}

export function subjectText(what: IndexProgress['what'], embedder: string | null): string {
  if (what === 'lexical') return 'words'
  return embedder === null ? 'vectors' : `vectors of ${clean(embedder)}`
}
