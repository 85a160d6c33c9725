/** OpenCode: our plugin in its process. */
import { join } from 'node:path'
import type { ToolCall } from '../messages-api.ts'
import type { TestedAgent } from './agent.ts'
import { CHAT_COMPLETIONS, isToolOffered, newestToolResult } from './chat-completions.ts'

const bash = (command: string): ToolCall => ({ name: 'bash', input: { command, description: 'a step' } })

export const openCodeAgent: TestedAgent = {
  name: 'opencode',
  protocol: CHAT_COMPLETIONS,
  config: ({ api }) => ({
    '.config/opencode/opencode.json': `${JSON.stringify({
      // OpenCode itself adds it where it is missing.
      $schema: 'https://opencode.ai/config.json',
      model: 'local/scripted',
      small_model: 'local/scripted',
      autoupdate: false,
      share: 'disabled',
      enabled_providers: ['local'],
      permission: { '*': 'allow' },
      provider: {
        local: {
          npm: '@ai-sdk/openai-compatible',
          options: { baseURL: `${api.url}/v1`, apiKey: 'none' },
          models: { scripted: { limit: { context: 100_000, output: 8_000 } } },
        },
      },
    })}\n`,
  }),
  files: ['.config/opencode/plugin/claude-mem.js'],
  env: ({ project }) => ({
    // It takes the directory from here, as a shell sets it.
    PWD: project,
    OPENCODE_DISABLE_MODELS_FETCH: '1',
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
    // It installs a package of its own beside every plugin; where no registry answers it would try for a minute.
    npm_config_fetch_retries: '0',
  }),
  args: (prompt, resume) => [
    'run',
    prompt,
    '--format',
    'json',
    '--auto',
    ...(resume === null ? [] : ['--session', resume]),
  ],
  installArgs: [],
  session: (stdout) => /"sessionID":"(ses_\w+)"/.exec(stdout)?.[1] ?? null,
  work: ({ project, api }, word) => {
    const filePath = join(project, `${word}.ts`)
    const prompt = '[[script:sub]] look around'
    api.play({ sub: [{ tools: [bash('echo from the subagent')] }, { text: 'Looked around.' }] })
    return {
      turns: [
        { tools: [{ name: 'write', input: { filePath, content: `export const ${word} = 1\n` } }] },
        { tools: [{ name: 'read', input: { filePath } }] },
        { tools: [{ name: 'edit', input: { filePath, oldString: '= 1', newString: '= 2' } }] },
        { tools: [bash('echo fine')] },
        { tools: [bash('echo oops >&2; exit 3')] },
        { tools: [bash('echo one'), bash('echo two')] },
        { tools: [{ name: 'read', input: { filePath: join(project, 'missing.ts') } }] },
        { tools: [{ name: 'task', input: { description: 'look', prompt, subagent_type: 'general' } }] },
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
    search: (query) => [{ tools: [{ name: 'claude-mem_search_memory', input: { query } }] }, { text: 'Found it.' }],
    isOffered: (body) => isToolOffered(body, 'claude-mem_search_memory'),
    result: newestToolResult,
  },
  counts: { starts: 1, prompts: 1, turnEnds: 1, sessionEnds: 1 },
  subagents: 1,
}
