/** Sessions that Claude Code wrote down since the hooks were installed, and that no hook reported. */
import { join } from 'node:path'
import { findTranscripts } from '../backfill/find.ts'
import { type SurveyedSession, survey } from '../backfill/survey.ts'
import { ChannelClient } from '../channel/client.ts'
import { readSpool } from '../channel/spool.ts'
import { MemError } from '../errors.ts'
import { isExcluded } from '../hook/excluded.ts'
import type { AskedSession, ReportedSession } from '../memory/reported.ts'
import { advice, type Examination, ok, problem } from './check.ts'
import type { Facts } from './facts.ts'
import { configDirectory, hookEntries } from './installed.ts'
import { spooledFiles } from './waiting.ts'

/** The newest tell whether hooks fire now. */
const NEWEST = 20
/** A larger transcript takes seconds to read, and others tell as much. */
const MAX_BYTES = 32 * 1024 * 1024
const WEEK_MS = 7 * 24 * 3_600_000

export function sessions(facts: Facts, name: string, title: string): Examination {
  return {
    id: `sessions.${name}`,
    title: `${title} sessions`,
    look: async () => {
      const installs = await installations(facts, name)
      if (installs.length === 0) return []
      const held = await sessionsSince(installs, facts)
      const [newest] = held
      if (newest === undefined) return [ok('none since the hooks were installed')]
      const reported = await reportedOf(held, facts)
      if (reported === null) return [ok('known once the database is of this version: claude-mem start')]
      const silent = held.filter(({ session }) => !reported.has(session))
      if (silent.length === 0) return [ok(`the newest ${held.length} since the hooks were installed were reported`)]
      const text = `${silent.length} of ${held.length} sessions since the hooks were installed were not reported`
      if (!silent.includes(newest)) return [advice(`${text}; the newest was`, BACKFILL)]
      return [problem(`${text}, the newest among them (${newest.cwd})`, `${WHY}. ${BACKFILL}`)]
    },
  }
}

/** Whether the newest session of the last week was reported, however that came about. */
export async function isReported(facts: Facts): Promise<boolean> {
  const [newest] = await sessionsSince([{ at: Date.now() - WEEK_MS, root: null }], facts)
  return newest !== undefined && ((await reportedOf([newest], facts))?.has(newest.session) ?? false)
}

const WHY =
  'start the client again, see /hooks in it for what it runs, and whether it was started with another CLAUDE_MEM_DATA_DIR'
const BACKFILL = 'claude-mem backfill takes in what was missed'

interface Installation {
  at: number
  /** Null: of every project. */
  root: string | null
}

async function installations(facts: Facts, name: string): Promise<Installation[]> {
  const connection = (await facts.connections()).find((one) => one.name === name)
  return hookEntries(connection?.files ?? []).flatMap(({ file: { record } }) => {
    const at = Date.parse(record?.at ?? '')
    return record === null || Number.isNaN(at) ? [] : [{ at, root: record.root }]
  })
}

/** Newest first. A session that was open before has the hooks that it was started with. */
async function sessionsSince(installs: readonly Installation[], facts: Facts): Promise<SurveyedSession[]> {
  const { settings, around } = facts
  const since = Math.min(...installs.map(({ at }) => at))
  const found = findTranscripts(configDirectory(around))
    .files.filter(({ changedAt, bytes }) => changedAt >= since && bytes <= MAX_BYTES)
    .sort((a, b) => b.changedAt - a.changedAt)
  const read = await survey(
    { files: found.slice(0, NEWEST), problems: [] },
    { settings: settings.values, since, named: false },
  )
  // What is at or below a directory is asked in the words of excluded projects.
  const isCovered = ({ from, cwd, project }: SurveyedSession) =>
    installs.some(({ at, root }) => from >= at && (root === null || isExcluded(cwd, project, [root])))
  return (
    read.sessions
      .filter(({ excluded, prompts, toolUses }) => !excluded && prompts + toolUses > 0)
      // The observer's own.
      .filter(({ cwd, project }) => !isExcluded(cwd, project, [around.paths.dataDir]))
      .filter(isCovered)
      .sort((a, b) => b.to - a.to)
  )
}

/** Ids of those that hooks reported, also where their events still wait to be taken. Null: the memory cannot be read. */
async function reportedOf(held: readonly SurveyedSession[], facts: Facts): Promise<Set<string> | null> {
  const asked = held.map(({ session, end }) => ({ session, end }))
  const known = await askMemory(asked, facts)
  if (known === null) return null
  const byHooks = known.filter(({ hooks }) => hooks).map(({ session }) => session)
  return new Set([...byHooks, ...spooledSessions(facts.around.paths.spool)])
}

async function askMemory(asked: readonly AskedSession[], facts: Facts): Promise<ReportedSession[] | null> {
  const { paths } = facts.around
  if ((await facts.daemon()).type === 'running') {
    const client = await ChannelClient.connect(paths)
    return await client
      .request('reported', { type: 'reported', sessions: asked })
      .then(({ sessions: answer }) => answer)
      .finally(() => client.close())
  }
  const { SqliteReader } = await import('../store/sqlite/reader.ts')
  try {
    const reader = await SqliteReader.open(paths.database)
    return await reader.reported(asked).finally(() => reader.close())
  } catch (error) {
    const code = error instanceof MemError ? error.code : null
    if (code === 'not_found') return []
    // Said where the database is looked at.
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
