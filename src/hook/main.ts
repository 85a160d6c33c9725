/** What the client runs. Exit code 0 and one line of output, always. */
import { type HookIo, runHook, writePlainAnswer } from './run.ts'

const io: HookIo = { stdin: 0, stdout: 1, env: process.env, dist: __dirname, args: process.argv.slice(2) }

process.on('uncaughtException', () => {
  writePlainAnswer(io)
  process.exit(0)
})

// Waiting for the socket to close would cost more than the rest of the work.
runHook(io).then(() => process.exit(0))
