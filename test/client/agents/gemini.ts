/** Gemini CLI against the Gemini API. */
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import type { ToolCall, Turn } from '../messages-api.ts'
import { type ScriptedAnswer, type ScriptedProtocol, scriptIn, sendEvents, sendJson, textsIn } from '../scripted-api.ts'
import type { TestedAgent } from './agent.ts'

interface Content {
  role?: string
  parts?: { text?: string; functionCall?: unknown; functionResponse?: unknown }[]
}

const GENERATE_CONTENT: ScriptedProtocol = {
  asksModel: (path) => /:(?:stream)?[gG]enerateContent$/.test(path),
  place: (body) => {
    // Requests without tools are the client's own.
    const contents: Content[] = Array.isArray(body.contents) && body.tools !== undefined ? body.contents : []
    const named = contents.map(({ role, parts = [] }) =>
      role === 'user' ? (parts.flatMap(({ text }) => promptScript(text ?? ''))[0] ?? null) : null,
    )
    const at = named.findLastIndex((name) => name !== null)
    const script = named[at] ?? null
    if (script === null) return null
    return { script, turn: contents.slice(at + 1).filter(({ role }) => role === 'model').length }
  },
  reply,
  other: (response, path) =>
    path.endsWith(':countTokens')
      ? sendJson(response, 200, { totalTokens: 100 })
      : sendJson(response, 404, { error: { message: 'not part of the script' } }),
}

/** The prompt is a part of its own, or follows what the client puts before it; memories quote old ones within a line. */
function promptScript(text: string): string[] {
  const line = text.split('\n').findLast((one) => /^\s*\[\[script:/.test(one))
  const script = line === undefined ? null : scriptIn(line)
  return script === null ? [] : [script]
}

function reply(response: ServerResponse, path: string, _: Record<string, unknown>, answer: ScriptedAnswer): void {
  const parts =
    'text' in answer
      ? [{ text: answer.text }]
      : answer.calls.map(({ id, name, input }) => ({ functionCall: { id, name, args: input } }))
  const body = {
    candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0 }],
    usageMetadata: { promptTokenCount: 100, candidatesTokenCount: 20, totalTokenCount: 120 },
  }
  if (path.endsWith(':streamGenerateContent')) sendEvents(response, [[null, body]])
  else sendJson(response, 200, body)
}

const shellCall = (command: string): ToolCall => ({
  name: 'run_shell_command',
  input: { command, description: 'a step' },
})

export const geminiAgent: TestedAgent = {
  name: 'gemini',
  protocol: GENERATE_CONTENT,
  installArgs: [],
  config: () => ({
    '.gemini/settings.json': `${JSON.stringify(
      {
        security: { auth: { selectedType: 'gemini-api-key' } },
        general: { enableAutoUpdate: false },
        privacy: { usageStatisticsEnabled: false },
        telemetry: { enabled: false },
      },
      null,
      2,
    )}\n`,
  }),
  env: ({ api }) => ({ GEMINI_API_KEY: 'none', GOOGLE_GEMINI_BASE_URL: api.url, GEMINI_CLI_TRUST_WORKSPACE: 'true' }),
  args: (prompt, resume) => [
    '-m',
    'gemini-2.5-flash',
    '-y',
    '--skip-trust',
    '-o',
    'json',
    ...(resume === null ? [] : ['--resume', resume]),
    '-p',
    prompt,
  ],
  session: (stdout) => /"session_id":\s*"([0-9a-f-]{36})"/.exec(stdout)?.[1] ?? null,
  work: ({ project }, word) => {
    const file_path = join(project, `${word}.ts`)
    return {
      turns: [
        { tools: [{ name: 'write_file', input: { file_path, content: `export const ${word} = 1\n` } }] },
        { tools: [{ name: 'read_file', input: { file_path } }] },
        {
          tools: [
            { name: 'replace', input: { file_path, old_string: '= 1', new_string: '= 2', instruction: 'raise it' } },
          ],
        },
        { tools: [shellCall('echo fine')] },
        { tools: [shellCall('echo oops >&2; exit 3')] },
        { tools: [{ name: 'read_file', input: { file_path: join(project, 'missing.txt') } }] },
        { tools: [shellCall('echo one'), shellCall('echo two')] },
        { tools: [shellCall('echo fine')] },
        { text: `Set ${word} to 2 because the old limit was too low.` },
      ],
      stored: [
        'tool_failure Bash',
        'tool_failure Read',
        ...Array.from({ length: 4 }, () => 'tool_use Bash'),
        'tool_use Edit',
        'tool_use Read',
        'tool_use Write',
      ],
    }
  },
  shell: (command) => ({ tools: [shellCall(command)] }),
  mcp: {
    search: (query): Turn[] => [
      { tools: [{ name: 'mcp_claude-mem_search_memory', input: { query } }] },
      { text: 'Found it.' },
    ],
    isOffered: (body) => textsIn(body.tools).some((text) => text.endsWith('search_memory')),
    result: (body) => {
      const contents: Content[] = Array.isArray(body.contents) ? body.contents : []
      const parts = contents.flatMap((content) => content.parts ?? [])
      return textsIn(parts.findLast(({ functionResponse }) => functionResponse !== undefined)).join('\n')
    },
  },
  counts: { starts: 1, prompts: 1, turnEnds: 1, sessionEnds: 1 },
}
