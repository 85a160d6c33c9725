/** Checks of the data directory: size, free disk space, permissions, the database and the queue. */
import { accessSync, constants, existsSync, lstatSync, readdirSync, type Stats, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { startOfDay } from '../../domain/dates.ts'
import { MemError, systemCode } from '../../lib/errors.ts'
import { formatBytes, pluralize } from '../../lib/format.ts'
import type { Paths } from '../../lib/paths.ts'
import { SETTINGS_FILE } from '../../settings/settings.ts'
import type { QueueStats } from '../../store/port.ts'
import {
  advice,
  type DaemonState,
  type DoctorCheck,
  type DoctorFacts,
  type Finding,
  findingsOrOk,
  ok,
  problem,
  shellQuote,
} from './check.ts'

export function dataDirectoryCheck({ environment: { paths } }: DoctorFacts): DoctorCheck {
  const { dataDir } = paths
  return {
    id: 'data-directory',
    title: 'Data directory',
    run: async () => {
      const stat = statSync(dataDir, { throwIfNoEntry: false })
      if (stat === undefined) return [ok(`${dataDir} is created when the first session is reported`)]
      if (!stat.isDirectory()) {
        return [problem(`${dataDir} is not a directory`, 'move it away, or check CLAUDE_MEM_DATA_DIR')]
      }
      const faults = [...ownedFaults(dataDir, stat), ...openFaults(dataDir, stat, 0o700)]
      if (!isWritable(dataDir)) {
        faults.push(problem(`${dataDir} cannot be written`, `make it writable: chmod u+rwx ${shellQuote(dataDir)}`))
      }
      return findingsOrOk(faults, `${dataDir}: ${sizes(paths)}`)
    },
  }
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

export function diskCheck({ environment: { paths, freeBytes } }: DoctorFacts): DoctorCheck {
  return {
    id: 'disk',
    title: 'Disk',
    run: async () => {
      const directory = nearestExisting(paths.dataDir)
      const free = await freeBytes(directory)
      const text = `${formatBytes(free)} free where ${directory} is`
      const fix =
        'free some space, or move the data directory: CLAUDE_MEM_DATA_DIR; keep fewer backups: claude-mem config set keep-backups 3'
      if (free < MIN_FREE_BYTES) return [problem(`${text}: new events may be lost`, fix)]
      if (free < BACKUP_MARGIN_BYTES + fileBytes(paths.database))
        return [advice(`${text}: soon no backup can be made`, fix)]
      return [ok(text)]
    },
  }
}

export function permissionsCheck({ environment: { paths } }: DoctorFacts): DoctorCheck {
  const files = [paths.token, paths.database, `${paths.database}-wal`, join(paths.dataDir, SETTINGS_FILE)]
  return {
    id: 'permissions',
    title: 'Permissions',
    run: async () => {
      if (process.platform === 'win32') return [ok('protected by your user directory and the token')]
      const faults = [...files, paths.socket].flatMap((file) => fileFaults(file, 0o600))
      for (const directory of [paths.spool, paths.backups, paths.logs]) faults.push(...fileFaults(directory, 0o700))
      if (dirname(paths.socket) !== paths.dataDir) faults.push(...socketDirectoryFaults(dirname(paths.socket)))
      return findingsOrOk(faults, 'token, socket, database, spool, backups and logs are private')
    },
  }
}

/** In a shared directory for temporary files, another user may have created it first. */
function socketDirectoryFaults(directory: string): Finding[] {
  const stat = lstatSync(directory, { throwIfNoEntry: false })
  if (stat === undefined) return []
  if (stat.isDirectory()) return fileFaults(directory, 0o700)
  return [problem(`${directory}, where the socket should be, is not a directory`, `rm ${shellQuote(directory)}`)]
}

function fileFaults(file: string, privateMode: number): Finding[] {
  const stat = statSync(file, { throwIfNoEntry: false })
  return stat === undefined ? [] : [...ownedFaults(file, stat), ...openFaults(file, stat, privateMode)]
}

function openFaults(path: string, stat: Stats, privateMode: number): Finding[] {
  if (process.platform === 'win32' || (stat.mode & 0o077) === 0) return []
  const mode = (stat.mode & 0o777).toString(8)
  return [problem(`${path} is open to others (mode ${mode})`, `chmod ${privateMode.toString(8)} ${shellQuote(path)}`)]
}

/** After one run with sudo, the user's hooks cannot write here any more. */
function ownedFaults(path: string, stat: Stats): Finding[] {
  const user = process.getuid?.()
  if (user === undefined || stat.uid === user) return []
  return [problem(`${path} belongs to another user (${stat.uid})`, `sudo chown -R ${user} ${shellQuote(path)}`)]
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
  try {
    return readdirSync(directory, { recursive: true, encoding: 'utf8' }).reduce(
      (sum, name) => sum + regularFileBytes(join(directory, name)),
      0,
    )
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return 0
    throw error
  }
}

function regularFileBytes(path: string): number {
  const stat = statSync(path, { throwIfNoEntry: false })
  return stat?.isFile() === true ? stat.size : 0
}

export function databaseCheck({ environment: { paths, deep } }: DoctorFacts): DoctorCheck {
  const file = paths.database
  return {
    id: 'database',
    title: 'Database',
    run: async () => {
      if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) === 0) return [ok('none yet')]
      const [{ inspectFile }, { SCHEMA_VERSION }, { listBackups, listSetAside }] = await Promise.all([
        import('../../store/recovery/database-files.ts'),
        import('../../store/migrations/index.ts'),
        import('../../store/recovery/backup.ts'),
      ])
      const { version, damage, indexDamaged } = inspectFile(file, deep)
      const faults: Finding[] = []
      if (version > SCHEMA_VERSION) {
        faults.push(
          problem(
            `${file} was written by a newer claude-mem (schema ${version}; this one knows up to ${SCHEMA_VERSION})`,
            'npm install -g claude-mem@latest; the data is untouched',
          ),
        )
      }
      if (damage !== null) {
        faults.push(problem(`${file} is damaged: ${damage}`, 'claude-mem restart, which recovers what can be read'))
      }
      if (indexDamaged) faults.push(advice('the full-text index is damaged', 'claude-mem reindex'))
      const aside = listSetAside(file)
      const [first] = aside
      if (first !== undefined) {
        const size = formatBytes(aside.reduce((sum, { bytes: held }) => sum + held, 0))
        const text = `${pluralize(aside.length, 'damaged database')} (${size}) is left from an earlier recovery`
        faults.push(advice(text, `if nothing is missing, delete it: ${shellQuote(first.file)}`))
      }
      const old = version < SCHEMA_VERSION ? `, migrated to ${SCHEMA_VERSION} at the next start` : ''
      const depth = deep ? 'checked completely' : 'claude-mem doctor --deep checks all of it'
      const backups = pluralize(listBackups(paths.backups).length, 'backup')
      return findingsOrOk(faults, `schema ${version}${old}; ${backups}; ${depth}`)
    },
  }
}

