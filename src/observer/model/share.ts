/**
 * Shares a total fairly: whoever wants little gets all of it, and the rest goes in equal parts to those who want
 * more. Whole numbers; together never more than the total.
 */
export function shares(wants: readonly number[], total: number): number[] {
  const given = wants.map(() => 0)
  const order = wants.map((_, i) => i).sort((a, b) => (wants[a] ?? 0) - (wants[b] ?? 0))
  let left = Math.max(0, Math.floor(total))
  order.forEach((who, place) => {
    const part = Math.min(wants[who] ?? 0, Math.floor(left / (order.length - place)))
    given[who] = part
    left -= part
  })
  return given
}
