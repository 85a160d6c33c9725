/** The words around what was found, on one line. */
const SNIPPET_CHARS = 160
/** Shown before the first word that matched. */
const LEAD_CHARS = 40

export function snippetOf(texts: readonly string[], words: readonly string[]): string {
  const lines = texts.map((text) => text.replace(/\s+/g, ' ').trim()).filter((text) => text !== '')
  const [first = ''] = lines
  for (const line of lines) {
    const at = firstMatch(line, words)
    if (at !== -1) return cut(line, startBefore(line, at))
  }
  return cut(first, 0)
}

function firstMatch(line: string, words: readonly string[]): number {
  const folded = line.toLowerCase()
  const places = words.map((word) => folded.indexOf(word.toLowerCase())).filter((at) => at !== -1)
  return places.length === 0 ? -1 : Math.min(...places)
}

/** Where a word begins, if one does before the match: there are languages without spaces. */
function startBefore(line: string, at: number): number {
  if (at <= LEAD_CHARS) return 0
  const from = at - LEAD_CHARS
  const space = line.indexOf(' ', from)
  return space !== -1 && space < at ? space + 1 : from
}

/** Never through the middle of a character. */
function cut(line: string, from: number): string {
  const start = /[\uDC00-\uDFFF]/.test(line.charAt(from)) && from > 0 ? from - 1 : from
  const letters = [...line.slice(start, start + (SNIPPET_CHARS + 1) * 2)]
  const shown = letters.slice(0, SNIPPET_CHARS).join('')
  return `${start > 0 ? '…' : ''}${shown}${letters.length > SNIPPET_CHARS ? '…' : ''}`
}
