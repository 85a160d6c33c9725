/** Programs as real processes: run to the end, or start and wait for an output. */
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'

export interface Finished {
  code: number | null
  signal: NodeJS.Signals | null
  stdout: string
  stderr: string
}

interface RunOptions extends Pick<SpawnOptions, 'cwd' | 'env' | 'shell'> {
  /** Written to standard input, which is then closed. */
  input?: string | Buffer
  /** The process is killed after this time and reports the signal. */
  timeoutMs?: number
}

export async function runProgram(
  program: string,
  args: readonly string[],
  { input = '', timeoutMs, ...options }: RunOptions = {},
): Promise<Finished> {
  const child = spawn(program, args, { ...options, stdio: 'pipe' })
  const timer = timeoutMs === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), timeoutMs)
  // A program that ends before it reads its input closes the pipe.
  child.stdin.on('error', () => undefined)
  child.stdin.end(input)
  return await finished(child).finally(() => clearTimeout(timer))
}

/** Resolves when the process has ended and its output is complete. */
export function finished(child: ChildProcess): Promise<Finished> {
  const stdout: Buffer[] = []
  const stderr: Buffer[] = []
  child.stdout?.on('data', (chunk: Buffer) => stdout.push(chunk))
  child.stderr?.on('data', (chunk: Buffer) => stderr.push(chunk))
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) =>
      resolve({ code, signal, stdout: Buffer.concat(stdout).toString(), stderr: Buffer.concat(stderr).toString() }),
    )
  })
}

export function exited(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve(child.exitCode)
  return new Promise((resolve) => {
    child.once('exit', (code) => resolve(code))
  })
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
