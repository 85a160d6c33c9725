/**
 * Standard input and output of a hook, by descriptor: synchronous calls start faster than streams, and the answer is written
 * when the call returns.
 */
import { readSync, writeSync } from 'node:fs'
import { systemCode } from '../lib/errors.ts'
import { pause } from '../lib/timeout.ts'

export interface HookIo {
  /** A descriptor, or the bytes already read from it. */
  stdin: number | Buffer
  stdout: number
  env: NodeJS.ProcessEnv
  /** Directory of `daemon.js`. */
  dist: string
  /** Command line arguments; `--client` names the client. */
  args: readonly string[]
  /** Event name for a payload without `hook_event_name`. */
  event?: string
}

/** A larger payload is not read, and the user is told: it would only fill memory, tool results are cut to a fraction of it. */
export const MAX_PAYLOAD_BYTES = 64 * 1024 * 1024
const READ_BYTES = 65_536
/** Where the fast hook has what it did not read of its own input, if it says `--rest`. */
const REST_OF_INPUT = 5

/** Null if there is more than `MAX_PAYLOAD_BYTES`. */
export function readInput({ stdin, args }: HookIo): Buffer | null {
  if (typeof stdin !== 'number') return stdin
  return readInOrder(args.includes('--rest') ? [stdin, REST_OF_INPUT] : [stdin])
}

function readInOrder(inputs: readonly number[]): Buffer | null {
  const chunks: Buffer[] = []
  let total = 0
  for (let at = 0; at < inputs.length; ) {
    const chunk = Buffer.allocUnsafe(total < READ_BYTES ? READ_BYTES : READ_BYTES * 16)
    let length: number
    try {
      length = readSync(inputs[at] ?? 0, chunk, 0, chunk.length, null)
    } catch (error) {
      if (systemCode(error) === 'EAGAIN') {
        pause(BUSY_WAIT_MS)
        continue
      }
      // Windows reports a closed pipe as an error.
      length = 0
    }
    if (length === 0) {
      at++
      continue
    }
    total += length
    if (total > MAX_PAYLOAD_BYTES) return null
    chunks.push(chunk.subarray(0, length))
  }
  return chunks.length === 1 ? (chunks[0] ?? null) : Buffer.concat(chunks)
}

/** A pipe that the client made non-blocking returns EAGAIN instead of waiting. */
const BUSY_WAIT_MS = 2

/** Nothing, not even a line break, where there is no answer: some clients take any output for one. */
export function writeLine(stdout: number, line: string): void {
  if (line === '') return
  const bytes = Buffer.from(`${line}\n`)
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(stdout, bytes, at)
    } catch (error) {
      if (systemCode(error) !== 'EAGAIN') return
      pause(BUSY_WAIT_MS)
    }
  }
}

/** https://no-color.org: any non-empty value disables colours. */
export function colorsEnabled({ NO_COLOR }: NodeJS.ProcessEnv): boolean {
  return NO_COLOR === undefined || NO_COLOR === ''
}
