/** Why a hit stands where it does: a small bar for each part of its score. */
import type { Explanation } from '../../search/query.ts'
import { bar } from '../bar.ts'
import type { Look } from '../style.ts'
import { clean, padEnd, widthOf } from '../text.ts'

const BAR_COLUMNS = 6
const GAP = '  '

const PARTS = [
  ['words', 'lexical'],
  ['meaning', 'semantic'],
  ['session', 'session'],
  ['recency', 'recency'],
  ['type', 'type'],
] as const

export function explanationLines(explanation: Explanation, width: number, look: Look): string[] {
  const { style } = look
  const parts = PARTS.map(([label, name]) => {
    const value = explanation[name]
    const drawn = padEnd(bar(value, 1, BAR_COLUMNS), BAR_COLUMNS)
    const plain = `${label} ${drawn} ${value.toFixed(2)}`
    return { width: widthOf(plain), text: `${style.dim(label)} ${style.cyan(drawn)} ${value.toFixed(2)}` }
  })
  const { score, matched, fragment } = explanation
  const sum = [
    `score ${score.toFixed(3)}`,
    ...(matched.length === 0 ? [] : [`words: ${matched.slice(0, 10).map(clean).join(' ')}`]),
    ...(fragment === null ? [] : [`closest: ${clean(fragment)}`]),
  ].join(', ')
  return [...rowsOf(parts, width), style.dim(sum)]
}

/** As many beside each other as fit. */
function rowsOf(parts: readonly { width: number; text: string }[], width: number): string[] {
  const rows: { width: number; text: string }[] = []
  for (const part of parts) {
    const row = rows.at(-1)
    const wider = (row?.width ?? width) + GAP.length + part.width
    if (row === undefined || wider > width) rows.push({ ...part })
    else Object.assign(row, { width: wider, text: `${row.text}${GAP}${part.text}` })
  }
  return rows.map(({ text }) => text)
}
