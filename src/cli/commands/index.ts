/** All commands, in the order of `claude-mem --help` and of docs/commands.md. */
import type { CliCommand } from '../command.ts'
import { backfillCommand } from './backfill.ts'
import { backupCommand } from './backup.ts'
import { mcpCommand, payloadCommands, runHookCommand } from './client-programs.ts'
import { configCommand } from './config.ts'
import { contextCommand } from './context.ts'
import { logsCommand, restartCommand, startCommand, statusCommand, stopCommand, workerCommand } from './daemon.ts'
import { doctorCommand } from './doctor.ts'
import { exportCommand, importCommand } from './exchange.ts'
import { filesCommand } from './files.ts'
import { inspectCommand } from './inspect.ts'
import { installCommand, uninstallCommand } from './install.ts'
import { modelsCommand, reindexCommand } from './models.ts'
import { packagesCommand } from './packages.ts'
import { projectsCommand } from './projects.ts'
import { providersCommand } from './providers.ts'
import { flushCommand, queueCommand } from './queue.ts'
import { forgetCommand, pinCommand, rememberCommand, supersedeCommand } from './remember.ts'
import { replayCommand } from './replay.ts'
import { searchCommand, showCommand, timelineCommand } from './search.ts'
import { statsCommand, usageCommand } from './stats.ts'
import { summarizeCommand } from './summarize.ts'
import { teamCommand } from './team.ts'
import { updateCommand } from './update.ts'
import { viewerCommand } from './viewer.ts'

export const COMMANDS: readonly CliCommand[] = [
  searchCommand,
  showCommand,
  timelineCommand,
  summarizeCommand,
  rememberCommand,
  forgetCommand,
  pinCommand,
  supersedeCommand,
  statsCommand,
  startCommand,
  stopCommand,
  restartCommand,
  workerCommand,
  statusCommand,
  viewerCommand,
  inspectCommand,
  replayCommand,
  usageCommand,
  contextCommand,
  logsCommand,
  queueCommand,
  flushCommand,
  reindexCommand,
  doctorCommand,
  configCommand,
  backupCommand,
  exportCommand,
  importCommand,
  providersCommand,
  modelsCommand,
  packagesCommand,
  projectsCommand,
  filesCommand,
  teamCommand,
  installCommand,
  updateCommand,
  uninstallCommand,
  backfillCommand,
  mcpCommand,
  runHookCommand,
  ...payloadCommands,
]
