/**
 * One run of the hook: read what the client says, give it to the daemon, and answer the client. Whatever goes
 * wrong, the client gets its one line and goes on. docs/hook-protocol.md has the rules.
 */
import { mkdirSync, readFileSync, readSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import {
  ACK_TIMEOUT_MS,
  type Answer,
  CONNECT_TIMEOUT_MS,
  PROTOCOL_VERSION,
  type Request,
  SESSION_START_TIMEOUT_MS,
} from '../channel/protocol.ts'
import { writeSpool } from '../channel/spool.ts'
import type { MemoryEvent } from '../memory/event.ts'
import { dataDirectory, type Paths, pathsOf, prepareSocketDirectory, shortHash } from '../paths.ts'
import { loadSettings } from '../settings.ts'
import { compareVersions, VERSION } from '../version.ts'
import { launchDaemon } from './launch.ts'
import { readPayload } from './payload.ts'
import { mayLeave } from './private-turn.ts'
import { type AskFailure, ask } from './websocket.ts'

export interface HookIo {
  /** File descriptors: reading and writing them directly is cheaper than a stream and done when it returns. */
  stdin: number
  stdout: number
  env: NodeJS.ProcessEnv
  /** Where `daemon.js` is. */
  dist: string
}

export async function runHook(io: HookIo): Promise<void> {
  let context: string | null = null
  try {
    context = await handle(io)
  } catch {
    // The client must not be held up by its memory; there is nobody to tell here.
  }
  writeAnswer(io.stdout, context)
}

export function writeAnswer(stdout: number, context: string | null): void {
  const answer: Record<string, unknown> = { continue: true, suppressOutput: true }
  if (context !== null) answer.hookSpecificOutput = { hookEventName: 'SessionStart', additionalContext: context }
  const bytes = Buffer.from(`${JSON.stringify(answer)}\n`)
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(stdout, bytes, at)
    } catch (error) {
      if (!isBusy(error)) return
      pause()
    }
  }
}

/** The context for a session that starts, else null. */
async function handle(io: HookIo): Promise<string | null> {
  if (io.env.CLAUDE_MEM_HOOK_DISABLED === '1') return null
  const raw = readAll(io.stdin)
  if (raw === null) return null
  const paths = pathsOf(dataDirectory(io.env))
  const settings = loadSettings(paths.dataDir, io.env).values
  const reading = readPayload(raw.toString('utf8'), { settings, at: Date.now() })
  if (reading.type === 'ignored' || !mayLeave(reading.event, paths.privateTurns)) return null
  return deliver(reading.event, paths, io)
}

async function deliver(event: MemoryEvent, paths: Paths, io: HookIo): Promise<string | null> {
  const release = spoolWhenKilled(event, paths, io)
  const sent = await send(event, paths)
  release()
  if (sent.type === 'ack') {
    if (compareVersions(sent.version, VERSION) < 0) await launchDaemon(paths, io.dist, io.env)
    return event.kind === 'session_start' ? sent.context : null
  }
  spool(event, paths)
  if (sent.type === 'absent' || sent.type === 'lost') {
    mkdirSync(paths.dataDir, { recursive: true, mode: 0o700 })
    await launchDaemon(paths, io.dist, io.env)
  }
  return event.kind === 'session_start' ? renderedContext(event, paths) : null
}

type Sent = { type: 'ack'; version: string; context: string | null } | { type: AskFailure | 'refused' }

async function send(event: MemoryEvent, paths: Paths): Promise<Sent> {
  try {
    // In a shared directory anyone could listen under our name.
    prepareSocketDirectory(paths)
  } catch {
    return { type: 'refused' }
  }
  const request: Request = { v: PROTOCOL_VERSION, id: event.id, type: 'event', event, version: VERSION }
  const token = process.platform === 'win32' ? readText(paths.token)?.trim() : undefined
  const result = await ask({
    connect: { path: paths.socket },
    message: JSON.stringify(token === undefined ? request : { ...request, token }),
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    answerTimeoutMs: event.kind === 'session_start' ? SESSION_START_TIMEOUT_MS : ACK_TIMEOUT_MS,
    read: (text) => readAnswer(text, request.id),
  })
  return result.type === 'failed' ? { type: result.failure } : result.answer
}

/** An error without our id answers us too: the daemon may not have understood as much as the id. */
function readAnswer(text: string, id: string): Sent | null {
  let answer: Partial<Extract<Answer, { type: 'ack' | 'error' }>> | null
  try {
    answer = JSON.parse(text)
  } catch {
    return { type: 'protocol' }
  }
  // A daemon that is letting go has no successor yet.
  if (answer?.type === 'error') return { type: answer.code === 'draining' ? 'absent' : 'refused' }
  if (answer?.type !== 'ack' || answer.id !== id) return null
  const { version, context } = answer
  return {
    type: 'ack',
    version: String(version),
    context: typeof context === 'string' && context !== '' ? context : null,
  }
}

/** A read-only or full disk: nothing more can be done, and the client goes on. */
function spool(event: MemoryEvent, paths: Paths): void {
  try {
    writeSpool(paths.spool, event)
  } catch {
    // See above.
  }
}

/** What the daemon rendered last time: a session starts with its memory even while the daemon is down. */
function renderedContext(event: MemoryEvent, paths: Paths): string | null {
  return readText(join(paths.context, `${shortHash(event.project.key)}.txt`)) || null
}

/** A client that gives up on a hook, or a Ctrl-C in its terminal, ends it while it waits. */
const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const

function spoolWhenKilled(event: MemoryEvent, paths: Paths, io: HookIo): () => void {
  const onSignal = (): void => {
    spool(event, paths)
    writeAnswer(io.stdout, null)
    process.exit(0)
  }
  for (const signal of SIGNALS) process.on(signal, onSignal)
  return () => {
    for (const signal of SIGNALS) process.removeListener(signal, onSignal)
  }
}

/** Above it a payload is not read: no tool result of that size can be observed, and memory has an end. */
const MAX_PAYLOAD_BYTES = 64 * 1024 * 1024
const READ_BYTES = 65_536

function readAll(stdin: number): Buffer | null {
  const chunks: Buffer[] = []
  let total = 0
  for (;;) {
    const chunk = Buffer.allocUnsafe(total < READ_BYTES ? READ_BYTES : READ_BYTES * 16)
    let length: number
    try {
      length = readSync(stdin, chunk, 0, chunk.length, null)
    } catch (error) {
      if (isBusy(error)) {
        pause()
        continue
      }
      // Windows reports a closed pipe as an error.
      length = 0
    }
    if (length === 0) break
    total += length
    if (total > MAX_PAYLOAD_BYTES) return null
    chunks.push(chunk.subarray(0, length))
  }
  return chunks.length === 1 ? (chunks[0] ?? null) : Buffer.concat(chunks)
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EAGAIN'
}

/** A pipe that its owner made non-blocking says EAGAIN where others wait. */
function pause(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2)
}
