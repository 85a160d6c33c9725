/** `inspect --stately`: the daemon's stream, told to the Stately inspector until Ctrl-C. */
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { ChannelClient } from '../../channel/client.ts'
import { MemError } from '../../errors.ts'
import type { Paths } from '../../paths.ts'
import type { Cli } from '../cli.ts'
import { clean } from '../text.ts'
import { untilInterrupted } from '../watch.ts'
import { LiveActors } from './actors.ts'
import { INSPECTOR_URL } from './page.ts'
import { InspectorServer } from './server.ts'

/** A daemon may come up at any time. */
const LOOK_AGAIN_MS = 1_000
/** More sessions than anyone tells apart. */
const MOST_SESSIONS = 100

export async function serveStately(cli: Cli, port: number, json: boolean): Promise<number> {
  const actors = new LiveActors()
  const server = await InspectorServer.open(port, () => actors.current)
  const url = `http://127.0.0.1:${server.port}`
  if (json) cli.printJson({ url, socket: url.replace('http', 'ws'), port: server.port })
  else cli.print(...openingLines(cli, server.port))
  try {
    await followUntil(untilInterrupted(), cli, actors, server)
    return 0
  } finally {
    await server.close()
  }
}

function openingLines(cli: Cli, port: number): string[] {
  const { bold, dim } = cli.look().style
  return [
    `${bold('Live actors')} for the Stately inspector: ${bold(`http://127.0.0.1:${port}`)}`,
    '',
    `  Open that page: it shows ${INSPECTOR_URL} in a frame and hands it what happens here.`,
    `  Programs that speak the protocol of @statelyai/inspect connect to ws://127.0.0.1:${port}`,
    '',
    '  Nothing leaves this machine by itself. Whoever connects sees ids of sessions, their states, events and',
    '  counts; prompts, memories, tool uses, paths and what a provider said are not sent.',
    '',
    dim('Ctrl-C ends it.'),
  ]
}

async function followUntil(signal: AbortSignal, cli: Cli, actors: LiveActors, server: InspectorServer): Promise<void> {
  let told = false
  while (!signal.aborted) {
    try {
      await followOne(cli.paths, signal, actors, server)
      told = false
    } catch (error) {
      if (!(error instanceof MemError && error.code === 'not_running')) throw error
      if (!told) cli.tell(clean('No daemon answers: its sessions appear as soon as one runs (claude-mem start).'))
      told = true
    }
    await sleep(LOOK_AGAIN_MS, undefined, { signal }).catch(() => undefined)
  }
}

/** Until the daemon goes away. */
async function followOne(
  paths: Paths,
  signal: AbortSignal,
  actors: LiveActors,
  server: InspectorServer,
): Promise<void> {
  const client = await ChannelClient.connect(paths)
  const ended = new AbortController()
  client.onClose = () => ended.abort()
  const stop = () => ended.abort()
  signal.addEventListener('abort', stop)
  try {
    // What comes before the list was asked for may be newer than the list: it is told after it.
    let early: Parameters<LiveActors['take']>[0][] | null = []
    client.onStream = (item) => {
      if (early === null) server.send(actors.take(item))
      else early.push(item)
    }
    await client.request('subscribed', { type: 'subscribe', since: null })
    const filter = { status: 'active', limit: MOST_SESSIONS } as const
    const { sessions } = await client.request('sessions', { type: 'sessions', filter })
    server.send(actors.reset(sessions))
    for (const item of early) server.send(actors.take(item))
    early = null
    if (!ended.signal.aborted && !signal.aborted) await once(ended.signal, 'abort')
  } finally {
    signal.removeEventListener('abort', stop)
    client.close()
  }
}
