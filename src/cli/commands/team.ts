/** `claude-mem team`: connects this machine to the PostgreSQL of a team, and says what is shared with whom. */
import type { OutputOf } from '../../api/index.ts'
import { MemError } from '../../lib/errors.ts'
import type { DaemonClient } from '../../transport/client.ts'
import { oneOf, refuseIf, UsageError } from '../arguments.ts'
import { type Cli, confirmChange, printResult } from '../cli.ts'
import { defineCommand, EXIT_FAILED, stringOption, yesOption } from '../command.ts'
import { parseMomentOption, parseProject } from '../filters.ts'
import { withDaemon } from '../memory-client.ts'
import {
  doctorLines,
  loadProgressLine,
  memberLines,
  recordLines,
  sharedLines,
  shareReportLines,
  teamLines,
} from '../render/team.ts'
import { connectionUrl } from '../team-connection.ts'
import { terminalSafe } from '../text.ts'

const ACTIONS = [
  'status',
  'connect',
  'init',
  'share',
  'unshare',
  'disconnect',
  'doctor',
  'members',
  'grant',
  'revoke',
] as const
type Action = (typeof ACTIONS)[number]

/** The server may be far away, and `init` may wait for another one that does the same. */
const SERVER_TIMEOUT_MS = 120_000
/** A large project is put into the outbox in one transaction. */
const SHARE_TIMEOUT_MS = 600_000
/** How long `connect --share` waits for the first load; the rest arrives in the background. */
const FIRST_LOAD_MS = 30_000
const PROGRESS_INTERVAL_MS = 200
/** Records of one page of `--show`. */
const PREVIEW_PAGE = 500

interface TeamArgs {
  first: string | undefined
  second: string | undefined
  share: string | undefined
  'all-projects': boolean
  since: string | undefined
  all: boolean
  passages: boolean
  'dry-run': boolean
  show: boolean
  insecure: boolean
  init: boolean
  withdraw: boolean
  read: boolean
  erase: boolean
  admin: boolean
  yes: boolean
}

/** Which options belong to which actions: an option that has no effect is a mistake. */
const OPTIONS_OF: Readonly<Partial<Record<keyof TeamArgs, readonly Action[]>>> = {
  share: ['connect'],
  'all-projects': ['connect', 'share', 'unshare'],
  since: ['connect', 'share'],
  all: ['share'],
  passages: ['connect', 'share'],
  'dry-run': ['share'],
  show: ['share'],
  insecure: ['connect', 'init'],
  init: ['connect'],
  withdraw: ['unshare'],
  read: ['grant'],
  erase: ['grant'],
  admin: ['grant'],
  yes: ['share', 'unshare'],
}

