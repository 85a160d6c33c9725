/**
 * Whether a sampled figure grows: the slope of a straight line through its samples, with its standard error. Several series
 * (one per life of a daemon) share one slope, and each has its own level, so that a restart does not count as a change.
 */

/** A sample: when, in hours, and how much. */
export interface Point {
  hours: number
  value: number
}

export interface Slope {
  perHour: number
  /** Standard error of `perHour`. Infinite where there are too few samples for one. */
  error: number
  samples: number
}

/** A slope counts as real when it is further away than this many standard errors: 2 are exceeded by chance in 1 of 40. */
const ERRORS = 2
/** Samples of a figure follow each other closely; more than this would make the error meaningless. */
const MAX_AUTOCORRELATION = 0.95

export function slopeOf(allSeries: readonly (readonly Point[])[]): Slope {
  const series = allSeries.filter((points) => points.length > 1).map(centred)
  const points = series.flat()
  const spread = sum(points.map(({ hours }) => hours * hours))
  const degrees = points.length - series.length - 1
  if (degrees < 1 || spread === 0) return { perHour: 0, error: Number.POSITIVE_INFINITY, samples: points.length }
  const perHour = sum(points.map(({ hours, value }) => hours * value)) / spread
  const residuals = series.map((one) => one.map(({ hours, value }) => value - perHour * hours))
  const variance = sum(residuals.flat().map((residual) => residual * residual)) / degrees
  const error = Math.sqrt(variance / spread) * inflation(residuals)
  return { perHour, error, samples: points.length }
}

/** Not significantly above the bound. A bound of 0 would call every figure that happens to rise a leak. */
export function isFlat({ perHour, error }: Slope, boundPerHour: number): boolean {
  return Number.isFinite(error) && perHour - ERRORS * error <= boundPerHour
}

/** The largest slope that the samples do not exclude. */
export function largestSlope({ perHour, error }: Slope): number {
  return perHour + ERRORS * error
}

function centred(points: readonly Point[]): Point[] {
  const hours = sum(points.map((point) => point.hours)) / points.length
  const value = sum(points.map((point) => point.value)) / points.length
  return points.map((point) => ({ hours: point.hours - hours, value: point.value - value }))
}

/**
 * Neighbouring samples resemble each other (memory rises until it is collected, a WAL until it is written back), so there
 * is less information in them than in as many independent ones: the error grows by √((1 + r) / (1 − r)).
 */
function inflation(residuals: readonly (readonly number[])[]): number {
  const own = sum(residuals.flat().map((residual) => residual * residual))
  if (own === 0) return 1
  const neighbours = sum(residuals.map((one) => sum(one.slice(1).map((residual, i) => residual * (one[i] ?? 0)))))
  const r = Math.min(MAX_AUTOCORRELATION, Math.max(0, neighbours / own))
  return Math.sqrt((1 + r) / (1 - r))
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
