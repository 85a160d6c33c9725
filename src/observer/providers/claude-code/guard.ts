/**
 * A process between the daemon and `claude`, so that no `claude` outlives the daemon. It starts `claude` in a process
 * group of its own, passes on stdin, stdout and stderr, and kills the whole group when the daemon says so or is gone. A
 * daemon that is killed with SIGKILL cannot say so, but its IPC channel breaks.
 */
import { execFile, spawn } from 'node:child_process'
import { systemCode } from '../../../lib/errors.ts'
import type { GuardMessage } from './run-guarded.ts'

/** Time between SIGTERM and SIGKILL: enough for `claude` to write its state. */
const KILL_DELAY_MS = 1_000

const [program = '', ...args] = process.argv.slice(2)
const isWindows = process.platform === 'win32'

// A process group can be killed as a whole. Windows has none; there `taskkill /t` walks the process tree.
const child = spawn(program, args, { stdio: 'inherit', detached: !isWindows, windowsHide: true })
let stopping = false

child.on('error', (error) => exitAfter({ type: 'failed', code: systemCode(error) ?? null, message: error.message }))
child.on('spawn', () => send({ type: 'started', pid: child.pid ?? 0 }))
child.on('exit', (code, signal) => {
  // Processes that `claude` started and left behind.
  if (!isWindows) signalGroup('SIGKILL')
  exitAfter({ type: 'ended', code, signal })
})

// The daemon sends only one message: stop.
process.on('message', stop)
process.on('disconnect', stop)
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, stop)
// The daemon may have died before the listeners were added.
if (!process.connected) stop()

function stop(): void {
  if (stopping) return
  stopping = true
  if (isWindows) {
    execFile('taskkill', ['/pid', String(child.pid), '/t', '/f'], { windowsHide: true }, () => child.kill('SIGKILL'))
    return
  }
  signalGroup('SIGTERM')
  setTimeout(() => signalGroup('SIGKILL'), KILL_DELAY_MS)
}

function signalGroup(signal: NodeJS.Signals): void {
  if (child.pid === undefined) return
  try {
    process.kill(-child.pid, signal)
  } catch {
    // The group is empty.
  }
}

function send(message: GuardMessage, done: () => void = () => {}): void {
  if (!process.connected || process.send === undefined) done()
  else process.send(message, undefined, undefined, done)
}

function exitAfter(message: GuardMessage): void {
  send(message, () => process.exit(0))
}
