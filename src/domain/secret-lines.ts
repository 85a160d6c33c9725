/** Lines that are not a text of their own: in a diff, an array, or JSON. The name of a secret may be on another line. */

type Mask = (text: string) => string

const DIFF_SIGN = /^[ +-]/

/** Masks lines as one text, without the signs of a diff. Unchanged if lines would get lost. */
export function maskLines(lines: readonly string[], mask: Mask): readonly string[] {
  const isDiff = lines.every((line) => line === '' || DIFF_SIGN.test(line))
  const signs = lines.map((line) => (isDiff ? line.slice(0, 1) : ''))
  const text = lines.map((line, i) => line.slice(signs[i]?.length)).join('\n')
  const masked = mask(text)
  if (masked === text) return lines
  const parts = masked.split('\n')
  return parts.length === lines.length ? parts.map((line, i) => `${signs[i]}${line}`) : lines
}

const HUNK = /^(@@ [^\n]*\n)((?:[ +-][^\n]*(?:\n|$)|\n(?=[ +\n-]))+)/gm

/** Masks the hunks of diffs. */
export function maskHunks(text: string, mask: Mask): string {
  if (!text.includes('@@ ')) return text
  return text.replace(HUNK, (_, head: string, lines: string) => head + maskLines(lines.split('\n'), mask).join('\n'))
}

/** Masks a text, and if it is one line of JSON also by the lines that are escaped in it. */
export function maskEscapedLines(text: string, mask: Mask): string {
  const masked = mask(text)
  if (masked.includes('\n') || !masked.includes('\\n')) return masked
  return mask(masked.replaceAll('\\n', '\n')).replaceAll('\n', '\\n')
}
