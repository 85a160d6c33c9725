/** Filters of the memory as options: the same for everything that looks through it. */
import { DATE_FORMS, momentOf } from '../channel/dates.ts'
import { MAX_VALUES } from '../channel/memory-limits.ts'
import { OBSERVATION_TYPES } from '../memory/observation.ts'
import { MEMORY_KINDS, type SearchFilters } from '../search/query.ts'
import { oneOf, UsageError } from './failure.ts'
import { projectOrAll } from './project.ts'

export const projectOption = {
  type: 'string',
  requiresArg: true,
  alias: 'p',
  describe: 'Its name, key or path, or all; default: where you are',
} as const

export const filterOptions = {
  project: projectOption,
  type: {
    type: 'string',
    requiresArg: true,
    alias: 't',
    describe: `${OBSERVATION_TYPES.join(', ')}; several with commas`,
  },
  concept: { type: 'string', requiresArg: true, describe: 'What it is about; several with commas: any of them' },
  file: { type: 'string', requiresArg: true, alias: 'f', describe: 'Part of the path of a file it read or changed' },
  since: { type: 'string', requiresArg: true, describe: 'Not older than: 7d, 2w, 12h, yesterday, 2026-11-01' },
  until: { type: 'string', requiresArg: true, describe: 'Not newer than, in the same words' },
  session: {
    type: 'string',
    requiresArg: true,
    alias: 's',
    describe: 'The first characters of its id; in any project',
  },
  agent: { type: 'string', requiresArg: true, describe: 'Of this subagent' },
  kind: { type: 'string', requiresArg: true, describe: `${MEMORY_KINDS.join(', ')} or all`, default: 'observation' },
  pinned: { type: 'boolean', describe: 'Only what is pinned' },
} as const

export interface FilterArgs {
  project?: string | undefined
  type?: string | undefined
  concept?: string | undefined
  file?: string | undefined
  since?: string | undefined
  until?: string | undefined
  session?: string | undefined
  agent?: string | undefined
  kind: string
  pinned?: boolean | undefined
}

/** Checked here, before anyone is asked: a filter that is not understood must not be one that is not there. */
export function filtersOf(args: FilterArgs, env: NodeJS.ProcessEnv, now: number): SearchFilters {
  const { project, session } = args
  const since = moment('--since', args.since, 'start', now)
  const until = moment('--until', args.until, 'end', now)
  if (since !== null && until !== null && since > until)
    throw new UsageError('--since is after --until: nothing lies between them')
  return {
    // A session's id says enough.
    project: project === undefined && session !== undefined ? null : projectOrAll(project, env),
    kinds: kindsOf(args.kind),
    types: words('--type', args.type).map((word) => oneOf('type', word, OBSERVATION_TYPES)),
    concepts: words('--concept', args.concept),
    files: words('--file', args.file),
    since,
    until,
    agent: args.agent ?? null,
    session: session ?? null,
    pinned: args.pinned === true,
  }
}

/** Any filter that leaves something out; the project that one stands in does not count. */
export function isFiltered({ kind: _, pinned, project, ...args }: FilterArgs): boolean {
  const names = ['type', 'concept', 'file', 'since', 'until', 'session', 'agent'] as const
  const inProject = project !== undefined && project !== 'all'
  return inProject || pinned === true || names.some((name) => args[name] !== undefined)
}

function kindsOf(given: string): SearchFilters['kinds'] {
  const kinds = words('--kind', given).map((word) => oneOf('kind', word, [...MEMORY_KINDS, 'all']))
  return kinds.includes('all') ? MEMORY_KINDS : MEMORY_KINDS.filter((kind) => kinds.includes(kind))
}

/** At least one, none of them empty: `--type ""` is a mistake in a script, not "any type". */
function words(option: string, given: string | undefined): string[] {
  if (given === undefined) return []
  const list = given.split(',').map((word) => word.trim())
  if (list.some((word) => word === '')) throw new UsageError(`${option} needs a value`)
  if (list.length > MAX_VALUES) throw new UsageError(`${option} takes at most ${MAX_VALUES} values`)
  return list
}

function moment(option: string, given: string | undefined, edge: 'start' | 'end', now: number): number | null {
  if (given === undefined) return null
  const at = momentOf(given, edge, now)
  if (at === null) throw new UsageError(`${option} "${given}" is no date; it is ${DATE_FORMS}`)
  return at
}
