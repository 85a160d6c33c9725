/** Checks per client: the client itself, its MCP server, and whether its sessions are reported. */

import { join } from 'node:path'
import type { StoredSessionState, TranscriptEnd } from '../../domain/event.ts'
import { isExcluded } from '../../domain/project.ts'
import { readSpool } from '../../hook/spool.ts'
import { MemError } from '../../lib/errors.ts'
import { VERSION } from '../../lib/version.ts'
import { findTranscripts, type SurveyedSession, surveyTranscripts } from '../../transfer/backfill/survey.ts'
import { DaemonClient } from '../../transport/client.ts'
import { advice, type DoctorCheck, type DoctorFacts, type Finding, findingsOrOk, ok, problem } from './check.ts'
import { configDirectory, hookEntries, programFile } from './installed.ts'
import { spooledFiles } from './storage.ts'

export function clientCheck(facts: DoctorFacts, name: string, title: string): DoctorCheck {
  return {
    id: `client.${name}`,
    title,
    run: async () => {
      const connections = await facts.connections()
      const connection = connections.find((one) => one.name === name)
      if (connection === undefined) return []
      const { client, files, installCommand } = connection
      if (client !== null) return [ok(client.version === null ? client.path : `${client.version} (${client.path})`)]
      const isRegistered = hookEntries(files).length > 0
      if (!isRegistered && connection !== connections[0]) return []
      const text = `no ${title} was found${isRegistered ? ', but its hooks are registered' : ''}`
      return [
        advice(text, `once it is on your PATH, run ${installCommand('user')} to register all events that it supports`),
      ]
    },
  }
}

export function mcpServerCheck(facts: DoctorFacts, name: string, title: string): DoctorCheck {
  return {
    id: `mcp.${name}`,
    title: `${title} tools`,
    run: async () => {
      const connection = await facts.connection(name)
      if (connection === undefined) return []
      const { files, installCommand } = connection
      const registered = files.filter(({ kind, entries }) => kind === 'server' && entries.length > 0)
      const [hooked] = hookEntries(files)
      const faults: Finding[] = []
      for (const { kind, path, taken, unreadable } of files) {
        if (kind !== 'server') continue
        if (unreadable !== null) faults.push(problem(unreadable, `repair ${path}, then claude-mem doctor again`))
        if (taken) {
          faults.push(
            advice(
              `${path} has a server named claude-mem that is not this one`,
              `rename or remove it there, then ${installCommand('user')}`,
            ),
          )
        }
      }
      for (const { entries, path, scope } of registered) {
        for (const { command } of entries) {
          const { missing, version, file } = await programFile(command, facts.environment)
          if (missing.length > 0) {
            faults.push(problem(`${path} starts ${missing.join(' and ')}, which does not exist`, installCommand(scope)))
          } else if (version !== null && version !== VERSION) {
            faults.push(
              problem(
                `it starts claude-mem ${version} (${file}), and this program is ${VERSION}`,
                installCommand(scope),
              ),
            )
          }
        }
      }
      if (registered.length === 0 && faults.length === 0) {
        if (hooked === undefined) return []
        const text = 'the MCP server is not registered: agents get context at the start of a session, but cannot search'
        return [advice(text, installCommand(hooked.file.scope))]
      }
      return findingsOrOk(faults, `MCP server in ${registered.map(({ path }) => path).join(' and ')}`)
    },
  }
}

/** Number of transcripts that are read; the newest show whether hooks run now. */
const NEWEST = 20
/** Larger transcripts take seconds to read and are skipped. */
const MAX_TRANSCRIPT_BYTES = 32 * 1024 * 1024
const WEEK_MS = 7 * 24 * 3_600_000

/** Compares the transcripts that Claude Code wrote since the hooks were installed with the sessions in memory. */
export function sessionsCheck(facts: DoctorFacts, name: string, title: string): DoctorCheck {
  return {
    id: `sessions.${name}`,
    title: `${title} sessions`,
    run: async () => {
      const installs = await installations(facts, name)
      if (installs.length === 0) return []
      const sessions = await sessionsSince(installs, facts)
      const [newest] = sessions
      if (newest === undefined) return [ok('none since the hooks were installed')]
      const reported = await reportedSessions(sessions, facts)
      if (reported === null) return [ok('cannot be checked until the database is migrated: claude-mem start')]
      const unreported = sessions.filter(({ session }) => !reported.has(session))
      if (unreported.length === 0)
        return [ok(`the newest ${sessions.length} since the hooks were installed were reported`)]
      const text = `${unreported.length} of ${sessions.length} sessions since the hooks were installed were not reported`
      if (!unreported.includes(newest)) return [advice(`${text}; the newest was`, BACKFILL)]
      return [problem(`${text}, the newest among them (${newest.cwd})`, `${NOT_REPORTED_FIX}. ${BACKFILL}`)]
    },
  }
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

async function installations(facts: DoctorFacts, name: string): Promise<Installation[]> {
  const connection = await facts.connection(name)
  return hookEntries(connection?.files ?? []).flatMap(({ file: { record } }) => {
    const at = Date.parse(record?.at ?? '')
    return record === null || Number.isNaN(at) ? [] : [{ at, root: record.root }]
  })
}

/** Newest first. Sessions that began before an installation are left out: they run with the hooks of that time. */
async function sessionsSince(installs: readonly Installation[], facts: DoctorFacts): Promise<SurveyedSession[]> {
  const { settings, environment } = facts
  const since = Math.min(...installs.map(({ at }) => at))
  const found = findTranscripts(configDirectory(environment))
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

async function storedSessions(ends: TranscriptEnd[], facts: DoctorFacts): Promise<StoredSessionState[] | null> {
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
