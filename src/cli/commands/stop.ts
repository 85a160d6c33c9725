import { command, jsonOption } from '../command.ts'

export const stop = command({
  usage: 'stop',
  group: 'Run it',
  summary: 'Stop the daemon',
  about:
    'Asks the daemon to finish what it is doing and to exit, and waits for it. Nothing is lost: what is not finished ' +
    'goes on at the next start. A hook that reports something starts the daemon again.',
  examples: [['claude-mem stop', '']],
  positionals: {},
  options: { json: jsonOption },
  run: async ({ json }, cli) => {
    const { stopDaemon } = await import('../daemon-process.ts')
    const stopped = await stopDaemon(cli)
    if (json === true) cli.printJson({ running: false, stopped: stopped !== null, pid: stopped?.pid ?? null })
    else cli.print(stopped === null ? 'claude-mem is not running' : `claude-mem (pid ${stopped.pid}) has stopped`)
    return 0
  },
})
