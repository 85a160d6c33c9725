/** The bundled hook as a real process, and a server in place of the daemon. */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { build } from 'esbuild'
import type { FileContextQuery, MemoryEvent } from '../../src/domain/event.ts'
import { EMPTY_OUTCOME } from '../../src/hook/clients/adapter.ts'
import { clientAdapterNamed } from '../../src/hook/clients/index.ts'
import { VARIABLES_HEADER } from '../../src/hook/post.ts'
import { readPosted } from '../../src/hook/posted.ts'
import { answerLine, FILE_EVENT, type HookDelivery } from '../../src/hook/reading.ts'
import { temporaryDirectory } from '../support/directories.ts'
import { type Finished, finished } from '../support/programs.ts'

export const VERSION = '1.2.3'

/** As the build makes it; `daemon.js` only notes that it was started, and with which environment. */
export async function buildHook(): Promise<string> {
  const dist = temporaryDirectory('dist')
  await build({
    entryPoints: { hook: 'src/hook/main.ts', 'hook-local': 'src/hook/local.ts' },
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

/** What the stand-in of a daemon is asked, and how it can answer. */
export interface DoorRequest {
  /** Null: a question about a file. */
  delivery: HookDelivery | null
  question: FileContextQuery | null
  seed: string
  client: string
  colors: boolean
  response: ServerResponse
}

/** A server in place of the daemon. It reads payloads as the daemon does (src/hook/posted.ts). */
export class Door {
  readonly events: MemoryEvent[] = []
  readonly deliveries: HookDelivery[] = []
  readonly questions: FileContextQuery[] = []
  readonly queries: URLSearchParams[] = []
  /** Payloads that are no events. */
  ignored = 0
  readonly #http: Server

  private constructor(dataDir: string, answer: (request: DoorRequest) => void) {
    this.#http = createServer((request, response) => void this.#handle(request, response, dataDir, answer))
  }

  static async open(dataDir: string, answer: (request: DoorRequest) => void): Promise<Door> {
    const door = new Door(dataDir, answer)
    await new Promise<void>((resolve) => door.#http.listen(join(dataDir, 'daemon.sock'), resolve))
    return door
  }

  async #handle(
    request: IncomingMessage,
    response: ServerResponse,
    dataDir: string,
    answer: (request: DoorRequest) => void,
  ): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const query = new URL(request.url ?? '/', 'http://localhost').searchParams
    this.queries.push(query)
    const seed = query.get('seed') ?? ''
    const variables = JSON.parse(decodeURIComponent(String(request.headers[VARIABLES_HEADER] ?? '{}')))
    const posted = { bytes: Buffer.concat(chunks), client: query.get('client') ?? '', seed, at: Date.now() }
    const of = { ...posted, cwd: query.get('cwd'), event: query.get('event') || null, variables }
    let reading: ReturnType<typeof readPosted>
    try {
      reading = readPosted(of, dataDir)
    } catch (error) {
      return fail(response, (error as { code: string }).code)
    }
    const asked = { seed, client: reading.client, colors: query.get('colors') === '1', response }
    if (reading.type === 'file') {
      this.questions.push(reading.question)
      return answer({ ...asked, delivery: null, question: reading.question })
    }
    if (reading.deliveries.length === 0) {
      this.ignored += 1
      return tell({ ...asked, delivery: null, question: null })
    }
    for (const delivery of reading.deliveries) {
      this.deliveries.push(delivery)
      this.events.push(delivery.event)
    }
    answer({ ...asked, delivery: reading.deliveries.at(-1) ?? null, question: null })
  }

  async close(): Promise<void> {
    this.#http.closeAllConnections()
    await new Promise<void>((resolve) => this.#http.close(() => resolve()))
  }
}

/** The line that the client reads, as the daemon answers it. */
export function lineFor({ delivery, question, client, colors }: DoorRequest, context = '', message = ''): string {
  const adapter = clientAdapterNamed(client)
  if (adapter === undefined) throw new Error(`no client ${client}`)
  const event = question === null ? (delivery?.name ?? '') : FILE_EVENT
  const outcome = delivery === null && question === null ? EMPTY_OUTCOME : { event, context, message }
  return answerLine(adapter, outcome, colors)
}

export function tell(request: DoorRequest, context = '', message = ''): void {
  request.response.end(`${lineFor(request, context, message)}\n${request.seed}\n`)
}

export function fail(response: ServerResponse, code: string): void {
  response.statusCode = 400
  response.end(JSON.stringify({ error: { code, message: 'no' } }))
}
