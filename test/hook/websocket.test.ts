import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { encodeFrame, FrameReader } from '../../src/hook/websocket.ts'

const UPGRADE = Buffer.from(
  'HTTP/1.1 101 Switching Protocols\r\nSec-WebSocket-Accept: 6+ikhVxl5pDB64+bKsY1yH6aHoA=\r\n\r\n',
)

/** A server's frame: as the client's, without the mask. */
function serverFrame(first: number, payload: Buffer): Buffer {
  const { length } = payload
  const head = length < 126 ? Buffer.from([first, length]) : Buffer.alloc(length < 65_536 ? 4 : 10)
  if (length >= 126) head[0] = first
  if (length >= 126 && length < 65_536) {
    head[1] = 126
    head.writeUInt16BE(length, 2)
  } else if (length >= 65_536) {
    head[1] = 127
    head.writeBigUInt64BE(BigInt(length), 2)
  }
  return Buffer.concat([head, payload])
}

function readAll(bytes: Buffer, cuts: readonly number[]): { texts: string[]; broken: boolean } {
  const reader = new FrameReader()
  const texts: string[] = []
  const points = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b)
  let from = 0
  for (const to of [...points, bytes.length]) {
    for (const { opcode, payload } of reader.push(bytes.subarray(from, to)))
      if (opcode === 1) texts.push(String(payload))
    from = to
  }
  return { texts, broken: reader.broken }
}

describe('frames', () => {
  it.each([0, 1, 125, 126, 65_535, 65_536, 600_000])('of %d bytes are masked and whole', (length) => {
    const payload = Buffer.alloc(length, 'é')
    const bytes = encodeFrame(1, payload)
    const short = (bytes[1] ?? 0) & 0x7f
    const head = short < 126 ? 2 : short === 126 ? 4 : 10
    const said = short < 126 ? short : short === 126 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2))
    expect(said).toBe(length)
    expect((bytes[1] ?? 0) & 0x80).toBe(0x80)
    const key = bytes.subarray(head, head + 4)
    expect(key.every((byte) => byte !== 0)).toBe(true)
    const unmasked = bytes.subarray(head + 4).map((byte, i) => byte ^ (key[i % 4] ?? 0))
    expect(Buffer.compare(unmasked, payload)).toBe(0)
  })

  it('are read in chunks of any size', () => {
    const text = fc.oneof(
      fc.string(),
      fc.integer({ min: 120, max: 70_000 }).map((length) => 'ü'.repeat(length)),
    )
    fc.assert(
      fc.property(fc.array(text, { maxLength: 4 }), fc.array(fc.nat(), { maxLength: 12 }), (texts, cuts) => {
        const frames = texts.flatMap((part) => {
          const bytes = Buffer.from(part)
          const half = bytes.length >> 1
          return [
            serverFrame(0x01, bytes.subarray(0, half)),
            serverFrame(0x89, Buffer.from('ping')),
            serverFrame(0x80, bytes.subarray(half)),
          ]
        })
        expect(readAll(Buffer.concat([UPGRADE, ...frames]), cuts)).toEqual({ texts, broken: false })
      }),
    )
  })

  it.each([
    ['a masked frame of a server', Buffer.from([0x81, 0x80, 1, 2, 3, 4])],
    ['reserved bits', Buffer.from([0xc1, 0])],
    ['a length beyond reason', Buffer.from([0x81, 127, 0, 1, 0, 0, 0, 0, 0, 0])],
  ])('break off at %s', (_what, bytes) => expect(readAll(Buffer.concat([UPGRADE, bytes]), []).broken).toBe(true))

  it('survive any bytes', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 200 }),
        fc.array(fc.nat(), { maxLength: 5 }),
        fc.boolean(),
        (noise, cuts, upgraded) => {
          readAll(Buffer.concat([upgraded ? UPGRADE : Buffer.alloc(0), noise]), cuts)
        },
      ),
    )
  })
})
