/** Numbers for people and prompts: `950`, `1.2k`, `34k`, `5.6M`. */
export function shortCount(count: number): string {
  const whole = Math.round(count)
  if (whole < 1_000) return String(whole)
  if (whole < 999_500) return `${short(whole / 1_000)}k`
  return `${short(whole / 1_000_000)}M`
}

function short(number: number): string {
  return number < 9.95 ? number.toFixed(1).replace(/\.0$/, '') : String(Math.round(number))
}
