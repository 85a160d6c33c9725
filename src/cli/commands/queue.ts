import type { ChannelClient } from '../../channel/client.ts'
import type { QueueFilter } from '../../store/port.ts'
import type { Cli } from '../cli.ts'
import { command, jsonOption } from '../command.ts'
import { EXIT_FAILED, oneOf, UsageError, wholeNumber } from '../failure.ts'
import { counted } from '../text.ts'

const ACTIONS = ['list', 'retry', 'clear'] as const
const MOST = 10_000

export const queue = command({
  usage: 'queue [action]',
  group: 'Keep it in shape',
  summary: 'What waits for the observer; retry or clear what failed',
  about:
    'list (the default) shows the messages that wait, are being observed, or were set aside after failing. retry gives ' +
    'those set aside, and quarantined sessions, another chance. clear drops those set aside; with --all also what waits.',
  examples: [
    ['claude-mem queue', 'what waits, and what failed and why'],
    ['claude-mem queue retry', 'everything that was set aside'],
    ['claude-mem queue retry --session 5f1c', 'of one session, which is revived if it is quarantined'],
    ['claude-mem queue clear --all --yes', 'drop all messages without being asked'],
  ],
  positionals: { action: { type: 'string', describe: 'list, retry or clear', default: 'list' } },
  options: {
    session: {
      type: 'string',
      alias: 's',
      requiresArg: true,
      describe: 'Only this one; the first characters of its id are enough',
    },
    all: { type: 'boolean', describe: 'clear: what waits, too' },
    yes: { type: 'boolean', alias: 'y', describe: 'clear --all: do not ask' },
    limit: {
      type: 'number',
      requiresArg: true,
      alias: 'n',
      describe: 'list: messages shown',
      default: 50,
      coerce: wholeNumber('--limit', 1, MOST),
    },
    json: jsonOption,
  },
  run: async ({ action, session, all, yes, limit, json }, cli) => {
    switch (oneOf('action', action, ACTIONS)) {
      case 'list':
        return await list({ limit, ...(session === undefined ? {} : { session }) }, cli, json === true)
      case 'retry':
        return await retry(session ?? null, cli, json === true)
      case 'clear':
        if (all === true && yes !== true && !(await agreed(session, cli))) {
          cli.tell('Nothing was dropped')
          return EXIT_FAILED
        }
        return await clear(session ?? null, all === true, cli, json === true)
    }
  },
})

async function list(filter: QueueFilter, cli: Cli, json: boolean): Promise<number> {
  const { withReader } = await import('../reader.ts')
  const { messages, stats, running } = await withReader(cli.paths, async (reader) => ({
    ...(await reader.queue(filter)),
    running: reader.daemon !== null,
  }))
  if (json) {
    cli.printJson({ running, stats, messages })
    return 0
  }
  const { messageLines } = await import('../render/messages.ts')
  const { queueText } = await import('../render/status.ts')
  const look = cli.look()
  if (!running) cli.print(look.style.dim('No daemon answers: this is what the database file says.'))
  cli.print(`Queue: ${queueText(stats, look)}`)
  if (messages.length > 0) cli.print('', ...messageLines(messages, look, true))
  if (messages.length === filter.limit) cli.print(look.style.dim('There may be more: --limit N'))
  if (stats.failed > 0) cli.print('', look.style.dim('claude-mem queue retry brings back what failed'))
  return 0
}

async function retry(session: string | null, cli: Cli, json: boolean): Promise<number> {
  const affected = await ask(cli, (client) => client.request('done', { type: 'queue_retry', session }))
  if (json) cli.printJson({ retried: affected })
  else cli.print(affected === 0 ? 'Nothing was set aside' : `${counted(affected, 'message')} will be observed again`)
  return 0
}

async function clear(session: string | null, pending: boolean, cli: Cli, json: boolean): Promise<number> {
  const affected = await ask(cli, (client) => client.request('done', { type: 'queue_clear', session, pending }))
  if (json) cli.printJson({ dropped: affected })
  else cli.print(affected === 0 ? 'There was nothing to drop' : `${counted(affected, 'message')} dropped`)
  return 0
}

async function agreed(session: string | undefined, cli: Cli): Promise<boolean> {
  const whose = session === undefined ? 'of all sessions' : `of session ${session}`
  if (!cli.interactive)
    throw new UsageError(`clear --all drops every message ${whose} that waits; say --yes if you mean it`)
  return await cli.confirm(`Drop every message ${whose} that waits or failed?`)
}

async function ask(cli: Cli, request: (client: ChannelClient) => Promise<{ affected: number }>): Promise<number> {
  const { ChannelClient } = await import('../../channel/client.ts')
  const client = await ChannelClient.connect(cli.paths)
  try {
    return (await request(client)).affected
  } finally {
    client.close()
  }
}
