/** The Chat Completions API, as far as OpenCode, Copilot CLI, Qwen Code and Cline need it. */
import type { ServerResponse } from 'node:http'
import { type ScriptedAnswer, type ScriptedProtocol, scriptIn, sendJson, textsIn } from '../scripted-api.ts'

interface ChatMessage {
  role?: unknown
  content?: unknown
}

export const CHAT_COMPLETIONS: ScriptedProtocol = {
  asksModel: (path) => path.endsWith('/chat/completions'),
  place: (body) => {
    // Requests without tools are the client's own, such as for a title.
    const hasTools = Array.isArray(body.tools) && body.tools.length > 0
    const messages: ChatMessage[] = hasTools && Array.isArray(body.messages) ? body.messages : []
    const named = messages.map(({ role, content }) => (role === 'user' ? promptScript(content) : null))
    const at = named.findLastIndex((name) => name !== null)
    const script = named[at] ?? null
    if (script === null) return null
    return { script, turn: messages.slice(at + 1).filter(({ role }) => role === 'assistant').length }
  },
  reply,
  other: (response) => sendJson(response, 404, { error: { message: 'not part of the script' } }),
}

/** A memory quotes the prompts of earlier sessions. */
function promptScript(content: unknown): string | null {
  const prompts = textsIn(content).map((text) => text.replace(/<claude-mem-(\w+)>[\s\S]*?<\/claude-mem-\1>/g, ''))
  return prompts.map(scriptIn).findLast((name) => name !== null) ?? null
}

const USAGE = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 }

function reply(
  response: ServerResponse,
  _: string,
  body: Record<string, unknown>,
  answer: ScriptedAnswer,
  id: string,
): void {
  const calls = 'calls' in answer ? answer.calls : []
  const tool_calls = calls.map((call, index) => {
    return {
      index,
      id: call.id,
      type: 'function',
      function: { name: call.name, arguments: JSON.stringify(call.input) },
    }
  })
  const content = 'text' in answer ? answer.text : ''
  const message = { role: 'assistant', content, ...(tool_calls.length > 0 ? { tool_calls } : {}) }
  const finish_reason = tool_calls.length > 0 ? 'tool_calls' : 'stop'
  const head = { id, created: 1, model: 'scripted' }
  if (body.stream !== true) {
    const choices = [{ index: 0, message, finish_reason }]
    sendJson(response, 200, { ...head, object: 'chat.completion', choices, usage: USAGE })
    return
  }
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
  const send = (more: object) =>
    response.write(`data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', ...more })}\n\n`)
  send({ choices: [{ index: 0, delta: message, finish_reason: null }] })
  send({ choices: [{ index: 0, delta: {}, finish_reason }] })
  send({ choices: [], usage: USAGE })
  response.end('data: [DONE]\n\n')
}

/** Whether a request offers a tool whose name ends so. */
export function isToolOffered(body: Record<string, unknown>, name: string): boolean {
  return textsIn(body.tools).some((text) => text.endsWith(name))
}

/** What the newest tool call of a conversation returned. */
export function newestToolResult({ messages }: Record<string, unknown>): string {
  const all: ChatMessage[] = Array.isArray(messages) ? messages : []
  return textsIn(all.findLast(({ role }) => role === 'tool')?.content).join('\n')
}
