/** Targets on the daemon's sockets: WebSocket frames and HTTP requests, as raw bytes on the local socket and on the TCP port. */
import { randomBytes as cryptoBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createConnection, type Socket } from 'node:net'
import { ROUTES } from '../../src/api/routes.ts'
import { PROTOCOL_VERSION } from '../../src/domain/protocol.ts'
import type { Random } from '../lib/random.ts'
import { hardText, mutateBytes, mutateJson, mutateText, randomBytes } from './mutate.ts'
import { memoryEvent, request, words } from './samples.ts'
import { Finding, type TargetContext, type TargetSpec } from './target.ts'

const LANES = 20
/** How long an input that need not be answered is given, in ms. */
const QUIET_MS = 25
/** Every other input is answered, or its connection closed, within this time on a loaded machine, in ms. */
const ANSWER_MS = 15_000

interface Door {
  connect(): Socket
  /** Headers that let a request in. */
  headers: string
}

function openDoors({ paths }: TargetContext): { local: Door; tcp: Door } {
  const { port }: { port: number } = JSON.parse(readFileSync(paths.port, 'utf8'))
  const token = readFileSync(paths.token, 'utf8').trim()
  return {
    local: { connect: () => createConnection({ path: paths.socket }), headers: 'Host: localhost\r\n' },
    tcp: {
      connect: () => createConnection({ host: '127.0.0.1', port }),
      headers: `Host: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\n`,
    },
  }
}

/** One connection: what arrived, and a way to wait for more. */
class Line {
  readonly #socket: Socket
  #received = Buffer.alloc(0)
  #wake: () => void = () => undefined
  closed = false

  constructor(socket: Socket) {
    this.#socket = socket
    socket.on('data', (chunk: Buffer) => {
      this.#received = Buffer.concat([this.#received, chunk])
      this.#wake()
    })
    const end = () => {
      this.closed = true
      this.#wake()
    }
    socket.on('close', end)
    socket.on('end', end)
    socket.on('error', end)
  }

  get received(): Buffer {
    return this.#received
  }

  send(bytes: Buffer | string): void {
    if (!this.closed) this.#socket.write(bytes)
  }

  /** Takes bytes off the front. */
  take(count: number): Buffer {
    const taken = this.#received.subarray(0, count)
    this.#received = this.#received.subarray(count)
    return taken
  }

  /** True when `isEnough`; false when the connection is closed or the time is over. */
  async until(isEnough: () => boolean, ms: number): Promise<boolean> {
    const deadline = performance.now() + ms
    for (;;) {
      if (isEnough()) return true
      const left = deadline - performance.now()
      if (this.closed || left <= 0) return false
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left)
        this.#wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
  }

  destroy(): void {
    this.#socket.destroy()
    this.closed = true
  }
}

// ---- WebSocket frames

const KEY = Buffer.alloc(16, 7).toString('base64')

function handshake({ headers }: Door): string {
  return `GET / HTTP/1.1\r\n${headers}Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${KEY}\r\n\r\n`
}

interface FrameOptions {
  opcode?: number
  fin?: boolean
  rsv?: number
  masked?: boolean
  /** The length that the header claims. */
  claimed?: number
  /** Bits of the length field: more than needed is against the protocol. */
  form?: 7 | 16 | 64
}

export function frame(payload: Buffer, options: FrameOptions = {}): Buffer {
  const { opcode = 1, fin = true, rsv = 0, masked = true, claimed = payload.length } = options
  const form = options.form ?? (claimed < 126 ? 7 : claimed < 65_536 ? 16 : 64)
  const head = Buffer.alloc(form === 7 ? 2 : form === 16 ? 4 : 10)
  head[0] = (fin ? 0x80 : 0) | (rsv << 4) | opcode
  head[1] = (masked ? 0x80 : 0) | (form === 7 ? claimed & 0x7f : form === 16 ? 126 : 127)
  if (form === 16) head.writeUInt16BE(claimed & 0xffff, 2)
  if (form === 64) head.writeBigUInt64BE(BigInt.asUintN(64, BigInt(Math.floor(claimed))), 2)
  if (!masked) return Buffer.concat([head, payload])
  const mask = cryptoBytes(4)
  return Buffer.concat([head, mask, payload.map((byte, i) => byte ^ (mask[i % 4] ?? 0))])
}

