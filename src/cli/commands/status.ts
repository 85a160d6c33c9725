import { listSpool } from '../../channel/spool.ts'
import { MemError, messageOf } from '../../errors.ts'
import { startOfDay } from '../../memory/day.ts'
import { loadSettings } from '../../settings.ts'
import type { Cli } from '../cli.ts'
import { command, jsonOption } from '../command.ts'
import type { StoppedStatus } from '../render/status.ts'

export const status = command({
  usage: 'status',
  group: 'See what it does',
  summary: 'Whether it runs, what waits, and what you should know',
  about:
    'Shows the daemon, its queue, and notices: a recovered database, a bad setting, an observer that does not answer. ' +
    'Without a daemon it shows what the database says.',
  examples: [
    ['claude-mem status', ''],
    ['claude-mem status --json | jq .queue', 'for programs; "running" says whether it is up'],
  ],
  positionals: {},
  options: { json: jsonOption },
  run: async ({ json }, cli) => {
    const { askStatus } = await import('../daemon-process.ts')
    const { runningLines, stoppedLines } = await import('../render/status.ts')
    const running = await askStatus(cli.paths)
    if (running !== null) {
      if (json === true) cli.printJson({ running: true, ...running })
      else cli.print(...runningLines(running, cli.look()))
      return 0
    }
    const stopped = await stoppedStatus(cli)
    if (json === true) cli.printJson({ running: false, ...stopped })
    else cli.print(...stoppedLines(stopped, cli.look()))
    return 0
  },
})

async function stoppedStatus({ paths, env }: Cli): Promise<StoppedStatus> {
  const base = {
    dataDir: paths.dataDir,
    spooled: listSpool(paths.spool).length,
    notices: loadSettings(paths.dataDir, env).problems.map(({ message }) => message),
  }
  const { SqliteReader } = await import('../../store/sqlite/reader.ts')
  try {
    const reader = await SqliteReader.open(paths.database)
    const stats = await reader.stats(startOfDay(Date.now())).finally(() => reader.close())
    return { ...base, stats, problem: null }
  } catch (error) {
    const isNew = error instanceof MemError && error.code === 'not_found'
    // A database that cannot be read is what somebody who asks for the status wants to know.
    return { ...base, stats: null, problem: isNew ? null : messageOf(error) }
  }
}
