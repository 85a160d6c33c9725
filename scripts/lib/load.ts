/** Load for a daemon: connections with a fixed number of events in flight each, in a child process. */
import { fork } from 'node:child_process'
import { connect } from 'node:net'
import { WebSocket } from 'ws'
import { PROTOCOL_VERSION } from '../../src/domain/protocol.ts'
import { VERSION } from '../../src/lib/version.ts'
import { bash, eventOf } from './payloads.ts'

/** A new session starts before the largest batch is full: only accepting events is measured. */
const EVENTS_PER_SESSION = 200
const WARM_UP_MS = 1_000
const PAYLOAD_BYTES = 500

export interface Load {
  socket: string
  connections: number
  inFlight: number
  seconds: number
  /** Part of every event id: an event of an earlier run on the same memory would count as a duplicate. */
  run?: number
}

export interface LoadResult {
  /** Events that were acknowledged within the measured time. */
  acks: number
  seconds: number
  latenciesMs: number[]
}

const CHILD = '--load-clients'

/** Runs the load in a child process: this bundle with another argument. */
export function runLoad(load: Load): Promise<LoadResult> {
  const script = process.argv[1]
  if (script === undefined) throw new Error('process.argv[1] is empty: the child process cannot be started')
  return new Promise((resolve, reject) => {
    const child = fork(script, [CHILD, JSON.stringify(load)])
    child.once('message', (result) => resolve(result as LoadResult))
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`the clients ended with exit code ${code}`)))
  })
}

/** True in the child process, after its work is done. */
export async function isLoadChild(): Promise<boolean> {
  const at = process.argv.indexOf(CHILD)
  if (at === -1) return false
  const result = await clients(JSON.parse(process.argv[at + 1] ?? ''))
  process.send?.(result, () => process.exit(0))
  return true
}

async function clients(load: Load): Promise<LoadResult> {
  const result: LoadResult = { acks: 0, seconds: load.seconds, latenciesMs: [] }
  const from = performance.now() + WARM_UP_MS
  const until = from + load.seconds * 1_000
  const acked = (sentAt: number, now: number) => {
    if (now < from || now > until) return
    result.acks += 1
    result.latenciesMs.push(now - sentAt)
  }
  await Promise.all(
    Array.from({ length: load.connections }, (_, i) => connection(load, `r${load.run ?? 0}-c${i}`, until, acked)),
  )
  return result
}

/** Not as `ws+unix:PATH:/`: a path may contain characters that mean something in an address. */
export function openSocketAt(path: string): WebSocket {
  return new WebSocket('ws://localhost/', { createConnection: () => connect(path), perMessageDeflate: false })
}

/** Closed loop: the next event is sent when an ack arrives. */
function connection(
  load: Load,
  name: string,
  until: number,
  acked: (sentAt: number, now: number) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = openSocketAt(load.socket)
    const sentAt = new Map<string, number>()
    const template = eventOf(
      bash({ session: name, prompt: 'p', cwd: '/' }, 'id', 'npm test', 'x'.repeat(PAYLOAD_BYTES)),
    )
    let sent = 0
    const send = () => {
      const id = `${name}-${sent}`
      const event = { ...template, id, session: `${name}-${Math.floor(sent / EVENTS_PER_SESSION)}`, at: Date.now() }
      sent += 1
      sentAt.set(id, performance.now())
      socket.send(JSON.stringify({ v: PROTOCOL_VERSION, id, type: 'event', event, version: VERSION }))
    }
    socket.on('open', () => {
      for (let n = 0; n < load.inFlight; n++) send()
    })
    socket.on('message', (data) => {
      const answer: { id: string; type: string; message?: string } = JSON.parse(String(data))
      if (answer.type !== 'ack')
        return reject(new Error(`an event was answered with ${answer.type}: ${answer.message}`))
      const now = performance.now()
      acked(sentAt.get(answer.id) ?? now, now)
      sentAt.delete(answer.id)
      if (now < until) send()
      else if (sentAt.size === 0) socket.close()
    })
    socket.on('close', () => (sentAt.size === 0 ? resolve() : reject(new Error('the daemon closed a connection'))))
    socket.on('error', reject)
  })
}
