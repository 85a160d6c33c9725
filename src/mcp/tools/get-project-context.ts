import { z } from 'zod'
import { MemError } from '../../errors.ts'
import { project } from '../inputs.ts'
import { projectAsked } from '../place.ts'
import { cost, words } from '../text.ts'
import { READS, tool } from '../tool.ts'

const NAME_CHARS = 200

export const getProjectContext = tool({
  name: 'get_project_context',
  title: 'What a session of a project starts with',
  description:
    'The overview that a new session of a project gets: the last summary, then what was learned by day and file, with ' +
    'ids for get_observations. A session of this project has had it at its start: use it for another project, or ' +
    'after a compaction lost it. Costs up to a few thousand tokens.',
  input: z.strictObject({ project }),
  output: z.object({
    project: z.string(),
    context: z.string(),
    tokens: z.int().describe('What this answer costs'),
  }),
  annotations: READS,
  run: async (args, { memory, here }) => {
    const asked = projectAsked(args.project, here)
    if (asked === null)
      throw new MemError('bad_request', 'this is about one project; search_memory can look through all')
    const { project: found, context, tokens } = await memory.context(asked)
    // Of a project that nobody remembers the daemon knows only its key.
    const isUnknown = context === '' && found.key === here.project.key
    const name = words(isUnknown ? here.project.name : found.name, NAME_CHARS)
    const nothing = `Nothing is remembered of ${name} yet; search_memory with project "all" looks elsewhere.`
    const data = { project: name, context: context === '' ? nothing : context, tokens }
    return { data, text: context === '' ? nothing : `${context}\n${cost(tokens)}` }
  },
})
