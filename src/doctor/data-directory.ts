/** Where the memory lies: whether it can grow, how large it is, and who may look. */
import { accessSync, constants, existsSync, lstatSync, readdirSync, type Stats, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { systemCode } from '../errors.ts'
import { bytes } from '../memory/counts.ts'
import type { Paths } from '../paths.ts'
import { SETTINGS_FILE } from '../settings.ts'
import { advice, type Examination, type Finding, faultsOr, ok, problem, quoted } from './check.ts'
import type { Facts } from './facts.ts'

export function dataDirectory({ around: { paths } }: Facts): Examination {
  const { dataDir } = paths
  return {
    id: 'data-directory',
    title: 'Data directory',
    look: async () => {
      const stat = statSync(dataDir, { throwIfNoEntry: false })
      if (stat === undefined) return [ok(`${dataDir} is made when the first session is reported`)]
      if (!stat.isDirectory()) {
        return [problem(`${dataDir} is no directory`, 'move it away, or see what CLAUDE_MEM_DATA_DIR says')]
      }
      const faults = [...ownedFaults(dataDir, stat), ...openFaults(dataDir, stat, 0o700)]
      if (!isWritable(dataDir)) {
        faults.push(problem(`${dataDir} cannot be written`, `make it writable: chmod u+rwx ${quoted(dataDir)}`))
      }
      return faultsOr(faults, `${dataDir}: ${sizes(paths)}`)
    },
  }
}

function sizes(paths: Paths): string {
  const parts = [
    ['database', sizeOf(paths.database) + sizeOf(`${paths.database}-wal`)],
    ['backups', sizeBelow(paths.backups)],
    ['logs', sizeBelow(paths.logs)],
    ['indexes', sizeBelow(paths.vectors)],
    ['models', sizeBelow(paths.models)],
  ] as const
  const held = parts.filter(([, size]) => size > 0).map(([what, size]) => `${what} ${bytes(size)}`)
  return held.length === 0 ? 'nothing in it yet' : held.join(', ')
}

/** A backup is a copy of the whole; below this much more than that, a busy day may fill the disk. */
const ROOM_BYTES = 512 * 1024 * 1024
/** SQLite needs some room for its log, and so does the spool; below it events may be lost. */
const LEAST_BYTES = 64 * 1024 * 1024

export function disk({ around: { paths, freeBytes } }: Facts): Examination {
  return {
    id: 'disk',
    title: 'Disk',
    look: async () => {
      const directory = nearest(paths.dataDir)
      const free = await freeBytes(directory)
      const text = `${bytes(free)} free where ${directory} is`
      const fix =
        'make room, or move the memory: CLAUDE_MEM_DATA_DIR; fewer copies: claude-mem config set keep-backups 3'
      if (free < LEAST_BYTES) return [problem(`${text}: new events can hardly be kept`, fix)]
      if (free < ROOM_BYTES + sizeOf(paths.database)) return [advice(`${text}: soon no backup can be made`, fix)]
      return [ok(text)]
    },
  }
}

export function permissions({ around: { paths } }: Facts): Examination {
  const files = [paths.token, paths.database, `${paths.database}-wal`, join(paths.dataDir, SETTINGS_FILE)]
  return {
    id: 'permissions',
    title: 'Permissions',
    look: async () => {
      if (process.platform === 'win32') return [ok('your user directory and the token guard it')]
      const faults = [...files, paths.socket].flatMap((file) => fileFaults(file, 0o600))
      for (const directory of [paths.spool, paths.backups, paths.logs]) faults.push(...fileFaults(directory, 0o700))
      if (dirname(paths.socket) !== paths.dataDir) faults.push(...socketDirectoryFaults(dirname(paths.socket)))
      return faultsOr(faults, 'token, socket, database, spool, backups and logs are yours alone')
    },
  }
}

/** Anyone may make it first in a shared directory for temporary files. */
function socketDirectoryFaults(directory: string): Finding[] {
  const stat = lstatSync(directory, { throwIfNoEntry: false })
  if (stat === undefined) return []
  if (stat.isDirectory()) return fileFaults(directory, 0o700)
  return [problem(`${directory}, where the socket should be, is no directory`, `rm ${quoted(directory)}`)]
}

function fileFaults(file: string, wanted: number): Finding[] {
  const stat = statSync(file, { throwIfNoEntry: false })
  return stat === undefined ? [] : [...ownedFaults(file, stat), ...openFaults(file, stat, wanted)]
}

function openFaults(path: string, stat: Stats, wanted: number): Finding[] {
  if (process.platform === 'win32' || (stat.mode & 0o077) === 0) return []
  const mode = (stat.mode & 0o777).toString(8)
  return [problem(`${path} is open to others (mode ${mode})`, `chmod ${wanted.toString(8)} ${quoted(path)}`)]
}

/** After one run with sudo the hooks of their owner can write nothing any more. */
function ownedFaults(path: string, stat: Stats): Finding[] {
  const user = process.getuid?.()
  if (user === undefined || stat.uid === user) return []
  return [problem(`${path} belongs to another user (${stat.uid})`, `sudo chown -R ${user} ${quoted(path)}`)]
}

function isWritable(directory: string): boolean {
  try {
    accessSync(directory, constants.R_OK | constants.W_OK | constants.X_OK)
    // The superuser is never refused; what its owner took away is meant all the same.
    return process.platform === 'win32' || (statSync(directory).mode & 0o200) !== 0
  } catch {
    return false
  }
}

function nearest(directory: string): string {
  for (let at = directory; ; at = dirname(at)) {
    if (existsSync(at) || dirname(at) === at) return at
  }
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0
}

function sizeBelow(directory: string): number {
  try {
    return readdirSync(directory, { recursive: true, encoding: 'utf8' }).reduce(
      (sum, name) => sum + fileSize(join(directory, name)),
      0,
    )
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return 0
    throw error
  }
}

function fileSize(path: string): number {
  const stat = statSync(path, { throwIfNoEntry: false })
  return stat?.isFile() === true ? stat.size : 0
}
