/** Commands about the daemon process: `start`, `stop`, `restart`, `status` and `logs`. */
import { existsSync } from 'node:fs'
import { basename, relative } from 'node:path'
import { startOfDay } from '../../domain/dates.ts'
import { listSpool } from '../../hook/spool.ts'
import { errorMessage, MemError } from '../../lib/errors.ts'
import { EXIT_ALREADY_RUNNING } from '../../lib/exit.ts'
import { dataDirectory } from '../../lib/paths.ts'
import { loadSettings } from '../../settings/settings.ts'
import { recentRecoveryNotes } from '../../store/recovery/recovery-notes.ts'
import { numberOption, oneOf } from '../arguments.ts'
import { type Cli, interruptSignal, printResult } from '../cli.ts'
import { defineCommand, jsonOption } from '../command.ts'
import { runningStatusLines, type StoppedStatus, stoppedStatusLines } from '../render/status.ts'
import { type Field, fieldLines } from '../table.ts'
import { terminalSafe } from '../text.ts'

export const startCommand = defineCommand({
  usage: 'start',
  group: 'Daemon',
  summary: 'Start the daemon',
  about:
    'Starts the daemon in the background. Hooks start it when they need it; starting it by hand shows that it works. ' +
    'With --foreground it stays in this terminal and prints what it does.',
  examples: [
    ['claude-mem start', 'in the background'],
    ['claude-mem start --foreground', 'in this terminal, until Ctrl-C'],
  ],
  options: {
    foreground: { type: 'boolean', alias: 'f', describe: 'Stay in this terminal and print log lines' },
    daemon: { type: 'boolean', describe: 'In the background, which is the default', conflicts: 'foreground' },
  },
  run: async ({ foreground }, cli) => (foreground ? await runInForeground(cli) : await startInBackground(cli)),
})

export const stopCommand = defineCommand({
  usage: 'stop',
  group: 'Daemon',
  summary: 'Stop the daemon',
  about:
    'Asks the daemon to finish its current work and to exit, and waits for it. Nothing is lost: unfinished work continues ' +
    'at the next start. The next event that a hook reports starts the daemon again. The process of a daemon that does not answer is ended.',
  examples: [['claude-mem stop', '']],
  run: (_, cli) => stop(cli),
})

async function stop(cli: Cli): Promise<number> {
  const { stopDaemon } = await import('../daemon-process.ts')
  const stopped = await stopDaemon(cli)
  printResult(cli, { running: false, stopped: stopped !== null, pid: stopped?.pid ?? null }, () => {
    if (stopped === null) return 'claude-mem is not running'
    return stopped.hung
      ? `claude-mem (pid ${stopped.pid}) did not answer, so its process was ended`
      : `claude-mem (pid ${stopped.pid}) has stopped`
  })
  return 0
}

export const restartCommand = defineCommand({
  usage: 'restart',
  group: 'Daemon',
  summary: 'Stop the daemon and start it again',
  about: 'Stops the daemon if it is running, and starts it. Changed settings apply from then on.',
  examples: [['claude-mem restart', 'after claude-mem config set']],
  run: (_, cli) => restart(cli),
})

async function restart(cli: Cli): Promise<number> {
  const { stopDaemon } = await import('../daemon-process.ts')
  await stopDaemon(cli)
  return await startInBackground(cli)
}

const WORKER_ACTIONS = ['start', 'stop', 'restart', 'status'] as const

export const workerCommand = defineCommand({
  usage: 'worker [action]',
  group: 'Daemon',
  summary: 'Another name for start, stop, restart and status',
  about: 'For scripts and habits of the original claude-mem, whose daemon is called the worker.',
  examples: [
    ['claude-mem worker start', 'the same as claude-mem start'],
    ['claude-mem worker status', 'the same as claude-mem status'],
  ],
  positionals: { action: { type: 'string', describe: WORKER_ACTIONS.join(', '), default: 'status' } },
  run: async ({ action }, cli) => {
    switch (oneOf('action', action, WORKER_ACTIONS)) {
      case 'start':
        return await startInBackground(cli)
      case 'stop':
        return await stop(cli)
      case 'restart':
        return await restart(cli)
      case 'status':
        return await showStatus(cli)
    }
  },
})

