/** The bundled hook as a real process, and a server in place of the daemon. */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { join } from 'node:path'
import { build } from 'esbuild'
import { type WebSocket, WebSocketServer } from 'ws'
import type { MemoryEvent } from '../../src/domain/event.ts'
import type { HookRequest } from '../../src/domain/protocol.ts'
import { temporaryDirectory } from '../support/directories.ts'
import { type Finished, finished } from '../support/programs.ts'

export const VERSION = '1.2.3'

/** As the build makes it; `daemon.js` only notes that it was started, and with which environment. */
export async function buildHook(): Promise<string> {
  const dist = temporaryDirectory('dist')
  await build({
    entryPoints: { hook: 'src/hook/main.ts' },
    outdir: dist,
    outExtension: { '.js': '.cjs' },
    bundle: true,
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    minify: true,
    define: { __VERSION__: JSON.stringify(VERSION) },
  })
  const standIn = `const { appendFileSync, writeFileSync } = require('node:fs')
writeFileSync('environment', JSON.stringify(process.env))
appendFileSync('started', process.pid + '\\n')`
  writeFileSync(join(dist, 'daemon.js'), standIn)
  return dist
}

export class Hook {
  readonly dataDir = temporaryDirectory('data')
  readonly cwd = temporaryDirectory('cwd')

  constructor(readonly dist: string) {}

  run(
    payload: Record<string, unknown> | string | Buffer,
    env: NodeJS.ProcessEnv = {},
    onStart: (child: ChildProcess) => void = () => {},
    args: readonly string[] = [],
  ): Promise<Pick<Finished, 'code' | 'stdout' | 'stderr'>> {
    const input =
      typeof payload === 'string' || Buffer.isBuffer(payload)
        ? payload
        : JSON.stringify({ session_id: 'session-0001', cwd: this.cwd, ...payload })
    const child = spawn(process.execPath, [join(this.dist, 'hook.cjs'), ...args, '--data-dir', this.dataDir], {
      cwd: this.cwd,
      env: { ...process.env, ...env },
    })
    const ran = finished(child).then(({ code, stdout, stderr }) => ({ code, stdout, stderr }))
    // A hook that ends before it reads its payload closes the pipe.
    child.stdin.on('error', () => undefined)
    child.stdin.end(input)
    onStart(child)
    return ran
  }

  spooled(): MemoryEvent[] {
    const spool = join(this.dataDir, 'spool')
    if (!existsSync(spool)) return []
    const names = readdirSync(spool).filter((name) => name.endsWith('.json'))
    return names.sort().map((name) => JSON.parse(readFileSync(join(spool, name), 'utf8')).event)
  }

  /** Resolves once the stand-in daemon has been started. */
  async started(): Promise<number> {
    const file = join(this.dataDir, 'started')
    while (!existsSync(file)) await new Promise((resolve) => setTimeout(resolve, 10))
    return readFileSync(file, 'utf8').trim().split('\n').length
  }

  wasStarted(): boolean {
    return existsSync(join(this.dataDir, 'started')) || existsSync(join(this.dataDir, 'starting'))
  }

  /** What a daemon rendered last, in a file of this name. */
  context(name: string, text: string): void {
    mkdirSync(join(this.dataDir, 'context'), { recursive: true })
    writeFileSync(join(this.dataDir, 'context', name), text)
  }
}

type EventRequest = Extract<HookRequest, { type: 'event' }>
type FileRequest = Extract<HookRequest, { type: 'file_context' }>

export class Door {
  readonly requests: EventRequest[] = []
  readonly questions: FileRequest[] = []
  private readonly http: Server = createServer()
  private readonly sockets = new WebSocketServer({ server: this.http, maxPayload: 64 * 1024 * 1024 })

  private constructor(answer: (request: EventRequest, socket: WebSocket) => void) {
    this.sockets.on('connection', (socket) => {
      socket.on('error', () => {})
      socket.on('message', (data) => {
        const request = JSON.parse(String(data))
        if (request.type === 'file_context') this.questions.push(request)
        else this.requests.push(request)
        answer(request, socket)
      })
    })
  }

  static async open(dataDir: string, answer: (request: EventRequest, socket: WebSocket) => void): Promise<Door> {
    const door = new Door(answer)
    await new Promise<void>((resolve) => door.http.listen(join(dataDir, 'daemon.sock'), resolve))
    return door
  }

  async close(): Promise<void> {
    for (const socket of this.sockets.clients) socket.terminate()
    this.http.closeAllConnections()
    await new Promise<void>((resolve) => this.http.close(() => resolve()))
  }
}

export function ack(request: Pick<EventRequest, 'id'>, more: Record<string, unknown> = {}): string {
  return JSON.stringify({ v: 1, id: request.id, type: 'ack', duplicate: false, version: VERSION, ...more })
}
