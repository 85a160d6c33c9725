import type { TimelineRequest } from '../../channel/memory.ts'
import { MAX_AROUND } from '../../channel/memory-limits.ts'
import { command, jsonOption } from '../command.ts'
import { wholeNumber } from '../failure.ts'
import { projectOption } from '../filters.ts'
import { idOf, isId } from '../ids.ts'
import { projectOrAll } from '../project.ts'
import { queryOf } from './search.ts'

const around = (name: string, describe: string) =>
  ({
    type: 'number',
    requiresArg: true,
    describe,
    default: 10,
    coerce: wholeNumber(`--${name}`, 0, MAX_AROUND),
  }) as const

export const timeline = command({
  usage: 'timeline [id|words..]',
  takesRest: true,
  group: 'Use the memory',
  summary: 'What was learned before and after a moment',
  about:
    'Shows what stands around an observation, day by day, in the project it belongs to: what led to it, and what came of ' +
    'it. With words instead of an id, around the best hit for them; with neither, the newest. Works without a daemon too.',
  examples: [
    ['claude-mem timeline 123', 'around observation #123'],
    ['claude-mem timeline login expires', 'around what is found first'],
    ['claude-mem timeline 123 --before 30 --after 0', 'only what led to it'],
  ],
  positionals: {},
  options: {
    before: around('before', 'How many before it'),
    after: around('after', 'How many after it'),
    project: projectOption,
    json: jsonOption,
  },
  run: async ({ rest, before, after, project, json }, cli) => {
    const [word, ...others] = rest
    const anchor = word !== undefined && others.length === 0 && isId(word) ? idOf(word) : null
    const query = anchor === null ? queryOf(rest) || null : null
    const request: TimelineRequest = {
      anchor,
      query,
      // An id says which project it is of.
      project: anchor !== null && project === undefined ? null : projectOrAll(project, cli.env),
      before,
      after,
    }
    const { withReader } = await import('../reader.ts')
    const { found, running } = await withReader(cli.paths, async (reader) => ({
      found: await reader.memory.timeline(request),
      running: reader.daemon !== null,
    }))
    if (json === true) {
      cli.printJson({ running, ...found })
    } else if (found.items.length === 0) {
      cli.tell(query === null ? 'Nothing is remembered here yet.' : 'Nothing was found; try: --project all')
    } else {
      const { timelineLines } = await import('../render/timeline.ts')
      cli.print(...timelineLines(found, cli.look()))
    }
    return 0
  },
})
