/** What several tools take as input: the project they mean, and the search filters. */
import { isAbsolute } from 'node:path'
import * as z from 'zod'
import { DATE_FORMS, parseMoment } from '../domain/dates.ts'
import { OBSERVATION_TYPES } from '../domain/observation.ts'
import { isExcluded, type Project, projectKeyOrName, projectOfDirectory } from '../domain/project.ts'
import {
  FILTER_NAMES,
  type FilterName,
  NO_FILTERS,
  SEARCH_FILTERS,
  type SearchFilter,
  type SearchFilters,
} from '../domain/search-query.ts'
import { MemError } from '../lib/errors.ts'
import { loadSettings } from '../settings/settings.ts'

/** The directory that the server works for. */
export interface ServerLocation {
  cwd: string
  project: Project
  /** Read from the settings file each time: settings may change while a session runs. */
  isExcluded(): boolean
}

export function serverLocation(cwd: string, dataDir: string, env: NodeJS.ProcessEnv): ServerLocation {
  const project = projectOfDirectory(cwd)
  return {
    cwd,
    project,
    isExcluded: () => isExcluded(cwd, project, loadSettings(dataDir, env).values.CLAUDE_MEM_EXCLUDED_PROJECTS),
  }
}

/** The project directory that the client names, else the working directory. */
export function projectDirectory(env: NodeJS.ProcessEnv): string {
  const fromClient = env.CLAUDE_PROJECT_DIR
  if (fromClient !== undefined && isAbsolute(fromClient)) return fromClient
  try {
    return process.cwd()
  } catch {
    // The working directory was deleted.
    return '/'
  }
}

export const ALL_PROJECTS = 'all'

/** A key or a name for the daemon; null for all projects. */
export function resolveProjectInput(given: string | undefined, here: ServerLocation): string | null {
  const text = given?.trim()
  if (text === undefined || text === '') return here.project.key
  if (text === ALL_PROJECTS) return null
  return projectKeyOrName(text, here.cwd)
}

const MAX_NAME_CHARS = 4_096
/** Values of one filter. */
const MAX_VALUES = 20
const MAX_WORD_CHARS = 200
const MAX_PATH_CHARS = 1_024
const MAX_DATE_CHARS = 40

const word = z.string().trim().min(1).max(MAX_WORD_CHARS)

export const projectInput = z
  .string()
  .max(MAX_NAME_CHARS)
  .optional()
  .describe('Default: this one. Another (name, key, path) or "all" only if the user asked for it')
export const sessionInput = word.optional().describe(SEARCH_FILTERS.session.about)
export const conceptsInput = z.array(word).max(MAX_VALUES)
export const filesInput = z.array(z.string().trim().min(1).max(MAX_PATH_CHARS)).max(MAX_VALUES)
export const observationType = z.enum(OBSERVATION_TYPES)

/** Dates are texts here; every other filter has the type it has in a search. */
type FilterInput<N extends FilterName> = (typeof SEARCH_FILTERS)[N] extends { kind: 'moment' }
  ? string | undefined
  : NonNullable<SearchFilters[N]> | undefined
type FilterInputs = { [N in Exclude<FilterName, 'project'>]: z.ZodType<FilterInput<N>> }

/** One optional input for each filter of `SEARCH_FILTERS` but the project, which has a default here. */
export const filterInputs = Object.fromEntries(
  FILTER_NAMES.filter((name) => name !== 'project').map((name) => [name, filterInput(SEARCH_FILTERS[name])]),
) as unknown as FilterInputs

function filterInput(filter: SearchFilter): z.ZodType {
  const { about } = filter
  switch (filter.kind) {
    case 'text':
      return word.optional().describe(about)
    case 'texts':
      return (filter.maxChars > MAX_WORD_CHARS ? filesInput : conceptsInput).optional().describe(about)
    case 'choices': {
      const { choices, standard } = filter
      const note = standard.length === 0 ? '' : `Default: ${standard.join(', ')}`
      const list = z.array(z.enum(choices)).max(choices.length)
      return (standard.length === 0 ? list : list.min(1)).optional().describe(note)
    }
    case 'moment':
      return z.string().max(MAX_DATE_CHARS).optional().describe(about)
    case 'flag':
      return z.boolean().optional().describe(about)
  }
}

type FilterArguments = { project?: string | undefined } & { [N in keyof FilterInputs]?: FilterInput<N> }

export function searchFilters(given: FilterArguments, here: ServerLocation): SearchFilters {
  const values = FILTER_NAMES.filter((name) => name !== 'project' && given[name] !== undefined).map((name) => {
    const filter: SearchFilter = SEARCH_FILTERS[name]
    return [name, filter.kind === 'moment' ? momentInput(name, String(given[name]), filter.edge) : given[name]]
  })
  return { ...NO_FILTERS, ...Object.fromEntries(values), project: resolveProjectInput(given.project, here) }
}

function momentInput(name: string, given: string, edge: 'start' | 'end'): number {
  const at = parseMoment(given, edge, Date.now())
  if (at === null) throw new MemError('bad_request', `${name} must be ${DATE_FORMS}`)
  return at
}
