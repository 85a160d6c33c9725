import type { Cli } from '../cli.ts'
import { command } from '../command.ts'

export const mcp = command({
  usage: 'mcp',
  group: 'Connect it',
  summary: 'What an agent runs: the memory as MCP tools, over standard input and output',
  about:
    'Serves seven tools by the Model Context Protocol: search_memory, timeline, get_observations, get_session_summary, ' +
    'get_project_context, remember, forget. The project is that of the directory it runs in. It starts the daemon when a ' +
    'tool needs it, finds it again after a restart, and ends with its client.',
  examples: [
    ['claude mcp add claude-mem -- claude-mem mcp', 'for Claude Code'],
    ['claude-mem mcp', 'what any other MCP client has to run'],
  ],
  positionals: {},
  options: {},
  run: (_, cli) => serveMcp(cli),
})

export async function serveMcp(cli: Cli): Promise<number> {
  if (process.stdin.isTTY === true)
    cli.tell('claude-mem mcp speaks MCP, not to people: an agent runs it. Ctrl-C ends it.')
  const { serveMemory } = await import('../../mcp/server.ts')
  await serveMemory({
    paths: cli.paths,
    env: cli.env,
    input: process.stdin,
    output: process.stdout,
    start: async () => {
      const { ensureStarted } = await import('../daemon-process.ts')
      await ensureStarted(cli)
    },
    log: cli.tell,
  })
  // A daemon that is being started goes on without us, and nobody is left to tell.
  process.exit(0)
}
