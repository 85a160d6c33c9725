/** What Claude Code runs. Exit code 0 and one line of output, always. */
import { runHook, writeAnswer } from './run.ts'

const STDIN = 0
const STDOUT = 1

process.on('uncaughtException', () => {
  writeAnswer(STDOUT, null)
  process.exit(0)
})

// Waiting for the socket to close would cost more than the rest of the work.
runHook({ stdin: STDIN, stdout: STDOUT, env: process.env, dist: __dirname }).then(() => process.exit(0))