export const teamCommand = defineCommand({
  usage: 'team [action] [first] [second]',
  group: 'Integrations',
  summary: 'One memory on every machine: connect to PostgreSQL, share projects',
  about:
    'A team is a PostgreSQL database (13 or newer) through which machines exchange memories. One person with three machines ' +
    'is a team of one. Everything goes on working without it, at local speed. Nothing leaves this machine unless its project ' +
    'is shared: observations, summaries, links, pins and names, and with --passages the pieces of sessions behind them; never ' +
    'payloads, traces, private parts or excluded directories. status (the default) says what is connected, shared and ' +
    'waiting. connect URL tests the connection and saves it, readable by you only; without a URL, and for a password that is ' +
    'not in it, it asks; - reads the URL from standard input. TLS is required except on this machine or with --insecure. ' +
    'init makes the tables, once for each database. share PROJECT sends its memory and receives that of others; ' +
    '--dry-run says what would leave, --show lists it. unshare stops that; --withdraw also erases in the database what this ' +
    'machine has sent. disconnect removes the connection and keeps all memories. grant ROLE PROJECT lets another role of the ' +
    'database take part, --read only to read; members lists who may do what. A project is given by its name, key or path.',
  examples: [
    ['claude-mem team', 'what is connected, shared and waiting'],
    ['claude-mem team connect postgres://ana@db.example.com/memory', 'asks for the password, tests, saves'],
    ['claude-mem team connect "$URL" --share .', 'one command for the set-up of a container'],
    ['claude-mem team init', 'make or update the tables'],
    ['claude-mem team share . --dry-run', 'what would leave this machine'],
    ['claude-mem team share --all-projects', 'every project, now and later: one person, several machines'],
    ['claude-mem team grant ben shop', 'ben reads and writes the project shop'],
    ['claude-mem team members', 'who may do what'],
    ['claude-mem team unshare shop --withdraw --yes', 'stop, and erase there what this machine sent'],
    ['claude-mem team doctor', 'check server, rights and schema'],
    ['claude-mem team disconnect', ''],
  ],
  positionals: {
    action: { type: 'string', describe: ACTIONS.join(', '), default: 'status' },
    first: { type: 'string', describe: 'connect, init: the URL; share, unshare: the project; grant, revoke: the role' },
    second: { type: 'string', describe: 'grant, revoke: the project, or "*" for all' },
  },
  options: {
    share: stringOption('connect: then share this project'),
    'all-projects': { type: 'boolean', describe: 'Every project; connect, share: also later ones' },
    since: stringOption('share: only memories made since then (7d, 2026-01-01)'),
    all: { type: 'boolean', describe: 'share: the whole history, which is the default' },
    passages: { type: 'boolean', describe: 'share: also passages, the pieces of sessions behind the observations' },
    'dry-run': { type: 'boolean', describe: 'share: only say what would leave' },
    show: { type: 'boolean', describe: 'share --dry-run: list the records themselves' },
    insecure: { type: 'boolean', describe: 'connect, init: without TLS, or without checking the certificate' },
    init: { type: 'boolean', describe: 'connect: make the tables first' },
    withdraw: { type: 'boolean', describe: 'unshare: erase in the database what this machine has sent' },
    read: { type: 'boolean', describe: 'grant: only to read' },
    erase: { type: 'boolean', describe: "grant: also to erase others' memories" },
    admin: { type: 'boolean', describe: 'grant: also to grant' },
    yes: yesOption,
  },
  run: async ({ action, ...args }, cli) => {
    const chosen = oneOf('action', action, ACTIONS)
    checkArguments(chosen, args)
    return await withDaemon(cli, (client) => ACTION_RUNS[chosen](client, args, cli))
  },
})

function checkArguments(action: Action, args: TeamArgs): void {
  for (const [option, actions] of Object.entries(OPTIONS_OF)) {
    const given = args[option as keyof TeamArgs]
    const isGiven = given !== undefined && given !== false
    refuseIf(isGiven && !actions.includes(action), `--${option} is an option of team ${actions.join(', team ')}`)
  }
  const takesTwo = action === 'grant' || action === 'revoke'
  const takesOne = takesTwo || ['connect', 'init', 'share', 'unshare'].includes(action)
  refuseIf(!takesOne && args.first !== undefined, `team ${action} takes no other argument`)
  refuseIf(!takesTwo && args.second !== undefined, `team ${action} takes one argument`)
  if (takesTwo && (args.first === undefined || args.second === undefined)) {
    throw new UsageError(`team ${action} needs a role and a project: claude-mem team ${action} ben shop`)
  }
  refuseIf(args.show && !args['dry-run'], '--show is an option of team share --dry-run')
  refuseIf(args.all && args.since !== undefined, '--all and --since exclude each other')
}

