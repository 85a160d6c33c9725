/** A hook payload on standard input, where there may be none: nobody waits for what does not come. */
import { fstatSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { MAX_PAYLOAD_BYTES } from '../hook/io.ts'
import { parsePayload } from '../hook/payload.ts'

/** A client writes its payload while it starts us; a pipe that stays silent for this long is not one, in ms. */
const FIRST_BYTE_MS = 500
/** Whoever has begun is slow at the most, in ms. */
const REST_MS = 5_000

/** Null where nobody gave one: a terminal, nothing, silence, or something that is no JSON object. */
export async function payloadFrom(stdin: Readable & { fd?: number; isTTY?: boolean }): Promise<Buffer | null> {
  if (stdin.isTTY === true || isDevice(stdin.fd ?? 0)) return null
  const bytes = await readWithin(stdin, FIRST_BYTE_MS, REST_MS)
  return bytes === null || parsePayload(bytes.toString('utf8')) === null ? null : bytes
}

/** `/dev/null`, a terminal, or no standard input at all. */
function isDevice(descriptor: number): boolean {
  try {
    return fstatSync(descriptor).isCharacterDevice()
  } catch {
    return true
  }
}

function readWithin(input: Readable, firstMs: number, restMs: number): Promise<Buffer | null> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    let bytes = 0
    const done = (value: Buffer | null): void => {
      clearTimeout(timer)
      input.removeAllListeners('data')
      input.removeAllListeners('end')
      // Left open it would keep the process alive.
      input.destroy()
      resolve(value)
    }
    let timer = setTimeout(() => done(null), firstMs)
    input.on('data', (chunk: Buffer) => {
      if (chunks.length === 0) {
        clearTimeout(timer)
        timer = setTimeout(() => done(Buffer.concat(chunks)), restMs)
      }
      bytes += chunk.length
      if (bytes > MAX_PAYLOAD_BYTES) done(null)
      else chunks.push(chunk)
    })
    input.on('end', () => done(Buffer.concat(chunks)))
    input.on('error', () => done(null))
  })
}
