/** Commands about messages that wait for the observer: `queue` and `flush`. */
import type { OutputOf } from '../../api/index.ts'
import { pluralize } from '../../lib/format.ts'
import type { DaemonClient } from '../../transport/client.ts'
import { limitOption, numberOption, oneOf, UsageError } from '../arguments.ts'
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

/** What `flush --wait` waits without `--timeout`, in seconds: an observer with a model may need a minute. */
const DEFAULT_WAIT_S = 60
const MAX_WAIT_S = 3_600

export const flushCommand = defineCommand({
  usage: 'flush [session]',
  group: 'Maintenance',
  summary: 'Observe waiting messages now, and send memories to the team',
  about:
    'Messages are collected until a turn ends. This hands waiting messages to the observer at once, retries a provider ' +
    'that did not answer, and waits a few seconds for the result. With --wait it waits until every message is observed and, ' +
    'if a team is connected, everything shared is in its database: for the end of a container or a CI job. The exit code is 1 ' +
    'if something is left after --timeout.',
  examples: [
    ['claude-mem flush', 'all sessions'],
    ['claude-mem flush 5f1c', 'one session'],
    ['claude-mem flush --wait --timeout 30', 'before a container ends'],
  ],
  positionals: { session: { type: 'string', describe: 'The start of its id' } },
  options: {
    wait: { type: 'boolean', describe: 'Until everything is observed and sent to the team' },
    timeout: { ...numberOption('timeout', '--wait: seconds to wait at most', 1, MAX_WAIT_S), default: DEFAULT_WAIT_S },
  },
  run: async ({ session, wait, timeout }, cli) =>
    await withRunningDaemon(cli, async (client) => {
      try {
        const deadline = performance.now() + timeout * 1_000
        const flushed = await flushMessages(client, session, cli)
        if (!wait) {
          printResult(cli, flushed, () => flushText(flushed))
          return 0
        }
        return await waitForTeam(client, session, flushed, deadline, cli)
      } finally {
        cli.progress('')
      }
    }),
})

interface FlushedMessages {
  sessions: number
  left: number
  waiting: { reason: string } | null
}

async function flushMessages(client: DaemonClient, session: string | undefined, cli: Cli): Promise<FlushedMessages> {
  cli.progress('Waiting for the observer …')
  const { affected } = await client.call('flush', { session: session ?? null, wait: true }, FLUSH_TIMEOUT_MS)
  const { status } = await client.call('status')
  const { messages } = await client.call('queue', session === undefined ? {} : { session })
  cli.progress('')
  const left = messages.filter((message) => message.status !== 'failed').length
  return { sessions: affected, left, waiting: status.waiting }
}

/** Observes until nothing is left, then sends. What the observer did not do in time is sent without it. */
async function waitForTeam(
  client: DaemonClient,
  session: string | undefined,
  first: FlushedMessages,
  deadline: number,
  cli: Cli,
): Promise<number> {
  let flushed = first
  const leftMs = () => Math.max(0, Math.round(deadline - performance.now()))
  // A provider that does not answer is not asked again and again.
  while (flushed.left > 0 && flushed.waiting === null && leftMs() > 0) {
    flushed = { ...(await flushMessages(client, session, cli)), sessions: first.sessions }
  }
  const { team } = await client.call('team_status')
  const { waitForPush } = await import('../team-connection.ts')
  const sent = await waitForPush(client, cli, team.sync?.outbox.waiting ?? 0, leftMs())
  const isConnected = team.connection !== null
  const result = { ...flushed, team: isConnected ? { sent: sent.done, left: sent.waiting } : null }
  printResult(cli, result, () => [flushText(flushed), ...(isConnected ? [sentText(sent)] : [])])
  return flushed.left === 0 && sent.done ? 0 : EXIT_FAILED
}

function sentText({ done, waiting, line }: OutputOf<'team_flush'>): string {
  if (done) return 'Everything shared is in the database of the team'
  return `${pluralize(waiting, 'record')} could not be sent in time: ${terminalSafe(line?.text ?? 'claude-mem team status')}`
}

function flushText({ sessions, left, waiting }: FlushedMessages): string {
  const reason = waiting?.reason ?? null
  if (sessions === 0) return 'No messages are waiting'
  const flushed = `${pluralize(sessions, 'session')} flushed`
  if (left === 0) return `${flushed}; no messages are waiting`
  const why = reason === null ? 'claude-mem inspect shows the progress' : terminalSafe(reason)
  return `${flushed}; ${pluralize(left, 'message')} still in the queue: ${why}`
}
