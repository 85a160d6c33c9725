/** Checks per client: the client itself, its MCP server, and whether its sessions are reported. */

import { join } from 'node:path'
import type { TranscriptEnd, TranscriptImportState } from '../../domain/event.ts'
import { isExcluded } from '../../domain/project.ts'
import { readSpool } from '../../hook/spool.ts'
import { MemError } from '../../lib/errors.ts'
import { VERSION } from '../../lib/version.ts'
import { type SurveyedSession, surveyTranscripts } from '../../transfer/backfill/survey.ts'
import { findTranscripts } from '../../transfer/transcripts/claude-code.ts'
import { DaemonClient } from '../../transport/client.ts'
import { claudeConfigDirectory } from '../install/clients/claude-code.ts'
import { advice, type CheckRun, type DoctorFacts, type Finding, problem } from './check.ts'
import { type ClientConnection, hookEntries, type InstalledFile, locateCommand } from './installed.ts'
import { spooledFiles } from './storage.ts'

export async function* checkClient(connection: ClientConnection, facts: DoctorFacts): CheckRun {
  const { title, client, files, installCommand } = connection
  if (client !== null) return client.version === null ? client.path : `${client.version} (${client.path})`
  const isRegistered = hookEntries(files).length > 0
  const [first] = await facts.connections()
  if (isRegistered || connection === first) {
    const text = `no ${title} was found${isRegistered ? ', but its hooks are registered' : ''}`
    const fix = `once it is on your PATH, run ${installCommand('user')} to register all events that it supports`
    yield advice(text, fix)
  }
  return null
}

export async function* checkMcpServer(connection: ClientConnection, { environment }: DoctorFacts): CheckRun {
  const { installCommand } = connection
  const files = connection.files.filter(({ kind }) => kind === 'server')
  const registered = files.filter(({ entries }) => entries.length > 0)
  for (const file of files) {
    yield* unreadableFaults([file])
    if (!file.taken) continue
    const text = `${file.path} has a server named claude-mem that is not this one`
    yield advice(text, `rename or remove it there, then ${installCommand('user')}`)
  }
  for (const { entries, path, scope } of registered) {
    for (const { command } of entries) {
      const { missing, version, file } = await locateCommand(command, environment)
      if (missing.length > 0) {
        yield problem(`${path} starts ${missing.join(' and ')}, which does not exist`, installCommand(scope))
      } else if (version !== null && version !== VERSION) {
        const text = `it starts claude-mem ${version} (${file}), and this program is ${VERSION}`
        yield problem(text, installCommand(scope))
      }
    }
  }
  if (registered.length > 0) return `MCP server in ${registered.map(({ path }) => path).join(' and ')}`
  const [hooked] = hookEntries(connection.files)
  if (hooked !== undefined && files.every(({ taken, unreadable }) => !taken && unreadable === null)) {
    const text = 'the MCP server is not registered: agents get context at the start of a session, but cannot search'
    yield advice(text, installCommand(hooked.file.scope))
  }
  return null
}

export function* unreadableFaults(files: readonly InstalledFile[]): Generator<Finding> {
  for (const { path, unreadable } of files) {
    if (unreadable !== null) yield problem(unreadable, `repair ${path}, then claude-mem doctor again`)
  }
}

/** Number of transcripts that are read; the newest show whether hooks run now. */
const NEWEST = 20
/** Larger transcripts take seconds to read and are skipped. */
const MAX_TRANSCRIPT_BYTES = 32 * 1024 * 1024
const WEEK_MS = 7 * 24 * 3_600_000

/** Compares the transcripts that Claude Code wrote since the hooks were installed with the sessions in memory. */
export async function* checkSessions({ files }: ClientConnection, facts: DoctorFacts): CheckRun {
  const installs = installations(files)
  if (installs.length === 0) return null
  const sessions = await sessionsSince(installs, facts)
  const [newest] = sessions
  if (newest === undefined) return 'none since the hooks were installed'
  const reported = await reportedSessions(sessions, facts)
  if (reported === null) return 'cannot be checked until the database is migrated: claude-mem start'
  const unreported = sessions.filter(({ session }) => !reported.has(session))
  const text = `${unreported.length} of ${sessions.length} sessions since the hooks were installed were not reported`
  if (unreported.includes(newest)) {
    yield problem(`${text}, the newest among them (${newest.cwd})`, `${NOT_REPORTED_FIX}. ${BACKFILL}`)
  } else if (unreported.length > 0) {
    yield advice(`${text}; the newest was`, BACKFILL)
  }
  return `the newest ${sessions.length} since the hooks were installed were reported`
}