export const statusCommand = defineCommand({
  usage: 'status',
  group: 'Inspect',
  summary: 'Whether it runs, what waits, and notices',
  about:
    'Shows the daemon, its queue, and notices: a recovered database, an invalid setting, an observer that does not answer. ' +
    'Without a daemon it shows what the database contains.',
  examples: [
    ['claude-mem status', ''],
    ['claude-mem status --json | jq .queue', 'for programs; "running" says whether it is up'],
  ],
  run: (_, cli) => showStatus(cli),
})

async function showStatus(cli: Cli): Promise<number> {
  const { fetchDaemonStatus } = await import('../daemon-process.ts')
  const status = await fetchDaemonStatus(cli.paths)
  if (status !== null) {
    printResult(cli, { running: true, ...status }, () => runningStatusLines(status, cli.display()))
  } else {
    const stopped = await readStoppedStatus(cli)
    printResult(cli, { running: false, ...stopped }, () => stoppedStatusLines(stopped, cli.display()))
  }
  return 0
}

async function readStoppedStatus({ paths, env }: Cli): Promise<StoppedStatus> {
  const base = {
    dataDir: paths.dataDir,
    spooled: listSpool(paths.spool).length,
    notices: [
      ...recentRecoveryNotes(paths.database, Date.now()).map(({ text }) => text),
      ...loadSettings(paths.dataDir, env).problems.map(({ message }) => message),
    ],
  }
  const { openStoreReader } = await import('../../store/sqlite/reader.ts')
  try {
    const reader = await openStoreReader(paths.database)
    const stats = await reader.stats(startOfDay(Date.now())).finally(() => reader.close())
    return { ...base, stats, problem: null }
  } catch (error) {
    const isNew = error instanceof MemError && error.code === 'not_found'
    // An unreadable database is part of the status, not a failure of the command.
    return { ...base, stats: null, problem: isNew ? null : errorMessage(error) }
  }
}

async function startInBackground(cli: Cli): Promise<number> {
  const { ensureDaemonRunning } = await import('../daemon-process.ts')
  const { originalNotes } = await import('./install.ts')
  const isFirst = !existsSync(cli.paths.database)
  const { status, wasRunning } = await ensureDaemonRunning(cli, { keepEnvironment: true })
  const { pid, version, dataDir, port } = status
  const heading = `claude-mem ${terminalSafe(version)} ${wasRunning ? 'is already running' : 'is running'} (pid ${pid})`
  const next = 'Next: claude-mem status, claude-mem inspect --watch, claude-mem stop'
  printResult(cli, { running: true, started: !wasRunning, pid, version, dataDir, port }, () => [
    heading,
    ...addressLines(cli, dataDir, port),
    '',
    next,
    ...(isFirst ? originalNotes(dataDir).map((note) => `! ${terminalSafe(note)}`) : []),
  ])
  return 0
}

async function runInForeground(cli: Cli): Promise<number> {
  // Only imported dynamically, so that the bundler keeps it in daemon.js, from where it finds its workers.
  const { ensureDatabaseDriver } = await import('../daemon-process.ts')
  await ensureDatabaseDriver(cli)
  const { runDaemon } = await import('../../daemon/daemon.ts')
  let hasTerminal = true
  const log = (line: string) => {
    if (hasTerminal) (cli.json ? cli.printStderr : cli.print)(terminalSafe(line))
  }
  try {
    await runDaemon(log, ({ paths, port, stop }) => {
      // In the foreground the daemon ends with its terminal, to which nothing can be written any more.
      process.on('SIGHUP', () => {
        hasTerminal = false
        void stop('the terminal was closed')
      })
      const { dataDir } = paths
      const started = { running: true, started: true, pid: process.pid, dataDir, port }
      printResult(cli, started, () => foregroundLines(cli, dataDir, port))
    })
    return 0
  } catch (error) {
    if (!(error instanceof MemError && error.code === 'already_running')) throw error
    cli.printStderr(`claude-mem: ${terminalSafe(error.message)}; stop it first with: claude-mem stop`)
    return EXIT_ALREADY_RUNNING
  }
}

