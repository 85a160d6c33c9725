/** What hooks and `claude-mem start` run in the background. */

import { MemError } from '../lib/errors.ts'
import { exitProcess } from '../lib/exit.ts'
import { EXIT_ALREADY_RUNNING, runDaemon } from './daemon.ts'

runDaemon(null, () => undefined).then(
  () => exitProcess(0),
  (error: unknown) => {
    const code = error instanceof MemError ? error.code : 'internal'
    return exitProcess(code === 'already_running' ? EXIT_ALREADY_RUNNING : 1)
  },
)
