/**
 * How many durable acks a second 16 connections get, beside bare better-sqlite3 that writes the same rows in single
 * FULL transactions; and how long a start takes longer when one session's spool holds 1,000 events.
 */
import { parseArgs } from 'node:util'
import Database from 'better-sqlite3'
import { writeSpool } from '../../src/channel/spool.ts'
import { bareRate, type Rows, readRows } from '../lib/bare.ts'
import { startDaemon, statusOf, stopServing } from '../lib/daemon.ts'
import { eventOf } from '../lib/events.ts'
import { isLoadChild, type LoadResult, runLoad } from '../lib/load.ts'
import { Progress, report } from '../lib/output.ts'
import { bash } from '../lib/payloads.ts'
import { kill, makePlace, type Place, processesIn } from '../lib/place.ts'
import { median, percentile, rounded } from '../lib/stats.ts'
import { until } from '../lib/until.ts'

const CONNECTIONS = 16
const QUEUED = 8
const SECONDS = 3
const SPOOLED = 1_000
/** The largest there is: sessions of the load never fill a batch, so the observer stays out of the measurement. */
const BATCH = '500'

const progress = new Progress()

interface Round {
  single: LoadResult
  queued: LoadResult
  bare: number
  drainMs: number
}

/** Bare SQLite before and after the queued load: the disk is not equally fast all the time. */
async function oneRound(): Promise<Round> {
  const single = await loaded(1)
  const before = await bareRate(single.rows, SECONDS)
  const queued = await loaded(QUEUED)
  const after = await bareRate(single.rows, SECONDS)
  return { single: single.result, queued: queued.result, bare: (before + after) / 2, drainMs: await spoolDrainMs() }
}

async function loaded(inFlight: number): Promise<{ result: LoadResult; rows: Rows }> {
  return await inPlace('bench-ingest', { CLAUDE_MEM_BATCH_MAX_SIZE: BATCH }, async (place) => {
    await startDaemon(place)
    const result = await runLoad({ socket: place.paths.socket, connections: CONNECTIONS, inFlight, seconds: SECONDS })
    if (!(await stopServing(place))) throw new Error('the daemon did not stop')
    const rows = readRows(place.paths.database)
    if (rows.events.length < result.acks) {
      throw new Error(`${result.acks} events were acknowledged, ${rows.events.length} are stored`)
    }
    return { result, rows }
  })
}

/** What a spool adds to the time between the start of the process and its first answer. */
async function spoolDrainMs(): Promise<number> {
  return await inPlace('bench-spool', {}, async (place) => {
    await startMs(place)
    const empty = await startMs(place)
    for (let n = 0; n < SPOOLED; n++) {
      const turn = { session: 'bench-spool', prompt: 'p', cwd: '/' }
      writeSpool(place.paths.spool, eventOf(bash(turn, `spooled-${n}`, 'npm test', 'x'.repeat(500))))
    }
    const full = await startMs(place)
    const stored = countEvents(place)
    if (stored !== SPOOLED) throw new Error(`${SPOOLED} events were spooled, ${stored} are stored`)
    return full - empty
  })
}

/** The spool is read before the door opens: the first answer says that it is empty. */
async function startMs(place: Place): Promise<number> {
  const began = performance.now()
  await startDaemon(place)
  const ms = performance.now() - began
  const { spooled } = await statusOf(place)
  if (spooled > 0) throw new Error(`${spooled} events were still in the spool`)
  await until(async () => (await statusOf(place)).queue.processing === 0, 30_000)
  if (!(await stopServing(place))) throw new Error('the daemon did not stop')
  return ms
}

function countEvents(place: Place): number {
  const db = new Database(place.paths.database, { readonly: true })
  try {
    return db.prepare<[], number>('SELECT count(*) FROM events').pluck().get() ?? 0
  } finally {
    db.close()
  }
}

async function inPlace<T>(
  name: string,
  settings: Record<string, string>,
  work: (place: Place) => Promise<T>,
): Promise<T> {
  const place = makePlace(name, settings)
  try {
    return await work(place)
  } finally {
    for (const pid of processesIn(place)) kill(pid)
    place.remove()
  }
}

async function main(): Promise<void> {
  const { values: options } = parseArgs({
    options: { json: { type: 'boolean', default: false }, rounds: { type: 'string', default: '5' } },
  })
  const count = Math.max(3, Number(options.rounds))
  const rounds: Round[] = []
  for (let n = 1; n <= count; n++) {
    progress.show(`round ${n} of ${count}`)
    rounds.push(await oneRound())
  }
  progress.clear()
  const rate = ({ acks, seconds }: LoadResult) => acks / seconds
  const of = (figure: (round: Round) => number) => median(rounds.map(figure))
  report(
    {
      ratio_to_bare: rounded(
        of((round) => rate(round.single) / round.bare),
        3,
      ),
      ratio_to_bare_queued: rounded(
        of((round) => rate(round.queued) / round.bare),
        3,
      ),
      acks_per_s: rounded(
        of((round) => rate(round.single)),
        0,
      ),
      acks_per_s_queued: rounded(
        of((round) => rate(round.queued)),
        0,
      ),
      bare_per_s: rounded(
        of((round) => round.bare),
        0,
      ),
      ack_p50_ms: rounded(of((round) => median(round.single.latenciesMs))),
      ack_p99_ms: rounded(of((round) => percentile(round.single.latenciesMs, 0.99))),
      ack_p99_ms_queued: rounded(of((round) => percentile(round.queued.latenciesMs, 0.99))),
      spool_drain_ms: rounded(
        of((round) => round.drainMs),
        0,
      ),
      spooled: SPOOLED,
      connections: CONNECTIONS,
      in_flight_queued: QUEUED,
      rounds: count,
    },
    options.json,
  )
}

if (!(await isLoadChild())) await main()
