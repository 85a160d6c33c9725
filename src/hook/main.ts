/** Entry point of the hook. It always exits with code 0 and writes one line. */
import { join } from 'node:path'
import { type HookIo, writeLine } from './io.ts'
import { type LocalHook, runHook } from './run.ts'

const io: HookIo = { stdin: 0, stdout: 1, env: process.env, dist: __dirname, args: process.argv.slice(2) }

/** Most hooks do not need it, and compiling it would double their time. */
const local = (): LocalHook => require(join(__dirname, 'hook-local.cjs'))

/** Without waiting for the socket to close, which would take longer than everything else. */
const end = (): never => process.exit(0)

process.on('uncaughtException', () => {
  try {
    writeLine(io.stdout, local().emptyAnswer(io))
  } finally {
    end()
  }
})

runHook(io, local).then(end, end)
