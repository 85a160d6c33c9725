/** The daemon's local door, opened anew for each connection: after a restart it may lie elsewhere, with another token. */
import { readFileSync } from 'node:fs'
import { localSocket } from '../channel/client.ts'
import type { LiveSocket } from '../channel/live.ts'
import { PROTOCOL_VERSION } from '../channel/protocol.ts'
import type { Paths } from '../paths.ts'
import { VERSION } from '../version.ts'

export function openSocket(paths: Paths): LiveSocket {
  const socket = localSocket(paths)
  // Anyone may open a named pipe: there the first message has to bring the token.
  if (process.platform === 'win32') {
    const token = readFileSync(paths.token, 'utf8').trim()
    const hello = JSON.stringify({ v: PROTOCOL_VERSION, id: 'hello', type: 'hello', version: VERSION, token })
    socket.once('open', () => socket.send(hello))
  }
  return socket
}
