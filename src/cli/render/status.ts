/** Prints `claude-mem status`, with and without a running daemon, and the progress of indexing. */
import type { DaemonStatus } from '../../api/operations/daemon.ts'
import { formatBytes, formatCount, pluralize } from '../../lib/format.ts'
import type { IndexerProgress } from '../../search/indexer.ts'
import type { QueueStats, StoreStats } from '../../store/port.ts'
import { formatAgo, formatDuration, formatMoney } from '../format.ts'
import { progressBar } from '../progress.ts'
import type { Display } from '../style.ts'
import { type Field, fieldLines } from '../table.ts'
import { terminalSafe } from '../text.ts'

/** The status while no daemon is running, read from the files. */
export interface StoppedStatus {
  dataDir: string
  /** Null when there is no database, or it cannot be read. */
  stats: StoreStats | null
  /** Why the database cannot be read. */
  problem: string | null
  spooled: number
  /** Invalid settings. */
  notices: string[]
}

export function runningStatusLines(status: DaemonStatus, display: Display): string[] {
  const { style, now } = display
  const state = status.state === 'serving' ? style.green('serving') : style.yellow(terminalSafe(status.state))
  const uptime = formatDuration(now - status.startedAt)
  return [
    `${style.bold('claude-mem')} ${terminalSafe(status.version)} is ${state} (pid ${status.pid}, up ${uptime})`,
    ...fieldLines(
      [
        ['data', `${terminalSafe(status.dataDir)} (${formatBytes(status.databaseBytes)})`],
        ['socket', terminalSafe(status.socket)],
        ['port', status.port === null ? style.yellow('none') : `127.0.0.1:${status.port}`],
        ['observer', observerText(status, display)],
        ['budget', budgetText(status, display)],
        ['sessions', `${status.sessions}, ${status.activeSessions ?? 0} active, ${status.awake} in memory`],
        processField(status),
        memoryField(status),
        ['queue', trendText(status, display)],
        alertField(status, display),
        ['search', indexingText(status, display)],
        ['team', teamText(status, display)],
        spoolField(status.spooled, display),
        ...settingFields(status),
      ],
      display,
    ),
    ...noticeLines(status.notices, display),
  ]
}

export function stoppedStatusLines(status: StoppedStatus, display: Display): string[] {
  const { style } = display
  const { stats, problem } = status
  const database: Field[] =
    stats === null
      ? [['database', problem === null ? 'none yet' : style.red(terminalSafe(problem))]]
      : [
          ['database', formatBytes(stats.databaseBytes)],
          ['sessions', String(stats.sessionsTotal)],
          memoryField(stats),
          ['queue', queueText(stats, display)],
        ]
  return [
    `${style.bold('claude-mem')} is ${style.yellow('not running')}; start it with: claude-mem start`,
    ...fieldLines([['data', terminalSafe(status.dataDir)], ...database, spoolField(status.spooled, display)], display),
    ...status.notices.map((text) => style.yellow(`! ${terminalSafe(text)}`)),
  ]
}

/** Where settings come from that do not have their defaults. An older daemon does not tell. */
function settingFields({ settings = [] }: { settings?: DaemonStatus['settings'] }): Field[] {
  const names = (source: 'file' | 'environment') =>
    settings
      .filter((setting) => setting.source === source)
      .map(({ name }) => terminalSafe(name))
      .join(', ')
  const texts = [
    ['in settings.json', names('file')],
    ["in the daemon's environment", names('environment')],
  ].flatMap(([where, list]) => (list === '' ? [] : [`${list} ${where}`]))
  return texts.length === 0 ? [] : [['settings', texts.join('; ')]]
}

function memoryField(counts: { observations: number; observationsToday: number }): Field {
  return ['memory', `${pluralize(counts.observations, 'observation')}, ${counts.observationsToday} today`]
}

