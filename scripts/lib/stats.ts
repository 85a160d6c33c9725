/** Figures out of samples. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  const at = Math.min(sorted.length - 1, Math.floor(sorted.length * share))
  return sorted[at] ?? Number.NaN
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const low = sorted[(sorted.length - 1) >> 1] ?? Number.NaN
  const high = sorted[sorted.length >> 1] ?? Number.NaN
  return (low + high) / 2
}

export function rounded(value: number, digits = 2): number {
  return Number(value.toFixed(digits))
}
