/** A value that must not stand on a command line, where the shell remembers it and other users may see it. */
import { createInterface } from 'node:readline/promises'
import { type Readable, Writable } from 'node:stream'
import { UsageError } from './failure.ts'

/** More than any setting takes: whoever pipes a wrong file in is told so. */
const MAX_INPUT_BYTES = 65_536

/** Everything up to the end of the input; a line end that `echo` adds is no part of the value. */
export async function readValue(input: Readable): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of input) {
    const piece = Buffer.from(chunk)
    bytes += piece.length
    if (bytes > MAX_INPUT_BYTES) throw new UsageError('stdin holds more than any setting takes')
    chunks.push(piece)
  }
  const value = Buffer.concat(chunks)
    .toString('utf8')
    .replace(/^\uFEFF/, '')
    .trim()
  if (value === '') throw new UsageError('there is nothing on stdin; to remove a setting: claude-mem config unset NAME')
  return value
}

/** A line from a terminal that does not show it. */
export async function askHidden(question: string, input: Readable, output: Writable): Promise<string> {
  // In terminal mode readline itself echoes, and what it writes goes nowhere.
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  const prompt = createInterface({ input, output: nowhere, terminal: true })
  // Only now does the terminal itself no longer echo: whoever pastes at once must not be too early.
  output.write(question)
  const given = new AbortController()
  prompt.on('SIGINT', () => given.abort())
  prompt.on('close', () => given.abort())
  try {
    const value = (await prompt.question('', { signal: given.signal })).trim()
    if (value !== '') return value
  } catch (error) {
    if (!given.signal.aborted) throw error
  } finally {
    prompt.close()
    output.write('\n')
  }
  throw new UsageError('nothing was given, and nothing was changed')
}
