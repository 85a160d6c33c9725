/** Viewers without a browser: connections that follow the stream and read what they get, in a process of their own. */
import { fork } from 'node:child_process'
import { WebSocket } from 'ws'
import { PROTOCOL_VERSION } from '../../src/channel/protocol.ts'

const CHILD = '--watchers'

export interface Watchers {
  /** Items that all of them have got together. */
  stop(): Promise<number>
}

export function startWatchers(socket: string, count: number): Promise<Watchers> {
  const script = process.argv[1]
  if (script === undefined) throw new Error('there is no script to run again')
  return new Promise((resolve, reject) => {
    const child = fork(script, [CHILD, JSON.stringify({ socket, count })])
    let got = 0
    child.on('message', (message) => {
      if (typeof message === 'number') got = message
      else resolve({ stop: () => stopped().then(() => got) })
    })
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`the watchers ended with exit code ${code}`)))
    const stopped = () =>
      new Promise<void>((done) => {
        child.once('exit', () => done())
        child.send('stop')
      })
  })
}

/** True in the child, which ends when it is told to. */
export async function isWatchersChild(): Promise<boolean> {
  const at = process.argv.indexOf(CHILD)
  if (at === -1) return false
  const { socket, count }: { socket: string; count: number } = JSON.parse(process.argv[at + 1] ?? '')
  let got = 0
  await Promise.all(Array.from({ length: count }, () => follow(socket, () => (got += 1))))
  process.on('message', () => process.send?.(got, () => process.exit(0)))
  process.send?.('ready')
  return true
}

function follow(path: string, heard: () => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`ws+unix:${path}:/`, { perMessageDeflate: false })
    socket.on('open', () =>
      socket.send(JSON.stringify({ v: PROTOCOL_VERSION, id: '1', type: 'subscribe', since: null })),
    )
    socket.on('message', (data) => {
      const message: { type: string } = JSON.parse(String(data))
      if (message.type === 'subscribed') resolve()
      else heard()
    })
    socket.on('error', reject)
  })
}
