/** JSON of other programs. */

/**
 * Nesting that no client needs, and that no function of ours has to handle: `JSON.stringify` and passing a value to another
 * thread overflow the stack at some thousand levels, although `JSON.parse` does not.
 */
export const MAX_JSON_DEPTH = 500

/** Scans the text: cheaper than walking the parsed value. */
export function isNestedTooDeep(json: string, maxDepth: number = MAX_JSON_DEPTH): boolean {
  let depth = 0
  for (let i = 0; i < json.length; i++) {
    switch (json.charCodeAt(i)) {
      case 0x22: // "
        i = endOfString(json, i)
        break
      case 0x5b: // [
      case 0x7b: // {
        depth += 1
        if (depth > maxDepth) return true
        break
      case 0x5d: // ]
      case 0x7d: // }
        depth -= 1
    }
  }
  return false
}

/** The index of the closing quote; the length where there is none. */
function endOfString(json: string, start: number): number {
  for (let i = start + 1; ; ) {
    const quote = json.indexOf('"', i)
    if (quote === -1) return json.length
    let backslashes = 0
    while (json.charCodeAt(quote - 1 - backslashes) === 0x5c) backslashes += 1
    if (backslashes % 2 === 0) return quote
    i = quote + 1
  }
}
