/** Usage and cost of models over the last days. */
import { NO_USAGE } from '../domain/observation.ts'
import type { StoreReader, UsageKey, UsageSums, UsageTotals } from '../store/port.ts'

export type UsageView = Awaited<ReturnType<typeof usageView>>

/** The last `days` days, today's included. */
export async function usageView(
  reader: Pick<StoreReader, 'usage' | 'spentSince'>,
  by: UsageKey,
  days: number,
  now: number,
) {
  const dayStarts = lastDays(days, now)
  const since = dayStarts[0] ?? now
  const today = dayStarts.at(-1) ?? now
  const models = await reader.usage({ by: 'model', since })
  const rowsBy = async () => {
    if (by === 'model') return models
    return by === 'day' ? withoutGaps(await reader.usage({ by, dayStarts }), dayStarts) : reader.usage({ by, since })
  }
  return {
    by,
    /** When the first of the days began. */
    since,
    /** Days without gaps from the first with a call on; anything else with the most expensive first. */
    rows: await rowsBy(),
    total: totalOf(models),
    today: await reader.spentSince(today),
    /** Models that used tokens at a price that is not known. */
    unpriced: models.filter(({ unpriced }) => unpriced > 0).map(({ key }) => key),
  }
}

/** Start of each of the last `count` days in local time, oldest first. */
export function lastDays(count: number, now: number): number[] {
  const today = new Date(now)
  return Array.from({ length: count }, (_, i) =>
    new Date(today.getFullYear(), today.getMonth(), today.getDate() - (count - 1 - i)).getTime(),
  )
}

/** Adds days without calls, so that a chart has no gaps. */
function withoutGaps(rows: readonly UsageTotals[], dayStarts: readonly number[]): UsageTotals[] {
  const known = new Map(rows.map((row) => [row.at, row]))
  const first = rows[0]?.at ?? Number.POSITIVE_INFINITY
  return dayStarts
    .filter((start) => start >= first)
    .map((start) => known.get(start) ?? { key: String(start), name: null, at: start, ...nothing() })
}

function nothing(): UsageSums {
  return { calls: 0, failed: 0, usage: { ...NO_USAGE }, cost: 0, unpriced: 0, observations: 0 }
}

function totalOf(rows: readonly UsageSums[]): UsageSums {
  const total = nothing()
  for (const { calls, failed, usage, cost, unpriced, observations } of rows) {
    total.calls += calls
    total.failed += failed
    total.usage.input += usage.input
    total.usage.output += usage.output
    total.usage.cacheRead += usage.cacheRead
    total.usage.cacheWrite += usage.cacheWrite
    total.cost += cost
    total.unpriced += unpriced
    total.observations += observations
  }
  return total
}
