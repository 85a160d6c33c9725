import { command, jsonOption } from '../command.ts'
import { projectOption } from '../filters.ts'
import { projectOrAll } from '../project.ts'

export const stats = command({
  usage: 'stats',
  group: 'Use the memory',
  summary: 'How much is remembered: by type, month and project, and how well it can be found',
  about:
    'Counts what is remembered, and says how much of it search has taken in: by words and, with the embedder in use, by ' +
    'meaning. Works without a daemon too.',
  examples: [
    ['claude-mem stats', 'all projects'],
    ['claude-mem stats --project .', 'the one you are in'],
    ['claude-mem stats --json | jq .types', 'for programs'],
  ],
  positionals: {},
  options: {
    project: { ...projectOption, describe: 'Its name, key or path; default: all' },
    json: jsonOption,
  },
  run: async ({ project, json }, cli) => {
    const { withReader } = await import('../reader.ts')
    const { found, running } = await withReader(cli.paths, async (reader) => ({
      found: await reader.memory.stats(projectOrAll(project ?? 'all', cli.env)),
      running: reader.daemon !== null,
    }))
    if (json === true) {
      cli.printJson({ running, ...found })
      return 0
    }
    const { memoryStatsLines } = await import('../render/memory-stats.ts')
    cli.print(...memoryStatsLines(found, cli.look()))
    return 0
  },
})
