/** Why a result stands where it does: the parts of its score, at a glance and in figures. */
import type { Explanation } from '../../../search/query.ts'
import { useCell } from '../../cell.ts'
import { settings, settingValue } from '../../model/status.ts'
import { safeLine } from '../../parts/safe-text.ts'
import './score.css'

const PARTS = [
  { part: 'lexical', name: 'Words', about: 'its own words, and those beside it', setting: 'CLAUDE_MEM_SEARCH_LEXICAL' },
  { part: 'semantic', name: 'Meaning', about: 'the closest of its fragments', setting: 'CLAUDE_MEM_SEARCH_SEMANTIC' },
  { part: 'session', name: 'Session', about: 'what that part of it is about', setting: 'CLAUDE_MEM_SEARCH_SESSION' },
  { part: 'recency', name: 'Recency', about: 'how new it is', setting: 'CLAUDE_MEM_SEARCH_RECENCY' },
  { part: 'type', name: 'Type', about: 'how often one like it is wanted', setting: 'CLAUDE_MEM_SEARCH_TYPE' },
] as const

interface Share {
  part: (typeof PARTS)[number]['part']
  name: string
  about: string
  /** From 0 to 1. */
  value: number
  weight: number
  /** What it added to the score. */
  added: number
}

function useShares(explanation: Explanation): Share[] {
  useCell(settings)
  return PARTS.map(({ part, name, about, setting }) => {
    const set = settingValue(setting)
    const weight = typeof set === 'number' ? set : 1
    return { part, name, about, value: explanation[part], weight, added: explanation[part] * weight }
  })
}

/** `best`: the highest score of the list, which fills the bar. */
export function ScoreBar({ explanation, best }: { explanation: Explanation; best: number }) {
  const shares = useShares(explanation)
  const whole = Math.max(best, explanation.score, Number.EPSILON)
  return (
    <span class="score-bar" aria-hidden="true">
      {shares.map(({ part, added }) => (
        <span key={part} class={`score-part score-${part}`} style={{ width: `${(added / whole) * 100}%` }} />
      ))}
    </span>
  )
}

export function ScoreTable({ explanation }: { explanation: Explanation }) {
  const shares = useShares(explanation)
  const { matched, fragment, score } = explanation
  return (
    <div class="score">
      <table class="score-table">
        <caption class="unseen">Parts of the score</caption>
        <thead>
          <tr>
            <th scope="col">Part</th>
            <th scope="col" title="From 0 to 1, compared with the best of this search">
              Found
            </th>
            <th scope="col" title="How much this part counts, as it is set">
              Weight
            </th>
            <th scope="col">Adds</th>
          </tr>
        </thead>
        <tbody>
          {shares.map(({ part, name, about, value, weight, added }) => (
            <tr key={part}>
              <th scope="row" title={about}>
                <span class={`score-key score-${part}`} />
                {name}
              </th>
              <td>{value.toFixed(2)}</td>
              <td>× {weight}</td>
              <td>{added.toFixed(2)}</td>
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">Score</th>
            <td />
            <td />
            <td>{score.toFixed(2)}</td>
          </tr>
        </tfoot>
      </table>
      <p class="score-words">
        {matched.length === 0 ? (
          'None of the words stands in it.'
        ) : (
          <>
            Words that stand in it: <Words words={matched} />
          </>
        )}
        {fragment === null ? null : <> · closest in meaning: its {safeLine(fragment)}</>}
      </p>
    </div>
  )
}

function Words({ words }: { words: readonly string[] }) {
  return (
    <>
      {words.slice(0, 20).map((word) => (
        <mark key={word}>{safeLine(word)}</mark>
      ))}
    </>
  )
}