/** Commands that can be pasted into another terminal to try it out. */
function foregroundLines(cli: Cli, dataDir: string, port: number | null): string[] {
  const { bold, dim } = cli.display().style
  const program = programCommand(cli)
  const pipe = (fields: object) => {
    const payload = JSON.stringify({ session_id: 'demo', cwd: process.cwd(), ...fields })
    return terminalSafe(`  echo '${payload}' | ${program} hook`)
  }
  return [
    '',
    bold(`claude-mem is running (pid ${process.pid}); Ctrl-C stops it`),
    ...addressLines(cli, dataDir, port),
    '',
    'Try it from another terminal, as Claude Code would:',
    pipe({ hook_event_name: 'UserPromptSubmit', prompt: 'Do the tests pass?' }),
    pipe({
      hook_event_name: 'PostToolUse',
      tool_name: 'Bash',
      tool_input: { command: 'npm test' },
      tool_response: { stdout: 'Tests  12 passed (12)' },
    }),
    pipe({ hook_event_name: 'Stop' }),
    '',
    'Then look at it:',
    `  ${program} inspect demo   ${dim('states and transitions of the session')}`,
    `  ${program} status         ${dim('the daemon as a whole')}`,
    '',
  ]
}

function addressLines(cli: Cli, dataDir: string, port: number | null): string[] {
  const address = port === null ? 'none; see: claude-mem status' : `127.0.0.1:${port}`
  const fields: Field[] = [
    ['data', terminalSafe(dataDir)],
    ['port', address],
  ]
  return fieldLines(fields, cli.display())
}

/** How to run this program from another terminal: by its name if it is installed, else as it was started. */
function programCommand(cli: Cli): string {
  const [, script = ''] = process.argv
  const name = basename(script) === 'claude-mem' ? 'claude-mem' : `node ${shellQuote(relative(process.cwd(), script))}`
  const { dataDir } = cli.paths
  return dataDir === dataDirectory({}) ? name : `CLAUDE_MEM_DATA_DIR=${shellQuote(dataDir)} ${name}`
}

function shellQuote(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${terminalSafe(path).replaceAll("'", "'\\''")}'`
}

export const logsCommand = defineCommand({
  usage: 'logs',
  group: 'Inspect',
  summary: 'What the daemon logged',
  about:
    'Prints the last lines of the log in readable form. CLAUDE_MEM_LOG_LEVEL sets how much is logged; the content of ' +
    'tool uses is only logged at debug and below.',
  examples: [
    ['claude-mem logs -n 200', 'the last 200 lines'],
    ['claude-mem logs -f', 'and every new line, until Ctrl-C'],
  ],
  options: {
    follow: { type: 'boolean', alias: 'f', describe: 'Print new lines until Ctrl-C' },
    lines: { ...numberOption('lines', 'Lines printed', 0, 1_000_000), alias: 'n', default: 50 },
    json: { ...jsonOption, describe: 'One line with an array; with -f one line per entry' },
  },
  run: async ({ follow, lines }, cli) => {
    const { followLogLines, logLine, parseLogLine, readLastLogLines } = await import('../log-files.ts')
    const { logs: directory } = cli.paths
    const print = (line: string) => {
      const entry = parseLogLine(line)
      printResult(cli, entry, () => logLine(entry, cli.display()))
    }
    const last = readLastLogLines(directory, lines)
    if (cli.json && !follow) cli.printJson(last.map(parseLogLine))
    else last.forEach(print)
    if (last.length === 0 && !cli.json && lines !== 0) cli.printStderr(`The log in ${directory} is empty`)
    if (follow) await followLogLines(directory, interruptSignal(), print)
  },
})
