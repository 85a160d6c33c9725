/** Money and tokens for people. Programs get dollars and whole tokens. */
export { shortCount as tokens } from '../memory/amounts.ts'

/** A call costs fractions of a cent: the smaller the sum, the more of its digits say something. */
export function money(dollars: number): string {
  if (dollars === 0) return '$0'
  if (dollars < 0.0001) return '<$0.0001'
  return `$${dollars.toFixed(dollars < 0.01 ? 4 : dollars < 1 ? 3 : 2)}`
}

/** A sum that misses calls of which nobody knows what they cost says so. */
export function knownMoney({ cost, unpriced }: { cost: number; unpriced: number }): string {
  if (unpriced === 0) return money(cost)
  return cost === 0 ? '?' : `${money(cost)} + ?`
}
