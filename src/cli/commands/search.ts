import { MAX_HITS, MAX_OFFSET, MAX_QUERY_CHARS } from '../../channel/memory-limits.ts'
import { SEARCH_MODES, type SearchAnswer, type SearchRequest } from '../../search/query.ts'
import type { Cli } from '../cli.ts'
import { command, jsonOption } from '../command.ts'
import { oneOf, UsageError, wholeNumber } from '../failure.ts'
import { filterOptions, filtersOf } from '../filters.ts'
import type { MemoryReader } from '../memory-reader.ts'

export const search = command({
  usage: 'search [words..]',
  takesRest: true,
  group: 'Use the memory',
  summary: 'Find what was learned, by words and by meaning',
  about:
    'Finds observations (or summaries and prompts: --kind) of the project you are in, best first. Ask as you would ask a ' +
    'colleague, or by an exact name: getUserById, ERR_MODULE_NOT_FOUND, src/auth/jwt.ts. Without words: the newest that pass ' +
    'the filters. Filters are exact in every mode. --mode strict wants every word and gives the newest first, semantic goes ' +
    'by meaning alone, hybrid by both, and auto (the default) picks; the last line says which it was. Works without a daemon ' +
    'too, then by words alone.',
  examples: [
    ['claude-mem search why do logins expire', 'in the project of this directory'],
    ['claude-mem search "connection pool" --project all --since 2w', 'everywhere, of the last two weeks'],
    ['claude-mem search --type decision,bugfix --file src/auth', 'newest first, about these files'],
    ['claude-mem search jwt --explain', 'with the parts of each score'],
    ['claude-mem search jwt --json | jq .hits[].id', 'for programs'],
  ],
  positionals: {},
  options: {
    ...filterOptions,
    mode: { type: 'string', requiresArg: true, alias: 'm', describe: SEARCH_MODES.join(', '), default: 'auto' },
    limit: {
      type: 'number',
      requiresArg: true,
      alias: 'n',
      describe: 'Hits shown',
      default: 10,
      coerce: wholeNumber('--limit', 1, MAX_HITS),
    },
    offset: {
      type: 'number',
      requiresArg: true,
      describe: 'Hits left out before the first',
      default: 0,
      coerce: wholeNumber('--offset', 0, MAX_OFFSET),
    },
    explain: { type: 'boolean', alias: 'e', describe: 'Why each hit stands where it does' },
    json: jsonOption,
  },
  run: async ({ rest, mode, limit, offset, explain, json, ...filters }, cli) => {
    const request: SearchRequest = {
      query: queryOf(rest),
      mode: oneOf('mode', mode, SEARCH_MODES),
      filters: filtersOf(filters, cli.env, cli.look().now),
      limit,
      offset,
    }
    const { withReader } = await import('../reader.ts')
    const { answer, elsewhere, running } = await withReader(cli.paths, async (reader) => {
      const answer = await reader.memory.search(request)
      return { answer, elsewhere: await foundElsewhere(request, answer, reader), running: reader.daemon !== null }
    })
    if (json === true) {
      cli.printJson({ running, project: request.filters.project, elsewhere, ...answer })
      return 0
    }
    const { hitLines } = await import('../render/hits.ts')
    const shown = { oneProject: request.filters.project !== null, explain: explain === true, offset }
    cli.print(...hitLines(answer, shown, cli.look()))
    if (elsewhere > 0) tellElsewhere(elsewhere, cli)
    return 0
  },
})

export function queryOf(words: readonly string[]): string {
  const query = words.join(' ').trim()
  if (query.length > MAX_QUERY_CHARS)
    throw new UsageError(`a query has at most ${MAX_QUERY_CHARS} characters, this one has ${query.length}`)
  return query
}

/** Somebody who finds nothing may stand in the wrong place. */
async function foundElsewhere(request: SearchRequest, answer: SearchAnswer, reader: MemoryReader): Promise<number> {
  const { filters } = request
  if (filters.project === null || answer.hits.some(({ completes }) => !completes)) return 0
  const everywhere = { ...request, filters: { ...filters, project: null }, limit: 1, offset: 0 }
  const { hits, total } = await reader.memory.search(everywhere)
  return hits.some(({ completes }) => !completes) ? total : 0
}

function tellElsewhere(count: number, cli: Cli): void {
  cli.tell(`Nothing in this project, but ${count} in others: --project all`)
}