const ACTION_RUNS: Readonly<Record<Action, (client: DaemonClient, args: TeamArgs, cli: Cli) => Promise<number>>> = {
  status: async (client, _args, cli) => {
    const { team } = await client.call('team_status')
    printResult(cli, team, () => teamLines(team, cli.display()))
    return team.line?.state === 'problem' ? EXIT_FAILED : 0
  },
  connect: connectTeam,
  init: initTeam,
  share: shareProjects,
  unshare: unshareProjects,
  disconnect: async (client, _args, cli) => {
    const { unsent } = await client.call('team_disconnect', {}, SERVER_TIMEOUT_MS)
    printResult(cli, { unsent }, () => [
      'Disconnected. All memories stay, here and in the database',
      ...(unsent > 0 ? [`${unsent} records were not sent; they are sent if you connect again`] : []),
    ])
    return 0
  },
  doctor: async (client, _args, cli) => {
    const { findings } = await client.call('team_doctor', {}, SERVER_TIMEOUT_MS)
    printResult(cli, { findings }, () => doctorLines(findings, cli.display()))
    return findings.some(({ state }) => state === 'problem') ? EXIT_FAILED : 0
  },
  members: async (client, _args, cli) => {
    const { members } = await client.call('team_members', {}, SERVER_TIMEOUT_MS)
    printResult(cli, { members }, () => memberLines(members, cli.display()))
    return 0
  },
  grant: async (client, { first: role = '', second = '', read, erase, admin }, cli) => {
    refuseIf(read && (erase || admin), '--read is only to read: it excludes --erase and --admin')
    const rights = { mayWrite: !read, mayEraseOthers: erase, mayGrant: admin }
    const input = { role, repository: parseRepository(second, cli), ...rights }
    const { repository } = await client.call('team_grant', input, SERVER_TIMEOUT_MS)
    const may = read ? 'read' : ['read', 'write', ...(erase ? ['erase'] : []), ...(admin ? ['grant'] : [])].join(', ')
    printResult(cli, { role, repository, ...rights }, () => terminalSafe(`${role} may ${may} in ${repository}`))
    return 0
  },
  revoke: async (client, { first: role = '', second = '' }, cli) => {
    const input = { role, repository: parseRepository(second, cli) }
    const { repository, revoked } = await client.call('team_revoke', input, SERVER_TIMEOUT_MS)
    const text = revoked ? `${role} has no rights in ${repository} any more` : `${role} had no rights in ${repository}`
    printResult(cli, { role, repository, revoked }, () => terminalSafe(text))
    return 0
  },
}

function parseRepository(given: string, cli: Cli): string {
  return given === '*' ? given : parseProject(given, cli.env)
}

async function connectTeam(client: DaemonClient, args: TeamArgs, cli: Cli): Promise<number> {
  refuseIf(args.share !== undefined && args['all-projects'], '--share and --all-projects exclude each other')
  const url = await connectionUrl(cli, args.first)
  const connect = async (init: boolean) =>
    (await client.call('team_connect', { url, insecure: args.insecure, init }, SERVER_TIMEOUT_MS)).team
  const team = await connect(args.init).catch(async (error: unknown) => {
    const isMissing = error instanceof MemError && error.code === 'not_found'
    if (!isMissing || !cli.interactive) throw error
    if (!(await cli.confirm(`${terminalSafe(error.message)} Make it now?`))) throw error
    return await connect(true)
  })
  const wantsShare = args.share !== undefined || args['all-projects']
  if (!wantsShare) {
    printResult(cli, team, () => [...teamLines(team, cli.display()), ...nextLines(team.projects.length)])
    return 0
  }
  const project = args.share === undefined ? null : parseProject(args.share, cli.env)
  const { report } = await client.call('team_share', shareInput(args, project, cli), SHARE_TIMEOUT_MS)
  const isLoaded = await waitForFirstLoad(client, cli)
  const { team: now } = await client.call('team_status')
  printResult(cli, { ...now, report, loaded: isLoaded }, () => [
    ...teamLines(now, cli.display()),
    '',
    ...shareReportLines(report, cli.display()),
    ...(isLoaded ? [] : ['The rest of the memory is received in the background']),
  ])
  return 0
}

function nextLines(shared: number): string[] {
  if (shared > 0) return []
  return ['', 'Nothing is shared yet. Next: claude-mem team share PROJECT, or claude-mem team share --all-projects']
}

async function initTeam(client: DaemonClient, args: TeamArgs, cli: Cli): Promise<number> {
  const url = args.first === undefined ? null : await connectionUrl(cli, args.first)
  const result = await client.call('team_init', { url, insecure: args.insecure }, SERVER_TIMEOUT_MS)
  printResult(cli, result, () =>
    result.applied.length === 0
      ? `The tables are up to date (schema ${result.version})`
      : `The tables are made (schema ${result.version}); connect every machine with: claude-mem team connect URL`,
  )
  return 0
}

