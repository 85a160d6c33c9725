/** Runs a program under the guard: what goes in, what comes out, and that nothing of it outlives its signal or us. */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { MemError } from '../../../errors.ts'
import { type GuardMessage, STOP } from './guard-words.ts'

export interface GuardedRun {
  guard: string
  program: string
  args: readonly string[]
  env: NodeJS.ProcessEnv
  cwd: string
  stdin: string
}

export interface Output {
  stdout: string
  /** Its last part. */
  stderr: string
}

export type Ending =
  | ({ kind: 'ended'; code: number | null; signal: string | null } & Output)
  | { kind: 'not-started'; code: string | null; message: string }
  /** The guard itself fell, or the program said more than it may. */
  | ({ kind: 'broken'; reason: string } & Output)

/** An answer has some ten thousand characters; a program that writes on and on is not answering. */
const MAX_STDOUT_CHARS = 16 * 1024 * 1024
/** Enough for the last words of a stack trace. */
const MAX_STDERR_CHARS = 16 * 1024

/** All that was written is in the pipes by then: who holds them open any longer has left the group, and may do so for good. */
const DRAIN_MS = 1_000

const GUARD_NAME = 'claude-code-guard.js'

/** Rejects with the signal's reason, once everything that was started is gone. */
export async function runGuarded(run: GuardedRun, signal: AbortSignal): Promise<Ending> {
  signal.throwIfAborted()
  const guard = spawn(process.execPath, [run.guard, run.program, ...run.args], {
    cwd: run.cwd,
    env: run.env,
    stdio: ['pipe', 'pipe', 'pipe', 'ipc'],
    // Not in our group: who ends our group at once must not end the guard with it. Windows would show a console.
    detached: process.platform !== 'win32',
    windowsHide: true,
  })
  const ending = endingOf(guard)
  const stop = () => tellToStop(guard)
  signal.addEventListener('abort', stop, { once: true })
  guard.stdin?.end(run.stdin)
  try {
    const ended = await ending
    signal.throwIfAborted()
    return ended
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

function endingOf(guard: ChildProcess): Promise<Ending> {
  const output: Output = { stdout: '', stderr: '' }
  let last: GuardMessage | null = null
  let pid: number | null = null
  let excess = false
  guard.on('message', (message: GuardMessage) => {
    if (message.type === 'started') pid = message.pid
    last = message
  })
  guard.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    output.stdout += chunk
    if (output.stdout.length <= MAX_STDOUT_CHARS || excess) return
    excess = true
    tellToStop(guard)
  })
  guard.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    output.stderr = (output.stderr + chunk).slice(-MAX_STDERR_CHARS)
  })
  // A program that ends before it has read everything: its end says why.
  guard.stdin?.on('error', () => {})
  let held: NodeJS.Timeout | undefined
  guard.on('exit', (code) => {
    held = setTimeout(() => closePipes(guard), DRAIN_MS)
    // A guard that fell can end nothing any more.
    if (code !== 0 && pid !== null) endTree(pid)
  })
  guard.on('close', () => clearTimeout(held))
  return new Promise((resolve) => {
    guard.on('error', (error) => resolve({ kind: 'broken', reason: error.message, ...output }))
    guard.on('close', (code, signal) => resolve(readEnding(last, excess, `${signal ?? `exit code ${code}`}`, output)))
  })
}

function readEnding(last: GuardMessage | null, excess: boolean, guardEnd: string, output: Output): Ending {
  if (excess) return { kind: 'broken', reason: `it wrote more than ${MAX_STDOUT_CHARS / 1024 / 1024} MB`, ...output }
  if (last?.type === 'failed') return { kind: 'not-started', code: last.code, message: last.message }
  if (last?.type === 'ended') return { kind: 'ended', code: last.code, signal: last.signal, ...output }
  return { kind: 'broken', reason: `its guard ended early (${guardEnd})`, ...output }
}

/** By a word: after a `disconnect` of our own, node never reports the guard as closed. */
function tellToStop(guard: ChildProcess): void {
  // One that cannot be told is gone already.
  guard.send(STOP, () => {})
}

function endTree(pid: number): void {
  if (process.platform === 'win32') {
    spawn('taskkill', ['/pid', String(pid), '/t', '/f'], { stdio: 'ignore', windowsHide: true }).on('error', () => {})
    return
  }
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // Nobody is left in the group.
  }
}

function closePipes(guard: ChildProcess): void {
  guard.stdin?.destroy()
  guard.stdout?.destroy()
  guard.stderr?.destroy()
}

/** Beside the program, or beside or above this module: the bundler puts shared code into a directory of its own. */
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
