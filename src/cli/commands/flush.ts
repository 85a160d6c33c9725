import { command, jsonOption } from '../command.ts'
import { clean, counted } from '../text.ts'

export const flush = command({
  usage: 'flush [session]',
  group: 'Keep it in shape',
  summary: 'Have what waits observed now',
  about:
    'Messages gather until a turn ends. This gives what waits to the observer at once, asks a provider that did not ' +
    'answer again, and waits a few seconds for the result.',
  examples: [
    ['claude-mem flush', 'all sessions'],
    ['claude-mem flush 5f1c', 'one session'],
  ],
  positionals: { session: { type: 'string', describe: 'The first characters of its id' } },
  options: { json: jsonOption },
  run: async ({ session, json }, cli) => {
    const { ChannelClient } = await import('../../channel/client.ts')
    const client = await ChannelClient.connect(cli.paths)
    try {
      cli.progress('Waiting for the observer …')
      const done = await client.request('done', { type: 'flush', session: session ?? null, wait: true })
      const { status } = await client.request('status', { type: 'status' })
      const filter = session === undefined ? {} : { session }
      const { messages } = await client.request('queue', { type: 'queue', filter })
      const left = messages.filter((message) => message.status !== 'failed').length
      cli.progress('')
      if (json === true) cli.printJson({ sessions: done.affected, left, waiting: status.waiting })
      else cli.print(outcome(done.affected, left, status.waiting?.reason ?? null))
      return 0
    } finally {
      cli.progress('')
      client.close()
    }
  },
})

function outcome(sessions: number, left: number, reason: string | null): string {
  if (sessions === 0) return 'Nothing waits'
  if (left === 0) return `${counted(sessions, 'session')} flushed; nothing waits any more`
  const why = reason === null ? 'claude-mem inspect shows how far they are' : clean(reason)
  return `${counted(sessions, 'session')} flushed; ${counted(left, 'message')} still in the queue: ${why}`
}
