/** Sends one request to the daemon, and starts the daemon if none answers. */
import type { ChildProcess } from 'node:child_process'
import { linkSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FileContextQuery, MemoryEvent } from '../domain/event.ts'
import { currentWorkingTree } from '../domain/project.ts'
import { CONNECT_TIMEOUT_MS, FILE_CONTEXT_TIMEOUT_MS, type HookRequest, PROTOCOL_VERSION } from '../domain/protocol.ts'
import type { RenderedContext } from '../domain/rendered-context.ts'
import { daemonEnvironment } from '../lib/daemon-environment.ts'
import { systemCode } from '../lib/errors.ts'
import { isMissingFile, readTextFile } from '../lib/files.ts'
import { prepareSocketDirectory } from '../lib/own-directory.ts'
import type { Paths } from '../lib/paths.ts'
import { failureReason } from '../lib/start-failure.ts'
import { VERSION } from '../lib/version.ts'
import { loadSettings } from '../settings/settings.ts'
import { type HookPayload, stringOrEmpty } from './clients/adapter.ts'
import { isKnownToHang } from './hung-daemon.ts'
import { parseJsonObject } from './payload.ts'
import { type RequestFailure, sendRequest } from './websocket.ts'

interface NoAnswer {
  type: RequestFailure | 'draining' | 'refused'
}

type Ack = { type: 'ack'; version: string } & RenderedContext

/** `startContext`: a prompt whose answer has to carry the context of the session's start. */
export function sendEvent(
  event: MemoryEvent,
  paths: Paths,
  timeoutMs: number,
  startContext = false,
): Promise<Ack | NoAnswer> {
  const base: HookRequest = { v: PROTOCOL_VERSION, id: event.id, type: 'event', event, version: VERSION }
  const request: HookRequest = startContext ? { ...base, startContext } : base
  return send(request, paths, timeoutMs, ({ type, version, context, message }) => {
    if (type !== 'ack') return null
    return { type, version: String(version), context: stringOrEmpty(context), message: stringOrEmpty(message) }
  })
}

/** Empty if nothing is known about the file, or no answer arrives before the timeout. */
export async function requestFileContext(question: FileContextQuery, paths: Paths): Promise<string> {
  if (isKnownToHang(paths)) return ''
  const request: HookRequest = { v: PROTOCOL_VERSION, id: 'file', type: 'file_context', ...question }
  const answer = await send(request, paths, FILE_CONTEXT_TIMEOUT_MS, ({ type, context }) =>
    type === 'recalled' ? { type: 'recalled' as const, context: stringOrEmpty(context) } : null,
  )
  return answer.type === 'recalled' ? answer.context : ''
}

async function send<T>(
  request: HookRequest,
  paths: Paths,
  answerTimeoutMs: number,
  read: (answer: HookPayload) => T | null,
): Promise<T | NoAnswer> {
  try {
    // In a shared temporary directory another user could listen on a socket of this name.
    prepareSocketDirectory(paths)
  } catch {
    return { type: 'refused' }
  }
  const token = process.platform === 'win32' ? readTextFile(paths.token)?.trim() : undefined
  const result = await sendRequest<T | NoAnswer>({
    connect: { path: paths.socket },
    message: JSON.stringify(token === undefined ? request : { ...request, token }),
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    answerTimeoutMs,
    read: (text) => {
      const answer = parseJsonObject(text)
      if (answer === null) return { type: 'protocol' }
      // An error is accepted without a matching id: the daemon may have failed to read the id.
      if (answer.type === 'error') return { type: answer.code === 'draining' ? 'draining' : 'refused' }
      return answer.id === request.id ? read(answer) : null
    },
  })
  return result.type === 'failed' ? { type: result.failure } : result.answer
}

/** A daemon answers well within this time; an older start lock belongs to a start that failed. */
const START_LOCK_MS = 10_000

/**
 * Starts the daemon, detached. The lock file `starting` lets only one of many concurrent hooks start it, to avoid a
 * thousand processes; that only one daemon serves a data directory is guaranteed by the daemon's own lock. Never throws:
 * the caller has already spooled its event. Returns why no daemon could be started; empty: one is starting.
 */
export async function launchDaemon(paths: Paths, dist: string, env: NodeJS.ProcessEnv): Promise<string> {
  try {
    mkdirSync(paths.dataDir, { recursive: true, mode: 0o700 })
    if (!takeStartLock(paths.starting, Date.now())) return ''
  } catch (error) {
    return failureReason(paths, error)
  }
  try {
    const child = await spawnDaemon(dist, paths.dataDir, env)
    const failed = new Promise<unknown>((resolve) => child.once('error', resolve))
    child.unref()
    if (child.pid !== undefined) return ''
    throw await failed
  } catch (error) {
    rmSync(paths.starting, { force: true })
    return failureReason(paths, error)
  }
}

function takeStartLock(lock: string, now: number): boolean {
  if (createLock(lock, now)) return true
  const stat = statSync(lock, { throwIfNoEntry: false })
  if (stat !== undefined && Math.abs(now - stat.mtimeMs) < START_LOCK_MS) return false
  return breakLock(lock, now) && createLock(lock, now)
}

function createLock(lock: string, now: number): boolean {
  try {
    writeFileSync(lock, JSON.stringify({ pid: process.pid, at: now }), { flag: 'wx', mode: 0o600 })
    return true
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return false
    throw error
  }
}

/** Renamed before it is deleted: since it was checked, another hook may have replaced it with a fresh lock. */
function breakLock(lock: string, now: number): boolean {
  const broken = `${lock}.${process.pid}.${now}`
  try {
    renameSync(lock, broken)
  } catch (error) {
    // Another hook removed it first; creating the lock decides which of the two wins.
    if (isMissingFile(error)) return true
    throw error
  }
  const fresh = Math.abs(now - statSync(broken).mtimeMs) < START_LOCK_MS
  if (fresh) {
    try {
      linkSync(broken, lock)
    } catch {
      // A third hook created the lock in between.
    }
  }
  rmSync(broken, { force: true })
  return !fresh
}

async function spawnDaemon(dist: string, dataDir: string, env: NodeJS.ProcessEnv): Promise<ChildProcess> {
  // Imported lazily: most hooks do not start a daemon.
  const { spawn } = await import('node:child_process')
  // Of the file alone: this hook's environment may come from a project.
  const { CLAUDE_MEM_CA_CERTS: caCerts } = loadSettings(dataDir, {}).values
  return spawn(process.execPath, [join(dist, 'daemon.js')], {
    detached: true,
    stdio: 'ignore',
    windowsHide: true,
    cwd: dataDir,
    env: daemonEnvironment(env, { dataDir, caCerts, project: currentWorkingTree() }),
  })
}