/** Whether the newest session of the last week was reported, by whatever hook. */
export async function newestSessionIsReported(facts: DoctorFacts): Promise<boolean> {
  const [newest] = await sessionsSince([{ at: Date.now() - WEEK_MS, root: null }], facts)
  return newest !== undefined && ((await reportedSessions([newest], facts))?.has(newest.session) ?? false)
}

const NOT_REPORTED_FIX =
  'restart the client, check /hooks in it, and whether it was started with another CLAUDE_MEM_DATA_DIR'
const BACKFILL = 'claude-mem backfill imports what was missed'

interface Installation {
  at: number
  /** Null: for every project. */
  root: string | null
}

function installations(files: readonly InstalledFile[]): Installation[] {
  return hookEntries(files).flatMap(({ file: { record } }) => {
    const at = Date.parse(record?.at ?? '')
    return record === null || Number.isNaN(at) ? [] : [{ at, root: record.root }]
  })
}

/** Newest first. Sessions that began before an installation are left out: they run with the hooks of that time. */
async function sessionsSince(installs: readonly Installation[], facts: DoctorFacts): Promise<SurveyedSession[]> {
  const { settings, environment } = facts
  const since = Math.min(...installs.map(({ at }) => at))
  const found = findTranscripts(claudeConfigDirectory(environment.env, environment.home))
    .files.filter(({ changedAt, bytes }) => changedAt >= since && bytes <= MAX_TRANSCRIPT_BYTES)
    .sort((a, b) => b.changedAt - a.changedAt)
  const read = await surveyTranscripts(
    { files: found.slice(0, NEWEST), problems: [] },
    { settings: settings.values, since, named: false },
  )
  // `isExcluded` decides here whether a session is in or below the installation's project.
  const isCovered = ({ from, cwd, project }: SurveyedSession) =>
    installs.some(({ at, root }) => from >= at && (root === null || isExcluded(cwd, project, [root])))
  return (
    read.sessions
      .filter(({ excluded, prompts, toolUses }) => !excluded && prompts + toolUses > 0)
      // Sessions of the observer itself.
      .filter(({ cwd, project }) => !isExcluded(cwd, project, [environment.paths.dataDir]))
      .filter(isCovered)
      .sort((a, b) => b.to - a.to)
  )
}

/** Ids of sessions that hooks reported, including events still in the spool. Null if the database cannot be read. */
async function reportedSessions(sessions: readonly SurveyedSession[], facts: DoctorFacts): Promise<Set<string> | null> {
  const ends = sessions.map(({ session, end }) => ({ session, end }))
  const known = await storedSessions(ends, facts)
  if (known === null) return null
  const byHooks = known.filter(({ hooks }) => hooks).map(({ session }) => session)
  return new Set([...byHooks, ...spooledSessions(facts.environment.paths.spool)])
}

async function storedSessions(ends: TranscriptEnd[], facts: DoctorFacts): Promise<TranscriptImportState[] | null> {
  const { paths } = facts.environment
  if ((await facts.daemon()).type === 'running') {
    const client = await DaemonClient.connect(paths)
    return await client
      .call('reported', { sessions: ends })
      .then(({ sessions: answer }) => answer)
      .finally(() => client.close())
  }
  const { openStoreReader } = await import('../../store/sqlite/reader.ts')
  try {
    const reader = await openStoreReader(paths.database)
    return await reader.storedSessionStates(ends).finally(() => reader.close())
  } catch (error) {
    const code = error instanceof MemError ? error.code : null
    if (code === 'not_found') return []
    // Reported by the database check.
    if (code === 'unsupported_version' || code === 'newer_database') return null
    throw error
  }
}

function spooledSessions(directory: string): string[] {
  return spooledFiles(directory).flatMap((name) => {
    const event = readSpool(join(directory, name))
    return event === null || 'bad' in event ? [] : [event.session]
  })
}
