/** Runs the built program as a process on a temporary data directory. */
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { writeSettingsFile } from '../support/daemon.ts'
import { temporaryDirectory } from '../support/directories.ts'
import { DIST, ROOT } from '../support/paths.ts'
import { type Finished, runProgram } from '../support/programs.ts'

export type ProgramResult = Pick<Finished, 'code' | 'stdout' | 'stderr'>

export class Program {
  readonly dist = DIST
  readonly dataDir: string
  readonly env: NodeJS.ProcessEnv
  readonly #pids = new Set<number>()

  private constructor() {
    this.dataDir = temporaryDirectory('cli')
    const { NO_COLOR: _, FORCE_COLOR: __, ...inherited } = process.env
    const others = Object.entries(inherited).filter(([name]) => !name.startsWith('CLAUDE_MEM_'))
    this.env = {
      ...Object.fromEntries(others),
      CLAUDE_MEM_DATA_DIR: this.dataDir,
      CLAUDE_MEM_WORKER_PORT: '0',
      CLAUDE_MEM_PROVIDER: 'plain',
    }
    // A daemon that a hook or a command starts takes nothing from its environment.
    writeSettingsFile(this.dataDir, this.env)
  }

  static async make(): Promise<Program> {
    if (!existsSync(join(DIST, 'cli.js'))) throw new Error(`${DIST} is missing; npm test makes it, or npm run build`)
    return new Program()
  }

  run(
    args: readonly string[],
    options: { env?: NodeJS.ProcessEnv; input?: string; cwd?: string } = {},
  ): Promise<ProgramResult> {
    const { input = '', cwd = ROOT } = options
    const env = { ...this.env, ...options.env }
    return runPlain(process.execPath, [join(this.dist, 'cli.js'), ...args], { env, input, cwd })
  }

  async json(...args: string[]) {
    const { code, stdout, stderr } = await this.run([...args, '--json'])
    if (code !== 0) throw new Error(`claude-mem ${args.join(' ')} ended with ${code}: ${stderr}`)
    if (stdout.trimEnd().includes('\n')) throw new Error(`more than one line: ${stdout}`)
    const value = JSON.parse(stdout)
    if (typeof value.pid === 'number') this.#pids.add(value.pid)
    return value
  }

  /** Starts a process that runs until the caller ends it. */
  spawn(args: readonly string[]) {
    return spawn(process.execPath, [join(this.dist, 'cli.js'), ...args], { env: this.env, stdio: 'pipe' })
  }

  hook(payload: Record<string, unknown>): Promise<ProgramResult> {
    const input = JSON.stringify({ session_id: 'session-one', cwd: this.dataDir, ...payload })
    return runPlain(process.execPath, [join(this.dist, 'hook.cjs'), '--data-dir', this.dataDir], {
      env: this.env,
      input,
      cwd: ROOT,
    })
  }

  async end(): Promise<void> {
    await this.run(['stop'])
    for (const pid of this.#pids) {
      try {
        process.kill(pid, 'SIGKILL')
      } catch {
        // It has already exited.
      }
    }
  }
}

async function runPlain(...[program, args, options]: Parameters<typeof runProgram>): Promise<ProgramResult> {
  const { code, stdout, stderr } = await runProgram(program, args, options)
  return { code, stdout, stderr }
}
