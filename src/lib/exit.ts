/**
 * Ending the process although a thread is blocked. `process.exit` waits for every thread: for a file operation on a dead
 * network mount or a FIFO, and for a worker inside of SQLite. Then only a signal ends the process.
 */
import { setTimeout as sleep } from 'node:timers/promises'

/** Exit code of a daemon where another one holds the data directory. */
export const EXIT_ALREADY_RUNNING = 3

/** Ends the process at once, without any clean-up. The system releases its locks; SQLite recovers at the next start. */
export function forceExit(): never {
  process.kill(process.pid, 'SIGKILL')
  // The signal is delivered before the next instruction on every system; this is for the type.
  throw new Error('the process did not end')
}

/** Operations of the thread pool, as `process.getActiveResourcesInfo` names them. */
const POOL_OPERATIONS = /^(FSReq|GetAddrInfo|GetNameInfo|RandomBytes|PBKDF2|Scrypt|Zlib|Hash|Sign|KeyPair|Cipher)/

/** How long operations in flight may take to finish, in ms. */
const POOL_GRACE_MS = 500
const POLL_MS = 20

/** Exits with this code; where an operation never finishes, by a signal. */
export async function exitProcess(code: number): Promise<never> {
  for (let waitedMs = 0; waitedMs < POOL_GRACE_MS; waitedMs += POLL_MS) {
    if (!process.getActiveResourcesInfo().some((name) => POOL_OPERATIONS.test(name))) process.exit(code)
    await sleep(POLL_MS)
  }
  return forceExit()
}
