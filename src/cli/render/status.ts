/** `claude-mem status` for people. */
import type { Status } from '../../channel/protocol.ts'
import type { QueueStats, StoreStats } from '../../store/port.ts'
import { money, tokens } from '../amounts.ts'
import type { Look } from '../style.ts'
import { fields } from '../table.ts'
import { clean, counted } from '../text.ts'
import { ago, bytes, duration } from '../times.ts'
import { subjectText } from './indexing.ts'

/** What the files say while no daemon runs. */
export interface StoppedStatus {
  dataDir: string
  /** Null when there is no database, or it cannot be read. */
  stats: StoreStats | null
  problem: string | null
  spooled: number
  /** Settings that are not valid. */
  notices: string[]
}

export function runningLines(status: Status, look: Look): string[] {
  const { style, now } = look
  return [
    `${style.bold('claude-mem')} ${clean(status.version)} is ${stateWord(status.state, look)} (pid ${status.pid}, up ${duration(now - status.startedAt)})`,
    ...fields(
      [
        ['data', `${clean(status.dataDir)} (${bytes(status.databaseBytes)})`],
        ['socket', clean(status.socket)],
        ['port', status.port === null ? style.yellow('none') : `127.0.0.1:${status.port}`],
        ['observer', observerText(status, look)],
        ...budgetField(status, look),
        ['sessions', `${status.sessions}, ${status.awake} awake`],
        ['memory', `${counted(status.observations, 'observation')}, ${status.observationsToday} today`],
        ['queue', queueText(status.queue, look)],
        ...indexField(status, look),
        ...spoolField(status.spooled, look),
      ],
      look,
    ),
    ...noticeLines(status.notices, look),
  ]
}

export function stoppedLines(status: StoppedStatus, look: Look): string[] {
  const { style } = look
  const { stats, problem } = status
  const database: [string, string][] =
    stats === null
      ? [['database', problem === null ? 'none yet' : style.red(clean(problem))]]
      : [
          ['database', bytes(stats.databaseBytes)],
          ['sessions', String(stats.sessionsTotal)],
          ['memory', `${counted(stats.observations, 'observation')}, ${stats.observationsToday} today`],
          ['queue', queueText(stats, look)],
        ]
  return [
    `${style.bold('claude-mem')} is ${style.yellow('not running')}; start it with: claude-mem start`,
    ...fields([['data', clean(status.dataDir)], ...database, ...spoolField(status.spooled, look)], look),
    ...status.notices.map((text) => style.yellow(`! ${clean(text)}`)),
  ]
}

function observerText({ provider, model, waiting, budget }: Status, { style, now }: Look): string {
  const name = clean(model === null ? provider : `${provider} (${model})`)
  if (budget !== null && budget.reason !== null) {
    return `${style.yellow('offline')} instead of ${name} for another ${duration(budget.until - now)}: ${clean(budget.reason)}`
  }
  if (waiting === null) return name
  if (waiting.offline) return `${style.yellow('offline')} instead of ${name} for now: ${clean(waiting.reason)}`
  return `${name}, ${style.yellow(`waiting for ${duration(now - waiting.since)}: ${clean(waiting.reason)}`)}`
}

function budgetField({ budget }: Status, { style }: Look): [string, string][] {
  if (budget === null) return []
  const text = `${money(budget.spentUsd)} of ${money(budget.limitUsd)}, ${tokens(budget.spentTokens)} of ${tokens(budget.limitTokens)} tokens today`
  return [['budget', budget.reason === null ? text : style.yellow(text)]]
}

export function queueText(queue: QueueStats, { style, now }: Look): string {
  const { pending, processing, failed, sessions, oldestAt } = queue
  if (pending + processing + failed === 0) return 'empty'
  const words = [`${pending} pending`, `${processing} processing`]
  words.push(failed > 0 ? style.red(`${failed} failed`) : '0 failed')
  const oldest = oldestAt === null ? '' : `, oldest ${ago(oldestAt, now)}`
  return `${words.join(', ')} in ${counted(sessions, 'session')}${oldest}`
}

function stateWord(state: string, { style }: Look): string {
  return state === 'serving' ? style.green('serving') : style.yellow(clean(state))
}

function indexField({ indexing }: Status, { style }: Look): [string, string][] {
  if (indexing === null) return []
  const { what, done, total, embedder } = indexing
  return [['search', style.yellow(`takes in ${subjectText(what, embedder)}: ${done} of ${total}`)]]
}

function spoolField(spooled: number, { style }: Look): [string, string][] {
  return spooled === 0 ? [] : [['spool', style.yellow(`${counted(spooled, 'event')} to be read`)]]
}

function noticeLines(notices: Status['notices'], { style, now }: Look): string[] {
  if (notices.length === 0) return []
  const paint = { info: style.blue, warn: style.yellow, error: style.red }
  return [
    '',
    'Notices',
    ...notices.map(
      ({ at, level, text }) => `  ${paint[level](level.padEnd(5))}  ${clean(text)} ${style.dim(`(${ago(at, now)})`)}`,
    ),
  ]
}
