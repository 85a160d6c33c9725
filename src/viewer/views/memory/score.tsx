/** The score of a search hit: what each part adds. */
import { SCORE_WEIGHTS, type SearchHit } from '../../../domain/search-query.ts'
import { Details, Table } from '../../components/basics.tsx'
import { safeLine } from '../../safe-text.ts'

const FACTORS = [
  { part: 'words', name: 'Words of the text and its neighbours' },
  { part: 'meaning', name: 'Similarity of its closest fragment' },
  { part: 'around', name: 'How well its turn matches' },
  { part: 'recency', name: 'Recency' },
  { part: 'names', name: 'Identifiers, paths and quoted phrases' },
] as const

/** Matched words that are listed. */
const MAX_WORDS = 20

/** Nothing for a memory that no search found. The weight of its kind multiplies every part but the names. */
export function ScoreDetails({ hit }: { hit: SearchHit | undefined }) {
  if (hit === undefined || hit.explanation.score === 0) return null
  const { explanation, matched } = hit
  const rows = FACTORS.map(({ part, name }) => {
    const weight = SCORE_WEIGHTS[part] * (part === 'names' ? 1 : explanation.kind)
    return [name, explanation[part].toFixed(2), `× ${weight.toFixed(2)}`, (explanation[part] * weight).toFixed(2)]
  })
  return (
    <Details summary={`Why it was found: score ${explanation.score.toFixed(2)}`}>
      <Table caption="Parts of the score" columns={['Part', 'Value', 'Weight', 'Adds']} rows={rows} numbers />
      <p class="soft small">
        {matched.length === 0
          ? 'It contains none of the words.'
          : `Matched words: ${safeLine(matched.slice(0, MAX_WORDS).join(', '))}`}
        {explanation.fragment === null ? '' : `; closest in meaning: its ${safeLine(explanation.fragment)}`}
      </p>
    </Details>
  )
}
