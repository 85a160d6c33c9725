#!/usr/bin/env node
/** The command line. Commands load what they need when they run: `claude-mem --version` needs next to nothing. */
import { systemCode } from '../errors.ts'
import { type Cli, makeCli } from './cli.ts'
import { backfill } from './commands/backfill.ts'
import { backup } from './commands/backup.ts'
import { config } from './commands/config.ts'
import { context } from './commands/context.ts'
import { doctor } from './commands/doctor.ts'
import { exportMemory } from './commands/export.ts'
import { files } from './commands/files.ts'
import { flush } from './commands/flush.ts'
import { forget } from './commands/forget.ts'
import { hook, reportEvent } from './commands/hook.ts'
import { importMemory } from './commands/import.ts'
import { inspect } from './commands/inspect.ts'
import { install } from './commands/install.ts'
import { logs } from './commands/logs.ts'
import { mcp, serveMcp } from './commands/mcp.ts'
import { models } from './commands/models.ts'
import { newPrompt } from './commands/new.ts'
import { pin } from './commands/pin.ts'
import { projects } from './commands/projects.ts'
import { providers } from './commands/providers.ts'
import { queue } from './commands/queue.ts'
import { reindex } from './commands/reindex.ts'
import { remember } from './commands/remember.ts'
import { replay } from './commands/replay.ts'
import { restart } from './commands/restart.ts'
import { save } from './commands/save.ts'
import { search } from './commands/search.ts'
import { show } from './commands/show.ts'
import { start } from './commands/start.ts'
import { stats } from './commands/stats.ts'
import { status } from './commands/status.ts'
import { stop } from './commands/stop.ts'
import { summary } from './commands/summary.ts'
import { supersede } from './commands/supersede.ts'
import { timeline } from './commands/timeline.ts'
import { uninstall } from './commands/uninstall.ts'
import { usage } from './commands/usage.ts'
import { viewer } from './commands/viewer.ts'
import { exitCodeOf, failureText } from './failure.ts'
import { parse } from './parse.ts'
import { payloadEvent } from './payload-command.ts'

const COMMANDS = [
  search,
  show,
  timeline,
  remember,
  forget,
  pin,
  supersede,
  stats,
  start,
  stop,
  restart,
  status,
  viewer,
  inspect,
  replay,
  usage,
  context,
  logs,
  queue,
  flush,
  reindex,
  doctor,
  config,
  backup,
  exportMemory,
  importMemory,
  providers,
  models,
  projects,
  files,
  install,
  uninstall,
  backfill,
  mcp,
  hook,
  newPrompt,
  save,
  summary,
]

async function main(args: readonly string[], cli: Cli): Promise<number> {
  // A client runs it with whatever arguments its settings hold; none of them may make it fail.
  const event = payloadEvent(args[0])
  if ((args[0] === 'hook' || event !== undefined) && !args.includes('--help')) {
    return await reportEvent(cli, args, event === undefined ? {} : { event })
  }
  // An agent that starts waits for its tools: nothing is parsed where there is nothing to parse.
  if (args[0] === 'mcp' && args.length === 1) return await serveMcp(cli)
  try {
    return await parse(args, COMMANDS, cli)
  } catch (error) {
    cli.tell(failureText(error, cli.env))
    return exitCodeOf(error)
  }
}

/** `claude-mem logs | head` is no error. */
process.stdout.on('error', (error) => {
  if (systemCode(error) !== 'EPIPE') throw error
  process.exit(0)
})

process.exitCode = await main(process.argv.slice(2), makeCli(import.meta.url))
