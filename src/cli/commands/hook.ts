import type { Cli } from '../cli.ts'
import { command } from '../command.ts'

export const hook = command({
  usage: 'hook',
  group: 'Connect it',
  summary: 'What a client runs: reports one event from standard input',
  about:
    'Reads one hook payload from standard input, reports it to the daemon (or keeps it in the spool and starts the ' +
    'daemon), and answers with one line of JSON. It always succeeds: a client must not be held up by its memory. ' +
    '`claude-mem install` registers a faster program that does the same.',
  examples: [
    [`echo '{"hook_event_name":"Stop","session_id":"demo","cwd":"/tmp"}' | claude-mem hook`, 'the end of a turn'],
    ['claude-mem hook --client cursor < payload.json', 'as Cursor reports it'],
  ],
  positionals: {},
  options: {
    client: {
      type: 'string',
      requiresArg: true,
      describe: 'Whose payload it is: claude-code (default) or cursor',
    },
  },
  run: (_, cli) => reportEvent(cli, []),
})

/** Whatever its arguments are: see main. `event` is that of a payload that does not name its own. */
export async function reportEvent(
  cli: Cli,
  args: readonly string[],
  { event, payload }: { event?: string; payload?: Buffer } = {},
): Promise<number> {
  if (payload === undefined && process.stdin.isTTY === true) {
    cli.tell('claude-mem reads a hook payload from standard input here; see: claude-mem hook --help')
    return 0
  }
  try {
    const { runHook } = await import('../../hook/run.ts')
    await runHook({
      stdin: payload ?? 0,
      stdout: 1,
      env: cli.env,
      dist: cli.dist,
      args,
      ...(event === undefined ? {} : { event }),
    })
  } catch {
    cli.print('{"continue":true,"suppressOutput":true}')
  }
  // Its connection may take a moment to close, and the client waits for the exit.
  process.exit(0)
}
