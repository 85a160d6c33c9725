/**
 * `npm run bench -- ingest [--json]`: durable acks per second on 16 connections, compared with bare better-sqlite3 that
 * writes the same rows in single FULL transactions; and how much longer a start takes with 1,000 events in the spool.
 */
import { parseArgs } from 'node:util'
import Database from 'better-sqlite3'
import { writeSpool } from '../../src/hook/spool.ts'
import { openLocalStore } from '../../src/store/sqlite/store.ts'
import { isLoadChild, type LoadResult, runLoad } from '../lib/load.ts'
import { bash, eventOf } from '../lib/payloads.ts'
import { median, Progress, percentile, report, rounded } from '../lib/report.ts'
import {
  daemonStatus,
  kill,
  makeSandbox,
  processesIn,
  type Sandbox,
  startDaemon,
  stopServing,
  until,
} from '../lib/sandbox.ts'

type Row = Record<string, string | number | null>

interface Rows {
  events: Row[]
  messages: Row[]
  traces: Row[]
  sessions: Map<unknown, Row>
}

interface Bare {
  /** Transactions per second. */
  rate: number
  /** How long each event waited that came with those of the other connections: until its transaction and theirs are done. */
  waitsMs: number[]
}

/** Bare better-sqlite3: one durable transaction per event, with the daemon's own rows. */
async function runBare(rows: Rows, seconds: number): Promise<Bare> {
  const sandbox = makeSandbox('bench-bare')
  try {
    const made = await openLocalStore({ databaseFile: sandbox.paths.database, backupsDir: sandbox.paths.backups })
    await made.close()
    return write(sandbox.paths.database, rows, seconds)
  } finally {
    sandbox.remove()
  }
}

function readRows(file: string): Rows {
  const db = new Database(file, { readonly: true })
  const all = (sql: string) => db.prepare<[], Row>(sql).all()
  try {
    const sessions = all('SELECT * FROM sdk_sessions')
    return {
      events: all('SELECT * FROM events ORDER BY id'),
      messages: all('SELECT * FROM pending_messages ORDER BY event_id'),
      traces: all('SELECT * FROM trace WHERE event_id IS NOT NULL ORDER BY event_id'),
      sessions: new Map(sessions.map((session) => [session.content_session_id, session])),
    }
  } finally {
    db.close()
  }
}

function write(file: string, rows: Rows, seconds: number): Bare {
  const db = new Database(file)
  db.pragma('journal_mode = WAL')
  db.pragma('synchronous = FULL')
  const messageOf = new Map(rows.messages.map((row) => [row.event_id, row]))
  const traceOf = new Map(rows.traces.map((row) => [row.event_id, row]))
  const insertSession = inserter(db, 'sdk_sessions', [...rows.sessions.values()])
  for (const session of rows.sessions.values()) insertSession(session)
  const insertEvent = inserter(db, 'events', rows.events)
  const insertMessage = inserter(db, 'pending_messages', rows.messages)
  const insertTrace = inserter(db, 'trace', rows.traces)
  const columns = columnsOf([...rows.sessions.values()]).filter((name) => name !== 'content_session_id')
  const updateSession = db.prepare<[Row]>(
    `UPDATE sdk_sessions SET ${columns.map((name) => `${name} = @${name}`).join(', ')}
     WHERE content_session_id = @content_session_id`,
  )
  const countUp = db.prepare(`UPDATE meta SET value = value + 1 WHERE name = 'seq'`)
  const one = db.transaction((event: Row) => {
    const message = messageOf.get(event.event_id ?? null)
    const trace = traceOf.get(event.event_id ?? null)
    const session = rows.sessions.get(event.content_session_id)
    if (message === undefined || trace === undefined || session === undefined) {
      throw new Error(`the daemon wrote only some rows of ${event.event_id}`)
    }
    countUp.run()
    updateSession.run(session)
    insertEvent(event)
    insertMessage(message)
    insertTrace(trace)
  })
  try {
    const began = performance.now()
    const endedAt: number[] = [began]
    for (const event of rows.events) {
      one.immediate(event)
      const now = endedAt[endedAt.push(performance.now()) - 1] ?? began
      if (now - began > seconds * 1_000) break
    }
    const waitsMs = endedAt.slice(CONNECTIONS).map((at, i) => at - (endedAt[i] ?? began))
    return { rate: (endedAt.length - 1) / (((endedAt.at(-1) ?? began) - began) / 1_000), waitsMs }
  } finally {
    db.close()
  }
}

function columnsOf(rows: readonly Row[]): string[] {
  return Object.keys(rows[0] ?? {}).filter((name) => name !== 'id')
}

