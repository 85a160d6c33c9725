/** Claude Code as one of several clients in one home; its own suite is `test/client/*.client.ts`. */
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import type { ToolCall } from '../messages-api.ts'
import { type ScriptedAnswer, type ScriptedProtocol, scriptIn, sendEvents, sendJson, textsIn } from '../scripted-api.ts'
import type { TestedAgent } from './agent.ts'

interface Message {
  role?: unknown
  content?: unknown
}

const MESSAGES: ScriptedProtocol = {
  asksModel: (path) => path.endsWith('/messages'),
  place: (body) => {
    const hasTools = Array.isArray(body.tools) && body.tools.length > 0
    const messages: Message[] = hasTools && Array.isArray(body.messages) ? body.messages : []
    const named = messages.map(({ role, content }) => (role === 'user' ? promptScript(content) : null))
    const at = named.findLastIndex((name) => name !== null)
    const script = named[at] ?? null
    if (script === null) return null
    return { script, turn: messages.slice(at + 1).filter(({ role }) => role === 'assistant').length }
  },
  reply,
  other: (response, path) =>
    path.endsWith('/count_tokens')
      ? sendJson(response, 200, { input_tokens: 100 })
      : sendJson(response, 404, {
          type: 'error',
          error: { type: 'not_found_error', message: 'not part of the script' },
        }),
}

/** The prompt is a text that starts with the name of its script; a memory quotes it within a line. */
function promptScript(content: unknown): string | null {
  const prompts = textsIn(content).filter((text) => /^\s*\[\[script:/.test(text))
  return prompts.map(scriptIn).at(-1) ?? null
}

function reply(
  response: ServerResponse,
  _: string,
  body: Record<string, unknown>,
  answer: ScriptedAnswer,
  id: string,
): void {
  const content =
    'text' in answer
      ? [{ type: 'text', text: answer.text }]
      : answer.calls.map((call) => ({ type: 'tool_use', id: call.id, name: call.name, input: call.input }))
  const usage = { input_tokens: 100, output_tokens: 20, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 }
  const stop_reason = 'calls' in answer ? 'tool_use' : 'end_turn'
  const message = { id, type: 'message', role: 'assistant', model: String(body.model), stop_sequence: null, usage }
  if (body.stream !== true) {
    sendJson(response, 200, { ...message, content, stop_reason })
    return
  }
  const blocks = content.flatMap((block, index): [string, object][] => {
    const isText = block.type === 'text'
    const start = isText ? { type: 'text', text: '' } : { ...block, input: {} }
    const delta = isText
      ? { type: 'text_delta', text: 'text' in block ? block.text : '' }
      : { type: 'input_json_delta', partial_json: JSON.stringify('input' in block ? block.input : {}) }
    return [
      ['content_block_start', { type: 'content_block_start', index, content_block: start }],
      ['content_block_delta', { type: 'content_block_delta', index, delta }],
      ['content_block_stop', { type: 'content_block_stop', index }],
    ]
  })
  sendEvents(response, [
    ['message_start', { type: 'message_start', message: { ...message, content: [], stop_reason: null } }],
    ...blocks,
    [
      'message_delta',
      { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 20 } },
    ],
    ['message_stop', { type: 'message_stop' }],
  ])
}

const bash = (command: string): ToolCall => ({ name: 'Bash', input: { command, description: 'a step' } })

export const claudeCodeAgent: TestedAgent = {
  name: 'claude-code',
  protocol: MESSAGES,
  config: () => ({}),
  env: ({ api }) => ({
    ANTHROPIC_BASE_URL: api.url,
    ANTHROPIC_API_KEY: 'sk-test',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
    // The client refuses to skip permissions for root anywhere else.
    ...(process.getuid?.() === 0 ? { IS_SANDBOX: '1' } : {}),
  }),
  args: (prompt, resume) => [
    '-p',
    prompt,
    '--output-format',
    'json',
    '--dangerously-skip-permissions',
    ...(resume === null ? [] : ['--resume', resume]),
  ],
  installArgs: [],
  session: (stdout) => /"session_id":"([0-9a-f-]{36})"/.exec(stdout)?.[1] ?? null,
  work: ({ project }, word) => ({
    turns: [
      {
        tools: [
          { name: 'Write', input: { file_path: join(project, `${word}.ts`), content: `export const ${word} = 1\n` } },
        ],
      },
      { text: `Set ${word} to 1 because there was no limit.` },
    ],
    stored: ['tool_use Write'],
  }),
  shell: (command) => ({ tools: [bash(command)] }),
  mcp: {
    search: (query) => [
      { tools: [{ name: 'mcp__claude-mem__search_memory', input: { query } }] },
      { text: 'Found it.' },
    ],
    isOffered: (body) => textsIn(body).some((text) => text.includes('search_memory')),
    result: ({ messages }) => textsIn(Array.isArray(messages) ? messages.at(-1) : []).join('\n'),
  },
  counts: { starts: 1, prompts: 1, turnEnds: 1, sessionEnds: 1 },
}
