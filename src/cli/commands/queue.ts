/** Commands about messages that wait for the observer: `queue` and `flush`. */
import { pluralize } from '../../lib/format.ts'
import { limitOption, oneOf, UsageError } from '../arguments.ts'
import { type Cli, printResult } from '../cli.ts'
import { defineCommand, EXIT_FAILED, yesOption } from '../command.ts'
import { withRunningDaemon } from '../daemon-connection.ts'
import { callMemory } from '../memory-client.ts'
import { messageLines } from '../render/sessions.ts'
import { queueText } from '../render/status.ts'
import { terminalSafe } from '../text.ts'

const ACTIONS = ['list', 'retry', 'clear'] as const
const MAX_LISTED = 10_000
/** Longer than CLAUDE_MEM_DELETE_TIMEOUT may be: the daemon answers after that time. */
const FLUSH_TIMEOUT_MS = 660_000

export const queueCommand = defineCommand({
  usage: 'queue [action]',
  group: 'Maintenance',
  summary: 'Messages that wait for the observer; retry or clear failed ones',
  about:
    'list (the default) shows messages that wait, are being observed, or have failed. retry observes failed messages and ' +
    'quarantined sessions again. clear drops failed messages; with --all also waiting ones.',
  examples: [
    ['claude-mem queue', 'what waits, and what failed and why'],
    ['claude-mem queue --errors', 'only what failed, and why'],
    ['claude-mem queue retry', 'all failed messages'],
    ['claude-mem queue retry --session 5f1c', 'of one session, which also leaves the quarantine'],
    ['claude-mem queue clear --all --yes', 'drop all messages without asking'],
  ],
  positionals: { action: { type: 'string', describe: 'list, retry or clear', default: 'list' } },
  options: {
    session: { type: 'string', alias: 's', requiresArg: true, describe: 'Only this session: the start of its id' },
    errors: { type: 'boolean', alias: 'failed', describe: 'list: only messages that failed' },
    all: { type: 'boolean', describe: 'clear: waiting messages, too' },
    yes: { ...yesOption, describe: 'clear --all: do not ask for confirmation' },
    limit: limitOption('list: messages shown', 50, MAX_LISTED),
  },
  run: async ({ action, session, errors, all, yes, limit }, cli) => {
    switch (oneOf('action', action, ACTIONS)) {
      case 'list':
        return await listQueue(session, { limit, ...(errors ? { status: 'failed' } : {}) }, cli)
      case 'retry': {
        const input = { session: session ?? null }
        const { affected: retried } = await withRunningDaemon(cli, (client) => client.call('queue_retry', input))
        printResult(cli, { retried }, () =>
          retried === 0 ? 'No message has failed' : `${pluralize(retried, 'message')} will be observed again`,
        )
        return 0
      }
      case 'clear': {
        if (all && !yes && !(await confirmClear(session, cli))) {
          cli.printStderr('Nothing was dropped')
          return EXIT_FAILED
        }
        const input = { session: session ?? null, pending: all }
        const { affected: dropped } = await withRunningDaemon(cli, (client) => client.call('queue_clear', input))
        printResult(cli, { dropped }, () =>
          dropped === 0 ? 'There was nothing to drop' : `${pluralize(dropped, 'message')} dropped`,
        )
        return 0
      }
    }
  },
})

async function listQueue(
  session: string | undefined,
  filter: { limit: number; status?: 'failed' },
  cli: Cli,
): Promise<number> {
  const { limit } = filter
  const input = { ...filter, ...(session === undefined ? {} : { session }) }
  const { messages, stats, running } = await callMemory(cli, 'queue', input)
  printResult(cli, { running, stats, messages }, () => {
    const display = cli.display()
    const { dim } = display.style
    return [
      ...(running ? [] : [dim('No daemon is running: this is what the database file contains.')]),
      `Queue: ${queueText(stats, display)}`,
      ...(messages.length > 0 ? ['', ...messageLines(messages, display, true)] : []),
      ...(messages.length === limit ? [dim('There may be more: --limit N')] : []),
      ...(stats.failed > 0 ? ['', dim('To retry failed messages: claude-mem queue retry')] : []),
    ]
  })
  return 0
}

async function confirmClear(session: string | undefined, cli: Cli): Promise<boolean> {
  const scope = session === undefined ? 'of all sessions' : `of session ${session}`
  if (!cli.interactive) throw new UsageError(`clear --all drops every waiting message ${scope}; pass --yes to confirm`)
  return await cli.confirm(`Drop every waiting or failed message ${scope}?`)
}

export const flushCommand = defineCommand({
  usage: 'flush [session]',
  group: 'Maintenance',
  summary: 'Observe waiting messages now',
  about:
    'Messages are collected until a turn ends. This hands waiting messages to the observer at once, retries a provider ' +
    'that did not answer, and waits a few seconds for the result.',
  examples: [
    ['claude-mem flush', 'all sessions'],
    ['claude-mem flush 5f1c', 'one session'],
  ],
  positionals: { session: { type: 'string', describe: 'The start of its id' } },
  run: async ({ session }, cli) =>
    await withRunningDaemon(cli, async (client) => {
      try {
        cli.progress('Waiting for the observer …')
        const { affected } = await client.call('flush', { session: session ?? null, wait: true }, FLUSH_TIMEOUT_MS)
        const { status } = await client.call('status')
        const { messages } = await client.call('queue', session === undefined ? {} : { session })
        const left = messages.filter((message) => message.status !== 'failed').length
        cli.progress('')
        printResult(cli, { sessions: affected, left, waiting: status.waiting }, () =>
          flushText(affected, left, status.waiting?.reason ?? null),
        )
      } finally {
        cli.progress('')
      }
    }),
})

function flushText(sessions: number, left: number, reason: string | null): string {
  if (sessions === 0) return 'No messages are waiting'
  const flushed = `${pluralize(sessions, 'session')} flushed`
  if (left === 0) return `${flushed}; no messages are waiting`
  const why = reason === null ? 'claude-mem inspect shows the progress' : terminalSafe(reason)
  return `${flushed}; ${pluralize(left, 'message')} still in the queue: ${why}`
}
