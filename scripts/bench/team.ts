/**
 * `npm run bench -- team [--records 100000] [--million 1000000] [--daemons 20] [--json]`: what sharing a memory through
 * PostgreSQL costs, with real daemons and a real server on this machine. docs/team.md has the figures.
 *
 * - push_over_insert, push_many_over_insert: records per second that one daemon and many daemons push, over those of plain
 *   INSERTs of the same rows in batches of the same size
 * - visible_p50_ms, visible_p99_ms: from the answer of `remember` on one machine until a search on another finds it
 * - load_over_import: first load of a machine over the import of the same memories from a file
 * - ack_over_alone_{down,slow,connected}: ack of an event with the server down, answering 200 ms late, and connected, over a
 *   daemon without a team
 * - quiet_pull_over_small: the request of a client that has everything, with many records in the log over a log of a
 *   thousand, in turns
 */
import { execFile } from 'node:child_process'
import { join as joinPath } from 'node:path'
import { performance } from 'node:perf_hooks'
import { parseArgs, promisify } from 'node:util'
import pg from 'pg'
import type { LogCursor } from '../../src/store/team-port.ts'
import { openPostgresLog } from '../../src/team/postgres/log.ts'
import type { DaemonClient } from '../../src/transport/client.ts'
import { TeamMachine } from '../chaos/team-machine.ts'
import { eventOf, userPrompt } from '../lib/payloads.ts'
import { type PostgresServer, startPostgres } from '../lib/postgres.ts'
import { Random } from '../lib/random.ts'
import { median, Progress, percentile, printNote, report, rounded } from '../lib/report.ts'
import { connect, DIST, type Sandbox } from '../lib/sandbox.ts'
import { observedSessions } from '../search/code-queries.ts'
import { Corpus } from '../search/corpus.ts'
import { fillProject } from '../search/filled-project.ts'

const SEED = 20_261_117
const PUSHED = 5_000
const PUSHED_EACH = 500
const VISIBLE = 100
const ACKS = 150
const WARM_UP = 10
const SLOW_MS = 200
const QUIET_PULLS = 200
const SMALL_LOG = 1_000
const LIMIT_MS = 1_800_000
const BATCH_ROWS = 500

const progress = new Progress()
let corpus: Corpus

function projectOf(name: string) {
  return { key: `named:${name}`, name }
}

async function clientOf(machine: TeamMachine): Promise<DaemonClient> {
  const client = await connect(machine.sandbox, 20_000)
  if (client === null) throw new Error(`the daemon of ${machine.name} does not answer`)
  return client
}

function urlOf(server: PostgresServer, machine: TeamMachine, database?: string): string {
  return server.url(database).replace(`:${server.port}/`, `:${machine.proxy.port}/`)
}

async function join(server: PostgresServer, machine: TeamMachine, database?: string): Promise<DaemonClient> {
  await machine.start()
  const client = await clientOf(machine)
  await client.call('team_connect', { url: urlOf(server, machine, database), init: true }, 60_000)
  return client
}

async function filled(server: PostgresServer, name: string, project: string, size: number): Promise<TeamMachine> {
  const machine = await TeamMachine.make(name, server.port, 0)
  const note = (text: string) => progress.show(`${name}: ${text}`)
  await fillProject(size, corpus, note, { sandbox: machine.sandbox, project: projectOf(project) })
  return machine
}

/** Until everything of the project is in the log, in ms. */
async function push(client: DaemonClient, project: string): Promise<number> {
  const began = performance.now()
  await client.call('team_share', { project: `named:${project}` }, LIMIT_MS)
  const { done, line } = await client.call('team_flush', { timeoutMs: LIMIT_MS }, LIMIT_MS)
  if (!done) throw new Error(`not everything was pushed: ${line}`)
  return performance.now() - began
}

