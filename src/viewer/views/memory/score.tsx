/** The score of a search hit: what each part adds, as a bar and as a table. */
import { type Explanation, SCORE_WEIGHTS, type SearchHit } from '../../../domain/search-query.ts'
import { Table } from '../../components/basics.tsx'
import { safeLine } from '../../safe-text.ts'

const FACTORS = [
  { part: 'words', name: 'Words', about: 'words of the text and of its neighbours', colour: '--accent' },
  { part: 'meaning', name: 'Meaning', about: 'similarity of its closest fragment', colour: '--discovery' },
  { part: 'around', name: 'Around', about: 'how well its turn or part of the session matches', colour: '--feature' },
  { part: 'recency', name: 'Recency', about: 'newest turn first', colour: '--decision' },
  { part: 'names', name: 'Names', about: 'identifiers, paths and quoted phrases as a whole', colour: '--ink-soft' },
] as const

/** Matched words in the table. */
const MAX_WORDS = 20

/** The weight of its kind multiplies every part but the names. */
function factorsOf(explanation: Explanation) {
  return FACTORS.map(({ part, name, about, colour }) => {
    const weight = SCORE_WEIGHTS[part] * (part === 'names' ? 1 : explanation.kind)
    const found = explanation[part]
    return { part, name, about, background: `var(${colour})`, found, weight, added: found * weight }
  })
}

/** `best`: the highest score of the list, which fills the bar. */
export function ScoreBar({ explanation, best }: { explanation: Explanation; best: number }) {
  const whole = Math.max(best, explanation.score, Number.EPSILON)
  return (
    <span class="track score-bar" aria-hidden="true">
      {factorsOf(explanation).map(({ part, background, added }) => (
        <span key={part} style={{ background, width: `${(added / whole) * 100}%` }} />
      ))}
    </span>
  )
}

const SCORE_COLUMNS = [
  'Factor',
  { name: 'Value', about: 'From 0 to 1, relative to the best hit of this search' },
  { name: 'Weight', about: 'The weight of the part, times that of the kind of text' },
  'Adds',
]

export function ScoreTable({ hit: { explanation, matched } }: { hit: SearchHit }) {
  const { fragment, score } = explanation
  return (
    <>
      <Table class="numbers" caption="Parts of the score" columns={SCORE_COLUMNS}>
        <tbody>
          {factorsOf(explanation).map(({ part, name, about, background, found, weight, added }) => (
            <tr key={part}>
              <th scope="row" title={about}>
                <span class="colour-key" style={{ background }} />
                {name}
              </th>
              <td>{found.toFixed(2)}</td>
              <td>× {weight.toFixed(2)}</td>
              <td>{added.toFixed(2)}</td>
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row" colSpan={3}>
              Score
            </th>
            <td>{score.toFixed(2)}</td>
          </tr>
        </tfoot>
      </Table>
      <p class="soft small score-words">
        {matched.length === 0 ? 'It contains none of the words.' : 'Matched words: '}
        {matched.slice(0, MAX_WORDS).map((word) => (
          <mark key={word}>{safeLine(word)}</mark>
        ))}
        {fragment === null ? null : <> · closest in meaning: its {safeLine(fragment)}</>}
      </p>
    </>
  )
}
