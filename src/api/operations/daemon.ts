/** Operations on the daemon itself: state, stop, backups, settings, live stream. */
import * as z from 'zod'
import type { LiveSettings } from '../../daemon/live-settings.ts'
import { startOfDay } from '../../domain/dates.ts'
import { MemError } from '../../lib/errors.ts'
import { compareVersions, VERSION } from '../../lib/version.ts'
import type { DaemonContext } from '../context.ts'
import { AGENTS_TOO, connectionOperation, daemonOperation, LOCAL_ONLY } from '../operation.ts'
import { version } from '../schemas.ts'

const MAX_SETTING_NAME_CHARS = 200
const MAX_VIEWER_ID_CHARS = 64
/** Items of a list setting; each is checked by the setting's own rule. */
const MAX_SETTING_ITEMS = 1_000
const MAX_SETTING_CHARS = 100_000
const settingText = z.string().max(MAX_SETTING_CHARS)

export const daemonOperations = {
  hello: daemonOperation({
    about: 'Says which daemon this is. Needed only on Windows, with the token, as the first message.',
    doors: AGENTS_TOO,
    input: z.object({ version, token: z.string().exactOptional() }),
    answerDescription: '`version`, `pid`, `dataDir`',
    handle: ({ process: { dataDir } }) => ({ version: VERSION, pid: process.pid, dataDir }),
  }),

  status: daemonOperation({
    about: 'Describes the daemon: version, process, provider, budget, queue, counts, notices.',
    input: z.object({}),
    answerDescription: '`status`',
    handle: async (context) => ({ status: await daemonStatus(context) }),
  }),

  health: daemonOperation({
    about: 'A short status for scripts and monitors.',
    input: z.object({}),
    answerDescription:
      '`status`: `ok`, or `alert` while the queue needs attention; `alert`, `version`, `state`, `pid`, `port`, `uptimeMs`, `sessions` (`active`, `total`), `memory` in bytes, `queue` with its `trend`, `queueDepth`, `observationsToday`, `provider`, `waiting`, `indexing`, `team`: its state and what to do, null without a team',
    handle: async (context) => {
      const status = await daemonStatus(context)
      const { pending, processing, failed, oldestAt, trend } = status.queue
      return {
        status: status.alert === null ? 'ok' : 'alert',
        alert: status.alert,
        version: status.version,
        state: status.state,
        pid: status.pid,
        port: status.port,
        uptimeMs: context.now() - status.startedAt,
        sessions: { active: status.activeSessions, total: status.sessions },
        memory: status.memory,
        queueDepth: pending + processing,
        queue: {
          depth: pending + processing,
          failed,
          /** Age of the oldest waiting message; null where none waits. */
          oldestMs: oldestAt === null ? null : Math.max(0, context.now() - oldestAt),
          trend,
        },
        observationsToday: status.observationsToday,
        provider: status.provider,
        waiting: status.waiting,
        indexing: status.indexing,
        team: status.team,
      }
    },
    rest: [{ method: 'GET', path: '/api/health' }],
  }),

  backup: daemonOperation({
    about: 'Makes a backup. Answered when it is on disk.',
    doors: LOCAL_ONLY,
    input: z.object({}),
    answerType: 'backups',
    answerDescription: '`backups`: the new one',
    handle: async ({ store, process }) => ({ backups: [await store.backup('manual', process.keepBackups())] }),
  }),

  backups: daemonOperation({
    about: 'Lists the backups.',
    input: z.object({}),
    answerDescription: '`backups`',
    handle: async ({ store }) => ({ backups: await store.backups() }),
  }),

  settings: daemonOperation({
    about: 'Lists all settings with their values, rules and sources. Secrets are shortened.',
    input: z.object({}),
    answerDescription: '`settings`, `problems`',
    handle: (context, _input, { door }) => liveSettings(context).list(door),
    rest: [{ method: 'GET', path: '/api/settings' }],
  }),

  setting_set: daemonOperation({
    about:
      'Changes a setting, written as people write it; null removes it from the settings file. Some settings can only be ' +
      'changed on the local socket.',
    input: z.object({
      name: z.string().min(1).max(MAX_SETTING_NAME_CHARS),
      value: z.union([settingText, z.array(settingText).max(MAX_SETTING_ITEMS), z.number(), z.boolean()]).nullable(),
    }),
    answerType: 'settings',
    answerDescription: '`settings`, `problems`, as they are now',
    handle: (context, { name, value }, { door }) => {
      const settings = liveSettings(context)
      settings.set(name, typeof value === 'number' || typeof value === 'boolean' ? String(value) : value, door)
      return settings.list(door)
    },
    rest: [{ method: 'PUT', path: '/api/settings/:name' }],
  }),

  stop: daemonOperation({
    about: 'Finishes what is in flight, releases the data directory and exits.',
    doors: LOCAL_ONLY,
    input: z.object({}),
    answerType: 'done',
    answerDescription: '`affected`: 1',
    handle: ({ process }) => {
      process.stop('stop was requested')
      return { affected: 1 }
    },
  }),

  handover: daemonOperation({
    about: 'Stops the daemon for a newer program that takes over the data directory.',
    doors: LOCAL_ONLY,
    input: z.object({ version }),
    answerType: 'done',
    answerDescription: '`affected`: 1',
    handle: ({ process: { dataDir, stop } }, { version }) => {
      if (compareVersions(version, VERSION) <= 0) {
        throw new MemError('already_running', `claude-mem ${VERSION} (pid ${process.pid}) already serves ${dataDir}`)
      }
      stop(`claude-mem ${version} takes over`)
      return { affected: 1 }
    },
  }),

  subscribe: connectionOperation({
    about: 'Follows the live stream: every change after the one numbered `since`; null: from now on.',
    input: z.object({ since: z.int().nullable() }),
    answerType: 'subscribed',
    answerDescription:
      '`seq`: the newest number; `resumed`: false where the changes in between are no longer kept, so load again',
    handle: (connection, { since }) => connection.subscribe(since),
  }),

  viewer_link: connectionOperation({
    about: 'Makes an address of the viewer that can be opened once.',
    doors: LOCAL_ONLY,
    input: z.object({}),
    answerDescription: '`url`, `expiresAt`',
    handle: (connection) => connection.viewerLink(),
  }),

  viewers: connectionOperation({
    about: 'Lists the viewer pages that have access, the one used last first.',
    doors: LOCAL_ONLY,
    input: z.object({}),
    answerDescription: '`viewers`: `id`, `createdAt`, `usedAt`, `expiresAt`, `connected`',
    handle: (connection) => ({ viewers: connection.viewers() }),
  }),

  viewer_revoke: connectionOperation({
    about: 'Ends the access of a viewer page, and its connections; null: of all pages.',
    doors: LOCAL_ONLY,
    input: z.object({ viewer: z.string().min(1).max(MAX_VIEWER_ID_CHARS).nullable() }),
    answerType: 'done',
    answerDescription: '`affected`: pages',
    handle: (connection, { viewer }) => ({ affected: connection.revokeViewers(viewer) }),
  }),
}

