/**
 * A minimal RFC 6455 client for one request and one answer. The request is sent in the same write as the HTTP upgrade,
 * so a hook waits for one round trip instead of two. A library would double the size of the hook bundle.
 */
import { type NetConnectOpts, Socket } from 'node:net'

export type RequestFailure =
  /** No daemon listens on the socket. */
  | 'no_listener'
  /** The connection was closed without an answer. */
  | 'disconnected'
  | 'timeout'
  | 'protocol'

type RequestResult<T> = { type: 'answer'; answer: T } | { type: 'failed'; failure: RequestFailure }

interface RequestOptions<T> {
  connect: NetConnectOpts
  message: string
  connectTimeoutMs: number
  answerTimeoutMs: number
  /** Null for a message that is not the answer; it is skipped. */
  read(text: string): T | null
}

/** The key is not a secret; it only proves that the server speaks WebSocket. A fixed key avoids SHA-1 in the hook. */
const KEY = 'Y2xhdWRlLW1lbS1ob29rIQ=='
const ACCEPT = '6+ikhVxl5pDB64+bKsY1yH6aHoA='
const UPGRADE = `GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: ${KEY}\r\nSec-WebSocket-Version: 13\r\n\r\n`

const CONTINUATION = 0x0
const TEXT = 0x1
const CLOSE = 0x8
const PING = 0x9
const PONG = 0xa

/** Far above any context; a larger answer is treated as a protocol error. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024
const MAX_HEADER_BYTES = 16 * 1024

export function sendRequest<T>(options: RequestOptions<T>): Promise<RequestResult<T>> {
  return new Promise((resolve) => {
    const socket = new Socket()
    const reader = new FrameReader()
    let connected = false
    let timer = setTimeout(() => settle({ type: 'failed', failure: 'timeout' }), options.connectTimeoutMs)
    let settled = false

    const settle = (result: RequestResult<T>): void => {
      if (settled) return
      settled = true
      clearTimeout(timer)
      if (result.type === 'answer') socket.end(encodeFrame(CLOSE, Buffer.from([0x03, 0xe8])))
      else socket.destroy()
      resolve(result)
    }
    const handleFrame = ({ opcode, payload }: Frame): void => {
      if (opcode === PING) socket.write(encodeFrame(PONG, payload))
      if (opcode === CLOSE) settle({ type: 'failed', failure: 'disconnected' })
      if (opcode !== TEXT) return
      const answer = options.read(payload.toString('utf8'))
      if (answer !== null) settle({ type: 'answer', answer })
    }

    socket.on('connect', () => {
      connected = true
      clearTimeout(timer)
      timer = setTimeout(() => settle({ type: 'failed', failure: 'timeout' }), options.answerTimeoutMs)
    })
    socket.on('data', (chunk) => {
      for (const received of reader.push(chunk)) if (!settled) handleFrame(received)
      if (reader.broken) settle({ type: 'failed', failure: 'protocol' })
    })
    socket.on('error', (error: NodeJS.ErrnoException) => {
      // With a full backlog (EAGAIN) the daemon is busy but running: the hook must not start another one.
      const busy = ['EAGAIN', 'EMFILE', 'EACCES', 'EPERM'].includes(error.code ?? '')
      settle({ type: 'failed', failure: connected ? 'disconnected' : busy ? 'timeout' : 'no_listener' })
    })
    socket.on('close', () => settle({ type: 'failed', failure: 'disconnected' }))
    socket.connect(options.connect)
    socket.write(
      Buffer.concat([Buffer.from(UPGRADE, 'latin1'), encodeFrame(TEXT, Buffer.from(options.message, 'utf8'))]),
    )
  })
}

/** Client frames must be masked (to protect proxies). There is no proxy on a local socket, so any key will do. */
export function encodeFrame(opcode: number, payload: Buffer): Buffer {
  const length = payload.length
  const extra = length < 126 ? 0 : length < 65_536 ? 2 : 8
  const head = 2 + extra + 4
  const bytes = Buffer.allocUnsafe(head + length)
  bytes[0] = 0x80 | opcode
  bytes[1] = 0x80 | (extra === 0 ? length : extra === 2 ? 126 : 127)
  if (extra === 2) bytes.writeUInt16BE(length, 2)
  if (extra === 8) bytes.writeBigUInt64BE(BigInt(length), 2)
  const key = [(process.pid & 0xff) | 1, 0x5a, 0xa5, (length & 0xff) | 1]
  for (let i = 0; i < 4; i++) bytes[2 + extra + i] = key[i] ?? 0
  for (let i = 0; i < length; i++) bytes[head + i] = (payload[i] ?? 0) ^ (key[i & 3] ?? 0)
  return bytes
}

interface Frame {
  opcode: number
  payload: Buffer
}

/** Parses the server's bytes, in chunks of any size, into frames; fragmented text messages are joined. */
export class FrameReader {
  broken = false
  private upgraded = false
  private chunks: Buffer[] = []
  private size = 0
  /** Chunks are not joined again before this many bytes have arrived. */
  private needed = 0
  private parts: Buffer[] = []

  push(chunk: Buffer): Frame[] {
    this.chunks.push(chunk)
    this.size += chunk.length
    const frames: Frame[] = []
    if (this.broken || this.size < this.needed) return frames
    let rest = this.chunks.length === 1 ? chunk : Buffer.concat(this.chunks)
    this.needed = 0
    if (!this.upgraded) rest = this.readUpgrade(rest)
    while (this.upgraded && !this.broken) {
      const next = this.readFrame(rest)
      if (next === null) break
      rest = rest.subarray(next.end)
      if (next.frame !== null) frames.push(next.frame)
    }
    this.chunks = [rest]
    this.size = rest.length
    return frames
  }

  private readUpgrade(bytes: Buffer): Buffer {
    const end = bytes.indexOf('\r\n\r\n')
    if (end === -1) {
      this.broken = bytes.length > MAX_HEADER_BYTES
      return bytes
    }
    const head = bytes.toString('latin1', 0, end)
    const accept = /^sec-websocket-accept:[ \t]*(\S+)/im.exec(head)?.[1]
    this.upgraded = /^HTTP\/1\.1 101\b/.test(head) && accept === ACCEPT
    this.broken = !this.upgraded
    return bytes.subarray(end + 4)
  }

  private readFrame(bytes: Buffer): { end: number; frame: Frame | null } | null {
    const first = bytes[0]
    const second = bytes[1]
    if (first === undefined || second === undefined) return null
    const short = second & 0x7f
    const head = short < 126 ? 2 : short === 126 ? 4 : 10
    if (bytes.length < head) return null
    const length = short < 126 ? short : short === 126 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2))
    // No extension was negotiated, so reserved bits must be 0; a server must not mask.
    if ((first & 0x70) !== 0 || (second & 0x80) !== 0 || length > MAX_ANSWER_BYTES) {
      this.broken = true
      return null
    }
    const end = head + length
    if (bytes.length < end) {
      this.needed = end
      return null
    }
    return { end, frame: this.assemble(first, bytes.subarray(head, end)) }
  }

  /** Control frames may come between the parts of a message. */
  private assemble(first: number, payload: Buffer): Frame | null {
    const opcode = first & 0x0f
    if (opcode >= CLOSE) return { opcode, payload }
    if (opcode !== CONTINUATION) this.parts = []
    this.parts.push(payload)
    if ((first & 0x80) === 0) return null
    const whole = this.parts.length === 1 ? payload : Buffer.concat(this.parts)
    this.parts = []
    return { opcode: TEXT, payload: whole }
  }
}
