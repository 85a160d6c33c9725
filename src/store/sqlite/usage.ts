/** Calls added up: by day, project, session or model, and what counts against today's budget. */
import type { Spending, Spent, UsageFilter, UsageKey, UsageRow } from '../accounting.ts'
import { shownName } from './projects.ts'
import { all, type Connection, get } from './statement.ts'

interface Sums {
  calls: number
  failed: number
  input: number
  output: number
  cacheRead: number
  cacheWrite: number
  cost: number
  unpriced: number
  observations: number
}

const SUMS = `count(*) AS calls, count(error) AS failed, coalesce(sum(input_tokens), 0) AS input,
  coalesce(sum(output_tokens), 0) AS output, coalesce(sum(cache_read_tokens), 0) AS cacheRead,
  coalesce(sum(cache_write_tokens), 0) AS cacheWrite, total(cost) AS cost,
  count(*) FILTER (WHERE cost IS NULL
    AND input_tokens + output_tokens + cache_read_tokens + cache_write_tokens > 0) AS unpriced,
  coalesce(sum(observations), 0) AS observations`

/** Beside max(), SQLite takes bare columns from the row that holds the maximum: a project's newest name. */
const GROUPS: Record<Exclude<UsageKey, 'day'>, { columns: string; by: string }> = {
  project: { columns: `project AS key, ${shownName('project', 'project_name')} AS name`, by: 'project' },
  session: {
    columns: `coalesce(content_session_id, '') AS key, ${shownName('project', 'project_name')} AS name`,
    by: 'content_session_id',
  },
  model: { columns: 'model AS key, provider AS name', by: 'provider, model' },
}

/** Where a period has no end. */
const NEVER = Number.MAX_SAFE_INTEGER

/** Days in their order, anything else with the most expensive first. What has no calls is left out. */
export function selectUsage(db: Connection, filter: UsageFilter): UsageRow[] {
  if (filter.by === 'day') return selectDays(db, filter.dayStarts)
  const { columns, by } = GROUPS[filter.by]
  return all<Sums & { key: string; name: string; at: number }>(
    db,
    `SELECT ${columns}, max(at) AS at, ${SUMS} FROM calls WHERE at >= @since AND at < @until GROUP BY ${by}
     ORDER BY cost DESC, input + output + cacheRead + cacheWrite DESC, key, name`,
    { since: filter.since, until: filter.until ?? NEVER },
  ).map(({ key, name, at, ...sums }) => ({ key, name, at, ...toSpending(sums) }))
}

function selectDays(db: Connection, starts: readonly number[]): UsageRow[] {
  return starts
    .map((start, i) => ({
      key: String(start),
      name: null,
      at: start,
      ...sumBetween(db, start, starts[i + 1] ?? NEVER),
    }))
    .filter(({ calls }) => calls > 0)
}

function sumBetween(db: Connection, since: number, until: number): Spending {
  const sums = get<Sums>(db, `SELECT ${SUMS} FROM calls WHERE at >= @since AND at < @until`, { since, until })
  if (sums === undefined) throw new Error('a sum without groups has one row')
  return toSpending(sums)
}

function toSpending({ input, output, cacheRead, cacheWrite, ...rest }: Sums): Spending {
  return { ...rest, usage: { input, output, cacheRead, cacheWrite } }
}

export function selectSpentSince(db: Connection, since: number): Spent {
  const { cost, usage } = sumBetween(db, since, NEVER)
  return { cost, usage }
}
