/** Runs a program under the guard process (`guard.ts`) and collects its output. Nothing outlives the signal or the daemon. */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { MemError } from '../../../lib/errors.ts'

/** Messages from the guard to the daemon. */
export type GuardMessage =
  | { type: 'started'; pid: number }
  | { type: 'failed'; code: string | null; message: string }
  | { type: 'ended'; code: number | null; signal: string | null }

export interface GuardedRun {
  guard: string
  program: string
  args: readonly string[]
  env: NodeJS.ProcessEnv
  cwd: string
  stdin: string
}

interface ProgramOutput {
  stdout: string
  /** The last part only. */
  stderr: string
}

export type GuardedResult =
  | ({ kind: 'ended'; code: number | null; signal: string | null } & ProgramOutput)
  | { kind: 'not-started'; code: string | null; message: string }
  /** The guard crashed, or the program wrote too much. */
  | ({ kind: 'broken'; reason: string } & ProgramOutput)

/** An answer has some ten thousand characters; a program that writes this much is not answering. */
const MAX_STDOUT_CHARS = 16 * 1024 * 1024
/** Enough for the end of a stack trace. */
const MAX_STDERR_CHARS = 16 * 1024

/** How long the pipes are read after the guard's exit. A process that left the group may keep them open forever. */
const DRAIN_MS = 1_000

const GUARD_NAME = 'claude-code-guard.js'

/** An aborted signal rejects with its reason, after everything that was started is gone. */
export async function runGuarded(run: GuardedRun, signal: AbortSignal): Promise<GuardedResult> {
  signal.throwIfAborted()
  const guard = spawn(process.execPath, [run.guard, run.program, ...run.args], {
    cwd: run.cwd,
    env: run.env,
    stdio: ['pipe', 'pipe', 'pipe', 'ipc'],
    // A signal to the daemon's process group must not kill the guard too. On Windows `detached` would open a console.
    detached: process.platform !== 'win32',
    windowsHide: true,
  })
  const result = collectResult(guard)
  const stop = () => sendStop(guard)
  signal.addEventListener('abort', stop, { once: true })
  guard.stdin?.end(run.stdin)
  try {
    const ended = await result
    signal.throwIfAborted()
    return ended
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

function collectResult(guard: ChildProcess): Promise<GuardedResult> {
  const output: ProgramOutput = { stdout: '', stderr: '' }
  let lastMessage: GuardMessage | null = null
  let pid: number | null = null
  let tooMuch = false
  guard.on('message', (message: GuardMessage) => {
    if (message.type === 'started') pid = message.pid
    lastMessage = message
  })
  guard.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    output.stdout += chunk
    if (output.stdout.length <= MAX_STDOUT_CHARS || tooMuch) return
    tooMuch = true
    sendStop(guard)
  })
  guard.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    output.stderr = (output.stderr + chunk).slice(-MAX_STDERR_CHARS)
  })
  // EPIPE of a program that exits before it has read its input; the exit itself is reported.
  guard.stdin?.on('error', () => {})
  let drainTimer: NodeJS.Timeout | undefined
  guard.on('exit', (code) => {
    drainTimer = setTimeout(() => closePipes(guard), DRAIN_MS)
    // A crashed guard did not kill the program.
    if (code !== 0 && pid !== null) killTree(pid)
  })
  guard.on('close', () => clearTimeout(drainTimer))
  return new Promise((resolve) => {
    guard.on('error', (error) => resolve({ kind: 'broken', reason: error.message, ...output }))
    guard.on('close', (code, signal) =>
      resolve(readResult(lastMessage, tooMuch, signal ?? `exit code ${code}`, output)),
    )
  })
}

function readResult(
  lastMessage: GuardMessage | null,
  tooMuch: boolean,
  guardExit: string,
  output: ProgramOutput,
): GuardedResult {
  if (tooMuch) return { kind: 'broken', reason: `it wrote more than ${MAX_STDOUT_CHARS / 1024 / 1024} MB`, ...output }
  if (lastMessage?.type === 'failed') {
    return { kind: 'not-started', code: lastMessage.code, message: lastMessage.message }
  }
  if (lastMessage?.type === 'ended') {
    return { kind: 'ended', code: lastMessage.code, signal: lastMessage.signal, ...output }
  }
  return { kind: 'broken', reason: `its guard ended early (${guardExit})`, ...output }
}

/** Not by `disconnect()`: node then never emits the guard's `close`. A failed send means that the guard is gone. */
function sendStop(guard: ChildProcess): void {
  guard.send('stop', () => {})
}

function killTree(pid: number): void {
  if (process.platform === 'win32') {
    spawn('taskkill', ['/pid', String(pid), '/t', '/f'], { stdio: 'ignore', windowsHide: true }).on('error', () => {})
    return
  }
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // The group is empty.
  }
}

function closePipes(guard: ChildProcess): void {
  guard.stdin?.destroy()
  guard.stdout?.destroy()
  guard.stderr?.destroy()
}

/** Beside the running program, or beside or above this module: the bundler puts shared code into a subdirectory. */
export function defaultGuard(): string {
  const here = dirname(fileURLToPath(import.meta.url))
  const program = process.argv[1]
  const beside = program !== undefined && existsSync(program) ? [dirname(realpathSync(program))] : []
  const found = [...beside, here, dirname(here)]
    .map((directory) => join(directory, GUARD_NAME))
    .find((file) => existsSync(file))
  if (found !== undefined) return found
  throw new MemError('internal', `${GUARD_NAME} is missing beside ${program ?? here}. Install claude-mem again.`)
}