function liveSettings({ settings }: DaemonContext): LiveSettings {
  if (settings === null) throw new MemError('bad_request', 'this daemon has no settings that can be changed')
  return settings
}

export type DaemonStatus = Awaited<ReturnType<typeof daemonStatus>>

async function daemonStatus({ supervisor, reader, memory, settings, team, process: own, now }: DaemonContext) {
  const stats = await reader.stats(startOfDay(now()))
  const { pending, processing, failed, sessions, oldestAt } = stats
  const { name: provider, model } = own.provider()
  const { rss, heapUsed, heapTotal } = process.memoryUsage()
  return {
    version: VERSION,
    pid: process.pid,
    dataDir: own.dataDir,
    socket: own.socket,
    port: own.port(),
    startedAt: supervisor.startedAt,
    /** State of the supervisor: `serving`, `draining`, … */
    state: supervisor.state,
    provider,
    /** Null: no model is used. */
    model,
    /** What the model may spend today; null where none is used. */
    budget: own.budget(),
    /** Since when and why the observer does not answer; null when it does. */
    waiting: supervisor.waiting,
    queue: { pending, processing, failed, sessions, oldestAt, trend: own.queueTrend() },
    /** What is wrong with the queue and what to do; null while nothing is. */
    alert: own.queueAlert(),
    observationsToday: stats.observationsToday,
    observations: stats.observations,
    sessions: stats.sessionsTotal,
    /** Sessions that have not ended. */
    activeSessions: stats.sessionsActive,
    /** Of the daemon's process, in bytes. */
    memory: { rss, heapUsed, heapTotal },
    /** Session actors in memory. */
    awake: supervisor.awake,
    databaseBytes: stats.databaseBytes,
    /** Files in the spool. */
    spooled: own.spooled(),
    /** Null when search has indexed everything. */
    indexing: memory.indexing(),
    /** What the team's connection does and what to do, in one line; null without a team. */
    team: (await team?.line()) ?? null,
    /** Settings without their defaults, and whether they come from the file or the daemon's environment. */
    settings: settings?.sources() ?? [],
    /** What the user should know (recovered database, bad setting, spool file set aside), newest last. */
    notices: [...supervisor.notices.list],
  }
}
