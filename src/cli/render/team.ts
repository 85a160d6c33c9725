/** Prints a team: connection, shared projects, members, and what would leave this machine. */
import { authorName, projectKeyName } from '../../domain/authorship.ts'
import type { TeamRecord } from '../../domain/team-record.ts'
import { pluralize } from '../../lib/format.ts'
import type { SharedCounts } from '../../store/team-port.ts'
import type { ServerFinding } from '../../team/server.ts'
import type { LogMember } from '../../team/shared-log.ts'
import type { ShareReport, TeamView } from '../../team/team.ts'
import { formatAgo } from '../format.ts'
import { progressBar } from '../progress.ts'
import type { Display } from '../style.ts'
import { cutColumn, type Field, fieldLines, section, type TableCell, tableLines } from '../table.ts'
import { terminalSafe } from '../text.ts'

const NOT_CONNECTED = [
  'No team is connected: all memories stay on this machine.',
  'To share them between machines, through a PostgreSQL of your own: claude-mem team connect postgres://ROLE@HOST/DATABASE',
]

export function teamLines(team: TeamView, display: Display): string[] {
  const { style } = display
  const { connection, sync, line, problem } = team
  if (connection === null) return problem === null ? NOT_CONNECTED : [style.red(terminalSafe(problem))]
  const { role, server, database, tls, author, machine } = connection
  const paint = { ok: style.green, working: style.yellow, problem: style.red }
  const fields: Field[] = [
    ['server', terminalSafe(`${server}/${database} as ${role}, TLS ${tls}`)],
    ['you', terminalSafe(`${author} on ${machine}`)],
    ['state', line === null ? null : paint[line.state](terminalSafe(line.text))],
    ['sent', sync === null ? null : sentText(team, display)],
    ['received', sync === null ? null : `${sync.received} records, ${sync.erased} erased, since the daemon started`],
  ]
  return [
    style.bold('Team'),
    ...fieldLines(fields, display),
    ...refusedLines(team, display),
    ...section(
      connection.allProjects ? 'Shared projects (all, also later ones)' : 'Shared projects',
      projectLines(team, display),
      display,
    ),
  ]
}

function sentText({ sync }: TeamView, { now, style }: Display): string {
  if (sync === null) return ''
  const { pushed, outbox } = sync
  const sent = `${pluralize(pushed, 'record')} since the daemon started`
  if (outbox.waiting === 0) return sent
  const since = outbox.oldestAt === null ? '' : `, the oldest since ${formatAgo(outbox.oldestAt, now)}`
  return `${sent}; ${style.yellow(`${pluralize(outbox.waiting, 'record')} to be sent${since}`)}`
}

function refusedLines({ sync }: TeamView, display: Display): string[] {
  if (sync === null || sync.refused.length === 0) return []
  const { style } = display
  const total = sync.refusedPushed + sync.refusedReceived
  const rows = sync.refused.map(({ direction, id, reason }): TableCell[] => [
    direction === 'pushed' ? 'sent' : 'received',
    id.slice(0, 8),
    reason,
  ])
  const title = style.yellow(`${pluralize(total, 'record')} refused; the newest:`)
  return ['', title, ...tableLines(['', 'record', cutColumn('reason')], rows, display)]
}

function projectLines({ projects, sync }: TeamView, display: Display): string[] {
  if (projects.length === 0) return ['  none; share one with: claude-mem team share PROJECT']
  const problems = new Map(sync?.unavailable.map(({ project, reason }) => [project, reason]))
  const rows = projects.map(({ name, project, since, passages }): TableCell[] => [
    name,
    project,
    [
      since === 0 ? 'all memories' : `since ${new Date(since).toISOString().slice(0, 10)}`,
      ...(passages ? ['passages'] : []),
      ...(problems.has(project) ? [`not available: ${problems.get(project)}`] : []),
    ].join(', '),
  ])
  return tableLines(['project', cutColumn('key'), cutColumn('what')], rows, display)
}

export function loadProgressLine({ sync }: TeamView): string {
  if (sync === null || sync.phase.is !== 'connected') return 'Connecting …'
  if (sync.loading === null) return 'Receiving …'
  const { done, total } = sync.loading
  return `Receiving ${progressBar(done, total)} ${done} of ${total}`
}

const COUNT_NAMES: Readonly<Record<keyof SharedCounts, string>> = {
  observation: 'observations',
  summary: 'summaries',
  passage: 'passages',
  link: 'links',
  pin: 'pins',
  status: 'states of problems',
}

function countsText(counts: SharedCounts): string {
  const parts = (Object.keys(COUNT_NAMES) as (keyof SharedCounts)[])
    .filter((kind) => counts[kind] > 0)
    .map((kind) => `${counts[kind]} ${COUNT_NAMES[kind]}`)
  return parts.length === 0 ? 'nothing yet' : parts.join(', ')
}

export function shareReportLines({ dryRun, shared, local }: ShareReport, { style }: Display): string[] {
  const verb = dryRun ? 'would leave this machine' : 'shared'
  return [
    ...shared.map(({ name, project, counts }) => {
      return `${style.bold(terminalSafe(name))} (${terminalSafe(project)}): ${countsText(counts)} ${verb}`
    }),
    ...(shared.length === 0 ? ['No project can be shared'] : []),
    ...local.map(({ name }) =>
      style.dim(`${terminalSafe(name)} stays here: it has no remote. To name it: claude-mem projects link PATH NAME`),
    ),
  ]
}

export function sharedLines(
  projects: readonly { project: string; counts: SharedCounts }[],
  withdraw: boolean,
): string[] {
  if (projects.length === 0) return ['Nothing was shared']
  return projects.map(({ project, counts }) => {
    const rest = withdraw ? `; withdrawn: ${countsText(counts)}` : '; what was sent stays in the database'
    return terminalSafe(`${project} is not shared any more${rest}`)
  })
}

/** Each record on one line, as it would travel. */
export function recordLines(records: readonly TeamRecord[]): string[] {
  return records.map((record) => terminalSafe(JSON.stringify(record)))
}

export function memberLines(members: readonly LogMember[], display: Display): string[] {
  const rows = members.flatMap(({ role, author, machines, grants }) => {
    const name = author === role || author === '' ? authorName(role) : `${authorName(role)} (${authorName(author)})`
    const first = grants.length === 0 ? [{ repository: '', rights: 'none' }] : grants.map(rightsOf)
    return first.map(({ repository, rights }, i): TableCell[] => [
      i === 0 ? name : '',
      repository,
      rights,
      i === 0 ? machines.map(authorName).join(', ') : '',
    ])
  })
  return tableLines(['role', cutColumn('project'), 'may', cutColumn('machines')], rows, display)
}

function rightsOf({ repository, mayWrite, mayEraseOthers, mayGrant }: LogMember['grants'][number]) {
  const rights = [
    'read',
    ...(mayWrite ? ['write'] : []),
    ...(mayEraseOthers ? ['erase'] : []),
    ...(mayGrant ? ['grant'] : []),
  ]
  return { repository: repository === '*' ? 'all projects' : projectKeyName(repository), rights: rights.join(', ') }
}

export function doctorLines(findings: readonly ServerFinding[], display: Display): string[] {
  const { style } = display
  const marks = { ok: style.green('ok'), advice: style.yellow('advice'), problem: style.red('problem') }
  return findings.map(({ what, state, detail }) => `${marks[state]}  ${terminalSafe(what)}: ${terminalSafe(detail)}`)
}