interface FrameInput {
  bytes: Buffer
  /** The daemon may rightly wait for more. */
  quiet: boolean
}

const CLOSE_CODES = [0, 999, 1000, 1001, 1004, 1005, 1006, 1015, 2999, 3000, 5000, 65_535] as const

function frameInput(random: Random): FrameInput {
  const text = Buffer.from(mutateJson(request(random), random))
  const dice = random.next()
  if (dice < 0.5) return { bytes: frame(text), quiet: false }
  if (dice < 0.56) return { bytes: frame(mutateBytes(text, random)), quiet: false }
  if (dice < 0.66) return fragments(text, random)
  if (dice < 0.76) return { bytes: controlFrame(random), quiet: false }
  if (dice < 0.86) return badHeader(text, random)
  if (dice < 0.96) return { bytes: mutateBytes(frame(text), random), quiet: true }
  if (dice < 0.98) return { bytes: frame(text, { opcode: 2 }), quiet: false }
  return { bytes: randomBytes(random, 200), quiet: true }
}

/** A message in pieces, some of them missing, in the wrong order or with control frames in between. */
function fragments(text: Buffer, random: Random): FrameInput {
  const pieces: Buffer[] = []
  const count = random.between(2, 6)
  for (let i = 0; i < count; i++) {
    const part = text.subarray(Math.floor((i * text.length) / count), Math.floor(((i + 1) * text.length) / count))
    pieces.push(frame(part, { opcode: i === 0 ? 1 : 0, fin: i === count - 1 }))
    if (random.chance(0.2)) pieces.push(controlFrame(random))
  }
  const damage = random.between(0, 3)
  if (damage === 1) pieces.splice(random.between(0, pieces.length - 1), 1)
  if (damage === 2) pieces.push(pieces[random.between(0, pieces.length - 1)] ?? text)
  if (damage === 3) pieces.reverse()
  return { bytes: Buffer.concat(pieces), quiet: damage !== 0 }
}

function controlFrame(random: Random): Buffer {
  const code = Buffer.alloc(2)
  code.writeUInt16BE(random.pick(CLOSE_CODES))
  return random.pick<() => Buffer>([
    () => frame(Buffer.alloc(random.between(0, 125), 1), { opcode: 9 }),
    () => frame(Buffer.alloc(random.between(126, 400), 1), { opcode: 9 }),
    () => frame(Buffer.alloc(0), { opcode: 10 }),
    () => frame(Buffer.from('x'), { opcode: 9, fin: false }),
    () => frame(Buffer.from('x'), { opcode: 8 }),
    () => frame(Buffer.concat([code, Buffer.from(hardText(random)).subarray(0, 120)]), { opcode: 8 }),
    () => frame(Buffer.concat([code, Buffer.from([0xff, 0xfe])]), { opcode: 8 }),
  ])()
}

function badHeader(text: Buffer, random: Random): FrameInput {
  const small = text.subarray(0, random.between(0, 60))
  return random.pick<() => FrameInput>([
    () => ({ bytes: frame(text, { opcode: random.between(3, 7) }), quiet: false }),
    () => ({ bytes: frame(text, { opcode: random.between(11, 15) }), quiet: false }),
    () => ({ bytes: frame(text, { rsv: random.between(1, 7) }), quiet: false }),
    () => ({ bytes: frame(text, { masked: false }), quiet: false }),
    // Too few bytes for the length: the daemon waits, and the connection ends.
    () => ({ bytes: frame(small, { claimed: small.length + random.between(1, 4_000_000) }), quiet: true }),
    () => ({
      bytes: frame(small, { claimed: random.pick([2 ** 31, 2 ** 32, 2 ** 53, 2 ** 62, 2 ** 63]), form: 64 }),
      quiet: false,
    }),
    () => ({ bytes: frame(small, { form: 64 }), quiet: true }),
    () => ({ bytes: frame(small, { form: 16 }), quiet: true }),
    () => ({ bytes: frame(text).subarray(0, random.between(1, 13)), quiet: true }),
  ])()
}

