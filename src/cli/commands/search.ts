/** Commands that read memories: `search`, `show` and `timeline`. */
import type { Call, InputOf } from '../../api/index.ts'
import { SEARCH_MODES, type SearchAnswer } from '../../domain/search-query.ts'
import {
  INPUT_LIMITS,
  isObservationId,
  limitOption,
  numberOption,
  oneOf,
  parseObservationId,
  parseObservationIds,
  refuseIf,
} from '../arguments.ts'
import { defineCommand, EXIT_FAILED, jsonOption, stringOption } from '../command.ts'
import { filterOptions, parseFilterArgs, parseProjectOrAll, projectOption } from '../filters.ts'
import { callMemory, withMemory } from '../memory-client.ts'

const { MAX_AROUND, MAX_HITS, MAX_OFFSET, MAX_QUERY_CHARS, MAX_SHOWN } = INPUT_LIMITS

export const searchCommand = defineCommand({
  usage: 'search [words..]',
  takesRest: true,
  group: 'Use the memory',
  summary: 'Find what was learned, by words and by meaning',
  about:
    'Finds observations (or summaries and prompts: --kind) of the current project, best first. Ask as you would ask a ' +
    'colleague, or by an exact name: getUserById, ERR_MODULE_NOT_FOUND, src/auth/jwt.ts. Without words it lists the newest ' +
    'that pass the filters. Filters are exact in every mode. --mode strict requires every word and lists the newest first, ' +
    'semantic searches by meaning only, hybrid by both, and auto (the default) chooses; the last line names the mode. ' +
    'Works without a daemon too, then by words only.',
  examples: [
    ['claude-mem search why do logins expire', 'in the project of this directory'],
    ['claude-mem search "connection pool" --project all --since 2w', 'in all projects, of the last two weeks'],
    ['claude-mem search --type decision,bugfix --file src/auth', 'newest first, about these files'],
    ['claude-mem search jwt --explain', 'with the parts of each score'],
    ['claude-mem search jwt --json | jq .hits[].id', 'for programs'],
  ],
  options: {
    ...filterOptions,
    project: projectOption,
    mode: { ...stringOption(SEARCH_MODES.join(', '), 'm'), default: 'auto' },
    limit: limitOption('Hits shown', 10, MAX_HITS),
    offset: { ...numberOption('offset', 'Hits skipped before the first', 0, MAX_OFFSET), default: 0 },
    explain: { type: 'boolean', alias: 'e', describe: 'Show the parts of each score' },
    json: jsonOption,
  },
  run: async ({ rest, mode, limit, offset, explain, json, ...args }, cli) => {
    const filters = parseFilterArgs(args, cli.env, cli.display().now)
    const request = { query: joinQuery(rest), mode: oneOf('mode', mode, SEARCH_MODES), ...filters, limit, offset }
    const { answer, elsewhere, running } = await withMemory(cli, async (call, running) => {
      const { answer } = await call('search', request)
      return { answer, elsewhere: await countElsewhere(request, answer, call), running }
    })
    if (json) return cli.printJson({ running, project: filters.project, elsewhere, ...answer })
    const { searchResultLines } = await import('../render/search.ts')
    const options = { oneProject: filters.project !== null, explain, offset }
    cli.print(...searchResultLines(answer, options, cli.display()))
    if (elsewhere > 0) cli.printStderr(`Nothing in this project, but ${elsewhere} in others: --project all`)
  },
})

function joinQuery(words: readonly string[]): string {
  const query = words.join(' ').trim()
  const tooLong = `a query has at most ${MAX_QUERY_CHARS} characters, this one has ${query.length}`
  refuseIf(query.length > MAX_QUERY_CHARS, tooLong)
  return query
}

/** Hits in all projects, if the current project has none: the user may be in the wrong directory. */
async function countElsewhere(request: InputOf<'search'>, answer: SearchAnswer, call: Call): Promise<number> {
  if (request.project === null || answer.hits.some(({ completes }) => !completes)) return 0
  const everywhere = await call('search', { ...request, project: null, limit: 1, offset: 0 })
  return everywhere.answer.hits.some(({ completes }) => !completes) ? everywhere.answer.total : 0
}

export const showCommand = defineCommand({
  usage: 'show <id..>',
  takesRest: true,
  group: 'Use the memory',
  summary: 'Observations in full: text, files, links, sources',
  about:
    'Prints whole observations: what was learned, the files and functions it is about, the session and prompt it comes ' +
    'from, what replaces or repeats it, and how many tokens it takes to read it. Works without a daemon too.',
  examples: [
    ['claude-mem show 12', 'one'],
    ['claude-mem show 12 15 16', 'several; 12,15,16 is the same'],
    ['claude-mem show 12 --json | jq .observations[].facts', 'for programs'],
  ],
  options: { json: jsonOption },
  run: async ({ rest, json }, cli) => {
    const ids = parseObservationIds(rest)
    refuseIf(ids.length === 0, 'show needs the id of an observation; claude-mem search shows them')
    refuseIf(ids.length > MAX_SHOWN, `show takes at most ${MAX_SHOWN} ids at once`)
    const { observations, missing, running } = await callMemory(cli, 'observations', { ids })
    const { missingObservationsText, observationLines } = await import('../render/observation.ts')
    if (json) cli.printJson({ running, observations, missing })
    else {
      const blocks = observations.map((observation) => observationLines(observation, cli.display()))
      cli.print(...blocks.flatMap((lines, i) => (i === 0 ? lines : ['', ...lines])))
    }
    if (missing.length === 0) return 0
    cli.printStderr(`claude-mem: ${missingObservationsText(missing)}`)
    return EXIT_FAILED
  },
})

export const timelineCommand = defineCommand({
  usage: 'timeline [id|words..]',
  takesRest: true,
  group: 'Use the memory',
  summary: 'What was learned before and after a moment',
  about:
    'Lists what was learned around an observation, day by day, in its project. With words instead of an id: around the ' +
    'best hit for them; with neither: the newest. Works without a daemon too.',
  examples: [
    ['claude-mem timeline 123', 'around observation #123'],
    ['claude-mem timeline login expires', 'around the best hit'],
    ['claude-mem timeline 123 --before 30 --after 0', 'only what came before it'],
  ],
  options: {
    before: { ...numberOption('before', 'Rows before it', 0, MAX_AROUND), default: 10 },
    after: { ...numberOption('after', 'Rows after it', 0, MAX_AROUND), default: 10 },
    project: projectOption,
    json: jsonOption,
  },
  run: async ({ rest, before, after, project, json }, cli) => {
    const [word, ...others] = rest
    const anchor = word !== undefined && others.length === 0 && isObservationId(word) ? parseObservationId(word) : null
    const query = anchor === null ? joinQuery(rest) || null : null
    // An observation has a project, so an id needs none.
    const projectKey = anchor !== null && project === undefined ? null : parseProjectOrAll(project, cli.env)
    const input = { anchor, query, project: projectKey, before, after }
    const { running, ...timeline } = await callMemory(cli, 'timeline', input)
    if (json) cli.printJson({ running, ...timeline })
    else if (timeline.items.length === 0) {
      cli.printStderr(query === null ? 'Nothing is remembered here yet.' : 'Nothing was found; try: --project all')
    } else {
      const { timelineLines } = await import('../render/search.ts')
      cli.print(...timelineLines(timeline, cli.display()))
    }
  },
})
