/** Runs a program once, with a timeout, and measures the time. */
import { type ChildProcess, spawn } from 'node:child_process'

export interface CommandRun {
  /** Null if a signal ended it, or it did not start. */
  code: number | null
  stdout: string
  stderr: string
  ms: number
}

/** The timeout that clients give a hook. */
const RUN_TIMEOUT_MS = 10_000
/** Windows has no process groups that can be killed. */
const HAS_PROCESS_GROUPS = process.platform !== 'win32'

/** With `args` null, `command` is run by the shell, as a client runs it. */
export function runCommand(
  command: string,
  args: readonly string[] | null,
  input: string,
  env: NodeJS.ProcessEnv,
  timeoutMs = RUN_TIMEOUT_MS,
  cwd?: string,
): Promise<CommandRun> {
  const began = performance.now()
  const options = {
    env,
    ...(cwd === undefined ? {} : { cwd }),
    windowsHide: true,
    detached: HAS_PROCESS_GROUPS,
  } as const
  const child = args === null ? spawn(command, { ...options, shell: true }) : spawn(command, args, options)
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    stdout += chunk
  })
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    stderr += chunk
  })
  // A program may exit without reading its input.
  child.stdin.on('error', () => undefined).end(input)
  return new Promise((resolve) => {
    const end = (code: number | null) => {
      clearTimeout(timer)
      resolve({ code, stdout, stderr, ms: performance.now() - began })
    }
    const timer = setTimeout(() => {
      killAll(child)
      // A descendant may keep the pipes open, so `close` might never come.
      child.stdout.destroy()
      child.stderr.destroy()
      end(null)
    }, timeoutMs)
    child.on('error', (error) => {
      stderr += error.message
      end(null)
    })
    child.on('close', end)
  })
}

/** Kills the shell and everything that it started. */
function killAll({ pid }: ChildProcess): void {
  if (pid === undefined) return
  if (!HAS_PROCESS_GROUPS) {
    spawn('taskkill', ['/pid', String(pid), '/t', '/f'], { stdio: 'ignore', windowsHide: true }).on(
      'error',
      () => undefined,
    )
    return
  }
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // It has already ended.
  }
}
