/** Entry point of the hook. It always exits with code 0 and writes one line. */
import { type HookIo, runHook, writeEmptyAnswer } from './run.ts'

const io: HookIo = { stdin: 0, stdout: 1, env: process.env, dist: __dirname, args: process.argv.slice(2) }

process.on('uncaughtException', () => {
  writeEmptyAnswer(io)
  process.exit(0)
})

// Exits without waiting for the socket to close, which would take longer than everything else.
runHook(io).then(() => process.exit(0))
