/** The characters that are left for lines, each with its line end. */
export class Room {
  left: number

  constructor(chars: number) {
    this.left = chars
  }

  /** All of the lines or none; `reserve` stays for others. */
  take(lines: readonly string[], reserve = 0): boolean {
    const cost = charsOf(lines)
    if (cost > this.left - reserve) return false
    this.left -= cost
    return true
  }
}

export function charsOf(lines: readonly string[]): number {
  return lines.reduce((sum, text) => sum + text.length + 1, 0)
}
