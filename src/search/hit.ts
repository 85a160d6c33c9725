/** A ranked memory as a result shows it. */
import type { SearchHit } from './query.ts'
import type { Ranked } from './rank.ts'
import { snippetOf } from './snippet.ts'

export function hitOf(
  { memory, explanation }: Ranked,
  similar: number[],
  matched: string[],
  completes: boolean,
): SearchHit {
  const { row: _row, text, facts, concepts: _concepts, chunk: _chunk, repeats: _repeats, ...shown } = memory
  return {
    ...shown,
    snippet: snippetOf([text, ...facts], matched),
    similar,
    explanation: { ...explanation, matched },
    completes,
  }
}
