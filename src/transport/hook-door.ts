/**
 * `POST /hook?client=NAME&version=V&seed=S` on the local socket: a client's payload as it is, posted by a hook
 * (src/hook/post.ts, fast-hook.sh). It is read and cleaned as in the hook's own process, but on a thread, and then goes the
 * way of the operations `event` and `file_context`: access, durability and duplicates are decided where they always are.
 *
 * The answer is the line that the client reads, and after it the seed, which proves to the hook that the answer is complete
 * and ours. Whatever cannot be answered has another status than 200: then the hook reads and spools the payload itself,
 * with the same seed, so that an event that was stored already counts once.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import * as z from 'zod'
import type { DaemonContext } from '../api/context.ts'
import { OPERATIONS, runOperation } from '../api/index.ts'
import { type Caller, checkDoor } from '../api/operation.ts'
import { eventSchema, parseInput } from '../api/schemas.ts'
import type { CleanedEvent, CleaningRules } from '../domain/clean-event.ts'
import type { MemoryEvent } from '../domain/event.ts'
import { FILE_CONTEXT_TIMEOUT_MS } from '../domain/protocol.ts'
import { deferStartContext } from '../hook/client-session.ts'
import { EMPTY_OUTCOME, type HookOutcome, stringOrEmpty } from '../hook/clients/adapter.ts'
import { clientAdapterNamed } from '../hook/clients/index.ts'
import { HOOK_PATH, isSeed, type Post, VARIABLES_HEADER } from '../hook/post.ts'
import type { PostedPayload, PostedReading } from '../hook/posted.ts'
import { answerLine, FILE_EVENT, type HookDelivery } from '../hook/reading.ts'
import type { HookThread } from '../hook/worker.ts'
import { errorMessage, MemError } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { dataPaths } from '../lib/paths.ts'
import { withTimeout } from '../lib/timeout.ts'
import { compareVersions, VERSION } from '../lib/version.ts'
import { connectWorker, type Remote, workerFile } from '../lib/worker-rpc.ts'
import { sendError } from './rest.ts'

const WORKER_NAME = 'hook-worker.js'

/** A larger payload is left to the hook's own process, which reads up to 64 MB, in bytes. */
const MAX_BODY_BYTES = 16 * 1024 * 1024
/** Payloads that are received and read at the same time, in bytes. Beyond it hooks do the work in their own processes. */
const MAX_WAITING_BYTES = 64 * 1024 * 1024
/** The thread takes some MB, and starting it less than 100 ms: it is stopped after this time without a payload, in ms. */
const IDLE_TIMEOUT_MS = 10 * 60_000

/** What a hook says about itself. */
type HookQuery = Pick<Post, 'client' | 'seed' | 'colors'> & Pick<PostedPayload, 'cwd' | 'event' | 'variables'>

interface HookDoorOptions {
  context: DaemonContext
  log: Log
  now: () => number
}

export class HookDoor {
  readonly #options: HookDoorOptions
  #thread: Promise<Remote<HookThread>> | null = null
  #idle: NodeJS.Timeout | null = null
  #waitingBytes = 0
  #closed = false

  constructor(options: HookDoorOptions) {
    this.#options = options
  }

  async handle(request: IncomingMessage, response: ServerResponse, caller: Caller): Promise<void> {
    const chunks: Uint8Array[] = []
    let size = 0
    try {
      const query = hookQuery(request)
      this.#checkSize(Number(request.headers['content-length'] ?? 0))
      for await (const chunk of request.iterator({ destroyOnReturn: false })) {
        chunks.push(chunk)
        size += chunk.byteLength
        this.#waitingBytes += chunk.byteLength
        this.#checkSize(size)
      }
      // The hook could not read it, and knows what to do.
      if (size === 0) throw new MemError('bad_request', 'the payload is empty')
      const { line, reading } = await this.#answer(query, sharedBytes(chunks, size), caller)
      response.once('close', () => {
        if (!response.writableFinished) this.#deferContexts(reading)
      })
      // The hook may have stopped waiting.
      if (response.destroyed) this.#deferContexts(reading)
      sendAnswer(response, `${line}\n${query.seed}\n`)
    } catch (error) {
      this.#options.log('debug', 'a payload was not accepted; its hook reports it in its own process', { error })
      request.resume()
      sendError(response, error)
    } finally {
      this.#waitingBytes -= size
    }
  }

