/** The score of a search hit: the share of each ranking factor, as a bar and as a table. */
import type { Explanation } from '../../../domain/search-query.ts'
import { Table } from '../../components/basics.tsx'
import { daemonSettings, daemonSettingValue } from '../../daemon-status.ts'
import { useObservable } from '../../observable.ts'
import { safeLine } from '../../safe-text.ts'

const FACTORS = [
  { part: 'lexical', name: 'Words', about: 'words of the memory and of its neighbours', colour: '--accent' },
  { part: 'semantic', name: 'Meaning', about: 'similarity of its closest fragment', colour: '--discovery' },
  { part: 'session', name: 'Session', about: 'topic of its part of the session', colour: '--feature' },
  { part: 'recency', name: 'Recency', about: 'age of the memory', colour: '--decision' },
  { part: 'type', name: 'Type', about: 'how useful its type usually is', colour: '--ink-soft' },
] as const

/** Matched words in the table. */
const MAX_WORDS = 20

function useFactors(explanation: Explanation) {
  useObservable(daemonSettings)
  return FACTORS.map(({ part, name, about, colour }) => {
    const value = daemonSettingValue(`CLAUDE_MEM_SEARCH_${part.toUpperCase()}`)
    const weight = typeof value === 'number' ? value : 1
    const found = explanation[part]
    return { part, name, about, background: `var(${colour})`, found, weight, added: found * weight }
  })
}

/** `best`: the highest score of the list, which fills the bar. */
export function ScoreBar({ explanation, best }: { explanation: Explanation; best: number }) {
  const whole = Math.max(best, explanation.score, Number.EPSILON)
  return (
    <span class="track score-bar" aria-hidden="true">
      {useFactors(explanation).map(({ part, background, added }) => (
        <span key={part} style={{ background, width: `${(added / whole) * 100}%` }} />
      ))}
    </span>
  )
}

const SCORE_COLUMNS = [
  'Factor',
  { name: 'Value', about: 'From 0 to 1, relative to the best hit of this search' },
  { name: 'Weight', about: 'The weight in the settings' },
  'Adds',
]

export function ScoreTable({ explanation }: { explanation: Explanation }) {
  const { matched, fragment, score } = explanation
  return (
    <>
      <Table class="numbers" caption="Parts of the score" columns={SCORE_COLUMNS}>
        <tbody>
          {useFactors(explanation).map(({ part, name, about, background, found, weight, added }) => (
            <tr key={part}>
              <th scope="row" title={about}>
                <span class="colour-key" style={{ background }} />
                {name}
              </th>
              <td>{found.toFixed(2)}</td>
              <td>× {weight}</td>
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
