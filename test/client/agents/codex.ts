/** Codex against the Responses API. */
import type { ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ToolCall, Turn } from '../messages-api.ts'
import {
  type ScriptedAnswer,
  type ScriptedProtocol,
  type SentCall,
  scriptIn,
  sendEvents,
  sendJson,
  textsIn,
  turnsOf,
} from '../scripted-api.ts'
import type { TestedAgent } from './agent.ts'

interface InputItem {
  type?: string
  role?: string
  content?: unknown
  call_id?: string
}

const RESPONSES: ScriptedProtocol = {
  asksModel: (path) => path.endsWith('/responses'),
  place: (body) => {
    const items: InputItem[] = Array.isArray(body.input) ? body.input : []
    const named = items.map((item) =>
      item.role === 'user'
        ? (textsIn(item.content).flatMap((text) => (/^\s*\[\[/.test(text) ? (scriptIn(text) ?? []) : []))[0] ?? null)
        : null,
    )
    const at = named.findLastIndex((name) => name !== null)
    const script = named[at] ?? null
    if (script === null) return null
    const ids = items.slice(at + 1).flatMap(({ call_id }) => call_id ?? [])
    return { script, turn: turnsOf(script, ids) }
  },
  reply,
  other: (response) => sendJson(response, 404, { error: { message: 'not part of the script' } }),
}

function reply(
  response: ServerResponse,
  _: string,
  body: Record<string, unknown>,
  answer: ScriptedAnswer,
  id: string,
): void {
  const items =
    'text' in answer
      ? [{ type: 'message', role: 'assistant', id: `msg_${id}`, content: [{ type: 'output_text', text: answer.text }] }]
      : answer.calls.map((call) => callItem(call, body))
  const usage = { input_tokens: 100, output_tokens: 20, total_tokens: 120 }
  sendEvents(response, [
    ['response.created', { type: 'response.created', response: { id } }],
    ...items.map((item): [string, object] => [
      'response.output_item.done',
      { type: 'response.output_item.done', item },
    ]),
    ['response.completed', { type: 'response.completed', response: { id, usage } }],
  ])
}

function callItem({ id: call_id, name, input }: SentCall, body: Record<string, unknown>): object {
  if (name === 'apply_patch') {
    return { type: 'custom_tool_call', id: `ctc_${call_id}`, call_id, name, input: String(input.input) }
  }
  if (name === 'tool_search') {
    const search = { type: 'tool_search_call', id: `tsc_${call_id}`, call_id, execution: 'client' }
    return { ...search, status: 'completed', arguments: input }
  }
  const call = { type: 'function_call', id: `fc_${call_id}`, call_id, name, arguments: JSON.stringify(input) }
  // A tool that was found by a search is called in the namespace of its server.
  const namespace = textsIn(body.input).find((text) => /^mcp__claude.mem$/.test(text))
  return name === 'search_memory' ? { ...call, namespace } : call
}

/** More than our MCP server needs to start. */
const SERVER_START_MS = 8_000

const shellCall = (command: string): ToolCall => ({ name: 'exec_command', input: { cmd: command } })
const patchCall = (...lines: string[]): ToolCall => ({
  name: 'apply_patch',
  input: { input: ['*** Begin Patch', ...lines, '*** End Patch'].join('\n') },
})

export const codexAgent: TestedAgent = {
  name: 'codex',
  protocol: RESPONSES,
  // Its hooks run because they are trusted, not because trust is bypassed.
  installArgs: ['--trust-hooks'],
  config: ({ api }) => ({
    '.codex/config.toml': [
      '# my configuration',
      'model = "gpt-5.5"',
      'model_provider = "scripted"',
      '',
      '[model_providers.scripted]',
      'name = "scripted"',
      `base_url = "${api.url}/v1"`,
      'wire_api = "responses"',
      'env_key = "SCRIPTED_KEY"',
      '',
    ].join('\n'),
  }),
  env: () => ({ SCRIPTED_KEY: 'none' }),
  args: (prompt, resume) => [
    'exec',
    '--skip-git-repo-check',
    '--dangerously-bypass-approvals-and-sandbox',
    '--json',
    ...(resume === null ? [] : ['resume', resume]),
    prompt,
  ],
  session: (stdout) => /"thread_id":"([0-9a-f-]{36})"/.exec(stdout)?.[1] ?? null,
  work: (_, word) => ({
    turns: [
      { tools: [patchCall(`*** Add File: ${word}.ts`, `+export const ${word} = 1`)] },
      { tools: [shellCall(`cat ${word}.ts`)] },
      {
        tools: [
          patchCall(
            `*** Update File: ${word}.ts`,
            '@@',
            `-export const ${word} = 1`,
            `+export const ${word} = 2`,
            '*** Add File: notes.txt',
            '+a note',
          ),
        ],
      },
      { tools: [shellCall('echo fine')] },
      { tools: [shellCall('echo oops >&2; exit 3')] },
      { tools: [shellCall('echo one'), shellCall('echo two')] },
      { tools: [shellCall('rm notes.txt; echo last')] },
      { text: `Set ${word} to 2 because the old limit was too low.` },
    ],
    stored: [
      'tool_failure Bash',
      ...Array.from({ length: 5 }, () => 'tool_use Bash'),
      'tool_use Edit',
      'tool_use Write',
      'tool_use Write',
    ],
  }),
  shell: (command) => ({ tools: [shellCall(command)] }),
  mcp: {
    // It does not wait for its MCP servers: the first search may be too early on a busy machine.
    search: (query): Turn[] => [
      { tools: [{ name: 'tool_search', input: { query: 'search_memory' } }], before: () => sleep(SERVER_START_MS) },
      { tools: [{ name: 'tool_search', input: { query: 'search_memory' } }] },
      { tools: [{ name: 'search_memory', input: { query } }] },
      { text: 'Found it.' },
    ],
    // Its tools hide behind a search; the context names them.
    isOffered: (body) => {
      const items: InputItem[] = Array.isArray(body.input) ? body.input : []
      return textsIn(items.filter(({ type }) => type === 'tool_search_output')).includes('search_memory')
    },
    result: (body) => {
      const items: InputItem[] = Array.isArray(body.input) ? body.input : []
      return textsIn(items.findLast(({ type }) => type === 'function_call_output')).join('\n')
    },
  },
  counts: { starts: 1, prompts: 1, turnEnds: 1, sessionEnds: 1 },
}
