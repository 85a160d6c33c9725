/** Commands that clients run, not users: `hook`, `new`, `save` and `summary` report an event, `mcp` serves the tools. */
import { DATA_DIR_FLAG } from '../../lib/paths.ts'
import type { Cli } from '../cli.ts'
import { defineCommand, stringOption } from '../command.ts'

export const runHookCommand = defineCommand({
  usage: 'hook',
  group: 'Integrations',
  summary: 'For clients: report one event from standard input',
  about:
    'Reads one hook payload from standard input, sends it to the daemon (or writes it to the spool and starts the ' +
    'daemon), and answers with one line of JSON. It always exits with 0, so that a failure never blocks the client. ' +
    '`claude-mem install` registers a faster program that does the same.',
  examples: [
    [`echo '{"hook_event_name":"Stop","session_id":"demo","cwd":"/tmp"}' | claude-mem hook`, 'the end of a turn'],
    ['claude-mem hook --client cursor < payload.json', 'as Cursor reports it'],
  ],
  options: {
    client: stringOption(
      'The client that wrote the payload: claude-code (default), codex, gemini, opencode, copilot, qwen or cursor',
    ),
  },
  forClients: true,
  run: (_, cli) => reportEvent(cli, []),
})

/**
 * Reports a hook payload and exits the process. `args` are the unparsed arguments: a wrong one must not make a hook
 * fail. `event` is used for payloads that do not name their event.
 */
export async function reportEvent(
  cli: Cli,
  args: readonly string[],
  { event, payload }: { event?: string; payload?: Buffer } = {},
): Promise<number> {
  if (payload === undefined && process.stdin.isTTY === true) {
    cli.printStderr('claude-mem reads a hook payload from standard input here; see: claude-mem hook --help')
    return 0
  }
  try {
    const [{ runHook }, local] = await Promise.all([import('../../hook/run.ts'), import('../../hook/local.ts')])
    const io = {
      stdin: payload ?? 0,
      stdout: 1,
      env: cli.env,
      dist: cli.dist,
      args: [...args, DATA_DIR_FLAG, cli.paths.dataDir],
      ...(event === undefined ? {} : { event }),
    }
    await runHook(io, () => local)
  } catch {
    cli.print('{"continue":true,"suppressOutput":true}')
  }
  // The connection may take some time to close, and the client waits for the exit.
  process.exit(0)
}

/** `event`: as Claude Code names it. `example`: fields of a payload besides the session and its directory. */
const PAYLOAD_REPORTS = [
  { name: 'new', event: 'UserPromptSubmit', what: 'a prompt', example: { prompt: 'Why is the cart empty?' } },
  {
    name: 'save',
    event: 'PostToolUse',
    what: 'a tool use',
    example: { tool_name: 'Bash', tool_input: { command: 'npm test' }, tool_response: { stdout: '48 passed' } },
  },
  {
    name: 'summary',
    event: 'Stop',
    what: 'the end of a turn',
    example: { last_assistant_message: 'The cart keeps its items now.' },
  },
]

/** The event that a command of this name reports; undefined for other commands. */
export function payloadEvent(name: string | undefined): string | undefined {
  return PAYLOAD_REPORTS.find((report) => report.name === name)?.event
}

export const payloadCommands = PAYLOAD_REPORTS.map(({ name, event, what, example }) => {
  const payload = JSON.stringify({ session_id: 'demo', cwd: '/tmp', ...example })
  return defineCommand({
    usage: name,
    group: 'Integrations',
    summary: `Report ${what} from a hook that you registered by hand`,
    about:
      `For hooks that are registered by hand: reads a hook payload from standard input and reports it as ${event}. A ` +
      'payload that names its event (`hook_event_name`) is reported as that event. The answer and the exit code are ' +
      'those of `claude-mem hook`. `claude-mem install` registers all hooks for you.',
    examples: [
      [`echo '${payload}' | claude-mem ${name}`, ''],
      [`{"type":"command","command":"claude-mem ${name}"}`, `in settings.json, under "hooks", "${event}"`],
    ],
    forClients: true,
    run: (_, cli) => reportEvent(cli, [], { event }),
  })
})

export const mcpCommand = defineCommand({
  usage: 'mcp',
  group: 'Integrations',
  summary: 'For agents: serve the memory as MCP tools, over standard input and output',
  about:
    'Serves the tools of the memory by the Model Context Protocol: search_memory, timeline, get_observations, get_session_summary, ' +
    'get_project_context, remember, forget. The project is that of the directory it runs in. It starts the daemon when a ' +
    'tool needs it, reconnects after a restart of the daemon, and exits with its client.',
  examples: [
    ['claude mcp add claude-mem -- claude-mem mcp', 'for Claude Code'],
    ['claude-mem mcp', 'the command for any other MCP client'],
  ],
  forClients: true,
  run: (_, cli) => serveMcp(cli),
})

export async function serveMcp(cli: Cli): Promise<number> {
  if (process.stdin.isTTY === true)
    cli.printStderr('claude-mem mcp is started by an agent and speaks MCP on standard input. Ctrl-C ends it.')
  const { serveMemory } = await import('../../mcp/server.ts')
  await serveMemory({
    paths: cli.paths,
    env: cli.env,
    input: process.stdin,
    output: process.stdout,
    start: async () => {
      const { ensureDaemonRunning } = await import('../daemon-process.ts')
      await ensureDaemonRunning(cli)
    },
    log: cli.printStderr,
  })
  // Does not wait for a daemon that is still starting.
  process.exit(0)
}
