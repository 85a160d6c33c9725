/** One short run of a program, with what it said and how long it took. */
import { type ChildProcess, spawn } from 'node:child_process'

export interface Run {
  /** Null where a signal ended it, or it did not start. */
  code: number | null
  stdout: string
  stderr: string
  ms: number
}

/** As long as a client waits for a hook. */
const PATIENCE_MS = 10_000
/** On Windows there are none to be killed as a whole. */
const HAS_GROUPS = process.platform !== 'win32'

/** `args` null: `command` is a line for the shell, as a client runs it. */
export function runOnce(
  command: string,
  args: readonly string[] | null,
  input: string,
  env: NodeJS.ProcessEnv,
  patienceMs = PATIENCE_MS,
): Promise<Run> {
  const began = performance.now()
  const options = { env, windowsHide: true, detached: HAS_GROUPS } as const
  const child = args === null ? spawn(command, { ...options, shell: true }) : spawn(command, args, options)
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    stdout += chunk
  })
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    stderr += chunk
  })
  // One that does not read its input is judged by what it says.
  child.stdin.on('error', () => undefined).end(input)
  return new Promise((resolve) => {
    const end = (code: number | null) => {
      clearTimeout(patience)
      resolve({ code, stdout, stderr, ms: performance.now() - began })
    }
    const patience = setTimeout(() => {
      killAll(child)
      // What it started may hold on to them for as long as it likes.
      child.stdout.destroy()
      child.stderr.destroy()
      end(null)
    }, patienceMs)
    child.on('error', (error) => {
      stderr += error.message
      end(null)
    })
    child.on('close', end)
  })
}

/** The shell, and with it what the shell runs. */
function killAll({ pid }: ChildProcess): void {
  if (pid === undefined) return
  if (!HAS_GROUPS) {
    spawn('taskkill', ['/pid', String(pid), '/t', '/f'], { stdio: 'ignore', windowsHide: true }).on(
      'error',
      () => undefined,
    )
    return
  }
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // It has just ended.
  }
}
