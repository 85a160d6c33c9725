/**
 * Standard input and output by their descriptors: reading and writing them directly is cheaper than a stream, and done
 * when it returns.
 */
import { readFileSync, readSync, writeSync } from 'node:fs'

/** Above it a payload is not read: no tool result of that size can be observed, and memory has an end. */
export const MAX_PAYLOAD_BYTES = 64 * 1024 * 1024
const READ_BYTES = 65_536

/** Null where there is more than is read. */
export function readAll(stdin: number): Buffer | null {
  const chunks: Buffer[] = []
  let total = 0
  for (;;) {
    const chunk = Buffer.allocUnsafe(total < READ_BYTES ? READ_BYTES : READ_BYTES * 16)
    let length: number
    try {
      length = readSync(stdin, chunk, 0, chunk.length, null)
    } catch (error) {
      if (isBusy(error)) {
        pause()
        continue
      }
      // Windows reports a closed pipe as an error.
      length = 0
    }
    if (length === 0) break
    total += length
    if (total > MAX_PAYLOAD_BYTES) return null
    chunks.push(chunk.subarray(0, length))
  }
  return chunks.length === 1 ? (chunks[0] ?? null) : Buffer.concat(chunks)
}

/** One line of JSON. */
export function writeLine(stdout: number, value: Record<string, unknown>): void {
  const bytes = Buffer.from(`${JSON.stringify(value)}\n`)
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(stdout, bytes, at)
    } catch (error) {
      if (!isBusy(error)) return
      pause()
    }
  }
}

export function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EAGAIN'
}

/** A pipe that its owner made non-blocking says EAGAIN where others wait. */
function pause(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2)
}
