/** Print mode takes one text: the conversation so far, marked as such, and then what is asked now. */
import type { ChatMessage } from '../../model/chat.ts'

const EARLIER =
  'The conversation so far stands in <earlier>: the batches that you were given, and the notes that you made of them. They are kept already. Answer only the <request>.'

/** Never starts with a slash: the client would take it for one of its commands, and answer that there is none such. */
export function onePrompt(messages: readonly ChatMessage[]): string {
  const earlier = messages.slice(0, -1).map(({ role, content }) => marked(role === 'user' ? 'batch' : 'notes', content))
  const request = marked('request', messages.at(-1)?.content ?? '')
  if (earlier.length === 0) return request
  return `${EARLIER}\n\n<earlier>\n${earlier.join('\n')}\n</earlier>\n\n${request}`
}

const OUR_MARKS = /<(\/?)(earlier|batch|notes|request)>/g

/** A file that holds our own marks must not end them. */
function marked(mark: string, content: string): string {
  return `<${mark}>\n${content.replace(OUR_MARKS, '‹$1$2›')}\n</${mark}>`
}