const EMPTY_QUEUE: QueueStats = { pending: 0, processing: 0, failed: 0, sessions: 0, oldestAt: null }
/** A daemon reads the spool every few seconds; an older file (ms) shows that it does not. */
const SPOOL_READ_MS = 60_000

export function queueCheck(facts: DoctorFacts): DoctorCheck {
  const { paths, now } = facts.environment
  return {
    id: 'waiting',
    title: 'Queue',
    run: async () => {
      const daemon = await facts.daemon()
      const queue = await queueOf(daemon, facts)
      const spooled = spooledFiles(paths.spool)
      const faults = [...observerFaults(daemon, queue), ...spoolFaults(spooled, daemon.type === 'running', now)]
      const bad = namesIn(join(paths.spool, 'bad')).length
      if (bad > 0) {
        const text = `unreadable spool files in ${join(paths.spool, 'bad')}: ${pluralize(bad, 'event')}`
        faults.push(advice(text, 'inspect them, then delete them'))
      }
      if (queue.failed > 0) {
        const text = `failed and set aside: ${pluralize(queue.failed, 'message')}`
        faults.push(advice(text, 'claude-mem queue shows why; claude-mem queue retry tries again'))
      }
      const pending = queue.pending + queue.processing
      return findingsOrOk(faults, pending === 0 ? 'empty' : `${pluralize(pending, 'message')} pending`)
    },
  }
}

async function queueOf(daemon: DaemonState, { environment }: DoctorFacts): Promise<QueueStats> {
  if (daemon.type === 'running') return daemon.status.queue
  const { openStoreReader } = await import('../../store/sqlite/reader.ts')
  try {
    const reader = await openStoreReader(environment.paths.database)
    return await reader.stats(startOfDay(environment.now)).finally(() => reader.close())
  } catch (error) {
    // There is no database yet, or the database check reports another schema version.
    if (error instanceof MemError && UNREADABLE_CODES.includes(error.code)) return EMPTY_QUEUE
    throw error
  }
}

const UNREADABLE_CODES = ['not_found', 'unsupported_version', 'newer_database']

function observerFaults(daemon: DaemonState, { pending, processing }: QueueStats): Finding[] {
  if (daemon.type !== 'running') return []
  const { waiting: outage, provider, budget } = daemon.status
  const faults: Finding[] = []
  if (outage !== null) {
    const since = new Date(outage.since).toISOString()
    const waiting = pluralize(pending + processing, 'message')
    const test = 'claude-mem providers shows what is missing; claude-mem providers test makes one small call'
    faults.push(
      outage.offline
        ? advice(`the offline observer is used instead of ${provider} since ${since}: ${outage.reason}`, test)
        : problem(`${provider} does not answer since ${since} (${outage.reason}); waiting for it: ${waiting}`, test),
    )
  }
  if (budget !== null && budget.reason !== null) {
    const fix =
      'the model is used again after midnight; for a higher budget: claude-mem config set daily-budget-usd 5, then claude-mem restart'
    faults.push(advice(`the offline observer is used: ${budget.reason}`, fix))
  }
  return faults
}

function spoolFaults(spooled: readonly string[], running: boolean, now: number): Finding[] {
  if (spooled.length === 0) return []
  if (!running) {
    return [
      advice(`${pluralize(spooled.length, 'event')} in the spool; the next daemon reads them`, 'claude-mem start'),
    ]
  }
  // File names begin with the time.
  const oldest = Number(spooled[0]?.split('-', 1)[0])
  if (now - oldest < SPOOL_READ_MS) return []
  const text = `not read from the spool: ${pluralize(spooled.length, 'event')}`
  return [problem(text, 'claude-mem logs shows why; claude-mem restart')]
}

/** File names of complete events, oldest first. Read-only: unlike `listSpool` it does not adopt temporary files. */
export function spooledFiles(directory: string): string[] {
  return namesIn(directory)
    .filter((name) => name.endsWith('.json'))
    .sort()
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory)
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return []
    throw error
  }
}