/** Texts of the server's frames that have arrived completely. */
function takeTexts(line: Line): string[] {
  const texts: string[] = []
  for (;;) {
    const { received } = line
    if (received.length < 2) return texts
    const short = (received[1] ?? 0) & 0x7f
    const head = short === 126 ? 4 : short === 127 ? 10 : 2
    if (received.length < head) return texts
    const length =
      short === 126 ? received.readUInt16BE(2) : short === 127 ? Number(received.readBigUInt64BE(2)) : short
    if (received.length < head + length) return texts
    const opcode = (received[0] ?? 0) & 0x0f
    line.take(head)
    const payload = line.take(length)
    if (opcode === 1) texts.push(payload.toString('utf8'))
    // The daemon now waits for this side to hang up.
    if (opcode === 8) line.destroy()
  }
}

/** An answer that says `internal` is an error that nobody expected. */
function checkAnswer(text: string): void {
  const answer: { type?: unknown; code?: unknown; message?: unknown } = JSON.parse(text)
  if (answer.type === 'error' && answer.code === 'internal') {
    throw new Finding(`an unexpected error: ${String(answer.message).slice(0, 200)}`)
  }
}

export const framesTarget: TargetSpec = {
  about: 'WebSocket frames, as bytes on the local socket and the TCP port',
  share: 200_000,
  daemon: true,
  open: (context) => {
    const doors = openDoors(context)
    const lines = new Map<number, Line>()
    const open = async (random: Random): Promise<Line | null> => {
      const door = random.chance(0.7) ? doors.local : doors.tcp
      const line = new Line(door.connect())
      // Some handshakes are damaged too, or are followed by frames at once.
      const damaged = random.chance(0.1)
      line.send(damaged ? mutateText(handshake(door), random) : handshake(door))
      const isUpgraded = () => line.received.indexOf('\r\n\r\n') >= 0
      const upgraded = await line.until(isUpgraded, damaged ? QUIET_MS : ANSWER_MS)
      if (upgraded && line.received.subarray(0, 12).toString('latin1') === 'HTTP/1.1 101') {
        line.take(line.received.indexOf('\r\n\r\n') + 4)
        return line
      }
      if (!upgraded && !damaged && !line.closed) throw new Finding('a handshake was not answered')
      line.destroy()
      return null
    }
    return {
      lanes: LANES,
      prepare: (random, index, lane) => async () => {
        const known = lines.get(lane)
        const line = known === undefined || known.closed || random.chance(0.05) ? await open(random) : known
        if (line !== known) known?.destroy()
        lines.delete(lane)
        if (line === null) return
        const { bytes, quiet } = frameInput(random)
        const id = `after-${index}`
        const hello = { v: PROTOCOL_VERSION, id, type: 'hello', version: '0.1.0' }
        line.send(Buffer.concat([bytes, frame(Buffer.from(JSON.stringify(hello)))]))
        let answered = false
        await line.until(
          () => {
            for (const text of takeTexts(line)) {
              checkAnswer(text)
              answered ||= text.includes(`"${id}"`)
            }
            return answered
          },
          quiet ? QUIET_MS : ANSWER_MS,
        )
        if (answered) lines.set(lane, line)
        else if (!line.closed && !quiet) throw new Finding('a frame was neither answered nor its connection closed')
        else line.destroy()
      },
      close: () => {
        for (const line of lines.values()) line.destroy()
      },
    }
  },
}

// ---- HTTP requests

const METHODS = [
  'GET',
  'POST',
  'PUT',
  'DELETE',
  'PATCH',
  'HEAD',
  'OPTIONS',
  'TRACE',
  'CONNECT',
  'get',
  'PROPFIND',
  '',
  'GET ',
] as const
const OTHER_PATHS = [
  '/',
  '/index.html',
  '/icon.svg',
  '/api',
  '/api/',
  '/api/openapi.json',
  '/api/viewer/open',
  '/..%2f..%2fetc%2fpasswd',
  '/../../../../etc/passwd',
  '/%00',
  '//api/health',
  '/api//health',
  '*',
  'http://evil.example/api/health',
  '/api/health?',
  '/api/sessions/%ff',
  '/%',
] as const
const QUERY_NAMES = [
  'q',
  'limit',
  'offset',
  'project',
  'type',
  'since',
  'until',
  'mode',
  'purge',
  'days',
  'tokens',
  'ids',
  'around',
  'kind',
  'session',
  'x',
] as const
/** Operations that end the daemon or write elsewhere are not reachable by these routes; settings would change it. */
const HTTP_ROUTES = ROUTES.filter(({ name }) => name !== 'setting_set' && name !== 'reindex')

