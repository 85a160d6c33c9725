/** What the agent said last, from the end of its transcript: older clients do not send it with Stop. */
import { endOf } from '../file-end.ts'

/** The last message is in the last lines; a hook reads no more than this of a transcript. */
const TAIL_BYTES = 256 * 1024

export function lastMessageIn(transcript: string): string {
  for (const line of tail(transcript).split('\n').reverse()) {
    const said = assistantText(line)
    if (said !== '') return said
  }
  return ''
}

/** No transcript, no last message: the turn still ends. */
function tail(file: string): string {
  try {
    return endOf(file, TAIL_BYTES)
  } catch {
    return ''
  }
}

/** Empty for any other line, a cut-off one included. */
function assistantText(line: string): string {
  if (!line.includes('"assistant"')) return ''
  let entry: { type?: unknown; isSidechain?: unknown; message?: { content?: unknown } }
  try {
    entry = JSON.parse(line)
  } catch {
    return ''
  }
  if (entry.type !== 'assistant' || entry.isSidechain === true) return ''
  const content = entry.message?.content
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content
    .filter((block) => block?.type === 'text' && typeof block.text === 'string')
    .map((block) => block.text)
    .join('\n')
    .trim()
}
