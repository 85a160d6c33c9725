import { MAX_SHOWN } from '../../channel/memory-limits.ts'
import { command, jsonOption } from '../command.ts'
import { EXIT_FAILED, UsageError } from '../failure.ts'
import { idsOf } from '../ids.ts'

export const show = command({
  usage: 'show <id..>',
  takesRest: true,
  group: 'Use the memory',
  summary: 'Everything about observations: text, files, links, where they come from',
  about:
    'Shows observations whole: what was learned, the files and functions it is about, which session and prompt it comes ' +
    'from, what replaces or repeats it, and what it costs a model to read it. Works without a daemon too.',
  examples: [
    ['claude-mem show 12', 'one'],
    ['claude-mem show 12 15 16', 'several; so does 12,15,16'],
    ['claude-mem show 12 --json | jq .observations[].facts', 'for programs'],
  ],
  positionals: {},
  options: { json: jsonOption },
  run: async ({ rest, json }, cli) => {
    const ids = idsOf(rest)
    if (ids.length === 0) throw new UsageError('show needs the id of an observation; claude-mem search shows them')
    if (ids.length > MAX_SHOWN) throw new UsageError(`show takes at most ${MAX_SHOWN} ids at once`)
    const { withReader } = await import('../reader.ts')
    const { observations, missing, running } = await withReader(cli.paths, async (reader) => ({
      ...(await reader.memory.observations(ids)),
      running: reader.daemon !== null,
    }))
    if (json === true) {
      cli.printJson({ running, observations, missing })
    } else {
      const { observationLines } = await import('../render/observation.ts')
      const blocks = observations.map((observation) => observationLines(observation, cli.look()))
      cli.print(...blocks.flatMap((lines, i) => (i === 0 ? lines : ['', ...lines])))
    }
    if (missing.length === 0) return 0
    const { missingText } = await import('../render/forgotten.ts')
    cli.tell(`claude-mem: ${missingText(missing)}`)
    return EXIT_FAILED
  },
})