  #checkSize(size: number): void {
    if (size > MAX_BODY_BYTES) throw new MemError('too_large', `a payload may have ${MAX_BODY_BYTES} bytes here`)
    if (this.#waitingBytes > MAX_WAITING_BYTES) {
      throw new MemError('busy', 'too many payloads are being read', { retryable: true })
    }
  }

  /** Cleans a large event that came through another door, by the rules of now. */
  async clean(event: MemoryEvent): Promise<CleanedEvent> {
    const { context, now } = this.#options
    const thread = await this.#openThread()
    const { cleaned, rules } = await thread.clean({ event, at: now() })
    // A skipped event was skipped by rules that the daemon may not have any more.
    if (cleaned.type === 'skipped') return context.supervisor.clean(event)
    context.supervisor.addCleaned(cleaned.event, rules)
    return context.supervisor.clean(cleaned.event)
  }

  async #answer(
    { colors, ...query }: HookQuery,
    bytes: Uint8Array,
    caller: Caller,
  ): Promise<{ line: string; reading: PostedReading }> {
    const thread = await this.#openThread()
    const reading = await thread.read({ ...query, bytes, at: this.#options.now() })
    const adapter = clientAdapterNamed(reading.client)
    if (adapter === undefined) throw new MemError('bad_request', `the client "${reading.client}" is not known`)
    return { line: answerLine(adapter, await this.#run(reading, caller), colors), reading }
  }

  /** The context of the session's start did not arrive: the hook's own process asks for it again. */
  #deferContexts(reading: PostedReading): void {
    if (reading.type === 'file') return
    const { clientSessions } = dataPaths(this.#options.context.process.dataDir)
    for (const { event, startContext } of reading.deliveries) {
      if (startContext && event.kind !== 'session_start') deferStartContext(event.session, clientSessions)
    }
  }

  async #run(reading: PostedReading, caller: Caller): Promise<HookOutcome> {
    if (reading.type === 'file') {
      const asked = runOperation('file_context', reading.question, this.#options.context, caller)
      return outcome(FILE_EVENT, await withTimeout(FILE_CONTEXT_TIMEOUT_MS, asked, {}))
    }
    checkDoor('event', OPERATIONS.event, caller)
    let last = EMPTY_OUTCOME
    try {
      for (const delivery of reading.deliveries) last = await this.#deliver(delivery, reading.rules)
    } catch (error) {
      this.#deferContexts(reading)
      throw error
    }
    return last
  }

  async #deliver({ name, event: read, startContext }: HookDelivery, rules: CleaningRules): Promise<HookOutcome> {
    const { events, supervisor } = this.#options.context
    const event = parseInput(eventSchema, read)
    supervisor.addCleaned(event, rules)
    const starts = event.kind === 'session_start'
    const answer = await events.accept(event, startContext && !starts)
    return outcome(name, starts && !startContext ? { ...answer, context: '' } : answer)
  }

  async #openThread(): Promise<Remote<HookThread>> {
    if (this.#closed) throw new MemError('draining', 'the daemon is stopping', { retryable: true })
    this.#thread ??= connectWorker<HookThread>({
      name: 'hook',
      file: workerFile(WORKER_NAME),
      data: { dataDir: this.#options.context.process.dataDir },
      onExit: (error) => {
        this.#thread = null
        this.#options.log(
          'warn',
          `the hook thread crashed and is started again with the next payload: ${error.message}`,
        )
      },
    }).catch((error: unknown) => {
      this.#thread = null
      throw error
    })
    if (this.#idle !== null) clearTimeout(this.#idle)
    this.#idle = setTimeout(() => void this.#stopThread(), IDLE_TIMEOUT_MS).unref()
    return await this.#thread
  }

  /** Payloads that are being read are answered before. */
  async #stopThread(): Promise<void> {
    const thread = this.#thread
    this.#thread = null
    if (this.#idle !== null) clearTimeout(this.#idle)
    try {
      await (await thread)?.close()
    } catch (error) {
      this.#options.log('info', `the hook thread could not be closed: ${errorMessage(error)}`)
    }
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#stopThread()
  }
}

/** Throws for a hook that is newer than this daemon: it starts the newer daemon (P15). */
function hookQuery(request: IncomingMessage): HookQuery {
  if (request.method !== 'POST') throw new MemError('method_not_allowed', `use POST at ${HOOK_PATH}`)
  const { searchParams } = new URL(request.url ?? '/', 'http://localhost')
  const { client = '', seed = '', version = '', colors = '1', cwd, event } = Object.fromEntries(searchParams)
  if (!isSeed(seed)) throw new MemError('bad_request', 'seed must be 1 to 64 letters, digits or hyphens')
  if (compareVersions(VERSION, version) < 0) {
    throw new MemError('conflict', `this daemon has version ${VERSION}, its hook ${version}`, { retryable: true })
  }
  const variables = readVariables(request.headers[VARIABLES_HEADER])
  return { client, seed, colors: colors !== '0', cwd: cwd || null, event: event || null, variables }
}

function readVariables(header: string | string[] | undefined): Record<string, string> {
  if (typeof header !== 'string') return {}
  try {
    return z.record(z.string(), z.string()).parse(JSON.parse(decodeURIComponent(header)))
  } catch {
    throw new MemError('bad_request', `${VARIABLES_HEADER} must be JSON with texts, URI-encoded`)
  }
}

/** Bytes that the thread reads without another copy. */
function sharedBytes(chunks: readonly Uint8Array[], size: number): Uint8Array {
  const bytes = new Uint8Array(new SharedArrayBuffer(size))
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.byteLength
  }
  return bytes
}

function outcome(event: string, answer: object): HookOutcome {
  const { context, message }: { context?: unknown; message?: unknown } = answer
  return { event, context: stringOrEmpty(context), message: stringOrEmpty(message) }
}

function sendAnswer(response: ServerResponse, text: string): void {
  if (response.headersSent || response.destroyed) return
  const type = 'text/plain; charset=utf-8'
  response.writeHead(200, { 'content-type': type, 'content-length': Buffer.byteLength(text), connection: 'close' })
  response.end(text)
}
