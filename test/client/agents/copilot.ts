/** Copilot CLI with a provider of one's own, without an account. */
import { join } from 'node:path'
import type { ToolCall } from '../messages-api.ts'
import type { TestedAgent } from './agent.ts'
import { CHAT_COMPLETIONS, isToolOffered, newestToolResult } from './chat-completions.ts'

const bash = (command: string): ToolCall => ({ name: 'bash', input: { command, description: 'a step' } })

export const copilotAgent: TestedAgent = {
  name: 'copilot',
  protocol: CHAT_COMPLETIONS,
  config: () => ({
    '.copilot/mcp-config.json': `{\n\t"mcpServers": {"other": {"type": "local", "command": "node", "args": ["-e", "0"], "tools": ["*"]}}\n}`,
  }),
  files: ['.copilot/hooks/claude-mem.json'],
  env: ({ api }) => ({
    COPILOT_PROVIDER_BASE_URL: `${api.url}/v1`,
    COPILOT_PROVIDER_TYPE: 'openai',
    COPILOT_MODEL: 'scripted',
    COPILOT_OFFLINE: 'true',
    COPILOT_AUTO_UPDATE: 'false',
  }),
  args: (prompt, resume) => [
    '-p',
    prompt,
    '--allow-all',
    '--output-format',
    'json',
    ...(resume === null ? [] : [`--resume=${resume}`]),
  ],
  installArgs: [],
  session: (stdout) => /"type":"result".*"sessionId":"([0-9a-f-]{36})"/.exec(stdout)?.[1] ?? null,
  work: ({ project, api }, word) => {
    const path = join(project, `${word}.ts`)
    const prompt = '[[script:sub]] look around'
    const task = { description: 'look', prompt, agent_type: 'general-purpose', name: 'look', mode: 'sync' }
    api.play({ sub: [{ tools: [bash('echo from the subagent')] }, { text: 'Looked around.' }] })
    return {
      turns: [
        { tools: [{ name: 'create', input: { path, file_text: `export const ${word} = 1\n` } }] },
        { tools: [{ name: 'view', input: { path } }] },
        { tools: [{ name: 'edit', input: { path, old_str: '= 1', new_str: '= 2' } }] },
        { tools: [bash('echo fine')] },
        { tools: [bash('echo oops >&2; exit 3')] },
        { tools: [bash('echo one'), bash('echo two')] },
        { tools: [{ name: 'view', input: { path: join(project, 'missing.ts') } }] },
        { tools: [{ name: 'task', input: task }] },
        { tools: [bash('echo last')] },
        { text: `Set ${word} to 2 because the old limit was too low.` },
      ],
      stored: [
        'tool_failure Bash',
        'tool_failure Read',
        ...Array.from({ length: 5 }, () => 'tool_use Bash'),
        'tool_use Edit',
        'tool_use Read',
        'tool_use Task',
        'tool_use Write',
      ],
    }
  },
  shell: (command) => ({ tools: [bash(command)] }),
  mcp: {
    search: (query) => [{ tools: [{ name: 'claude-mem-search_memory', input: { query } }] }, { text: 'Found it.' }],
    isOffered: (body) => isToolOffered(body, 'claude-mem-search_memory'),
    result: newestToolResult,
  },
  counts: { starts: 1, prompts: 1, turnEnds: 1, sessionEnds: 1 },
  subagents: 1,
}
