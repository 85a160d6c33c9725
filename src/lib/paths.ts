/** The files of a data directory. The hook bundles this file, so it may not import a package. */
import { lstatSync, mkdirSync } from 'node:fs'
import { homedir, tmpdir, userInfo } from 'node:os'
import { isAbsolute, join, relative, resolve, sep } from 'node:path'
import { MemError } from './errors.ts'

export function dataDirectory(env: NodeJS.ProcessEnv = process.env): string {
  const configured = env.CLAUDE_MEM_DATA_DIR
  return configured !== undefined && configured.trim() !== '' ? resolve(configured) : join(homedir(), '.claude-mem')
}

export type Paths = ReturnType<typeof dataPaths>

export function dataPaths(dataDir: string, platform: NodeJS.Platform = process.platform) {
  return {
    dataDir,
    database: join(dataDir, 'db.sqlite'),
    /** Locked by the running daemon; the operating system releases the lock when the process ends. */
    lock: join(dataDir, 'daemon.lock'),
    /** Hooks, CLI and MCP connect here: a Unix socket or a Windows named pipe. */
    socket: socketPath(dataDir, platform),
    token: join(dataDir, 'token'),
    /** JSON with the TCP port in use. */
    port: join(dataDir, 'port.json'),
    /** Lock file of a hook that is starting the daemon, so that other hooks do not start one too. */
    starting: join(dataDir, 'starting'),
    /** The connection to a team's PostgreSQL, readable only by its owner; missing: no team. */
    team: join(dataDir, 'team.json'),
    spool: join(dataDir, 'spool'),
    /** Spool files that cannot be read. */
    spoolBad: join(dataDir, 'spool', 'bad'),
    /** Disk space that is used when the disk is full (lib/disk-space.ts). */
    reserve: join(dataDir, 'reserve'),
    /** One empty file per session whose current turn is private. */
    privateTurns: join(dataDir, 'private-turns'),
    logs: join(dataDir, 'logs'),
    backups: join(dataDir, 'backups'),
    context: join(dataDir, 'context'),
    /** Vector indexes; can be deleted at any time. */
    vectors: join(dataDir, 'vectors'),
    /** Copies that a running command works on; what a killed one left is removed. */
    temporary: join(dataDir, 'tmp'),
    /** Downloaded embedding models. */
    models: join(dataDir, 'models'),
    /** Empty working directory in which the `claude-code` provider runs its program. */
    observer: join(dataDir, 'observer'),
    /** Access of viewer pages that a stopping daemon passes on to the next one. */
    viewers: join(dataDir, 'viewers.json'),
    /** Redirects a browser to the viewer; readable only by its owner. */
    viewerPage: join(dataDir, 'open-viewer.html'),
  }
}

/** sun_path holds 104 bytes on macOS and 108 on Linux, the closing zero included. */
const MAX_SOCKET_PATH_BYTES = 103

function socketPath(dataDir: string, platform: NodeJS.Platform): string {
  if (platform === 'win32') return `\\\\.\\pipe\\claude-mem-${shortHash(dataDir.toLowerCase())}`
  const inDataDir = join(dataDir, 'daemon.sock')
  if (Buffer.byteLength(inDataDir) <= MAX_SOCKET_PATH_BYTES) return inDataDir
  return join(privateSocketDirectory(), `${shortHash(dataDir)}.sock`)
}

function privateSocketDirectory(): string {
  return join(tmpdir(), `claude-mem-${userInfo().uid}`)
}

/**
 * The socket's directory, for a data directory whose path is too long. Another user could have created it first in a
 * shared /tmp, and listen there as if they were the daemon: it must belong to this user and be private. The daemon calls it
 * before it listens, every client before it connects. A named pipe on Windows has no such protection: Node cannot tell
 * who owns it, so a program of another user that takes the name while no daemon runs gets what clients send.
 */
export function prepareSocketDirectory(paths: Paths): void {
  if (process.platform === 'win32' || paths.socket.startsWith(paths.dataDir)) return
  const directory = privateSocketDirectory()
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const stat = lstatSync(directory)
  if (!stat.isDirectory() || stat.uid !== userInfo().uid || (stat.mode & 0o077) !== 0) {
    throw new MemError('forbidden', `${directory} is not a private directory of yours; remove it and try again`)
  }
}

/** 64-bit FNV-1a in hex: makes file names from other names without loading crypto in the hook. */
export function shortHash(text: string): string {
  let high = 0xcbf29ce4
  let low = 0x84222325
  for (const byte of Buffer.from(text)) {
    low = (low ^ byte) >>> 0
    // times 0x100000001b3, in halves of 32 bits
    const carried = low * 0x1b3
    high = (Math.imul(high, 0x1b3) + (low << 8) + Math.floor(carried / 0x1_0000_0000)) >>> 0
    low = carried >>> 0
  }
  return high.toString(16).padStart(8, '0') + (low >>> 0).toString(16).padStart(8, '0')
}

/** Whether `path` is `root` or below it; both must be real paths. */
export function isInside(root: string, path: string): boolean {
  const steps = relative(root, path)
  return steps === '' || (steps !== '..' && !steps.startsWith(`..${sep}`) && !isAbsolute(steps))
}
