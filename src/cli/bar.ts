/** Bars of block characters: an eighth of a column is the smallest step. */
const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉']

/** `part` of `whole` in at most `columns` columns. What is there at all gets the smallest step. */
export function bar(part: number, whole: number, columns: number): string {
  if (!(part > 0) || !(whole > 0) || columns <= 0) return ''
  const eighths = Math.max(1, Math.round(Math.min(1, part / whole) * columns * 8))
  return '█'.repeat(Math.floor(eighths / 8)) + EIGHTHS[eighths % 8]
}
