import type { Cli } from '../cli.ts'
import { command } from '../command.ts'

export const hook = command({
  usage: 'hook',
  group: 'Connect it',
  summary: 'What Claude Code runs: reports one event from standard input',
  about:
    'Reads one hook payload from standard input, reports it to the daemon (or keeps it in the spool and starts the ' +
    'daemon), and answers with one line of JSON. It always succeeds: a client must not be held up by its memory.',
  examples: [
    [`echo '{"hook_event_name":"Stop","session_id":"demo","cwd":"/tmp"}' | claude-mem hook`, 'the end of a turn'],
  ],
  positionals: {},
  options: {},
  run: (_, cli) => reportEvent(cli),
})

/** Whatever its arguments are: see main. */
export async function reportEvent(cli: Cli): Promise<number> {
  if (process.stdin.isTTY === true) {
    cli.tell('claude-mem hook reads a hook payload from standard input; see: claude-mem hook --help')
    return 0
  }
  try {
    const { runHook } = await import('../../hook/run.ts')
    await runHook({ stdin: 0, stdout: 1, env: cli.env, dist: cli.dist })
  } catch {
    cli.print('{"continue":true,"suppressOutput":true}')
  }
  // Its connection may take a moment to close, and the client waits for the exit.
  process.exit(0)
}