function observerText({ provider, model, waiting, budget }: DaemonStatus, { style, now }: Display): string {
  const name = terminalSafe(model === null ? provider : `${provider} (${model})`)
  const offline = style.yellow('offline')
  if (budget !== null && budget.reason !== null) {
    return `${offline} instead of ${name} for another ${formatDuration(budget.until - now)}: ${terminalSafe(budget.reason)}`
  }
  if (waiting === null) return name
  if (waiting.offline) return `${offline} instead of ${name} for now: ${terminalSafe(waiting.reason)}`
  return `${name}, ${style.yellow(`waiting for ${formatDuration(now - waiting.since)}: ${terminalSafe(waiting.reason)}`)}`
}

function budgetText({ budget }: DaemonStatus, { style }: Display): string | null {
  if (budget === null) return null
  const money = `${formatMoney(budget.spentUsd)} of ${formatMoney(budget.limitUsd)}`
  const tokens = `${formatCount(budget.spentTokens)} of ${formatCount(budget.limitTokens)} tokens today`
  const text = `${money}, ${tokens}`
  return budget.reason === null ? text : style.yellow(text)
}

export function queueText(queue: QueueStats, { style, now }: Display): string {
  const { pending, processing, failed, sessions, oldestAt } = queue
  if (pending + processing + failed === 0) return 'empty'
  const failedText = failed > 0 ? style.red(`${failed} failed`) : '0 failed'
  const oldest = oldestAt === null ? '' : `, oldest ${formatAgo(oldestAt, now)}`
  return `${pending} pending, ${processing} processing, ${failedText} in ${pluralize(sessions, 'session')}${oldest}`
}

/** Null for a daemon of an older version, which does not report it. */
function processField({ memory }: Partial<DaemonStatus>): Field {
  const text = memory && `${formatBytes(memory.rss)} in memory, ${formatBytes(memory.heapUsed)} of it heap`
  return ['process', text ?? null]
}

function alertField({ alert }: Partial<DaemonStatus>, { style }: Display): Field {
  return ['alert', alert ? style.red(terminalSafe(`${alert.text}; ${alert.fix}`)) : null]
}

function trendText({ queue }: DaemonStatus, display: Display): string {
  const text = queueText(queue, display)
  return queue.trend === 'growing' || queue.trend === 'shrinking' ? `${text}, ${queue.trend}` : text
}

function indexingText({ indexing }: DaemonStatus, { style }: Display): string | null {
  if (indexing === null) return null
  return style.yellow(`indexing ${indexPartText(indexing)}: ${indexing.done} of ${indexing.total}`)
}

/** Null without a team, and for a daemon of an older version. */
function teamText({ team }: Partial<DaemonStatus>, { style }: Display): string | null {
  if (!team) return null
  const text = terminalSafe(team.text)
  return team.state === 'problem' ? style.yellow(`${text}; see: claude-mem team status`) : text
}

function spoolField(spooled: number, { style }: Display): Field {
  return ['spool', spooled === 0 ? null : style.yellow(`${pluralize(spooled, 'event')} to be read`)]
}

function noticeLines(notices: DaemonStatus['notices'], { style, now }: Display): string[] {
  if (notices.length === 0) return []
  const paint = { info: style.blue, warn: style.yellow, error: style.red }
  return [
    '',
    'Notices',
    ...notices.map(({ at, level, text }) => {
      const age = style.dim(`(${formatAgo(at, now)})`)
      return `  ${paint[level](level.padEnd(5))}  ${terminalSafe(text)} ${age}`
    }),
  ]
}

export function indexProgressLine(progress: IndexerProgress): string {
  const { done, total } = progress
  return `${indexPartText(progress)} ${progressBar(done, total)} ${done} of ${total}`
}

function indexPartText({ what, embedder }: Pick<IndexerProgress, 'what' | 'embedder'>): string {
  if (what === 'lexical') return 'words'
  return embedder === null ? 'vectors' : `vectors of ${terminalSafe(embedder)}`
}
