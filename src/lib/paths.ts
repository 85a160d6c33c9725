/**
 * The files of a data directory, and how paths of each system are compared. What depends on the system takes it as an
 * argument, so that the rules of all systems are tested on each of them (test/lib/paths.test.ts). The hook bundles this
 * file, so it may not import a package.
 */
import { lstatSync, mkdirSync, realpathSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import nodePath, { type PlatformPath, posix, win32 } from 'node:path'
import { MemError } from './errors.ts'
import { trimEndMatching } from './trim.ts'

/** The argument that names the data directory, in the commands that `claude-mem install` registers. */
export const DATA_DIR_FLAG = '--data-dir'

/**
 * The data directory of a program that a client starts. Its environment may be that of a project (`.env`), and has no say:
 * the registered command names the directory.
 */
export function registeredDataDirectory(args: readonly string[]): string {
  return namedDataDirectory(args) ?? dataDirectory({})
}

/** What `--data-dir DIR` or `--data-dir=DIR` names; undefined: nothing. */
export function namedDataDirectory(args: readonly string[]): string | undefined {
  const at = args.findIndex((arg) => arg === DATA_DIR_FLAG || arg.startsWith(`${DATA_DIR_FLAG}=`))
  const named = args[at] === DATA_DIR_FLAG ? args[at + 1] : args[at]?.slice(DATA_DIR_FLAG.length + 1)
  return at === -1 || named === undefined || named === '' ? undefined : nodePath.resolve(named)
}

export function withoutDataDirectory(args: readonly string[]): string[] {
  const at = args.findIndex((arg) => arg === DATA_DIR_FLAG || arg.startsWith(`${DATA_DIR_FLAG}=`))
  return at === -1 ? [...args] : args.toSpliced(at, args[at] === DATA_DIR_FLAG ? 2 : 1)
}

/** For what a user types. */
export function dataDirectory(
  env: NodeJS.ProcessEnv = process.env,
  home: string = homedir(),
  path: PlatformPath = nodePath,
): string {
  const configured = env.CLAUDE_MEM_DATA_DIR
  return configured !== undefined && configured.trim() !== ''
    ? path.resolve(configured)
    : path.join(home, '.claude-mem')
}

export type Paths = ReturnType<typeof dataPaths>

/** What the path of the socket depends on beside the data directory. */
interface SocketSurroundings {
  platform: NodeJS.Platform
  /** The directory for temporary files. */
  temporary: string
  /** The number of this user; null on Windows, which has none. */
  user: number | null
  /** The path as the file system has it: without links and short names. */
  real(path: string): string
}

/** Not `userInfo()`: it throws for a user without an entry in the list of users, as in many containers. */
const thisUser = (): number | null => process.getuid?.() ?? null

function surroundings(platform: NodeJS.Platform): SocketSurroundings {
  return { platform, temporary: tmpdir(), user: thisUser(), real: realPathOrParent }
}

export function dataPaths(
  dataDir: string,
  platform: NodeJS.Platform = process.platform,
  around: SocketSurroundings = surroundings(platform),
) {
  const { join } = pathRules(platform)
  return {
    dataDir,
    database: join(dataDir, 'db.sqlite'),
    /** Locked by the running daemon; the operating system releases the lock when the process ends. */
    lock: join(dataDir, 'daemon.lock'),
    /** Hooks, CLI and MCP connect here: a Unix socket or a Windows named pipe. */
    socket: socketPath(dataDir, around),
    token: join(dataDir, 'token'),
    /** JSON with the TCP port in use. */
    port: join(dataDir, 'port.json'),
    /** JSON with the process that took the lock last. */
    holder: join(dataDir, 'daemon.pid'),
    /** Exists for a short while after a hook waited in vain for a daemon that listens (hook/hung-daemon.ts). */
    hung: join(dataDir, 'hung'),
    /** JSON with the reason why the last daemon could not start; missing once one started. */
    startFailure: join(dataDir, 'start-failure.json'),
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
    clientSessions: join(dataDir, 'client-sessions'),
    logs: join(dataDir, 'logs'),
    backups: join(dataDir, 'backups'),
    context: join(dataDir, 'context'),
    /** Vector indexes; can be deleted at any time. */
    vectors: join(dataDir, 'vectors'),
    /** Copies that a running command works on; what a killed one left is removed. */
    temporary: join(dataDir, 'tmp'),
    /** Downloaded embedding models. */
    models: join(dataDir, 'models'),
    /** Packages that were fetched on demand (lib/packages.ts). */
    packages: join(dataDir, 'packages'),
    /** Installed versions of the program; `current` leads to the one in use. */
    program: join(dataDir, 'program'),
    /** Empty working directory in which the `claude-code` provider runs its program. */
    observer: join(dataDir, 'observer'),
    /** Redirects a browser to the viewer; readable only by its owner. */
    viewerPage: join(dataDir, 'open-viewer.html'),
  }
}

const SOCKET_FILE = 'daemon.sock'
/** sun_path holds 104 bytes on macOS and 108 on Linux, the closing zero included. */
const MAX_SOCKET_PATH_BYTES = 103
/** Used where the path of the directory for temporary files is too long, too. */
const SHORT_TEMPORARY = '/tmp'

/**
 * A Unix socket in the data directory; where its path is too long, in a private directory for temporary files. On Windows a
 * named pipe. Its name follows from the data directory, which is the user's own: every version of every client finds it
 * without reading a file. It is not secret: Windows lists the names of all pipes to every user, so that a random name would
 * be known as soon as it is used. docs/platforms.md says what protects it.
 */
function socketPath(dataDir: string, { platform, temporary, user, real }: SocketSurroundings): string {
  if (platform === 'win32') {
    return `\\\\.\\pipe\\claude-mem-${shortHash(comparablePath(real(win32.resolve(dataDir)), 'win32'))}`
  }
  const inDataDir = posix.join(dataDir, SOCKET_FILE)
  if (Buffer.byteLength(inDataDir) <= MAX_SOCKET_PATH_BYTES) return inDataDir
  const file = posix.join(`claude-mem-${user}`, `${shortHash(dataDir)}.sock`)
  const short = posix.join(temporary, file)
  return Buffer.byteLength(short) <= MAX_SOCKET_PATH_BYTES ? short : posix.join(SHORT_TEMPORARY, file)
}

/**
 * The socket's directory, for a data directory whose path is too long: it must be private, in a shared /tmp. Whose it is, is
 * checked by `requireOwnDirectory`. A named pipe on Windows has no such protection: Node cannot tell who owns it, so a
 * program of another user that takes the name while no daemon runs gets what clients send.
 */
export function makeSocketDirectory({ socket, dataDir }: Paths): void {
  if (process.platform === 'win32' || socket === nodePath.join(dataDir, SOCKET_FILE)) return
  const directory = nodePath.dirname(socket)
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const stat = lstatSync(directory)
  if (!stat.isDirectory() || stat.uid !== thisUser() || (stat.mode & 0o077) !== 0) {
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

/** The path rules of a system. */
export function pathRules(platform: NodeJS.Platform): PlatformPath {
  return platform === 'win32' ? win32 : posix
}

const WINDOWS_PATH = /^(?:[A-Za-z]:[\\/]|\\\\)/

/** `//server/share` is a path of Windows, too. */
const POSIX_PATH = /^\/(?!\/)/

/** Whether a text is an absolute path of Windows, on whatever system: `C:\shop`, `C:/shop`, `\\server\share`. */
export function isWindowsPath(path: string): boolean {
  return WINDOWS_PATH.test(path)
}

/** Whether a text is an absolute path of a POSIX system, on whatever system. */
export function isPosixPath(path: string): boolean {
  return POSIX_PATH.test(path)
}

/**
 * A path in the form in which paths of a system are compared: without a separator at its end and, where file systems usually
 * ignore it, without case. Windows: with backslashes and without the prefix of long paths (`\\?\`). macOS: composed
 * characters, as names may be stored decomposed. For comparisons only: the result need not exist.
 */
export function comparablePath(path: string, platform: NodeJS.Platform): string {
  if (isWindowsPath(path) || (platform === 'win32' && !isPosixPath(path))) {
    return withoutLastSeparator(plainWindowsPath(path).toLowerCase(), '\\')
  }
  const folded = platform === 'darwin' ? path.normalize('NFC') : path
  return withoutLastSeparator(platform === 'linux' ? folded : folded.toLowerCase(), '/')
}

/** `C:` is not `C:\`: it means the current directory of the drive. */
function withoutLastSeparator(path: string, separator: string): string {
  return path.length > 1 && path.endsWith(separator) && !/^[a-z]:\\$/.test(path) ? path.slice(0, -1) : path
}

/** With backslashes and without the prefix of long paths. */
function plainWindowsPath(path: string): string {
  return withoutLongPathPrefix(path.replaceAll('/', '\\'))
}

/** `\\?\C:\shop` is `C:\shop`, and `\\?\UNC\server\share` is `\\server\share`. */
export function withoutLongPathPrefix(path: string): string {
  return path.replace(/^\\\\[?.]\\(?=[A-Za-z]:)/, '').replace(/^\\\\[?.]\\UNC\\/i, '\\\\')
}

/** Whether a path is `root` or below it, both in the form of `comparablePath`. */
export function isAtOrBelow(path: string, root: string): boolean {
  const separator = isWindowsPath(root) ? '\\' : '/'
  return path === root || path.startsWith(root.endsWith(separator) ? root : root + separator)
}

/**
 * What follows `directory/` in a path, with slashes; null if the path is not below it, or that is the root. Of texts: neither needs to exist, and
 * both may be of another system. Windows paths are compared without case: clients write the letter of a drive in either.
 */
export function pathBelow(directory: string, path: string): string | null {
  const slashed = path.replaceAll('\\', '/')
  const base = trimEndMatching(directory.replaceAll('\\', '/'), /\//)
  const isBelow = isWindowsPath(directory)
    ? slashed.toLowerCase().startsWith(`${base}/`.toLowerCase())
    : slashed.startsWith(`${base}/`)
  return base !== '' && isBelow ? slashed.slice(base.length + 1) : null
}

/** Whether `path` is `root` or below it; both must be real paths (on macOS and Windows: from `realpath.native`). */
export function isInside(root: string, path: string, rules: PlatformPath = nodePath): boolean {
  const steps = rules.relative(root, path)
  return steps === '' || (steps !== '..' && !steps.startsWith(`..${rules.sep}`) && !rules.isAbsolute(steps))
}

/** The real path; of a path that does not exist, with that of its nearest parent. */
export function realPathOrParent(path: string): string {
  for (let at = path, rest = ''; ; rest = nodePath.join(nodePath.basename(at), rest), at = nodePath.dirname(at)) {
    try {
      return nodePath.join(realpathSync.native(at), rest)
    } catch {
      if (nodePath.dirname(at) === at) return path
    }
  }
}
