#!/usr/bin/env node
/** Entry point of the command line. Commands load their implementation when they run, to keep the start fast. */
import { homedir } from 'node:os'
import { currentWorkingTree } from '../domain/project.ts'
import { MemError, systemCode } from '../lib/errors.ts'
import { sessionDirectoryReason } from '../lib/own-directory.ts'
import { dataDirectory, namedDataDirectory, registeredDataDirectory, withoutDataDirectory } from '../lib/paths.ts'
import { type Cli, createCli } from './cli.ts'
import { payloadEvent, reportEvent, serveMcp } from './commands/client-programs.ts'
import { COMMANDS } from './commands/index.ts'
import { exitCodeFor, failureMessage, parse } from './parse.ts'

const given = process.argv.slice(2)

async function main(args: readonly string[], cli: Cli): Promise<number> {
  // Clients run these with any arguments that their settings contain. A wrong one must not make a hook fail.
  const event = payloadEvent(args[0])
  if ((args[0] === 'hook' || event !== undefined) && !args.includes('--help')) {
    return await reportEvent(cli, args, event === undefined ? {} : { event })
  }
  // An agent waits for its tools when it starts, so yargs is not loaded.
  if (args[0] === 'mcp' && args.length === 1) return await serveMcp(cli)
  try {
    refuseDirectoryOfProject(cli.paths.dataDir)
    return await parse(args, COMMANDS, cli)
  } catch (error) {
    cli.printStderr(failureMessage(error, cli.env))
    return exitCodeFor(error)
  }
}

/** An agent types commands with the environment of its client, which may be that of the project (`.env`). */
function refuseDirectoryOfProject(dataDir: string): void {
  if (namedDataDirectory(given) !== undefined) return
  const reason = sessionDirectoryReason(dataDir, currentWorkingTree(), homedir())
  if (reason === null) return
  throw new MemError(
    'forbidden',
    `the data directory cannot be used: ${reason}. If it is yours: claude-mem --data-dir DIR`,
  )
}

/** The reader of a pipe may exit first, as in `claude-mem logs | head`. */
process.stdout.on('error', (error) => {
  if (systemCode(error) !== 'EPIPE') throw error
  process.exit(0)
})

/** Clients start these, with an environment that may be that of a project: it does not name the data directory. */
const isStartedByClient = (name: string | undefined): boolean =>
  name === 'hook' || name === 'mcp' || payloadEvent(name) !== undefined

const args = withoutDataDirectory(given)
const dataDir = isStartedByClient(args[0])
  ? registeredDataDirectory(given)
  : (namedDataDirectory(given) ?? dataDirectory())
process.exitCode = await main(args, createCli(import.meta.url, dataDir))
