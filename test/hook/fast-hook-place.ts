/** The built fast hook as a client runs it: /bin/sh, a real curl, and a node that counts how often it is started. */
import { chmodSync, copyFileSync, existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DaemonSandbox, writeSettingsFile } from '../support/daemon.ts'
import { temporaryDirectory } from '../support/directories.ts'
import { DIST } from '../support/paths.ts'
import { type Finished, runProgram } from '../support/programs.ts'

export const CURL = '/usr/bin/curl'

/** Shells that are installed here; `sh` always is. */
export const SHELLS: readonly (readonly string[])[] = [
  ['/bin/sh'],
  ['/bin/dash'],
  ['/bin/bash'],
  ['/bin/bash', '--posix'],
  ['/bin/busybox', 'ash'],
  ['/bin/ksh'],
].filter(([shell = '']) => existsSync(shell))

export interface FastRun {
  shell?: readonly string[]
  script?: string
  curl?: string
  env?: NodeJS.ProcessEnv
  args?: readonly string[]
  /** Default: that of the sandbox. */
  dataDir?: string
}

export class FastHookPlace {
  readonly sandbox = new DaemonSandbox()
  readonly bin = temporaryDirectory('bin')
  readonly cwd = temporaryDirectory('cwd')
  readonly home = temporaryDirectory('home')
  readonly #starts = join(this.bin, 'starts')
  readonly node = this.program('node', `printf . >>'${this.#starts}'\nexec '${process.execPath}' "$@"`)

  /** A shell script in place of a program. */
  program(name: string, script: string): string {
    const file = join(this.bin, name)
    writeFileSync(file, `#!/bin/sh\n${script}\n`)
    chmodSync(file, 0o755)
    return file
  }

  /** The script with a part replaced, beside the same hook. */
  changedScript(name: string, change: (text: string) => string): string {
    const directory = temporaryDirectory(name)
    for (const file of ['hook.cjs', 'daemon.js']) symlinkSync(join(DIST, file), join(directory, file))
    const script = join(directory, 'fast-hook.sh')
    copyFileSync(join(DIST, 'fast-hook.sh'), script)
    writeFileSync(script, change(readFileSync(script, 'utf8')))
    return script
  }

  /** As on a system without a file system in memory. */
  withoutSharedMemory(): string {
    return this.changedScript('no-shm', (text) => text.replaceAll('/dev/shm', '/nonexistent'))
  }

  get env(): NodeJS.ProcessEnv {
    return { ...this.sandbox.env, CLAUDE_MEM_KEEP_PAYLOADS_DAYS: '1', HOME: this.home }
  }

  async start(): Promise<void> {
    writeSettingsFile(this.sandbox.dataDir, this.env)
    await this.sandbox.start(this.env)
  }

  fast(payload: string | Buffer | object, run: FastRun = {}): Promise<Finished> {
    const [shell = '/bin/sh', ...options] = run.shell ?? ['/bin/sh']
    const {
      script = join(DIST, 'fast-hook.sh'),
      curl = CURL,
      env = {},
      args = [],
      dataDir = this.sandbox.dataDir,
    } = run
    return runProgram(shell, [...options, script, this.node, curl, '--data-dir', dataDir, ...args], {
      env: { ...this.env, ...env },
      input: typeof payload === 'string' || Buffer.isBuffer(payload) ? payload : JSON.stringify(payload),
      cwd: this.cwd,
    })
  }

  plain(
    payload: string | Buffer | object,
    env: NodeJS.ProcessEnv = {},
    args: readonly string[] = [],
  ): Promise<Finished> {
    return runProgram(process.execPath, [join(DIST, 'hook.cjs'), '--data-dir', this.sandbox.dataDir, ...args], {
      env: { ...this.env, ...env },
      input: typeof payload === 'string' || Buffer.isBuffer(payload) ? payload : JSON.stringify(payload),
      cwd: this.cwd,
    })
  }

  /** How often the script used node since the last call. */
  nodeStarts(): number {
    const starts = existsSync(this.#starts) ? readFileSync(this.#starts, 'utf8').length : 0
    writeFileSync(this.#starts, '')
    return starts
  }

  /** What is stored of a session, oldest first, without what differs between two runs of the same payload. */
  async stored(session: string): Promise<Record<string, unknown>[]> {
    const { events } = await this.sandbox.ask((client) => client.call('payloads', { session, limit: 500 }))
    return events.map((recorded) => JSON.parse(JSON.stringify(recorded)))
  }

  async sessions(): Promise<string[]> {
    const { sessions } = await this.sandbox.ask((client) => client.call('sessions', { limit: 100 }))
    return sessions.map(({ session }) => session)
  }
}
