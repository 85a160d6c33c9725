/** Clients that ask one question after the other, in a process of their own, for as long as they are wanted. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { ChannelClient } from '../../src/channel/client.ts'
import { type Paths, pathsOf } from '../../src/paths.ts'
import { NO_FILTERS } from '../../src/search/query.ts'

const CHILD = '--search-clients'
const CLIENTS = 2
/** The first question has all vectors read. */
const FIRST_ANSWER_MS = 300_000

interface Work {
  dataDir: string
  queries: readonly string[]
}

export interface Searchers {
  /** Ends them; how many questions were answered meanwhile. */
  stop(): Promise<number>
}

/** Resolves once the first answers are there: the bundle that is running, with an argument of its own. */
export async function startSearchers(work: Work): Promise<Searchers> {
  const script = process.argv[1]
  if (script === undefined) throw new Error('there is no script to run again')
  const child = fork(script, [CHILD])
  child.send(work)
  await messageOf(child)
  return {
    stop: async () => {
      child.send('stop')
      return Number(await messageOf(child))
    },
  }
}

async function messageOf(child: ChildProcess): Promise<unknown> {
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`the searching clients ended with exit code ${code}`)
  })
  const [message] = await Promise.race([once(child, 'message'), ended])
  return message
}

/** True in the child, once its work is done. */
export async function isSearchChild(): Promise<boolean> {
  if (!process.argv.includes(CHILD)) return false
  const [work]: Work[] = await once(process, 'message')
  if (work === undefined) throw new Error('nothing was said to search for')
  const paths = pathsOf(work.dataDir)
  let stopped = false
  process.once('message', () => {
    stopped = true
  })
  const first = await Promise.all(Array.from({ length: CLIENTS }, (_, n) => client(paths, work.queries, n)))
  process.send?.('searching')
  const counts = await Promise.all(first.map((search) => search(() => stopped)))
  process.send?.(
    counts.reduce((sum, count) => sum + count, 0),
    () => process.exit(0),
  )
  return true
}

/** Connected, and answered once. */
async function client(paths: Paths, queries: readonly string[], from: number) {
  const channel = await ChannelClient.connect(paths)
  const ask = async (n: number) => {
    const query = queries[(from * 7 + n) % queries.length] ?? ''
    const request = { query, mode: 'hybrid' as const, filters: NO_FILTERS, limit: 10, offset: 0 }
    await channel.request('found', { type: 'search', request }, FIRST_ANSWER_MS)
  }
  await ask(0)
  return async (isOver: () => boolean): Promise<number> => {
    let answered = 0
    while (!isOver()) await ask(++answered)
    channel.close()
    return answered
  }
}