function target(random: Random): { method: string; path: string; body: string } {
  const route = HTTP_ROUTES[random.between(0, HTTP_ROUTES.length - 1)]
  const method = random.chance(0.9) ? (route?.definition.method ?? 'GET') : random.pick(METHODS)
  const parameter = () =>
    encode(
      random.chance(0.6)
        ? random.pick(['1', '2', 'fuzz-0001', 'toolu_1', '999999999'])
        : hardText(random).slice(0, 300),
      random,
    )
  const named = random.chance(0.9) ? (route?.definition.path ?? '/') : random.pick(OTHER_PATHS)
  const path = named.replaceAll(/:\w+/g, parameter)
  const query = Array.from(
    { length: random.between(0, 3) },
    () =>
      `${random.pick(QUERY_NAMES)}=${encode(random.chance(0.5) ? words(random, 3) : hardText(random).slice(0, 400), random)}`,
  )
  const { v: _v, id: _id, type: _type, event: _event, ...fields } = request(random)
  const body = mutateJson(route?.name === 'event' && random.chance(0.8) ? eventFor(named, random) : fields, random)
  return { method, path: query.length === 0 ? path : `${path}?${query.join('&')}`, body }
}

/** A route accepts only some kinds of events. */
function eventFor(path: string, random: Random): Record<string, unknown> {
  const kinds = path.endsWith('/init')
    ? ['session_start', 'prompt']
    : path.endsWith('/summarize')
      ? ['turn_end', 'pre_compact', 'session_end']
      : ['tool_use', 'tool_failure', 'subagent_end']
  for (;;) {
    const event = memoryEvent(random)
    if (kinds.includes(String(event.kind))) return event
  }
}

