/** Money and tokens for people. Programs get dollars and whole tokens. */

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

/** `950`, `1.2k`, `34k`, `5.6M`. */
export function tokens(count: number): string {
  const whole = Math.round(count)
  if (whole < 1_000) return String(whole)
  if (whole < 999_500) return `${short(whole / 1_000)}k`
  return `${short(whole / 1_000_000)}M`
}

function short(number: number): string {
  return number < 9.95 ? number.toFixed(1).replace(/\.0$/, '') : String(Math.round(number))
}
