/**
 * A process of its own between the daemon and `claude`: starts it in a process group, lends it our stdin, stdout and
 * stderr, and ends the whole group when the daemon says so or is gone. The daemon may be killed with SIGKILL, which it
 * cannot answer; the channel to it breaks all the same, and that is the sign.
 */
import { execFile, spawn } from 'node:child_process'
import { systemCode } from '../../../errors.ts'
import { type GuardMessage, STOP } from './guard-words.ts'

/** `claude` needs no longer to write down what it has; a program that ignores SIGTERM gets no more. */
const GRACE_MS = 1_000

const [program = '', ...args] = process.argv.slice(2)
const isWindows = process.platform === 'win32'

// The group of its own is what can be ended whole. Windows has none: there the tree is walked.
const child = spawn(program, args, { stdio: 'inherit', detached: !isWindows, windowsHide: true })
let stopping = false

child.on('error', (error) => leave({ type: 'failed', code: systemCode(error) ?? null, message: error.message }))
child.on('spawn', () => tell({ type: 'started', pid: child.pid ?? 0 }))
child.on('exit', (code, signal) => {
  // Whatever it started itself and left behind.
  if (!isWindows) signalGroup('SIGKILL')
  leave({ type: 'ended', code, signal })
})

process.on('message', (message) => {
  if (message === STOP) stop()
})
process.on('disconnect', stop)
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, stop)
// The daemon may have died before we listened.
if (!process.connected) stop()

function stop(): void {
  if (stopping) return
  stopping = true
  if (isWindows) {
    execFile('taskkill', ['/pid', String(child.pid), '/t', '/f'], { windowsHide: true }, () => child.kill('SIGKILL'))
    return
  }
  signalGroup('SIGTERM')
  setTimeout(() => signalGroup('SIGKILL'), GRACE_MS)
}

function signalGroup(signal: NodeJS.Signals): void {
  if (child.pid === undefined) return
  try {
    process.kill(-child.pid, signal)
  } catch {
    // Nobody is left in it.
  }
}

function tell(message: GuardMessage, told: () => void = () => {}): void {
  // A daemon that is gone needs no word.
  if (!process.connected || process.send === undefined) told()
  else process.send(message, undefined, undefined, told)
}

function leave(message: GuardMessage): void {
  tell(message, () => process.exit(0))
}
