import { setTimeout as sleep } from 'node:timers/promises'
import type { ChannelClient } from '../../channel/client.ts'
import { type IndexProgress, REINDEX_PARTS } from '../../channel/memory.ts'
import type { Cli } from '../cli.ts'
import { command, jsonOption } from '../command.ts'
import { withDaemon } from '../daemon-client.ts'
import { oneOf } from '../failure.ts'
import { duration } from '../times.ts'

/** As often as anyone sees a bar move. */
const LOOK_AGAIN_MS = 200

export const reindex = command({
  usage: 'reindex',
  group: 'Keep it in shape',
  summary: 'Make what search goes by again from the memory itself',
  about:
    'Everything that search goes by is derived: the index of words (lexical) and the vectors (vectors). This throws it away ' +
    'and makes it again. Search works meanwhile with what is there. It goes on in the daemon when you stop watching; status ' +
    'says how far it is. Starts the daemon if none runs.',
  examples: [
    ['claude-mem reindex', 'everything'],
    ['claude-mem reindex --what vectors', 'only the vectors'],
  ],
  positionals: {},
  options: {
    what: { type: 'string', requiresArg: true, describe: REINDEX_PARTS.join(', '), default: 'all' },
    json: jsonOption,
  },
  run: async ({ what, json }, cli) => {
    const part = oneOf('value for --what', what, REINDEX_PARTS)
    const start = performance.now()
    await withDaemon(cli, (client) => watched(part, client, cli))
    const tookMs = Math.round(performance.now() - start)
    if (json === true) cli.printJson({ what: part, tookMs })
    else cli.print(`Everything can be found again, after ${duration(tookMs)}`)
    return 0
  },
})

async function watched(what: (typeof REINDEX_PARTS)[number], client: ChannelClient, cli: Cli): Promise<void> {
  const { progressText } = await import('../render/indexing.ts')
  let progress: IndexProgress | null = (await client.request('indexing', { type: 'reindex', what })).progress
  try {
    while (progress !== null) {
      cli.progress(progressText(progress))
      await sleep(LOOK_AGAIN_MS)
      progress = (await client.request('indexing', { type: 'indexing' })).progress
    }
  } finally {
    cli.progress('')
  }
}
