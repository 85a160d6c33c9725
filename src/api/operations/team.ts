/**
 * Operations on a team: the connection, what is shared, who may see it. Those that change what leaves this machine or who may
 * read it are for someone at a terminal. A page may show the state, count what sharing would send, and ask for a retry: what
 * a retry sends was shared before.
 */
import * as z from 'zod'
import { MAX_EPOCH_MS } from '../../domain/dates.ts'
import { MAX_ID_CHARS } from '../../domain/event-names.ts'
import { isTravellingKey } from '../../domain/team-record.ts'
import { type ErrorCode, MemError } from '../../lib/errors.ts'
import { TeamError, type TeamErrorCode } from '../../team/errors.ts'
import type { Team } from '../../team/team.ts'
import type { DaemonContext } from '../context.ts'
import { daemonOperation, LOCAL_ONLY } from '../operation.ts'
import { limit, projectName } from '../schemas.ts'

const MAX_URL_CHARS = 4_096
/** Longest wait for the log, in ms: a first load over a slow line. */
const MAX_WAIT_MS = 3_600_000

const url = z.string().min(1).max(MAX_URL_CHARS)
const insecure = z.boolean().default(false)
const role = z.string().min(1).max(MAX_ID_CHARS)
const wait = z.int().min(0).max(MAX_WAIT_MS)
/** Key, name or path; null: every project. */
const projectOrEvery = projectName.nullable()

