/** Command-line flags for projects and filters. The flags are derived from `SEARCH_FILTERS`: a row there is a flag here. */
import { homedir } from 'node:os'
import { CLIENT_NAMES, type ClientName } from '../domain/clients.ts'
import { DATE_FORMS, parseMoment } from '../domain/dates.ts'
import { projectKeyOrName, projectOfDirectory, resolveGivenPath } from '../domain/project.ts'
import {
  FILTER_NAMES,
  type FilterName,
  SEARCH_FILTERS,
  type SearchFilter,
  type SearchFilters,
} from '../domain/search-query.ts'
import { commaList, INPUT_LIMITS, oneOf, refuseIf, UsageError } from './arguments.ts'
import { stringOption } from './command.ts'

type FilterTable = typeof SEARCH_FILTERS
type FilterParam = FilterTable[FilterName]['param']
type FlagParam = {
  [N in FilterName]: FilterTable[N] extends { kind: 'flag' } ? FilterTable[N]['param'] : never
}[FilterName]

type ValueOption = ReturnType<typeof stringOption>
interface FlagOption {
  readonly type: 'boolean'
  readonly describe: string
}

/** yargs options, by flag name. */
export const filterOptions = Object.fromEntries(
  FILTER_NAMES.map((name) => [SEARCH_FILTERS[name].param, filterOption(SEARCH_FILTERS[name])]),
) as { readonly [P in FilterParam]: P extends FlagParam ? FlagOption : ValueOption }

export const projectOption = {
  ...filterOptions.project,
  describe: `${SEARCH_FILTERS.project.about}; default: current directory`,
}

/** Values of the flags as yargs parsed them. */
export type FilterArgs = { [P in FilterParam]?: (P extends FlagParam ? boolean : string) | undefined }

function filterOption(filter: SearchFilter): ValueOption | FlagOption {
  if (filter.kind === 'flag') return { type: 'boolean', describe: filter.about }
  const standard = filter.kind === 'choices' && filter.standard.length > 0 ? { default: filter.standard.join(',') } : {}
  return { ...stringOption(filter.about, filter.alias), ...standard }
}

/** A value that is not understood is a usage error, never "no filter". */
export function parseFilterArgs(args: FilterArgs, env: NodeJS.ProcessEnv, now: number): SearchFilters {
  const values = FILTER_NAMES.map((name) => [name, parseFilter(SEARCH_FILTERS[name], args, now)])
  const filters = Object.fromEntries(values) as SearchFilters
  const { since, until } = filters
  if (since !== null && until !== null && since > until) {
    throw new UsageError('--since is after --until: nothing can match')
  }
  // The id of a session is unique, so it is searched in all projects.
  const allProjects = args.project === undefined && args.session !== undefined
  return { ...filters, project: allProjects ? null : parseProjectOrAll(args.project, env) }
}

function parseFilter(filter: SearchFilter, args: FilterArgs, now: number): SearchFilters[FilterName] {
  const given = (args as Record<string, string | boolean | undefined>)[filter.param]
  if (filter.kind === 'flag') return given === true
  const text = typeof given === 'string' ? given : undefined
  switch (filter.kind) {
    case 'text':
      return text ?? null
    case 'texts':
      return parseWords(filter.param, text)
    case 'choices':
      return parseChoices(filter, parseWords(filter.param, text)) as SearchFilters[FilterName]
    case 'moment':
      return text === undefined ? null : parseMomentOption(`--${filter.param}`, text, filter.edge, now)
  }
}

/** `--type ""` is a mistake in a script, not "any type". */
function parseWords(param: string, given: string | undefined): string[] {
  if (given === undefined) return []
  const words = given.split(',').map((word) => word.trim())
  if (words.some((word) => word === '')) throw new UsageError(`--${param} needs a value`)
  const { MAX_VALUES } = INPUT_LIMITS
  if (words.length > MAX_VALUES) throw new UsageError(`--${param} takes at most ${MAX_VALUES} values`)
  return words
}

function parseChoices(filter: SearchFilter & { kind: 'choices' }, words: readonly string[]): readonly string[] {
  const { param, choices, all, standard } = filter
  const known = all === undefined ? choices : [...choices, all]
  const chosen = words.map((word) => oneOf(param, word, known))
  if (all !== undefined && chosen.includes(all)) return choices
  return chosen.length === 0 ? standard : choices.filter((choice) => chosen.includes(choice))
}

export function parseMomentOption(option: string, given: string, edge: 'start' | 'end', now: number): number {
  const at = parseMoment(given, edge, now)
  if (at === null) throw new UsageError(`${option} "${given}" is not a date; it is ${DATE_FORMS}`)
  return at
}

/** Whether a flag excludes anything. The kinds and the current directory's project do not count. */
export function hasFilterArgs(args: FilterArgs): boolean {
  return FILTER_NAMES.filter((name) => name !== 'kinds').some((name) => {
    const given = args[SEARCH_FILTERS[name].param]
    return given !== undefined && given !== false && !(name === 'project' && given === 'all')
  })
}

/** Null: it does not look like a path. */
export function parsePath(given: string, env: NodeJS.ProcessEnv): string | null {
  return resolveGivenPath(given, process.cwd(), env.HOME ?? homedir())
}

/** A key or a name; a path becomes the key of its project. Default: the project of the current directory. */
export function parseProject(given: string | undefined, env: NodeJS.ProcessEnv): string {
  const cwd = process.cwd()
  return given === undefined ? projectOfDirectory(cwd).key : projectKeyOrName(given, cwd, env.HOME)
}

/** Null for `all`. */
export function parseProjectOrAll(given: string | undefined, env: NodeJS.ProcessEnv): string | null {
  return given === 'all' ? null : parseProject(given, env)
}

/** `codex,gemini`; null for `all`. */
export function parseClients(given: string): ClientName[] | null {
  const names = commaList(given)
  refuseIf(names.length === 0, `--client needs a name: ${['all', ...CLIENT_NAMES].join(', ')}`)
  if (names.includes('all')) return null
  return [...new Set(names.map((name) => oneOf('client', name, CLIENT_NAMES)))]
}
