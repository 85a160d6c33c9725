/** A temporary home with a project, and commands that really run in it. In all that is recorded it is `/home/dev`. */
import { spawnSync } from 'node:child_process'
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

const SHOWN_HOME = '/home/dev'
const TIMEOUT_MS = 120_000
/** Claude Code keeps this much of a command's output. */
const MAX_OUTPUT = 30_000

export interface Ran {
  stdout: string
  stderr: string
  code: number
}

export class RecordedPlace {
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), 'claude-mem-quality-')))
  readonly home = join(this.root, SHOWN_HOME)
  readonly cwd: string
  readonly shownCwd: string

  constructor(project: string) {
    this.cwd = join(this.home, project)
    this.shownCwd = `${SHOWN_HOME}/${project}`
    mkdirSync(this.cwd, { recursive: true })
    mkdirSync(join(this.root, 'tmp'))
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true, maxRetries: 3 })
  }

  /** A path as a scenario or the model writes it: absolute below /home/dev, or relative to the project. */
  real(path: string): string {
    return path.startsWith(`${SHOWN_HOME}/`) ? join(this.root, path) : join(this.cwd, path)
  }

  shown(path: string): string {
    return path.startsWith('/') ? path : join(this.shownCwd, path)
  }

  read(path: string): string | null {
    const file = this.real(path)
    return existsSync(file) ? readFileSync(file, 'utf8') : null
  }

  write(path: string, content: string): void {
    const file = this.real(path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, content)
  }

  branch(): string {
    const head = this.read('.git/HEAD')
    return /^ref: refs\/heads\/(.+)$/m.exec(head ?? '')?.[1] ?? ''
  }

  /** `merged`: both streams in one, in the order they were written, as Claude Code 2.1 keeps them. */
  run(command: string, at: number, merged: boolean, timeoutMs = TIMEOUT_MS): Ran {
    const files = { out: join(this.root, 'stdout'), err: join(this.root, 'stderr') }
    const out = openSync(files.out, 'w')
    const err = merged ? out : openSync(files.err, 'w')
    const result = spawnSync('bash', ['-c', command.replaceAll(`${SHOWN_HOME}/`, `${this.home}/`)], {
      cwd: this.cwd,
      env: this.#environment(at),
      stdio: ['ignore', out, err],
      timeout: timeoutMs,
      killSignal: 'SIGKILL',
    })
    closeSync(out)
    if (!merged) closeSync(err)
    const kept = (file: string) => this.#bounded(this.hide(readFileSync(file, 'utf8')).replace(/\s+$/, ''))
    return { stdout: kept(files.out), stderr: merged ? '' : kept(files.err), code: result.status ?? 137 }
  }

  /** Where this machine keeps things becomes where a developer's would. */
  hide(text: string): string {
    const machine = new RegExp(`(?<![\\w.-])${homedir().replace(/[.*+?^$()|[\]\\]/g, '\\$&')}(?=/)`, 'g')
    return text.replaceAll(this.root, '').replace(machine, SHOWN_HOME).replaceAll(' root root ', ' dev dev ')
  }

  #bounded(text: string): string {
    if (text.length <= MAX_OUTPUT) return text
    const rest = text.slice(MAX_OUTPUT)
    return `${text.slice(0, MAX_OUTPUT)}\n\n... [${rest.split('\n').length} lines truncated] ...`
  }

  #environment(at: number): NodeJS.ProcessEnv {
    const date = new Date(at).toISOString()
    const own = homedir()
    return {
      PATH: process.env.PATH,
      HOME: this.home,
      USER: 'dev',
      LOGNAME: 'dev',
      TMPDIR: join(this.root, 'tmp'),
      LANG: 'C.UTF-8',
      TZ: 'UTC',
      TERM: 'dumb',
      NO_COLOR: '1',
      CARGO_HOME: process.env.CARGO_HOME ?? join(own, '.cargo'),
      RUSTUP_HOME: process.env.RUSTUP_HOME ?? join(own, '.rustup'),
      PYENV_ROOT: process.env.PYENV_ROOT ?? join(own, '.pyenv'),
      CARGO_NET_OFFLINE: 'true',
      PYTHONDONTWRITEBYTECODE: '1',
      GIT_AUTHOR_NAME: 'Mira Lund',
      GIT_AUTHOR_EMAIL: 'mira@example.com',
      GIT_COMMITTER_NAME: 'Mira Lund',
      GIT_COMMITTER_EMAIL: 'mira@example.com',
      GIT_AUTHOR_DATE: date,
      GIT_COMMITTER_DATE: date,
      GIT_CONFIG_COUNT: '2',
      GIT_CONFIG_KEY_0: 'init.defaultBranch',
      GIT_CONFIG_VALUE_0: 'main',
      GIT_CONFIG_KEY_1: 'advice.detachedHead',
      GIT_CONFIG_VALUE_1: 'false',
    }
  }
}
