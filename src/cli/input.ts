/** Reads what the user types or pipes in: a line, a secret, a value or a hook payload. */
import { fstatSync } from 'node:fs'
import { createInterface, type Interface } from 'node:readline/promises'
import { type Readable, Writable } from 'node:stream'
import { UsageError } from './arguments.ts'

export interface PromptStreams {
  input: Readable
  output: Writable
}

/** Asks a question. Ctrl-C and Ctrl-D end the command. */
export async function askLine(question: string, { input, output }: PromptStreams): Promise<string> {
  const prompt = createInterface({ input, output })
  const answer = await questionOrNull(prompt, question).finally(() => prompt.close())
  if (answer !== null) return answer
  output.write('\n')
  throw new UsageError('no answer was given; nothing was changed')
}

/** Asks for a value without showing it: on a command line it would be in the shell's history and in the process list. */
export async function askSecret(question: string, input: Readable, output: Writable): Promise<string> {
  // In terminal mode readline switches the terminal's echo off and echoes itself, into a stream that drops everything.
  const discard = new Writable({ write: (_chunk, _encoding, done) => done() })
  const prompt = createInterface({ input, output: discard, terminal: true })
  // Only now is the echo off: a value pasted as soon as the question appears must not be shown.
  output.write(question)
  const answer = await questionOrNull(prompt, '').finally(() => {
    prompt.close()
    output.write('\n')
  })
  if (answer !== null && answer !== '') return answer
  throw new UsageError('no value was given; nothing was changed')
}

/** Null: Ctrl-C or Ctrl-D. */
async function questionOrNull(prompt: Interface, question: string): Promise<string | null> {
  const closed = new AbortController()
  prompt.on('SIGINT', () => closed.abort())
  prompt.on('close', () => closed.abort())
  try {
    return (await prompt.question(question, { signal: closed.signal })).trim()
  } catch (error) {
    if (closed.signal.aborted) return null
    throw error
  }
}

/** Larger than any setting: a wrong file was piped in. */
const MAX_VALUE_BYTES = 65_536

/** A setting's value from standard input, without byte order mark and surrounding whitespace. */
export async function readStdinValue(input: Readable): Promise<string> {
  const bytes = await readUpTo(input, MAX_VALUE_BYTES)
  if (bytes.length > MAX_VALUE_BYTES) throw new UsageError('stdin holds more than the value of a setting')
  const value = bytes
    .toString('utf8')
    .replace(/^\uFEFF/, '')
    .trim()
  if (value === '') throw new UsageError('stdin is empty; to remove a setting: claude-mem config unset NAME')
  return value
}

/** Stops reading after the chunk that exceeds `maxBytes`: the input may never end. */
export async function readUpTo(input: Readable, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of input) {
    const piece = Buffer.from(chunk)
    chunks.push(piece)
    bytes += piece.length
    if (bytes > maxBytes) break
  }
  return Buffer.concat(chunks)
}

/** A client writes its payload right after it starts the process; a pipe without data after this long has none. */
const FIRST_BYTE_TIMEOUT_MS = 500
/** Time for the rest of a payload after its first byte. */
const REST_TIMEOUT_MS = 5_000

/** Null if there is no JSON object on standard input: a terminal, a closed pipe, a timeout, or other data. */
export async function readHookPayload(stdin: Readable & { fd?: number; isTTY?: boolean }): Promise<Buffer | null> {
  if (stdin.isTTY === true || isDevice(stdin.fd ?? 0)) return null
  const [{ MAX_PAYLOAD_BYTES }, { parseJsonObject }] = await Promise.all([
    import('../hook/io.ts'),
    import('../hook/payload.ts'),
  ])
  const bytes = await readWithTimeouts(stdin, MAX_PAYLOAD_BYTES)
  return bytes === null || parseJsonObject(bytes.toString('utf8')) === null ? null : bytes
}

/** `/dev/null`, a terminal, or a closed descriptor. */
function isDevice(descriptor: number): boolean {
  try {
    return fstatSync(descriptor).isCharacterDevice()
  } catch {
    return true
  }
}

function readWithTimeouts(input: Readable, maxBytes: number): Promise<Buffer | null> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    let bytes = 0
    const finish = (value: Buffer | null): void => {
      clearTimeout(timer)
      input.removeAllListeners('data')
      input.removeAllListeners('end')
      // An open stream would keep the process alive.
      input.destroy()
      resolve(value)
    }
    let timer = setTimeout(() => finish(null), FIRST_BYTE_TIMEOUT_MS)
    input.on('data', (chunk: Buffer) => {
      if (chunks.length === 0) {
        clearTimeout(timer)
        timer = setTimeout(() => finish(Buffer.concat(chunks)), REST_TIMEOUT_MS)
      }
      bytes += chunk.length
      if (bytes > maxBytes) finish(null)
      else chunks.push(chunk)
    })
    input.on('end', () => finish(Buffer.concat(chunks)))
    input.on('error', () => finish(null))
  })
}
