import { z } from 'zod'
import { MAX_QUERY_CHARS } from '../../channel/memory-limits.ts'
import { MemError } from '../../errors.ts'
import { memoryId, project } from '../inputs.ts'
import { projectAsked } from '../place.ts'
import { rowOf, rowSchema, rowText } from '../rows.ts'
import { cost, sum } from '../text.ts'
import { READS, tool } from '../tool.ts'

const DEFAULT_AROUND = 5
const MAX_AROUND = 25

export const timeline = tool({
  name: 'timeline',
  title: 'What stood around a memory',
  description:
    'Step 2, cheap: the observations, summaries and prompts before and after one, oldest first, as rows. Give the id ' +
    'of an observation as anchor, or a query whose best hit is it; with neither, the newest of the project. Shows what ' +
    'led to a change and what came of it. Then read only the ids you need with `get_observations`.',
  input: z.strictObject({
    anchor: memoryId.optional().describe("An observation's id"),
    query: z.string().trim().min(1).max(MAX_QUERY_CHARS).optional().describe('Instead of an anchor'),
    project,
    before: z.int().min(0).max(MAX_AROUND).default(DEFAULT_AROUND),
    after: z.int().min(0).max(MAX_AROUND).default(DEFAULT_AROUND),
  }),
  output: z.object({
    anchor: z.int().optional(),
    items: z.array(rowSchema),
    tokens: z.int().describe('What reading all of these whole would cost'),
    next: z.string(),
  }),
  annotations: READS,
  run: async (args, { memory, here }) => {
    const { anchor = null, query = null, before, after } = args
    if (anchor !== null && query !== null) {
      throw new MemError('bad_request', 'give an anchor or a query, not both: an anchor is an id from search_memory')
    }
    // An id says its project itself.
    const asked = anchor !== null && args.project === undefined ? null : projectAsked(args.project, here)
    const found = await memory.timeline({ anchor, query, project: asked, before, after })
    const items = found.items.slice(0, MAX_AROUND * 2 + 1)
    const several = (values: readonly string[]) => new Set(values).size > 1
    const named = {
      project: several([here.project.key, ...items.map((item) => item.project)]),
      session: several(items.map((item) => item.session)),
    }
    const rows = items.map((item) => rowOf(item, named))
    const data = {
      anchor: found.anchor ?? undefined,
      items: rows,
      tokens: sum(items.map(({ tokens }) => tokens)),
      next:
        rows.length > 0
          ? 'get_observations(ids) reads those you need.'
          : query === null
            ? 'Nothing is remembered here yet; another project may have it: search_memory with project "all".'
            : 'The query found nothing: try other words with search_memory.',
    }
    const lines = rows.map((row) => {
      const isAnchor = row.id !== undefined && row.id === found.anchor
      return `${isAnchor ? '> ' : ''}${rowText(row)}`
    })
    return {
      data,
      text: [...lines, `${rows.length === 0 ? '' : `All whole: ${cost(data.tokens)}. `}${data.next}`].join('\n'),
    }
  },
})
