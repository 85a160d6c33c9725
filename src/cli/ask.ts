/** A line from somebody at a terminal. */
import { createInterface } from 'node:readline/promises'
import type { Readable, Writable } from 'node:stream'
import { UsageError } from './failure.ts'

export interface Terminal {
  input: Readable
  output: Writable
}

/** Ctrl-C and Ctrl-D end the question and the command with it. */
export async function askLine(question: string, { input, output }: Terminal): Promise<string> {
  const prompt = createInterface({ input, output })
  const given = new AbortController()
  prompt.on('SIGINT', () => given.abort())
  prompt.on('close', () => given.abort())
  try {
    return (await prompt.question(question, { signal: given.signal })).trim()
  } catch (error) {
    if (!given.signal.aborted) throw error
    output.write('\n')
    throw new UsageError('nothing was answered, and nothing was changed')
  } finally {
    prompt.close()
  }
}
