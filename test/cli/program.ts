/** The built program, run as people run it: real processes on a data directory of their own. */
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { DIST } from '../daemon-process.ts'

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..')

export interface Ran {
  code: number | null
  stdout: string
  stderr: string
}

export class Program {
  readonly dist = DIST
  readonly dataDir: string
  readonly env: NodeJS.ProcessEnv
  readonly #pids = new Set<number>()

  private constructor() {
    this.dataDir = mkdtempSync(join(tmpdir(), 'claude-mem-cli-'))
    const { NO_COLOR: _, FORCE_COLOR: __, ...inherited } = process.env
    const others = Object.entries(inherited).filter(([name]) => !name.startsWith('CLAUDE_MEM_'))
    this.env = {
      ...Object.fromEntries(others),
      CLAUDE_MEM_DATA_DIR: this.dataDir,
      CLAUDE_MEM_WORKER_PORT: '0',
      CLAUDE_MEM_PROVIDER: 'plain',
    }
  }

  static async make(): Promise<Program> {
    if (!existsSync(join(DIST, 'cli.js'))) throw new Error(`${DIST} is missing; npm test makes it, or npm run build`)
    return new Program()
  }

  run(args: readonly string[], options: { env?: NodeJS.ProcessEnv; input?: string; cwd?: string } = {}): Promise<Ran> {
    const { input = '', cwd = root } = options
    const env = { ...this.env, ...options.env }
    return run(process.execPath, [join(this.dist, 'cli.js'), ...args], { env, input, cwd })
  }

  async json(...args: string[]) {
    const { code, stdout, stderr } = await this.run([...args, '--json'])
    if (code !== 0) throw new Error(`claude-mem ${args.join(' ')} ended with ${code}: ${stderr}`)
    if (stdout.trimEnd().includes('\n')) throw new Error(`more than one line: ${stdout}`)
    const value = JSON.parse(stdout)
    if (typeof value.pid === 'number') this.#pids.add(value.pid)
    return value
  }

  /** A process that goes on; the caller ends it. */
  spawn(args: readonly string[]) {
    return spawn(process.execPath, [join(this.dist, 'cli.js'), ...args], { env: this.env, stdio: 'pipe' })
  }

  hook(payload: Record<string, unknown>): Promise<Ran> {
    const input = JSON.stringify({ session_id: 'session-one', cwd: this.dataDir, ...payload })
    return run(process.execPath, [join(this.dist, 'hook.cjs')], { env: this.env, input })
  }

  async end(): Promise<void> {
    await this.run(['stop'])
    for (const pid of this.#pids) {
      try {
        process.kill(pid, 'SIGKILL')
      } catch {
        // It has stopped, as it should.
      }
    }
    rmSync(this.dataDir, { recursive: true, force: true })
  }
}

function run(
  file: string,
  args: readonly string[],
  { env, input, cwd = root }: { env: NodeJS.ProcessEnv; input: string; cwd?: string },
): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { env, stdio: 'pipe', cwd })
    const out: Buffer[] = []
    const err: Buffer[] = []
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk))
    child.stderr.on('data', (chunk: Buffer) => err.push(chunk))
    child.on('error', reject)
    child.on('close', (code) =>
      resolve({ code, stdout: Buffer.concat(out).toString(), stderr: Buffer.concat(err).toString() }),
    )
    child.stdin.on('error', () => undefined)
    child.stdin.end(input)
  })
}
