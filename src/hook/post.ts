/**
 * Posts a client's payload, as it is, to the hook door of the daemon (src/transport/hook-door.ts) and reads the line that
 * the client gets. HTTP/1.1 by hand: loading `node:http` would take longer than everything else that a hook does.
 */
import { Socket } from 'node:net'
import { readTextFile } from '../lib/files.ts'
import type { Paths } from '../lib/paths.ts'
import { VERSION } from '../lib/version.ts'

/** Why there is no answer. The hook reads the payload itself then, and spools its events. */
export type PostFailure =
  /** No daemon listens on the socket. */
  | 'no_listener'
  /** The connection was closed without a whole answer. */
  | 'disconnected'
  | 'timeout'
  /** A hook waited in vain a moment ago: the daemon was not asked. */
  | 'hangs'
  /** The data directory lies below the directory of this process: the daemon was not asked. */
  | 'unasked'
  /** The daemon is about to exit, or is older than this hook. */
  | 'leaving'
  | 'refused'

export interface Post {
  client: string
  /** Unique to this run of the hook: the event's id is derived from it where the client sends none (P1). */
  seed: string
  colors: boolean
  /** Of a payload without a directory. */
  cwd: string
  /** Event name for a payload without one; empty: it has one. */
  event: string
  /** What the environment of the hook says (variables.ts). */
  variables: Record<string, string>
}

export type Posted = { line: string } | { failure: PostFailure }

/** A seed becomes a part of an event's id. */
export function isSeed(text: string): boolean {
  return /^[0-9A-Za-z-]{1,64}$/.test(text)
}

export const HOOK_PATH = '/hook'
/** A header with JSON, URI-encoded: of the variables, where there are any. */
export const VARIABLES_HEADER = 'x-claude-mem-variables'

const CONNECT_TIMEOUT_MS = 200
/** The context of a starting session is rendered before the answer. */
const ANSWER_TIMEOUT_MS = 2_000
/** Far above any context. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024

export function postPayload(bytes: Uint8Array, paths: Pick<Paths, 'socket' | 'token'>, post: Post): Promise<Posted> {
  return new Promise((resolve) => {
    const socket = new Socket()
    const chunks: Buffer[] = []
    let size = 0
    let connected = false
    const finish = (result: Posted): void => {
      clearTimeout(timer)
      socket.destroy()
      resolve(result)
    }
    let timer = setTimeout(() => finish({ failure: 'timeout' }), CONNECT_TIMEOUT_MS)
    socket.on('connect', () => {
      connected = true
      clearTimeout(timer)
      timer = setTimeout(() => finish({ failure: 'timeout' }), ANSWER_TIMEOUT_MS)
    })
    socket.on('data', (chunk) => {
      chunks.push(chunk)
      size += chunk.length
      if (size > MAX_ANSWER_BYTES) return finish({ failure: 'refused' })
      const answer = readAnswer(Buffer.concat(chunks), post.seed)
      if (answer !== null) finish(answer)
    })
    socket.on('error', (error: NodeJS.ErrnoException) => {
      // With a full backlog (EAGAIN) the daemon is busy but running: the hook must not start another one.
      const busy = ['EAGAIN', 'EMFILE', 'EACCES', 'EPERM'].includes(error.code ?? '')
      finish({ failure: connected ? 'disconnected' : busy ? 'timeout' : 'no_listener' })
    })
    socket.on('close', () => finish({ failure: 'disconnected' }))
    socket.connect({ path: paths.socket })
    socket.write(Buffer.concat([Buffer.from(requestHead(bytes.length, paths.token, post), 'latin1'), bytes]))
  })
}

function requestHead(length: number, tokenFile: string, { colors, variables, ...post }: Post): string {
  const query = Object.entries({ ...post, version: VERSION, colors: colors ? '1' : '0' })
    .map(([name, value]) => `${name}=${encodeURIComponent(value.toWellFormed())}`)
    .join('&')
  const head = [
    `POST ${HOOK_PATH}?${query} HTTP/1.1`,
    'Host: localhost',
    'Content-Type: application/json',
    `Content-Length: ${length}`,
    'Connection: close',
  ]
  if (Object.keys(variables).length > 0) {
    head.push(`${VARIABLES_HEADER}: ${encodeURIComponent(JSON.stringify(variables).toWellFormed())}`)
  }
  // Any user may open a named pipe.
  if (process.platform === 'win32') head.push(`Authorization: Bearer ${readTextFile(tokenFile)?.trim() ?? ''}`)
  return `${head.join('\r\n')}\r\n\r\n`
}

/** Null while the answer is not complete. Its last line is the seed: without it the answer is not the daemon's. */
function readAnswer(bytes: Buffer, seed: string): Posted | null {
  const end = bytes.indexOf('\r\n\r\n')
  if (end === -1) return null
  const head = bytes.toString('latin1', 0, end)
  const status = /^HTTP\/1\.1 (\d{3})/.exec(head)?.[1]
  const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1])
  if (status === undefined || !Number.isInteger(length)) return { failure: 'refused' }
  const body = bytes.subarray(end + 4)
  if (body.length < length) return null
  const text = body.toString('utf8', 0, length)
  if (status !== '200') return { failure: /"code":"(?:draining|conflict)"/.test(text) ? 'leaving' : 'refused' }
  const tail = `\n${seed}\n`
  return text.endsWith(tail) ? { line: text.slice(0, -tail.length) } : { failure: 'refused' }
}