export const teamOperations = {
  team_connect: daemonOperation({
    about: 'Connects to the PostgreSQL of a team. The connection is tested, and saved only if the log can be used.',
    doors: LOCAL_ONLY,
    input: z.object({ url, insecure, init: z.boolean().default(false).describe('Make the schema first') }),
    answerType: 'team',
    answerDescription: '`team`',
    handle: async (context, { url, insecure, init }) => ({
      team: await ask(context, (team) => team.connect(url, insecure, init)),
    }),
  }),

  team_init: daemonOperation({
    about: 'Makes or updates the schema of the shared log. Several may do it at once.',
    doors: LOCAL_ONLY,
    input: z.object({ url: url.nullable().default(null).describe('Null: of the connected team'), insecure }),
    answerDescription: '`applied`: versions, empty where nothing was missing; `version`',
    handle: async (context, { url, insecure }) => {
      const { applied, version } = await ask(context, (team) => team.init(url, insecure))
      return { applied, version }
    },
  }),

  team_status: daemonOperation({
    about: 'Describes the connection to a team: what is shared, what waits to be sent or received, and why.',
    input: z.object({}),
    answerType: 'team',
    answerDescription: '`team`',
    handle: async (context) => ({ team: await ask(context, (team) => team.view()) }),
    rest: [{ method: 'GET', path: '/api/team', pick: 'team' }],
  }),

  team_memories: daemonOperation({
    about: 'Counts the memories of each shared project on this machine: learned here, and received.',
    input: z.object({}),
    answerDescription: '`projects`: `project`, `own`, `received`',
    handle: async (context) => ({ projects: await ask(context, (team) => team.sharedMemories()) }),
  }),

  team_retry: daemonOperation({
    about: 'Tries the connection now, sends what waits and asks for what is new. Answers without waiting for it.',
    input: z.object({}),
    answerType: 'team',
    answerDescription: '`team`',
    handle: async (context) => ({ team: await ask(context, (team) => team.retry()) }),
  }),

  team_plan: daemonOperation({
    about:
      'Counts what sharing a project would send. Shares nothing: an operation of its own, because pages may call it.',
    // Not a path or another name: a page must not make the daemon look into directories.
    input: z.object({
      project: projectName.refine(isTravellingKey, 'must be the key of a project with a remote or a name'),
    }),
    answerDescription: '`report`, as of `team_share` with `dryRun`',
    handle: async (context, { project }) => ({
      report: await ask(context, (team) => team.share({ project, since: 0, passages: null, dryRun: true })),
    }),
  }),

  team_share: daemonOperation({
    about: 'Shares a project, or all projects now and later, with the team. `dryRun`: only says what would leave.',
    doors: LOCAL_ONLY,
    input: z.object({
      project: projectOrEvery,
      since: z.int().min(0).max(MAX_EPOCH_MS).default(0).describe('Only memories made since then'),
      passages: z.boolean().nullable().default(null).describe('Null: as CLAUDE_MEM_TEAM_PASSAGES says'),
      dryRun: z.boolean().default(false),
    }),
    answerDescription: '`report`: counts of records for each project, and projects that stay on this machine',
    handle: async (context, request) => ({ report: await ask(context, (team) => team.share(request)) }),
  }),

  team_preview: daemonOperation({
    about: 'Lists the records that sharing a project would send, in pages.',
    doors: LOCAL_ONLY,
    input: z.object({
      project: projectName,
      since: z.int().min(0).max(MAX_EPOCH_MS).default(0),
      passages: z.boolean().nullable().default(null),
      after: z.int().min(0).default(0).describe('`next` of the answer before'),
      limit,
    }),
    answerDescription: '`records`, `next`: null where there are no more',
    handle: async (context, request) => await ask(context, (team) => team.preview(request)),
  }),

  team_unshare: daemonOperation({
    about: 'Stops sharing a project, or all. `withdraw`: also erases in the log what this machine has sent.',
    doors: LOCAL_ONLY,
    input: z.object({ project: projectOrEvery, withdraw: z.boolean().default(false) }),
    answerDescription: '`projects`: with the counts of records that are withdrawn',
    handle: async (context, { project, withdraw }) => ({
      projects: await ask(context, (team) => team.unshare(project, withdraw)),
    }),
  }),

  team_disconnect: daemonOperation({
    about: 'Removes the connection. Memories stay, here and in the log.',
    doors: LOCAL_ONLY,
    input: z.object({}),
    answerDescription: '`unsent`: records that were not sent',
    handle: async (context) => await ask(context, (team) => team.disconnect()),
  }),

  team_doctor: daemonOperation({
    about: 'Checks the server, the rights of this role and the schema.',
    doors: LOCAL_ONLY,
    input: z.object({}),
    answerDescription: '`findings`: `what`, `state` (`ok`, `advice`, `problem`), `detail`',
    handle: async (context) => ({ findings: await ask(context, (team) => team.check()) }),
  }),

  team_members: daemonOperation({
    about: 'Lists the roles of the team with what they may do, as far as this role may see them.',
    input: z.object({}),
    answerDescription: '`members`',
    handle: async (context) => ({ members: await ask(context, (team) => team.members()) }),
  }),

  team_grant: daemonOperation({
    about: 'Lets a role read a repository, and write, erase or grant there.',
    doors: LOCAL_ONLY,
    input: z.object({
      role,
      repository: projectName.describe('Key, name or path of a project; `*`: all'),
      mayWrite: z.boolean().default(true),
      mayEraseOthers: z.boolean().default(false),
      mayGrant: z.boolean().default(false),
    }),
    answerDescription: '`repository`: its key',
    handle: async (context, { role, ...grant }) => ({
      repository: await ask(context, (team) => team.grant(role, grant)),
    }),
  }),

  team_revoke: daemonOperation({
    about: 'Takes all rights of a role for a repository.',
    doors: LOCAL_ONLY,
    input: z.object({ role, repository: projectName }),
    answerDescription: '`repository`, `revoked`: false where there was no such grant',
    handle: async (context, { role, repository }) => await ask(context, (team) => team.revoke(role, repository)),
  }),

  team_flush: daemonOperation({
    about: 'Sends what waits, and answers when everything is sent or the time is over.',
    doors: LOCAL_ONLY,
    input: z.object({ timeoutMs: wait }),
    answerDescription: '`done`, `waiting`: records that are not sent, `line`: why',
    handle: async (context, { timeoutMs }) => await ask(context, (team) => team.flush(timeoutMs)),
  }),

  team_receive: daemonOperation({
    about: 'Answers when everything in the log was received, or the time is over.',
    doors: LOCAL_ONLY,
    input: z.object({ timeoutMs: wait }),
    answerDescription: '`done`',
    handle: async (context, { timeoutMs }) => ({ done: await ask(context, (team) => team.untilReceived(timeoutMs)) }),
  }),
}

async function ask<T>({ team }: DaemonContext, use: (team: Team) => Promise<T>): Promise<T> {
  if (team === null) throw new MemError('bad_request', 'this daemon has no team')
  try {
    return await use(team)
  } catch (error) {
    throw error instanceof TeamError ? clientError(error) : error
  }
}

/** Codes by what a program can do about it; the message says it to people. */
const CLIENT_CODES: Readonly<Record<TeamErrorCode, ErrorCode>> = {
  auth: 'unauthorized',
  unreachable: 'busy',
  tls: 'forbidden',
  read_only: 'forbidden',
  schema_newer: 'unsupported_version',
  schema_missing: 'not_found',
  denied: 'forbidden',
  server_full: 'busy',
  refused: 'bad_request',
  timeout: 'busy',
  internal: 'storage',
}

function clientError(error: TeamError): MemError {
  return new MemError(CLIENT_CODES[error.code], error.message, { cause: error, retryable: error.retryable })
}
