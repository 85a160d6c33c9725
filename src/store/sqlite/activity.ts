/** What was learned day by day, and how long the queue was meanwhile. */
import { OBSERVATION_TYPES, type ObservationType } from '../../memory/observation.ts'
import type { Activity } from '../origin-port.ts'
import { newestName, shownName } from './projects.ts'
import { selectQueueDepth } from './queue-depth.ts'
import { all, type Connection, count, get } from './statement.ts'

/** Projects listed by themselves: more lines than this nobody tells apart. The days count all of them. */
const MAX_PROJECTS = 50

type Day = Activity['days'][number]

interface Learned {
  project: string
  type: ObservationType
  observations: number
  tokens: number
}

export function selectActivity(db: Connection, dayStarts: readonly number[], until: number): Activity {
  const days: Day[] = []
  const byProject = new Map<string, number[]>()
  for (const [i, start] of dayStarts.entries()) {
    const end = dayStarts[i + 1] ?? until
    const learned = selectLearned(db, start, end)
    days.push(toDay(db, learned, start, end))
    for (const { project, observations } of learned) {
      const counts = byProject.get(project) ?? dayStarts.map(() => 0)
      counts[i] = (counts[i] ?? 0) + observations
      byProject.set(project, counts)
    }
  }
  const [first] = dayStarts
  return {
    dayStarts: [...dayStarts],
    days,
    projects: mostActive(byProject).map((project) => ({ ...project, name: nameOf(db, project.key) })),
    queue: first === undefined ? [] : selectQueueDepth(db, first, until),
  }
}

/** One index holds all that is counted: a hundred thousand rows are added up without being read. */
function selectLearned(db: Connection, since: number, until: number): Learned[] {
  return all<Learned>(
    db,
    `SELECT project, type, count(*) AS observations, sum(discovery_tokens) AS tokens FROM observations
     WHERE created_at_epoch >= @since AND created_at_epoch < @until GROUP BY project, type`,
    { since, until },
  )
}

function toDay(db: Connection, learned: readonly Learned[], since: number, until: number): Day {
  const types: Day['types'] = { bugfix: 0, feature: 0, refactor: 0, decision: 0, discovery: 0, change: 0 }
  for (const { type, observations } of learned) types[type] += observations
  return {
    observations: OBSERVATION_TYPES.reduce((sum, type) => sum + types[type], 0),
    summaries: countBetween(db, 'session_summaries', since, until),
    prompts: countBetween(db, 'user_prompts', since, until),
    types,
    discoveryTokens: learned.reduce((sum, { tokens }) => sum + tokens, 0),
  }
}

function countBetween(
  db: Connection,
  table: 'session_summaries' | 'user_prompts',
  since: number,
  until: number,
): number {
  return count(db, `SELECT count(*) AS n FROM ${table} WHERE created_at_epoch >= ? AND created_at_epoch < ?`, [
    since,
    until,
  ])
}

function mostActive(byProject: ReadonlyMap<string, number[]>): { key: string; observations: number; days: number[] }[] {
  return [...byProject]
    .map(([key, days]) => ({ key, observations: days.reduce((sum, n) => sum + n, 0), days }))
    .sort((a, b) => b.observations - a.observations || (a.key < b.key ? -1 : 1))
    .slice(0, MAX_PROJECTS)
}

/** One that no session is filed under any more has its key for a name. */
function nameOf(db: Connection, key: string): string {
  const said = newestName(db, key) ?? key
  return get<{ name: string }>(db, `SELECT ${shownName('@key', '@said')} AS name`, { key, said })?.name ?? said
}