function encode(text: string, random: Random): string {
  if (random.chance(0.1)) return text.replaceAll(/[\s#]/g, '+')
  try {
    return encodeURIComponent(text)
  } catch {
    // Half a character.
    return '%ed%a0%80'
  }
}

interface HttpInput {
  bytes: Buffer
  quiet: boolean
}

function httpInput(random: Random, door: Door): HttpInput {
  const { method, path, body } = target(random)
  const bytes = Buffer.from(body)
  const start = `${method} ${path} HTTP/1.1\r\n${door.headers}`
  const whole = Buffer.concat([
    Buffer.from(`${start}Content-Type: application/json\r\nContent-Length: ${bytes.length}\r\n\r\n`),
    bytes,
  ])
  const dice = random.next()
  if (dice < 0.6) return { bytes: whole, quiet: method === 'CONNECT' }
  if (dice < 0.75) return { bytes: mutateBytes(whole, random), quiet: true }
  if (dice < 0.88) return { bytes: smuggled(start, bytes, random), quiet: true }
  return { bytes: badHeaders(start, bytes, random), quiet: true }
}

/** Two readings of where the body ends. */
function smuggled(start: string, body: Buffer, random: Random): Buffer {
  const inner = 'GET /api/health HTTP/1.1\r\nHost: localhost\r\n\r\n'
  const size = (bytes: number) =>
    random.pick([
      bytes.toString(16),
      `0${bytes.toString(16)}`,
      `${bytes.toString(16)};x=y`,
      'ffffffffffffffff',
      '-1',
      'g',
      '',
    ])
  const chunked = `${size(body.length)}\r\n${body.toString('latin1')}\r\n0\r\n\r\n`
  const text = random.pick([
    `${start}Content-Length: ${body.length}\r\nTransfer-Encoding: chunked\r\n\r\n${chunked}`,
    `${start}Transfer-Encoding: chunked\r\n\r\n${chunked}`,
    `${start}Transfer-Encoding: chunked, identity\r\n\r\n${chunked}`,
    `${start}Transfer-Encoding : chunked\r\n\r\n${chunked}`,
    `${start}Transfer-Encoding: xchunked\r\nContent-Length: 3\r\n\r\n${chunked}`,
    `${start}Content-Length: ${body.length}\r\nContent-Length: 0\r\n\r\n${body.toString('latin1')}${inner}`,
    `${start}Content-Length: +${body.length}\r\n\r\n${inner}`,
    `${start}Content-Length: -1\r\n\r\n${inner}`,
    `${start}Content-Length: 99999999999999999999\r\n\r\n${inner}`,
    `${start}Content-Length: 0\r\n\r\n${inner}${inner}${inner}`,
    `${start.replaceAll('\r\n', '\n')}\n${inner}`,
    `${start}Expect: 100-continue\r\nContent-Length: ${body.length}\r\n\r\n${body.toString('latin1')}`,
    `${start}Transfer-Encoding: chunked\r\nTrailer: X\r\n\r\n${chunked.replace(/\r\n$/, 'X: y\r\n\r\n')}`,
  ])
  return Buffer.from(text, 'latin1')
}

function badHeaders(start: string, body: Buffer, random: Random): Buffer {
  const length = `Content-Length: ${body.length}\r\n`
  const text = random.pick<() => string>([
    () => `${start}X: ${'a'.repeat(random.between(1_000, 40_000))}\r\n${length}\r\n`,
    () =>
      `${start}${Array.from({ length: random.between(50, 3_000) }, (_, i) => `X${i}: 1\r\n`).join('')}${length}\r\n`,
    () => `${start}X: ${hardText(random).slice(0, 500)}\r\n${length}\r\n`,
    () => `${start}${hardText(random).slice(0, 100)}: x\r\n${length}\r\n`,
    () => `${start} folded: x\r\n\tmore\r\n${length}\r\n`,
    () => `${start}Host: evil.example\r\n${length}\r\n`,
    () => `${start}Origin: ${hardText(random).slice(0, 100)}\r\n${length}\r\n`,
    () => `${start}Authorization: Bearer ${hardText(random).slice(0, 300)}\r\n${length}\r\n`,
    () => `${start}Cookie: ${'a=b; '.repeat(random.between(1, 2_000))}\r\n${length}\r\n`,
    () =>
      `${start}Upgrade: ${random.pick(['websocket', 'h2c', hardText(random).slice(0, 50)])}\r\nConnection: Upgrade\r\n${length}\r\n`,
    () =>
      `${start.replace('HTTP/1.1', random.pick(['HTTP/0.9', 'HTTP/1.0', 'HTTP/2.0', 'HTTP/9.9', 'FTP/1.1', '']))}${length}\r\n`,
  ])()
  return Buffer.concat([Buffer.from(text), body])
}

/** Any status of 500 or more is an error that nobody expected, except 503 of a daemon that stops or a full disk. */
function checkResponse(text: string): void {
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0)
  if (status >= 500) {
    const body = text.slice(text.indexOf('\r\n\r\n') + 4)
    throw new Finding(`an unexpected error: HTTP ${status}: ${body.slice(0, 200)}`)
  }
  if (text.includes('root:x:0')) throw new Finding('a file outside of the viewer was served')
}

export const httpTarget: TargetSpec = {
  about: 'HTTP requests, as bytes on the local socket and the TCP port',
  share: 150_000,
  daemon: true,
  open: (context) => {
    const doors = openDoors(context)
    return {
      lanes: LANES,
      prepare: (random) => async () => {
        const door = random.chance(0.5) ? doors.local : doors.tcp
        const { bytes, quiet } = httpInput(random, door)
        const line = new Line(door.connect())
        line.send(bytes)
        const isAnswered = () => line.received.indexOf('\r\n\r\n') >= 0
        const answered = await line.until(isAnswered, quiet ? QUIET_MS : ANSWER_MS)
        const closed = line.closed
        line.destroy()
        if (line.received.length > 0) checkResponse(line.received.toString('latin1'))
        if (!answered && !closed && !quiet)
          throw new Finding('a request was neither answered nor its connection closed')
      },
      close: () => undefined,
    }
  },
}
