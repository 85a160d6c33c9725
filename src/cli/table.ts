/** Tables, label-value lists and titled sections. A table that is too wide truncates or wraps the columns that allow it. */
import type { Display, Paint } from './style.ts'
import { displayWidth, padEnd, padStart, terminalSafe, truncate, wrapText } from './text.ts'

interface ColumnLayout {
  title: string
  align?: 'right'
  /** What happens on a narrow terminal; only the last column can be wrapped. */
  narrow?: 'cut' | 'wrap'
}

/** A text is the title of a left-aligned column that is never truncated. */
export type TableColumn = string | ColumnLayout

export function rightColumn(title: string): TableColumn {
  return { title, align: 'right' }
}

export function cutColumn(title: string): TableColumn {
  return { title, narrow: 'cut' }
}

export function wrapColumn(title: string): TableColumn {
  return { title, narrow: 'wrap' }
}

export type TableCell = string | { text: string; paint: Paint }

const GAP = '  '
/** Columns that a truncated or wrapped cell keeps at least. */
const MIN_WIDTH = { cut: 8, wrap: 24 }

export function tableLines(
  given: readonly TableColumn[],
  rows: readonly (readonly TableCell[])[],
  display: Display,
): string[] {
  const columns = given.map((column) => (typeof column === 'string' ? { title: column } : column))
  const texts = rows.map((row) => columns.map((_, i) => terminalSafe(cellText(row[i]))))
  const natural = columns.map(({ title }, i) =>
    Math.max(displayWidth(title), ...texts.map((row) => displayWidth(row[i] ?? ''))),
  )
  const widths = fitColumns(columns, natural, display.columns)
  const titles = columns.map(({ title }) => title)
  const titlePaints = columns.map(() => display.style.dim)
  return [
    ...rowLines(columns, widths, titles, titlePaints),
    ...texts.flatMap((cells, r) => {
      const paints = columns.map((_, i) => cellPaint(rows[r]?.[i]))
      return rowLines(columns, widths, cells, paints)
    }),
  ]
}

function rowLines(
  columns: readonly ColumnLayout[],
  widths: readonly number[],
  cells: readonly string[],
  paints: readonly (Paint | undefined)[],
): string[] {
  const last = columns.length - 1
  const wrapped = columns[last]?.narrow === 'wrap' ? wrapText(cells[last] ?? '', widths[last] ?? 0) : null
  const firstLine = wrapped === null ? cells : [...cells.slice(0, last), wrapped[0] ?? '']
  const line = firstLine
    .map((text, i) => {
      const width = widths[i] ?? 0
      const short = truncate(text, width)
      const padded = columns[i]?.align === 'right' ? padStart(short, width) : padEnd(short, width)
      const cell = i === last ? padded.trimEnd() : padded
      return paints[i]?.(cell) ?? cell
    })
    .join(GAP)
    .trimEnd()
  const indent = ' '.repeat(widths.slice(0, last).reduce((sum, width) => sum + width + GAP.length, 0))
  const rest = (wrapped ?? []).slice(1).map((text) => indent + (paints[last]?.(text) ?? text))
  return [line, ...rest]
}

function cellText(cell: TableCell | undefined): string {
  return typeof cell === 'object' ? cell.text : (cell ?? '')
}

function cellPaint(cell: TableCell | undefined): Paint | undefined {
  return typeof cell === 'object' ? cell.paint : undefined
}

/** Shrinks the widest column down to the next widest, and so on, so that short columns stay whole. */
function fitColumns(columns: readonly ColumnLayout[], natural: readonly number[], available: number | null): number[] {
  const widths = [...natural]
  if (available === null) return widths
  const minWidth = (i: number) => MIN_WIDTH[columns[i]?.narrow ?? 'cut']
  const shrinkable = columns.flatMap((column, i) => (column.narrow === undefined ? [] : [i]))
  for (;;) {
    const total = widths.reduce((sum, width) => sum + width, 0) + GAP.length * (widths.length - 1)
    const candidates = shrinkable.filter((i) => (widths[i] ?? 0) > minWidth(i))
    const [widest, next] = candidates.sort((a, b) => (widths[b] ?? 0) - (widths[a] ?? 0))
    if (total <= available || widest === undefined) return widths
    const width = widths[widest] ?? 0
    const floor = Math.max(minWidth(widest), Math.min(width - 1, next === undefined ? 0 : (widths[next] ?? 0)))
    widths[widest] = Math.max(width - (total - available), floor)
  }
}

/** A field without a value is not printed. Values may hold colours and are not sanitised here. */
export type Field = readonly [label: string, value: string | null]

/** `label  value` lines. */
export function fieldLines(list: readonly Field[], { style }: Display): string[] {
  const shown = list.filter(([, value]) => value !== null)
  const width = Math.max(0, ...shown.map(([label]) => displayWidth(label)))
  return shown.map(([label, value]) => `  ${style.dim(padEnd(label, width))}${GAP}${value}`)
}

export function section(title: string, lines: readonly string[], { style }: Display): string[] {
  return ['', style.bold(title), ...lines]
}

/** Renders into a display that is two columns narrower, and indents the lines by two. */
export function indented(render: (narrow: Display) => string[], display: Display): string[] {
  const columns = display.columns === null ? null : display.columns - 2
  return render({ ...display, columns }).map((line) => `  ${line}`)
}
