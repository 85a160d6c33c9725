/** Checks of the data directory: size, free disk space, permissions, the database and the queue. */
import { accessSync, constants, existsSync, lstatSync, readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { DaemonStatus } from '../../api/operations/daemon.ts'
import { MemError, systemCode } from '../../lib/errors.ts'
import { formatBytes, pluralize } from '../../lib/format.ts'
import { INSTALL_NEWER } from '../../lib/names.ts'
import type { Paths } from '../../lib/paths.ts'
import { settingsFileName } from '../../settings/settings.ts'
import type { QueueStats } from '../../store/port.ts'
import {
  advice,
  type CheckRun,
  type DaemonState,
  type DoctorFacts,
  type Finding,
  problem,
  shellQuote,
} from './check.ts'

export async function* checkDataDirectory({ environment: { paths } }: DoctorFacts): CheckRun {
  const { dataDir } = paths
  if (!existsSync(dataDir)) {
    const parent = nearestExisting(dataDir)
    if (isWritable(parent)) return `${dataDir} is created when the first session is reported`
    const fix = `make ${shellQuote(parent)} writable, or set CLAUDE_MEM_DATA_DIR to another directory`
    yield problem(`${dataDir} cannot be made, because ${parent} cannot be written: nothing is remembered`, fix)
    return null
  }
  if (!statSync(dataDir).isDirectory()) {
    yield problem(`${dataDir} is not a directory`, 'move it away, or check CLAUDE_MEM_DATA_DIR')
    return null
  }
  yield* accessFaults(dataDir, 0o700)
  if (!isWritable(dataDir)) {
    const how = process.platform === 'win32' ? 'Properties, Security' : `chmod u+rwx ${shellQuote(dataDir)}`
    yield problem(`${dataDir} cannot be written`, `make it writable: ${how}`)
  }
  return `${dataDir}: ${sizes(paths)}`
}

function sizes(paths: Paths): string {
  const parts = [
    ['database', fileBytes(paths.database) + fileBytes(`${paths.database}-wal`)],
    ['backups', directoryBytes(paths.backups)],
    ['logs', directoryBytes(paths.logs)],
    ['indexes', directoryBytes(paths.vectors)],
    ['models', directoryBytes(paths.models)],
  ] as const
  const listed = parts.filter(([, size]) => size > 0).map(([what, size]) => `${what} ${formatBytes(size)}`)
  return listed.length === 0 ? 'empty' : listed.join(', ')
}

/** A backup copies the whole database; with less than this in addition, a busy day may fill the disk. */
const BACKUP_MARGIN_BYTES = 512 * 1024 * 1024
/** Space for SQLite's log and the spool; below this, events may be lost. */
const MIN_FREE_BYTES = 64 * 1024 * 1024

export async function* checkDisk({ environment: { paths, freeBytes } }: DoctorFacts): CheckRun {
  const directory = nearestExisting(paths.dataDir)
  const free = await freeBytes(directory)
  const text = `${formatBytes(free)} free where ${directory} is`
  const fix =
    'free some space, or move the data directory: CLAUDE_MEM_DATA_DIR; keep fewer backups: claude-mem config set keep-backups 3'
  if (free < MIN_FREE_BYTES) yield problem(`${text}: new events may be lost`, fix)
  else if (free < BACKUP_MARGIN_BYTES + fileBytes(paths.database)) {
    yield advice(`${text}: soon no backup can be made`, fix)
  }
  return text
}

export async function* checkPermissions({ environment: { paths } }: DoctorFacts): CheckRun {
  if (process.platform === 'win32') return 'protected by your user directory and the token'
  const { token, database, socket, dataDir, team } = paths
  const files = [token, team, database, `${database}-wal`, join(dataDir, settingsFileName(dataDir)), socket]
  for (const file of files) yield* accessFaults(file, 0o600)
  for (const directory of [paths.spool, paths.backups, paths.logs]) yield* accessFaults(directory, 0o700)
  if (dirname(socket) !== dataDir) yield* socketDirectoryFaults(dirname(socket))
  return 'token, socket, database, spool, backups and logs are private'
}

/** In a shared directory for temporary files, another user may have created it first. */
function* socketDirectoryFaults(directory: string): Generator<Finding> {
  const stat = lstatSync(directory, { throwIfNoEntry: false })
  if (stat === undefined || stat.isDirectory()) yield* accessFaults(directory, 0o700)
  else yield problem(`${directory}, where the socket should be, is not a directory`, `rm ${shellQuote(directory)}`)
}

/** None if the file does not exist. */
function* accessFaults(path: string, privateMode: number): Generator<Finding> {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (stat === undefined) return
  const user = process.getuid?.()
  // After one run with sudo, the user's hooks cannot write here any more.
  if (user !== undefined && stat.uid !== user) {
    yield problem(`${path} belongs to another user (${stat.uid})`, `sudo chown -R ${user} ${shellQuote(path)}`)
  }
  if (process.platform !== 'win32' && (stat.mode & 0o077) !== 0) {
    const mode = (stat.mode & 0o777).toString(8)
    yield problem(`${path} is open to others (mode ${mode})`, `chmod ${privateMode.toString(8)} ${shellQuote(path)}`)
  }
}

function isWritable(directory: string): boolean {
  try {
    accessSync(directory, constants.R_OK | constants.W_OK | constants.X_OK)
    // Root is never refused, so the owner's write bit is checked too.
    return process.platform === 'win32' || (statSync(directory).mode & 0o200) !== 0
  } catch {
    return false
  }
}

function nearestExisting(directory: string): string {
  for (let path = directory; ; path = dirname(path)) {
    if (existsSync(path) || dirname(path) === path) return path
  }
}

function fileBytes(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0
}

function directoryBytes(directory: string): number {
  let bytes = 0
  for (const name of namesIn(directory, true)) {
    const stat = statSync(join(directory, name), { throwIfNoEntry: false })
    if (stat?.isFile() === true) bytes += stat.size
  }
  return bytes
}

export async function* checkDatabase({ environment: { paths, deep } }: DoctorFacts): CheckRun {
  const file = paths.database
  if (fileBytes(file) === 0) return 'none yet'
  const [{ inspectFile }, { SCHEMA_VERSION }, { listBackups, listSetAside }] = await Promise.all([
    import('../../store/recovery/database-files.ts'),
    import('../../store/migrations/index.ts'),
    import('../../store/recovery/backup.ts'),
  ])
  const { version, damage, indexDamaged } = inspectFile(file, deep)
  if (version > SCHEMA_VERSION) {
    yield problem(
      `${file} was written by a newer claude-mem (schema ${version}; this one knows up to ${SCHEMA_VERSION})`,
      `${INSTALL_NEWER}; the data is untouched`,
    )
  }
  if (damage !== null) {
    yield problem(`${file} is damaged: ${damage}`, 'claude-mem restart, which recovers what can be read')
  }
  if (indexDamaged) yield advice('the full-text index is damaged', 'claude-mem reindex')
  const aside = listSetAside(file)
  const [first] = aside
  if (first !== undefined) {
    const size = formatBytes(aside.reduce((sum, { bytes }) => sum + bytes, 0))
    const text = `${pluralize(aside.length, 'damaged database')} (${size}) is left from an earlier recovery`
    yield advice(text, `if nothing is missing, delete it: ${shellQuote(first.file)}`)
  }
  const old = version < SCHEMA_VERSION ? `, migrated to ${SCHEMA_VERSION} at the next start` : ''
  const depth = deep ? 'checked completely' : 'claude-mem doctor --deep checks all of it'
  const backups = pluralize(listBackups(paths.backups).length, 'backup')
  return `schema ${version}${old}; ${backups}; ${depth}`
}

const EMPTY_QUEUE: QueueStats = { pending: 0, processing: 0, failed: 0, sessions: 0, oldestAt: null }
/** A daemon reads the spool every few seconds; an older file (ms) shows that it does not. */
const SPOOL_READ_MS = 60_000

export async function* checkQueue(facts: DoctorFacts): CheckRun {
  const { paths, now } = facts.environment
  const daemon = await facts.daemon()
  const queue = await queueOf(daemon, facts)
  const pending = queue.pending + queue.processing
  if (daemon.type === 'running') yield* observerFaults(daemon.status, pending)
  yield* spoolFaults(spooledFiles(paths.spool), daemon.type === 'running', now)
  const badFiles = join(paths.spool, 'bad')
  const bad = namesIn(badFiles).length
  if (bad > 0) {
    yield advice(`unreadable spool files in ${badFiles}: ${pluralize(bad, 'event')}`, 'inspect them, then delete them')
  }
  if (queue.failed > 0) {
    const text = `failed: ${pluralize(queue.failed, 'message')}`
    yield advice(text, 'claude-mem queue shows why; claude-mem queue retry tries again')
  }
  if (pending === 0) return 'empty'
  const oldest = queue.oldestAt === null ? '' : `, the oldest for ${Math.round((now - queue.oldestAt) / 60_000)} min`
  const trend = daemon.type === 'running' ? `, ${daemon.status.queue.trend ?? 'steady'}` : ''
  return `${pluralize(pending, 'message')} pending${oldest}${trend}`
}

async function queueOf(daemon: DaemonState, { environment }: DoctorFacts): Promise<QueueStats> {
  if (daemon.type === 'running') return daemon.status.queue
  const { openStoreReader } = await import('../../store/sqlite/reader.ts')
  try {
    const reader = await openStoreReader(environment.paths.database)
    return await reader.queueStats().finally(() => reader.close())
  } catch (error) {
    // There is no database yet, or the database check reports another schema version.
    if (error instanceof MemError && UNREADABLE_CODES.includes(error.code)) return EMPTY_QUEUE
    throw error
  }
}

const UNREADABLE_CODES = ['not_found', 'unsupported_version', 'newer_database']

function* observerFaults(
  { waiting, provider, budget, alert }: Omit<DaemonStatus, 'alert'> & Partial<Pick<DaemonStatus, 'alert'>>,
  pending: number,
): Generator<Finding> {
  // A daemon of an older version reports no alert.
  if (alert) {
    yield problem(alert.text, alert.fix)
  } else if (waiting !== null) {
    const since = new Date(waiting.since).toISOString()
    const test = 'claude-mem providers shows what is missing; claude-mem providers test makes one small call'
    const messages = pluralize(pending, 'message')
    yield waiting.offline
      ? advice(`the offline observer is used instead of ${provider} since ${since}: ${waiting.reason}`, test)
      : problem(`${provider} does not answer since ${since} (${waiting.reason}); waiting for it: ${messages}`, test)
  }
  if (budget !== null && budget.reason !== null) {
    const fix =
      'the model is used again after midnight; for a higher budget: claude-mem config set daily-budget-usd 5, then claude-mem restart'
    yield advice(`the offline observer is used: ${budget.reason}`, fix)
  }
}

function* spoolFaults(spooled: readonly string[], running: boolean, now: number): Generator<Finding> {
  if (spooled.length === 0) return
  const events = pluralize(spooled.length, 'event')
  if (!running) {
    yield advice(`${events} in the spool; the next daemon reads them`, 'claude-mem start')
    return
  }
  // File names begin with the time.
  const oldest = Number(spooled[0]?.split('-', 1)[0])
  if (now - oldest < SPOOL_READ_MS) return
  yield problem(`not read from the spool: ${events}`, 'claude-mem logs shows why; claude-mem restart')
}

/** File names of complete events, oldest first. */
export function spooledFiles(directory: string): string[] {
  return namesIn(directory)
    .filter((name) => name.endsWith('.json'))
    .sort()
}

/** None if it does not exist. */
function namesIn(directory: string, recursive = false): string[] {
  try {
    return readdirSync(directory, { recursive, encoding: 'utf8' })
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return []
    throw error
  }
}
