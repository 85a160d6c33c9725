import { basename, relative } from 'node:path'
import { MemError } from '../../errors.ts'
import { dataDirectory } from '../../paths.ts'
import type { Cli } from '../cli.ts'
import { command, jsonOption } from '../command.ts'
import { fields } from '../table.ts'
import { clean } from '../text.ts'

export const start = command({
  usage: 'start',
  group: 'Run it',
  summary: 'Start the daemon',
  about:
    'Starts the daemon that keeps the memory, in the background. Hooks start it by themselves when they need it; ' +
    'starting it by hand shows that it works. With --foreground it stays in this terminal and says what it does.',
  examples: [
    ['claude-mem start', 'in the background'],
    ['claude-mem start --foreground', 'in this terminal, until Ctrl-C'],
  ],
  positionals: {},
  options: {
    foreground: { type: 'boolean', alias: 'f', describe: 'Stay in this terminal, with log lines' },
    json: jsonOption,
  },
  run: async ({ foreground, json }, cli) =>
    foreground === true ? await runInForeground(cli, json === true) : await startInBackground(cli, json === true),
})

export async function startInBackground(cli: Cli, json: boolean): Promise<number> {
  const { ensureStarted } = await import('../daemon-process.ts')
  const { status, already } = await ensureStarted(cli)
  const { pid, version, dataDir, port } = status
  if (json) {
    cli.printJson({ running: true, started: !already, pid, version, dataDir, port })
    return 0
  }
  cli.print(
    `claude-mem ${clean(version)} ${already ? 'is already running' : 'is running'} (pid ${pid})`,
    ...whereLines(cli, dataDir, port),
    '',
    'Next: claude-mem status, claude-mem inspect --watch, claude-mem stop',
  )
  return 0
}

async function runInForeground(cli: Cli, json: boolean): Promise<number> {
  // Only ever imported dynamically: the bundle then keeps it in daemon.js, where it finds its worker.
  const { EXIT_ALREADY_RUNNING, runDaemon } = await import('../../daemon.ts')
  let listening = true
  const say = (line: string) => {
    if (listening) (json ? cli.tell : cli.print)(clean(line))
  }
  try {
    await runDaemon(say, ({ paths, port, stop }) => {
      // Here the terminal is the daemon's home: it goes with it, without a word.
      process.on('SIGHUP', () => {
        listening = false
        void stop('the terminal was closed')
      })
      if (json) cli.printJson({ running: true, started: true, pid: process.pid, dataDir: paths.dataDir, port })
      else cli.print(...foregroundLines(cli, paths.dataDir, port))
    })
    return 0
  } catch (error) {
    if (!(error instanceof MemError && error.code === 'already_running')) throw error
    cli.tell(`claude-mem: ${clean(error.message)}; stop it first with: claude-mem stop`)
    return EXIT_ALREADY_RUNNING
  }
}

function foregroundLines(cli: Cli, dataDir: string, port: number | null): string[] {
  const { bold, dim } = cli.look().style
  const inThisDirectory = JSON.stringify(process.cwd())
  const payload = (rest: string) => `'{"session_id":"demo","cwd":${inThisDirectory},${rest}}'`
  const pipe = (rest: string) => `  echo ${payload(rest)} | ${program(cli)} hook`
  return [
    '',
    bold(`claude-mem is running (pid ${process.pid}); Ctrl-C stops it`),
    ...whereLines(cli, dataDir, port),
    '',
    'Try it from another terminal, as Claude Code would:',
    clean(pipe('"hook_event_name":"UserPromptSubmit","prompt":"Do the tests pass?"')),
    clean(
      pipe(
        '"hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"command":"npm test"},"tool_response":{"stdout":"Tests  12 passed (12)"}',
      ),
    ),
    clean(pipe('"hook_event_name":"Stop"')),
    '',
    'Then look at it:',
    `  ${program(cli)} inspect demo   ${dim('what the session went through')}`,
    `  ${program(cli)} status         ${dim('the daemon as a whole')}`,
    '',
  ]
}

function whereLines(cli: Cli, dataDir: string, port: number | null): string[] {
  return fields(
    [
      ['data', clean(dataDir)],
      ['port', port === null ? 'none; see: claude-mem status' : `127.0.0.1:${port}`],
    ],
    cli.look(),
  )
}

/** How this program is called from another terminal: by its name where it is installed, else the way it was started. */
function program(cli: Cli): string {
  const [, script = ''] = process.argv
  const name = basename(script) === 'claude-mem' ? 'claude-mem' : `node ${quoted(relative(process.cwd(), script))}`
  // Another terminal has to be told about a data directory that is not the usual one.
  return cli.paths.dataDir === dataDirectory({}) ? name : `CLAUDE_MEM_DATA_DIR=${quoted(cli.paths.dataDir)} ${name}`
}

function quoted(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${clean(path).replaceAll("'", "'\\''")}'`
}
