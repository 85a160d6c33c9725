/** What hooks and `claude-mem start` run in the background. */

import { MemError } from '../lib/errors.ts'
import { EXIT_ALREADY_RUNNING, exitDaemon, runDaemon } from './daemon.ts'

runDaemon(null, () => undefined).then(
  () => exitDaemon(0),
  (error: unknown) => {
    const code = error instanceof MemError ? error.code : 'internal'
    return exitDaemon(code === 'already_running' ? EXIT_ALREADY_RUNNING : 1)
  },
)
