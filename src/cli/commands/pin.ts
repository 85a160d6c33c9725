import { MAX_IDS } from '../../channel/memory-limits.ts'
import { command, jsonOption } from '../command.ts'
import { withDaemon } from '../daemon-client.ts'
import { EXIT_FAILED, UsageError } from '../failure.ts'
import { idsOf } from '../ids.ts'
import { counted } from '../text.ts'

export const pin = command({
  usage: 'pin <id..>',
  takesRest: true,
  group: 'Use the memory',
  summary: 'Mark observations that matter; --off takes the mark away',
  about:
    'Pinned observations are marked wherever they are shown; search --pinned lists them. Starts the daemon if none runs.',
  examples: [
    ['claude-mem pin 12 15', ''],
    ['claude-mem pin 12 --off', 'an ordinary one again'],
    ['claude-mem search --pinned', 'all of this project'],
  ],
  positionals: {},
  options: { off: { type: 'boolean', describe: 'Take the mark away' }, json: jsonOption },
  run: async ({ rest, off, json }, cli) => {
    const ids = idsOf(rest)
    if (ids.length === 0) throw new UsageError('pin needs the id of an observation; claude-mem search shows them')
    if (ids.length > MAX_IDS) throw new UsageError(`pin takes at most ${MAX_IDS} ids at once`)
    const on = off !== true
    const { changed, missing } = await withDaemon(cli, (client) => client.request('pinned', { type: 'pin', ids, on }))
    if (json === true) cli.printJson({ on, changed, missing })
    else if (changed > 0) cli.print(`${counted(changed, 'observation')} ${on ? 'pinned' : 'no longer pinned'}`)
    else if (missing.length === 0) cli.print(on ? 'Pinned already' : 'Not pinned anyway')
    if (missing.length === 0) return 0
    const { missingText } = await import('../render/forgotten.ts')
    cli.tell(`claude-mem: ${missingText(missing)}`)
    return EXIT_FAILED
  },
})
