/**
 * What hooks and `claude-mem start` run in the background. A plugin comes without the database driver, and an update of node
 * can make an installed one useless: it is then fetched before anything else. Hooks spool their events meanwhile.
 */

import { errorMessage, isUnresponsive, MemError } from '../lib/errors.ts'
import { EXIT_ALREADY_RUNNING, exitProcess } from '../lib/exit.ts'
import { fetchPackage, lastFetchFailure } from '../lib/fetch-packages.ts'
import { fileLogger } from '../lib/log.ts'
import { loadDatabaseDriver } from '../lib/packages.ts'
import { dataDirectory, dataPaths } from '../lib/paths.ts'
import { recordStartFailure } from '../lib/start-failure.ts'

const EXIT_FAILED = 1
/** Hooks start a daemon again and again; without a network each attempt to fetch would only cost time. */
const FETCH_AGAIN_MS = 10 * 60_000
const KEPT_LOG_FILES = 5

async function main(): Promise<number> {
  if (!(await ensureDriver())) return EXIT_FAILED
  try {
    // Imported now: the store looks for the driver when it is loaded.
    const { runDaemon } = await import('./daemon.ts')
    await runDaemon(null, () => undefined)
    return 0
  } catch (error) {
    if (error instanceof MemError && error.code === 'already_running') return EXIT_ALREADY_RUNNING
    recordStartFailure(dataPaths(dataDirectory()), error)
    return isUnresponsive(error) ? EXIT_ALREADY_RUNNING : EXIT_FAILED
  }
}

/** Whether there is a driver, after an attempt to fetch it. */
async function ensureDriver(): Promise<boolean> {
  const { reason } = loadDatabaseDriver()
  if (reason === null) return true
  const paths = dataPaths(dataDirectory())
  const { packages, logs } = paths
  const failure = lastFetchFailure(packages)
  if (failure !== null && Date.now() - failure.at < FETCH_AGAIN_MS) return false
  const log = fileLogger(logs, 'info', KEPT_LOG_FILES)
  log.info(`the database driver cannot be loaded (${reason}); fetching it into ${packages}`)
  // Hooks show it: without a compiler that is ready, fetching takes minutes.
  const record = (what: string): void =>
    recordStartFailure(
      paths,
      `the database driver does not run with Node ${process.versions.node} (${reason}); ${what}`,
    )
  record(`another one is fetched into ${packages}`)
  try {
    const directory = await fetchPackage('better-sqlite3', { packages, env: process.env })
    if (directory === null) log.info('another process is fetching the database driver; this one ends')
    else log.info(`the database driver is in ${directory}`)
    return directory !== null
  } catch (error) {
    log.error(`the database driver could not be fetched: ${errorMessage(error)}`)
    record(`no other one could be fetched: ${errorMessage(error)}; this is tried again every ten minutes`)
    return false
  }
}

main().then(exitProcess)
