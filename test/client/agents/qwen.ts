/** Qwen Code, which needs Node 22: `scripts/npm.mjs` installs one beside it. */
import { join } from 'node:path'
import type { ToolCall } from '../messages-api.ts'
import { textsIn } from '../scripted-api.ts'
import type { TestedAgent } from './agent.ts'
import { CHAT_COMPLETIONS, newestToolResult } from './chat-completions.ts'

const shell = (command: string): ToolCall => ({
  name: 'run_shell_command',
  input: { command, description: 'a step', is_background: false },
})

export const qwenAgent: TestedAgent = {
  name: 'qwen',
  protocol: CHAT_COMPLETIONS,
  config: () => ({
    '.qwen/settings.json': `${JSON.stringify(
      { privacy: { usageStatisticsEnabled: false }, general: { disableAutoUpdate: true }, $version: 4 },
      null,
      2,
    )}\n`,
  }),
  env: ({ api }) => ({ OPENAI_API_KEY: 'none', OPENAI_BASE_URL: `${api.url}/v1`, OPENAI_MODEL: 'scripted' }),
  args: (prompt, resume) => [
    prompt,
    '--auth-type',
    'openai',
    '--yolo',
    '-o',
    'json',
    ...(resume === null ? [] : ['--resume', resume]),
  ],
  installArgs: [],
  session: (stdout) => /"session_id":\s*"([0-9a-f-]{36})"/.exec(stdout)?.[1] ?? null,
  work: ({ project }, word) => {
    const file_path = join(project, `${word}.ts`)
    return {
      turns: [
        { tools: [{ name: 'write_file', input: { file_path, content: `export const ${word} = 1\n` } }] },
        { tools: [{ name: 'read_file', input: { file_path } }] },
        { tools: [{ name: 'edit', input: { file_path, old_string: '= 1', new_string: '= 2' } }] },
        { tools: [shell('echo fine')] },
        { tools: [shell('echo oops >&2; exit 3')] },
        { tools: [{ name: 'read_file', input: { file_path: join(project, 'missing.ts') } }] },
        { tools: [shell('echo one'), shell('echo two')] },
        { tools: [shell('echo last')] },
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
  shell: (command) => ({ tools: [shell(command)] }),
  mcp: {
    // Its MCP tools are named in a reminder and called through another tool.
    search: (query) => [
      { tools: [{ name: 'tool_call', input: { name: 'mcp__claude-mem__search_memory', arguments: { query } } }] },
      { text: 'Found it.' },
    ],
    isOffered: (body) => textsIn(body.messages).some((text) => text.includes('mcp__claude-mem__search_memory')),
    result: newestToolResult,
  },
  // No SessionEnd without a terminal.
  counts: { starts: 1, prompts: 1, turnEnds: 1, sessionEnds: 0 },
}
