/** Aligned columns. Where the terminal is too narrow, the columns that may be are cut or wrapped. */
import type { Look, Paint } from './style.ts'
import { clean, cut, padEnd, padStart, widthOf, wrap } from './text.ts'

export interface Column {
  title: string
  align?: 'right'
  /** Gives way where the terminal is too narrow; only the last column may be wrapped. */
  narrow?: 'cut' | 'wrap'
}

export type Cell = string | { text: string; paint: Paint }

const GAP = '  '
/** Below this a cut or wrapped cell says nothing. */
const LEAST_WIDTH = { cut: 8, wrap: 24 }

export function table(columns: readonly Column[], rows: readonly (readonly Cell[])[], look: Look): string[] {
  const texts = rows.map((row) => columns.map((_, i) => clean(textOf(row[i]))))
  const natural = columns.map(({ title }, i) => Math.max(widthOf(title), ...texts.map((row) => widthOf(row[i] ?? ''))))
  const widths = fitted(columns, natural, look.columns)
  const header = columns.map(({ title }) => title)
  const headerPaints = columns.map(() => look.style.dim)
  return [
    ...rowLines(columns, widths, header, headerPaints),
    ...texts.flatMap((cells, r) => {
      const paints = columns.map((_, i) => paintOf(rows[r]?.[i]))
      return rowLines(columns, widths, cells, paints)
    }),
  ]
}

function rowLines(
  columns: readonly Column[],
  widths: readonly number[],
  cells: readonly string[],
  paints: readonly (Paint | undefined)[],
): string[] {
  const last = columns.length - 1
  const wrapped = columns[last]?.narrow === 'wrap' ? wrap(cells[last] ?? '', widths[last] ?? 0) : null
  const first = wrapped === null ? cells : [...cells.slice(0, last), wrapped[0] ?? '']
  const line = first
    .map((text, i) => {
      const width = widths[i] ?? 0
      const short = cut(text, width)
      const padded = columns[i]?.align === 'right' ? padStart(short, width) : padEnd(short, width)
      // Nothing follows the last column: no trailing blanks.
      const final = i === last ? padded.trimEnd() : padded
      return paints[i]?.(final) ?? final
    })
    .join(GAP)
    .trimEnd()
  const indent = ' '.repeat(widths.slice(0, last).reduce((sum, width) => sum + width + GAP.length, 0))
  const rest = (wrapped ?? []).slice(1).map((text) => indent + (paints[last]?.(text) ?? text))
  return [line, ...rest]
}

/** `label  value` lines. A value is printed as it is: whoever makes one has cleaned what is stored in it. */
export function fields(list: readonly (readonly [label: string, value: string])[], look: Look): string[] {
  const width = Math.max(0, ...list.map(([label]) => widthOf(label)))
  return list.map(([label, value]) => `  ${look.style.dim(padEnd(label, width))}${GAP}${value}`)
}

function textOf(cell: Cell | undefined): string {
  return typeof cell === 'object' ? cell.text : (cell ?? '')
}

function paintOf(cell: Cell | undefined): Paint | undefined {
  return typeof cell === 'object' ? cell.paint : undefined
}

/** The widest gives way first, down to the next one: short columns stay whole. */
function fitted(columns: readonly Column[], natural: readonly number[], available: number | null): number[] {
  const widths = [...natural]
  if (available === null) return widths
  const least = (i: number) => LEAST_WIDTH[columns[i]?.narrow ?? 'cut']
  const givers = columns.flatMap((column, i) => (column.narrow === undefined ? [] : [i]))
  for (;;) {
    const total = widths.reduce((sum, width) => sum + width, 0) + GAP.length * (widths.length - 1)
    const able = givers.filter((i) => (widths[i] ?? 0) > least(i))
    const [widest, next] = able.sort((a, b) => (widths[b] ?? 0) - (widths[a] ?? 0))
    if (total <= available || widest === undefined) return widths
    const width = widths[widest] ?? 0
    const floor = Math.max(least(widest), Math.min(width - 1, next === undefined ? 0 : (widths[next] ?? 0)))
    widths[widest] = Math.max(width - (total - available), floor)
  }
}