async function inServer<T>(
  server: PostgresServer,
  work: (client: pg.Client) => Promise<T>,
  database?: string,
): Promise<T> {
  const client = new pg.Client({ connectionString: server.url(database) })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

async function recordsInLog(server: PostgresServer): Promise<number> {
  const { rows } = await inServer(server, (client) => client.query('SELECT count(*)::int AS n FROM claude_mem.records'))
  return rows[0].n
}

/** Rows per second of plain INSERTs of the same records into a table without rules. */
async function bareInserts(server: PostgresServer): Promise<number> {
  return await inServer(server, async (client) => {
    await client.query(`CREATE TABLE public.plain (repository integer, id text, kind text, made_at bigint, body jsonb,
      x xid8 DEFAULT pg_current_xact_id(), seq bigint GENERATED ALWAYS AS IDENTITY, PRIMARY KEY (repository, id))`)
    await client.query('CREATE INDEX ON public.plain (repository, x, seq)')
    const { rows } = await client.query<{
      repository: number
      id: string
      kind: string
      made_at: string
      body: string
    }>('SELECT repository, id, kind, made_at, body::text AS body FROM claude_mem.records')
    const began = performance.now()
    for (let from = 0; from < rows.length; from += BATCH_ROWS) {
      const batch = rows.slice(from, from + BATCH_ROWS)
      await client.query(
        `INSERT INTO public.plain (repository, id, kind, made_at, body)
         SELECT * FROM unnest($1::int[], $2::text[], $3::text[], $4::bigint[], $5::jsonb[])`,
        [
          batch.map(({ repository }) => repository),
          batch.map(({ id }) => id),
          batch.map(({ kind }) => kind),
          batch.map(({ made_at }) => made_at),
          batch.map(({ body }) => body),
        ],
      )
    }
    const perSecond = (rows.length / (performance.now() - began)) * 1_000
    await client.query('DROP TABLE public.plain')
    return perSecond
  })
}

async function pushing(server: PostgresServer, daemons: number) {
  const one = await filled(server, 'one', 'one', PUSHED)
  const many: TeamMachine[] = []
  try {
    const ms = await push(await join(server, one), 'one')
    const pushed = await recordsInLog(server)
    await one.remove()
    for (let n = 0; n < daemons; n++) many.push(await filled(server, `many${n}`, `many${n}`, PUSHED_EACH))
    const clients: DaemonClient[] = []
    for (const machine of many) clients.push(await join(server, machine))
    progress.show(`${daemons} daemons push`)
    const began = performance.now()
    await Promise.all(clients.map((client, n) => push(client, `many${n}`)))
    const manyPerSecond = (((await recordsInLog(server)) - pushed) / (performance.now() - began)) * 1_000
    const bare = await bareInserts(server)
    return { one: (pushed / ms) * 1_000, many: manyPerSecond, bare }
  } finally {
    for (const machine of many) await machine.remove()
  }
}

/** From the answer of `remember` on one machine until a search on another finds it, in ms. */
async function visibility(server: PostgresServer): Promise<number[]> {
  const machines = [await TeamMachine.make('from', server.port, 0), await TeamMachine.make('to', server.port, 0)]
  const project = projectOf('visible')
  try {
    const clients: DaemonClient[] = []
    for (const machine of machines) {
      const client = await join(server, machine)
      await client.call('remember', { project, text: `${machine.name} joins.`, by: 'person' })
      await client.call('team_share', { project: project.key })
      await client.call('team_flush', { timeoutMs: LIMIT_MS }, LIMIT_MS)
      clients.push(client)
    }
    const [from, to] = clients
    const times: number[] = []
    for (let n = 0; n < VISIBLE + WARM_UP; n++) {
      progress.show(`${n} of ${VISIBLE + WARM_UP} memories seen on another machine`)
      const query = `zq${n}visible`
      await from?.call('remember', { project, text: `The code of step ${n} is ${query}.`, by: 'person' })
      const began = performance.now()
      const search = { query, project: project.key, kinds: ['observation'], mode: 'strict', limit: 1 } as const
      while ((await to?.call('search', search))?.answer.hits.length === 0) {
        if (performance.now() - began > LIMIT_MS) throw new Error(`${query} did not arrive`)
      }
      times.push(performance.now() - began)
    }
    return times.slice(WARM_UP)
  } finally {
    for (const machine of machines) await machine.remove()
  }
}

/** Puts copies of a stored observation into the log of a repository, each with a text of its own. */
async function multiply(server: PostgresServer, key: string, copies: number, database?: string): Promise<void> {
  const insert = async (client: pg.Client) => {
    // Without triggers: this is not what is measured.
    await client.query('SET session_replication_role = replica')
    await client.query(
      `INSERT INTO claude_mem.records (repository, id, kind, author_role, author, machine, made_at, body)
       SELECT r.repository, md5(n::text || r.id), r.kind, r.author_role, r.author, r.machine, r.made_at + n,
         r.body || jsonb_build_object('narrative', 'Copy ' || n || ' of: ' || coalesce(r.body->>'narrative', ''),
           'createdAt', (r.body->>'createdAt')::bigint + n)
       FROM (SELECT * FROM claude_mem.records WHERE kind = 'observation'
         AND repository = (SELECT id FROM claude_mem.repositories WHERE key = $1) ORDER BY id LIMIT 1) r,
         generate_series(1, $2::int) n`,
      [key, copies],
    )
    // What the server does by itself in the minutes after, so that it does not run beside the measurement.
    await client.query('VACUUM ANALYZE claude_mem.records')
    await client.query('CHECKPOINT')
  }
  await inServer(server, insert, database)
}

/** First load of a machine, and the import of the same memories from a file on another, in ms. */
async function loading(server: PostgresServer, records: number) {
  const source = await filled(server, 'source', 'load', 20)
  const loaded = await TeamMachine.make('loaded', server.port, 0)
  const imported = await TeamMachine.make('imported', server.port, 0)
  const file = `${imported.sandbox.paths.dataDir}/memories.jsonl`
  try {
    await push(await join(server, source), 'load')
    await multiply(server, 'named:load', records)
    const client = await join(server, loaded)
    progress.show(`loading ${records} records`)
    const began = performance.now()
    await client.call('team_share', { project: 'named:load' })
    const { done } = await client.call('team_receive', { timeoutMs: LIMIT_MS }, LIMIT_MS)
    const loadMs = performance.now() - began
    if (!done) throw new Error('the first load did not end')
    await runCli(loaded.sandbox, ['export', file, '--project', 'named:load'])
    await imported.start()
    progress.show(`importing ${records} records`)
    const importBegan = performance.now()
    await runCli(imported.sandbox, ['import', file, '--json'])
    return { loadMs, importMs: performance.now() - importBegan }
  } finally {
    for (const machine of [source, loaded, imported]) await machine.remove()
  }
}

async function runCli(sandbox: Sandbox, args: readonly string[]): Promise<void> {
  await promisify(execFile)(process.execPath, [joinPath(DIST, 'cli.js'), ...args], {
    env: sandbox.env,
    maxBuffer: 64 * 1_048_576,
  })
}

/** Medians of the ack of a prompt, by the state of the server. */
async function acks(server: PostgresServer): Promise<Record<'alone' | 'connected' | 'slow' | 'down', number>> {
  const machines = new Map<string, { machine: TeamMachine; client: DaemonClient; times: number[] }>()
  const project = projectOf('acks')
  try {
    for (const state of ['alone', 'connected', 'slow', 'down']) {
      const machine = await TeamMachine.make(state, server.port, 0)
      await machine.start()
      const client = state === 'alone' ? await clientOf(machine) : await join(server, machine)
      await client.call('remember', { project, text: `${state} joins.`, by: 'person' })
      if (state !== 'alone') await client.call('team_share', { project: project.key })
      if (state === 'slow') machine.proxy.delayMs = SLOW_MS
      if (state === 'down') {
        machine.proxy.isDown = true
        machine.proxy.cut()
      }
      machines.set(state, { machine, client, times: [] })
    }
    for (let n = 0; n < ACKS + WARM_UP; n++) {
      progress.show(`${n} of ${ACKS + WARM_UP} acks`)
      for (const { client, times } of machines.values()) {
        // So that there is always something to be sent.
        await client.call('remember', { project, text: `Step ${n} of the work is done.`, by: 'person' })
        const turn = { session: `s${n % 5}`, prompt: `p${n}`, cwd: '/w/acks' }
        const event = { ...eventOf(userPrompt(turn, `Do step ${n}`)), project }
        const began = performance.now()
        await client.call('event', { event, version: '' })
        times.push(performance.now() - began)
      }
    }
    const of = (state: string) => median(machines.get(state)?.times.slice(WARM_UP) ?? [])
    return { alone: of('alone'), connected: of('connected'), slow: of('slow'), down: of('down') }
  } finally {
    for (const { machine } of machines.values()) await machine.remove()
  }
}

/** The cursor of a client that has received everything of a repository. */
async function endOfLog(server: PostgresServer, database: string, start: LogCursor): Promise<LogCursor> {
  const select = (client: pg.Client) =>
    client.query<{ x: string; seq: string }>(
      `SELECT r.x::text, r.seq::text FROM claude_mem.records r
       WHERE r.repository = (SELECT id FROM claude_mem.repositories WHERE key = $1) ORDER BY r.x DESC, r.seq DESC LIMIT 1`,
      [start.repository],
    )
  const [last] = (await inServer(server, select, database)).rows
  return last === undefined ? start : { ...start, transaction: last.x, sequence: last.seq }
}

/** A log with this many records in a database of its own, and the request for what is new when nothing is, in ms. */
async function quietLog(server: PostgresServer, database: string, records: number) {
  progress.show(`putting ${records} records into a log`)
  await inServer(server, (client) => client.query(`CREATE DATABASE ${database}`))
  const machine = await filled(server, database, 'quiet', 20)
  try {
    await push(await join(server, machine, database), 'quiet')
  } finally {
    await machine.remove()
  }
  await multiply(server, 'named:quiet', records, database)
  const log = await openPostgresLog(server.url(database))
  const [start] = await log.start(['named:quiet'])
  if (start === undefined) throw new Error('the project is not in the log')
  const cursor = await endOfLog(server, database, start)
  const pull = async () => {
    const began = performance.now()
    const { records } = await log.pull([cursor], BATCH_ROWS)
    if (records.length > 0) throw new Error('the client had not received everything')
    return performance.now() - began
  }
  return { pull, close: () => log.close() }
}

/** Medians of requests of clients that have everything, in ms. */
async function quiet(server: PostgresServer, million: number) {
  const small = await quietLog(server, 'small', SMALL_LOG)
  const large = await quietLog(server, 'large', million)
  try {
    const times: { small: number; large: number }[] = []
    for (let n = 0; n < QUIET_PULLS + WARM_UP; n++) times.push({ small: await small.pull(), large: await large.pull() })
    const counted = times.slice(WARM_UP)
    return { small: median(counted.map((time) => time.small)), large: median(counted.map((time) => time.large)) }
  } finally {
    await small.close()
    await large.close()
  }
}

async function main(): Promise<number> {
  const { values: options } = parseArgs({
    options: {
      records: { type: 'string', default: '100000' },
      million: { type: 'string', default: '1000000' },
      daemons: { type: 'string', default: '20' },
      json: { type: 'boolean', default: false },
    },
  })
  const [records, million, daemons] = [Number(options.records), Number(options.million), Number(options.daemons)]
  if (![records, million, daemons].every((n) => Number.isInteger(n) && n > 0)) {
    printNote('usage: npm run bench -- team [--records 100000] [--million 1000000] [--daemons 20] [--json]')
    return 2
  }
  progress.show('observing the recorded sessions')
  corpus = new Corpus(
    (await observedSessions()).flatMap(({ observed }) => observed.observations),
    new Random(SEED),
  )
  const server = await startPostgres()
  try {
    const pushed = await pushing(server, daemons)
    const seen = await visibility(server)
    const ack = await acks(server)
    const load = await loading(server, records)
    const pull = await quiet(server, million)
    progress.clear()
    const over = (a: number, b: number) => rounded(a / b)
    report(
      {
        push_over_insert: over(pushed.one, pushed.bare),
        push_many_over_insert: over(pushed.many, pushed.bare),
        visible_p50_ms: rounded(median(seen), 1),
        visible_p99_ms: rounded(percentile(seen, 0.99), 1),
        load_over_import: over(load.loadMs, load.importMs),
        ack_over_alone_connected: over(ack.connected, ack.alone),
        ack_over_alone_slow: over(ack.slow, ack.alone),
        ack_over_alone_down: over(ack.down, ack.alone),
        quiet_pull_over_small: over(pull.large, pull.small),
        records_per_s: { one: rounded(pushed.one, 0), many: rounded(pushed.many, 0), bare: rounded(pushed.bare, 0) },
        load_s: rounded(load.loadMs / 1_000, 1),
        import_s: rounded(load.importMs / 1_000, 1),
        ack_alone_ms: rounded(ack.alone),
        quiet_pull_ms: rounded(pull.large),
        records,
        million,
        daemons,
        seed: SEED,
      },
      options.json,
    )
    return 0
  } finally {
    progress.clear()
    await server.dispose()
  }
}

process.exitCode = await main()
