/** Daemons as real processes: start one, find the one that serves, stop it. */
import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { ChannelClient } from '../../src/channel/client.ts'
import type { Status } from '../../src/channel/protocol.ts'
import { VERSION } from '../../src/version.ts'
import type { Place } from './place.ts'
import { DAEMON } from './root.ts'
import { until } from './until.ts'

/** As `src/daemon.ts` has it; importing that file into a bundle would start a daemon. */
export const EXIT_ALREADY_RUNNING = 3

export interface Exit {
  code: number | null
  signal: NodeJS.Signals | null
}

export interface DaemonProcess {
  pid: number
  child: ChildProcess
  /** Null while it lives. */
  exit: Exit | null
  exited: Promise<Exit>
}

export function spawnDaemon(place: Place, env: NodeJS.ProcessEnv = {}): DaemonProcess {
  const child = spawn(process.execPath, [DAEMON], {
    env: { ...place.env, ...env },
    stdio: 'ignore',
    cwd: place.paths.dataDir,
  })
  const { pid } = child
  if (pid === undefined) throw new Error(`${DAEMON} could not be started`)
  const exited = new Promise<Exit>((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })))
  const daemon: DaemonProcess = { pid, child, exit: null, exited }
  void exited.then((exit) => {
    daemon.exit = exit
  })
  return daemon
}

/** Null when nobody serves within the time. */
export async function connect(place: Place, limitMs: number): Promise<ChannelClient | null> {
  const deadline = performance.now() + limitMs
  for (;;) {
    try {
      return await ChannelClient.connect(place.paths)
    } catch {
      if (performance.now() > deadline) return null
      await sleep(5)
    }
  }
}

/** The pid of the daemon that answers, null when none does within the time. */
export async function servingPid(place: Place, limitMs: number): Promise<number | null> {
  const client = await connect(place, limitMs)
  if (client === null) return null
  try {
    return (await client.request('hello', { type: 'hello', version: VERSION }, limitMs + 1_000)).pid
  } catch {
    return null
  } finally {
    client.close()
  }
}

/** Started, and answering. */
export async function startDaemon(place: Place, limitMs = 20_000): Promise<DaemonProcess> {
  const daemon = spawnDaemon(place)
  const client = await connect(place, limitMs)
  if (client === null) {
    daemon.child.kill('SIGKILL')
    throw new Error(`the daemon did not serve within ${limitMs / 1000} s (exit ${JSON.stringify(daemon.exit)})`)
  }
  client.close()
  return daemon
}

export async function statusOf(place: Place): Promise<Status> {
  const client = await ChannelClient.connect(place.paths)
  try {
    return (await client.request('status', { type: 'status' })).status
  } finally {
    client.close()
  }
}

/** Asks the daemon to stop, whoever started it; false when it lives on. */
export async function stopServing(place: Place, limitMs = 10_000): Promise<boolean> {
  const pid = await servingPid(place, 0)
  if (pid === null) return true
  process.kill(pid, 'SIGTERM')
  return await until(() => !isAlive(pid), limitMs)
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  return !isZombie(pid)
}

/** Dead, but nobody has asked for its exit code: a daemon that a hook started belongs to the system's first process. */
function isZombie(pid: number): boolean {
  try {
    return /^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))
  } catch {
    return false
  }
}