function shareInput({ since, passages }: TeamArgs, project: string | null, cli: Cli) {
  const from = since === undefined ? 0 : Math.max(0, parseMomentOption('--since', since, 'start', cli.display().now))
  return { project, since: from, passages: passages ? true : null, dryRun: false }
}

async function shareProjects(client: DaemonClient, args: TeamArgs, cli: Cli): Promise<number> {
  const { first, 'all-projects': every, 'dry-run': dryRun, show, yes } = args
  refuseIf(every && first !== undefined, 'team share takes a project or --all-projects, not both')
  if (!every && first === undefined) {
    throw new UsageError('team share needs a project, or --all-projects: claude-mem team share .')
  }
  refuseIf(show && every, '--show lists the records of one project')
  const input = shareInput(args, every ? null : parseProject(first, cli.env), cli)
  const { report: planned } = await client.call('team_share', { ...input, dryRun: true }, SHARE_TIMEOUT_MS)
  if (dryRun) return await printPlan(client, input, planned, show, cli)
  if (cli.interactive && !yes) {
    cli.print(...shareReportLines(planned, cli.display()))
    if (!(await confirmChange(cli, 'Send this to the team, now and what is learned later?', 'Nothing was shared'))) {
      return EXIT_FAILED
    }
  }
  const { report } = await client.call('team_share', input, SHARE_TIMEOUT_MS)
  await showPushProgress(client, cli)
  printResult(cli, report, () => shareReportLines(report, cli.display()))
  return 0
}

type ShareInput = ReturnType<typeof shareInput>
type Report = Parameters<typeof shareReportLines>[0]

async function printPlan(
  client: DaemonClient,
  { project, since, passages }: ShareInput,
  planned: Report,
  show: boolean,
  cli: Cli,
): Promise<number> {
  if (!cli.json) cli.print(...shareReportLines(planned, cli.display()))
  const records: unknown[] = []
  for (let after: number | null = 0; after !== null && (show || cli.json) && project !== null; ) {
    const page: OutputOf<'team_preview'> = await client.call('team_preview', {
      project,
      since,
      passages,
      after,
      limit: PREVIEW_PAGE,
    })
    if (cli.json) records.push(...page.records)
    else cli.print(...recordLines(page.records))
    after = page.next
  }
  if (cli.json) cli.printJson({ ...planned, records })
  return 0
}

async function unshareProjects(client: DaemonClient, args: TeamArgs, cli: Cli): Promise<number> {
  const { first, 'all-projects': every, withdraw, yes } = args
  refuseIf(every && first !== undefined, 'team unshare takes a project or --all-projects, not both')
  if (!every && first === undefined) throw new UsageError('team unshare needs a project, or --all-projects')
  if (withdraw && !yes) {
    const question = 'Erase in the database everything that this machine has sent of it? It stays on this machine.'
    if (!(await confirmChange(cli, question, 'Nothing was withdrawn'))) return EXIT_FAILED
  }
  const project = every ? null : parseProject(first, cli.env)
  const { projects } = await client.call('team_unshare', { project, withdraw }, SHARE_TIMEOUT_MS)
  printResult(cli, { projects }, () => sharedLines(projects, withdraw))
  return 0
}

/** Shows how much of the log was received. False: it takes longer than a command should. */
async function waitForFirstLoad(client: DaemonClient, cli: Cli): Promise<boolean> {
  const timer = setInterval(() => {
    client.call('team_status').then(
      ({ team }) => cli.progress(loadProgressLine(team)),
      () => undefined,
    )
  }, PROGRESS_INTERVAL_MS)
  try {
    const input = { timeoutMs: FIRST_LOAD_MS }
    return (await client.call('team_receive', input, FIRST_LOAD_MS + SERVER_TIMEOUT_MS)).done
  } finally {
    clearInterval(timer)
    cli.progress('')
  }
}

/** On a terminal, for as long as there is something to see; the rest is sent in the background. */
async function showPushProgress(client: DaemonClient, cli: Cli): Promise<void> {
  if (!cli.interactive) return
  const { team } = await client.call('team_status')
  const total = team.sync?.outbox.waiting ?? 0
  if (total === 0) return
  const { waitForPush } = await import('../team-connection.ts')
  await waitForPush(client, cli, total, FIRST_LOAD_MS)
}
