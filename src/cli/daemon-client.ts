/** What only a daemon can do: one is started where none runs. */
import type { ChannelClient } from '../channel/client.ts'
import type { Cli } from './cli.ts'

export async function withDaemon<T>(cli: Cli, use: (client: ChannelClient) => Promise<T>): Promise<T> {
  const { connectIfRunning } = await import('./reader.ts')
  const client = (await connectIfRunning(cli.paths)) ?? (await connectToNew(cli))
  try {
    return await use(client)
  } finally {
    client.close()
  }
}

async function connectToNew(cli: Cli): Promise<ChannelClient> {
  const [{ ensureStarted }, { ChannelClient }] = await Promise.all([
    import('./daemon-process.ts'),
    import('../channel/client.ts'),
  ])
  await ensureStarted(cli)
  return await ChannelClient.connect(cli.paths)
}
