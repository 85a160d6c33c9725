/** What the model sees in a request of the client. */
import type { RecordedRequest } from './messages-api.ts'

/** Everything of ours that the model is shown in a request. */
export function contextsIn({ body }: RecordedRequest): string[] {
  const texts = textsIn([body.system, body.messages])
  return texts.flatMap((text) => text.match(/<claude-mem-context>.*?<\/claude-mem-context>/gs) ?? [])
}

/** Which of these words the model sees nowhere in a request. */
export function missingFrom({ body }: RecordedRequest, words: readonly string[]): string[] {
  const texts = textsIn(body)
  return words.filter((word) => !texts.some((text) => text.includes(word)))
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}

/** Tools that come with their schemas; of others a request may only hold the names. */
export function toolNames({ body }: RecordedRequest): string[] {
  const tools: { name?: unknown }[] = Array.isArray(body.tools) ? body.tools : []
  return tools.map(({ name }) => String(name))
}

/** What the model was given for one of its tool calls. */
export function toolResult({ body }: RecordedRequest, id: string | undefined): string {
  const messages: { content?: unknown }[] = Array.isArray(body.messages) ? body.messages : []
  const blocks = messages.flatMap(({ content }): { type?: unknown; tool_use_id?: unknown; content?: unknown }[] =>
    Array.isArray(content) ? content : [],
  )
  const found = blocks.find((block) => block.type === 'tool_result' && block.tool_use_id === id)
  if (found === undefined) throw new Error(`the model was given no result for ${id}`)
  return typeof found.content === 'string' ? found.content : textIn(found.content)
}

function textIn(content: unknown): string {
  return Array.isArray(content) ? content.map((block: { text?: unknown }) => String(block.text ?? '')).join('\n') : ''
}
