/** The hook as its client runs it: a process of its own, the payload on stdin. */
import { spawn } from 'node:child_process'
import type { Payload } from './payloads.ts'
import type { Place } from './place.ts'
import { HOOK } from './root.ts'

export interface HookRun {
  /** It ended by itself, with exit code 0 and an answer that the client understands: the event is reported. */
  reported: boolean
  code: number | null
  signal: NodeJS.Signals | null
  stdout: string
}

export interface Interruption {
  signal: 'SIGKILL' | 'SIGTERM'
  afterMs: number
}

export function runHook(place: Place, payload: Payload, interruption: Interruption | null = null): Promise<HookRun> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [HOOK], { env: place.env, stdio: ['pipe', 'pipe', 'ignore'] })
    let stdout = ''
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      stdout += chunk
    })
    const timer =
      interruption === null ? undefined : setTimeout(() => child.kill(interruption.signal), interruption.afterMs)
    child.once('error', reject)
    child.once('close', (code, signal) => {
      clearTimeout(timer)
      resolve({ reported: code === 0 && isAnswer(stdout), code, signal, stdout })
    })
    // A hook that was killed does not read its payload.
    child.stdin.on('error', () => undefined)
    child.stdin.end(JSON.stringify(payload))
  })
}

export function isAnswer(stdout: string): boolean {
  try {
    const answer: unknown = JSON.parse(stdout)
    return typeof answer === 'object' && answer !== null && 'continue' in answer && answer.continue === true
  } catch {
    return false
  }
}
