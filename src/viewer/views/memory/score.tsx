/** The score of a search hit: the share of each ranking factor, as a bar and as a table. */
import type { Explanation } from '../../../domain/search-query.ts'
import { daemonSettings, daemonSettingValue } from '../../daemon-status.ts'
import { useObservable } from '../../observable.ts'
import { safeLine } from '../../safe-text.ts'

const FACTORS = [
  {
    part: 'lexical',
    name: 'Words',
    about: 'words of the memory and of its neighbours',
    setting: 'CLAUDE_MEM_SEARCH_LEXICAL',
  },
  {
    part: 'semantic',
    name: 'Meaning',
    about: 'similarity of its closest fragment',
    setting: 'CLAUDE_MEM_SEARCH_SEMANTIC',
  },
  { part: 'session', name: 'Session', about: 'topic of its part of the session', setting: 'CLAUDE_MEM_SEARCH_SESSION' },
  { part: 'recency', name: 'Recency', about: 'age of the memory', setting: 'CLAUDE_MEM_SEARCH_RECENCY' },
  { part: 'type', name: 'Type', about: 'how useful its type usually is', setting: 'CLAUDE_MEM_SEARCH_TYPE' },
] as const

/** Matched words in the table. */
const MAX_WORDS = 20

function useFactors(explanation: Explanation) {
  useObservable(daemonSettings)
  return FACTORS.map(({ setting, ...factor }) => {
    const value = daemonSettingValue(setting)
    const weight = typeof value === 'number' ? value : 1
    const found = explanation[factor.part]
    return { ...factor, found, weight, added: found * weight }
  })
}

/** `best`: the highest score of the list, which fills the bar. */
export function ScoreBar({ explanation, best }: { explanation: Explanation; best: number }) {
  const whole = Math.max(best, explanation.score, Number.EPSILON)
  return (
    <span class="track score-bar" aria-hidden="true">
      {useFactors(explanation).map(({ part, added }) => (
        <span key={part} class={`score-${part}`} style={{ width: `${(added / whole) * 100}%` }} />
      ))}
    </span>
  )
}

export function ScoreTable({ explanation }: { explanation: Explanation }) {
  const { matched, fragment, score } = explanation
  return (
    <>
      <table class="table numbers">
        <caption class="unseen">Parts of the score</caption>
        <thead>
          <tr>
            <th scope="col">Factor</th>
            <th scope="col" title="From 0 to 1, relative to the best hit of this search">
              Value
            </th>
            <th scope="col" title="The weight in the settings">
              Weight
            </th>
            <th scope="col">Adds</th>
          </tr>
        </thead>
        <tbody>
          {useFactors(explanation).map(({ part, name, about, found, weight, added }) => (
            <tr key={part}>
              <th scope="row" title={about}>
                <span class={`colour-key score-${part}`} />
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
      </table>
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