function inserter(db: Database.Database, table: string, rows: readonly Row[]): (row: Row) => void {
  const columns = columnsOf(rows)
  const statement = db.prepare<[Row]>(
    `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map((name) => `@${name}`).join(', ')})`,
  )
  return (row) => void statement.run(row)
}

const CONNECTIONS = 16
const QUEUED = 8
const SECONDS = 3
const SPOOLED = 1_000
/** The maximum: sessions of the load never fill a batch, so that the observer is not measured. */
const BATCH = '500'

const progress = new Progress()

interface Round {
  single: LoadResult
  queued: LoadResult
  bare: Bare
  drainMs: number
}

/** Bare SQLite before and after the load, because the speed of a disk varies. */
async function oneRound(): Promise<Round> {
  const single = await loaded(1)
  const before = await runBare(single.rows, SECONDS)
  const queued = await loaded(QUEUED)
  const after = await runBare(single.rows, SECONDS)
  const bare = { rate: (before.rate + after.rate) / 2, waitsMs: [...before.waitsMs, ...after.waitsMs] }
  return { single: single.result, queued: queued.result, bare, drainMs: await spoolDrainMs() }
}

async function loaded(inFlight: number): Promise<{ result: LoadResult; rows: Rows }> {
  return await inPlace('bench-ingest', { CLAUDE_MEM_BATCH_MAX_SIZE: BATCH }, async (sandbox) => {
    await startDaemon(sandbox)
    const result = await runLoad({ socket: sandbox.paths.socket, connections: CONNECTIONS, inFlight, seconds: SECONDS })
    if (!(await stopServing(sandbox))) throw new Error('the daemon did not stop')
    const rows = readRows(sandbox.paths.database)
    if (rows.events.length < result.acks) {
      throw new Error(`${result.acks} events were acknowledged, ${rows.events.length} are stored`)
    }
    return { result, rows }
  })
}

/** How much a spool adds to the time between the start of the process and its first answer. */
async function spoolDrainMs(): Promise<number> {
  return await inPlace('bench-spool', {}, async (sandbox) => {
    await startMs(sandbox)
    const empty = await startMs(sandbox)
    for (let n = 0; n < SPOOLED; n++) {
      const turn = { session: 'bench-spool', prompt: 'p', cwd: '/' }
      writeSpool(sandbox.paths.spool, eventOf(bash(turn, `spooled-${n}`, 'npm test', 'x'.repeat(500))))
    }
    const full = await startMs(sandbox)
    const stored = countEvents(sandbox)
    if (stored !== SPOOLED) throw new Error(`${SPOOLED} events were spooled, ${stored} are stored`)
    return full - empty
  })
}

/** The daemon reads the spool before it accepts connections, so its first answer reports an empty spool. */
async function startMs(sandbox: Sandbox): Promise<number> {
  const began = performance.now()
  await startDaemon(sandbox)
  const ms = performance.now() - began
  const { spooled } = await daemonStatus(sandbox)
  if (spooled > 0) throw new Error(`${spooled} events were still in the spool`)
  await until(async () => (await daemonStatus(sandbox)).queue.processing === 0, 30_000)
  if (!(await stopServing(sandbox))) throw new Error('the daemon did not stop')
  return ms
}

function countEvents(sandbox: Sandbox): number {
  const db = new Database(sandbox.paths.database, { readonly: true })
  try {
    return db.prepare<[], number>('SELECT count(*) FROM events').pluck().get() ?? 0
  } finally {
    db.close()
  }
}

async function inPlace<T>(
  name: string,
  settings: Record<string, string>,
  work: (sandbox: Sandbox) => Promise<T>,
): Promise<T> {
  const sandbox = makeSandbox(name, settings)
  try {
    return await work(sandbox)
  } finally {
    for (const pid of processesIn(sandbox)) kill(pid)
    sandbox.remove()
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
  const ackP99 = ({ single }: Round) => percentile(single.latenciesMs, 0.99)
  const bareP99 = ({ bare }: Round) => percentile(bare.waitsMs, 0.99)
  const of = (figure: (round: Round) => number) => median(rounds.map(figure))
  report(
    {
      ratio_to_bare: rounded(
        of((round) => rate(round.single) / round.bare.rate),
        3,
      ),
      ratio_to_bare_queued: rounded(
        of((round) => rate(round.queued) / round.bare.rate),
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
        of((round) => round.bare.rate),
        0,
      ),
      ack_p50_ms: rounded(of((round) => median(round.single.latenciesMs))),
      ack_p99_ms: rounded(of(ackP99)),
      bare_p99_ms: rounded(of(bareP99)),
      p99_to_bare: rounded(of((round) => ackP99(round) / bareP99(round))),
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
