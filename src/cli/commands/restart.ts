import { command, jsonOption } from '../command.ts'
import { startInBackground } from './start.ts'

export const restart = command({
  usage: 'restart',
  group: 'Run it',
  summary: 'Stop the daemon and start it again',
  about: 'Stops the daemon if it runs, and starts it. Changed settings hold from then on.',
  examples: [['claude-mem restart', 'after claude-mem config set']],
  positionals: {},
  options: { json: jsonOption },
  run: async ({ json }, cli) => {
    const { stopDaemon } = await import('../daemon-process.ts')
    await stopDaemon(cli)
    return await startInBackground(cli, json === true)
  },
})
