/** A home of its own with the program installed in it, and packages as a release would be. */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
// @ts-expect-error A script without types.
import { shrinkwrapOf } from '../../../scripts/shrinkwrap.mjs'
import { dataPaths, type Paths } from '../../../src/lib/paths.ts'
import { currentProgram, type InstalledProgram } from '../../../src/setup/program/place.ts'
import { Database } from '../../../src/store/sqlite/database.ts'
import { temporaryDirectory } from '../../support/directories.ts'
import { ROOT } from '../../support/paths.ts'
import { type Finished, isAlive, runProgram } from '../../support/programs.ts'
import { waitUntil } from '../../support/waiting.ts'

/** The package of a build: what `npm pack` would take, with the database driver beside it as npm installs it. */
export function packageOf(dist: string): string {
  const directory = temporaryDirectory('package')
  const { version }: { version: string } = JSON.parse(readFileSync(join(dist, 'build.json'), 'utf8'))
  const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  cpSync(dist, join(directory, 'dist'), { recursive: true, filter: (file) => !file.endsWith('.map') })
  for (const name of ['prompts', 'assets', 'LICENSE'])
    cpSync(join(ROOT, name), join(directory, name), { recursive: true })
  writeFileSync(join(directory, 'package.json'), JSON.stringify({ ...manifest, version, scripts: {} }))
  const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'))
  writeFileSync(join(directory, 'npm-shrinkwrap.json'), JSON.stringify(shrinkwrapOf(lock)))
  mkdirSync(join(directory, 'node_modules'))
  for (const name of ['better-sqlite3', 'bindings', 'file-uri-to-path']) {
    symlinkSync(join(ROOT, 'node_modules', name), join(directory, 'node_modules', name), 'junction')
  }
  return directory
}

export function packFile(directory: string): string {
  const printed = execFileSync('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', directory], {
    cwd: directory,
    encoding: 'utf8',
    shell: process.platform === 'win32',
  })
  return join(directory, printed.trim().split('\n').at(-1) ?? '')
}

/** The sources with one more migration, built: a later release whose database an earlier one cannot read. */
export function buildWithMigration(version: string): string {
  const directory = join(ROOT, 'node_modules', '.cache', 'claude-mem', `release-${version}`)
  rmSync(directory, { recursive: true, force: true })
  for (const name of [
    'src',
    'machines',
    'prompts',
    'scripts',
    'package.json',
    'tsconfig.json',
    'tsconfig.client.json',
  ]) {
    cpSync(join(ROOT, name), join(directory, name), { recursive: true })
  }
  const index = join(directory, 'src', 'store', 'migrations', 'index.ts')
  const text = readFileSync(index, 'utf8')
  const added = text.replace(
    '  retentionMarksMigration,\n]',
    "  retentionMarksMigration,\n  { version: 99, sql: 'CREATE TABLE later_release (id INTEGER PRIMARY KEY) STRICT' },\n]",
  )
  if (added === text) throw new Error('the list of migrations looks different: change this fixture')
  writeFileSync(index, added)
  const env = { ...process.env, CLAUDE_MEM_BUILD_VERSION: version, CLAUDE_MEM_BUILD_DIR: join(directory, 'dist') }
  execFileSync(process.execPath, [join(directory, 'scripts', 'build.mjs')], { env, stdio: 'inherit' })
  return join(directory, 'dist')
}

export class InstalledHome {
  readonly home: string
  readonly paths: Paths
  readonly work: string
  #sent = 0

  constructor(home = temporaryDirectory('home')) {
    this.home = home
    this.paths = dataPaths(join(home, '.claude-mem'))
    this.work = temporaryDirectory('work')
  }

  get env(): NodeJS.ProcessEnv {
    const kept = Object.entries(process.env).filter(([name]) => !/^CLAUDE/.test(name))
    return { ...Object.fromEntries(kept), HOME: this.home, USERPROFILE: this.home, CLAUDE_MEM_WORKER_PORT: '0' }
  }

  get current(): InstalledProgram | null {
    return currentProgram(this.paths)
  }

  /** The command line of the program in this package or build. */
  run(dist: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Finished> {
    return runProgram(process.execPath, [join(dist, 'cli.js'), ...args], {
      cwd: this.home,
      env: { ...this.env, ...env },
    })
  }

  /** The installed command line. */
  mem(...args: string[]): Promise<Finished> {
    return this.run(this.currentDist, args)
  }

  get currentDist(): string {
    return join(this.paths.program, 'current', 'dist')
  }

  async memOk(...args: string[]): Promise<Finished> {
    return ok(await this.mem(...args))
  }

  async install(dist: string): Promise<void> {
    ok(await this.run(dist, ['install']))
    // A daemon that a hook starts takes its settings from the file alone.
    writeFileSync(join(this.paths.dataDir, 'settings.json'), '{ "CLAUDE_MEM_WORKER_PORT": 0 }')
  }

  /** One tool use through the registered hook, as a client reports it. */
  async report(session: string): Promise<void> {
    const settings = JSON.parse(readFileSync(join(this.home, '.claude', 'settings.json'), 'utf8'))
    const command: string = settings.hooks.PostToolUse[0].hooks[0].command
    const n = ++this.#sent
    const input = JSON.stringify({
      hook_event_name: 'PostToolUse',
      session_id: session,
      // Not the home itself: a data directory below that of the session may have come with a repository.
      cwd: this.work,
      tool_name: 'Bash',
      tool_use_id: `toolu_${n}`,
      tool_input: { command: `echo ${n}` },
      tool_response: { stdout: String(n) },
    })
    const { stdout } = await runProgram(command, [], { cwd: this.work, env: this.env, input, shell: true })
    if (JSON.parse(stdout).continue !== true) throw new Error(`the hook answered ${stdout}`)
  }

  async status(): Promise<{ pid: number; version: string }> {
    return JSON.parse((await this.memOk('status', '--json')).stdout)
  }

  async running(): Promise<{ pid: number; version: string }> {
    await waitUntil('a daemon answers', async () => (await this.status()).pid !== undefined)
    return await this.status()
  }

  /** Ids of the stored tool uses, when nothing waits in the spool any more. */
  async toolUses(session: string): Promise<string[]> {
    await this.running()
    await waitUntil('the spool is empty', () => readdirSync(this.paths.spool).every((name) => !name.endsWith('.json')))
    // Not the store's reader: the database may be of a later release.
    const db = new Database(this.paths.database, { readonly: true })
    try {
      return db.ids<string>`SELECT event_id AS id FROM events WHERE content_session_id = ${session} ORDER BY id`
    } finally {
      db.close()
    }
  }

  get programs(): string[] {
    return readdirSync(this.paths.program).filter((name) => /^\d|^\.partial/.test(name))
  }

  /** Processes that run from this home. */
  processes(): string[] {
    if (process.platform === 'win32') return []
    const rows = execFileSync('ps', ['-A', '-ww', '-o', 'pid=,args='], { encoding: 'utf8' }).split('\n')
    return rows.filter((row) => row.includes(this.paths.program) && isAlive(Number(row.trim().split(' ')[0])))
  }

  async dispose(): Promise<void> {
    if (this.current === null) return
    await this.mem('stop')
    await waitUntil('no process is left', () => this.processes().length === 0)
  }
}

function ok(finished: Finished): Finished {
  if (finished.code !== 0) throw new Error(`it ended with ${finished.code}: ${finished.stdout} ${finished.stderr}`)
  return finished
}
