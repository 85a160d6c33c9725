// Should SQLite commits run on the daemon's main thread or in a worker thread?
//   node scripts/spikes/writer-thread.mjs --json [--seconds 10] [--db-mb 500] [--repeats 3] [--no-reader] [--sync-ms 0]
// One file, several roles: the server (this process), event clients and subscribers (child processes), and the
// writer, checkpointer and FTS reader (worker threads). The last line printed is the JSON result.
// --sync-ms N sleeps N ms inside every commit, standing in for a disk with a slower fsync.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import http from 'node:http'
import os from 'node:os'
import path from 'node:path'
import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import Database from 'better-sqlite3'
import { WebSocket, WebSocketServer } from 'ws'
import { assign, createActor, setup } from 'xstate'

const SELF = fileURLToPath(import.meta.url)
const CLIENTS = 16
const SUBSCRIBERS = 10
const WARMUP_MS = 1000
const PAYLOAD = 'p'.repeat(1000)
const EVENT_TYPES = ['PROMPT', 'TOOL', 'TOOL', 'TOOL', 'STOP']
const WORDS = Array.from({ length: 20000 }, (_, i) => `w${i.toString(36)}`)
const randomWords = (n) => Array.from({ length: n }, () => WORDS[Math.floor(WORDS.length * Math.random() ** 3)]) // skewed like text

const round = (n) => Math.round(n * 100) / 100
const median = (values) => {
  const sorted = [...values].sort((a, b) => a - b)
  return round((sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2)
}
function summary(values) {
  const sorted = Float64Array.from(values).sort()
  const at = (q) => round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? 0)
  return { p50: at(0.5), p99: at(0.99), max: at(1), sum: sorted.reduce((a, b) => a + b, 0) }
}

const SCHEMA = `
CREATE TABLE observations(id INTEGER PRIMARY KEY, session INTEGER, body TEXT);
CREATE VIRTUAL TABLE observations_fts USING fts5(body, content='observations', content_rowid='id');
CREATE TABLE sessions(id INTEGER PRIMARY KEY, seq INTEGER NOT NULL, snapshot TEXT NOT NULL);
CREATE TABLE events(id TEXT PRIMARY KEY, session INTEGER NOT NULL, type TEXT NOT NULL, at INTEGER NOT NULL);
CREATE TABLE pending_messages(id INTEGER PRIMARY KEY, session INTEGER NOT NULL, payload TEXT NOT NULL);
CREATE INDEX pending_by_session ON pending_messages(session);
CREATE TABLE trace(id INTEGER PRIMARY KEY, session INTEGER NOT NULL, event TEXT, from_state TEXT, to_state TEXT);`

function prefill(file, megabytes) {
  const db = new Database(file)
  db.pragma('journal_mode = WAL')
  db.pragma('synchronous = OFF')
  db.exec(SCHEMA)
  const row = db.prepare('INSERT INTO observations(session, body) VALUES (?, ?)')
  const fts = db.prepare('INSERT INTO observations_fts(rowid, body) VALUES (?, ?)')
  const batch = db.transaction(() => {
    for (let i = 0; i < 10000; i++) {
      const body = randomWords(200).join(' ')
      fts.run(row.run(i % 500, body).lastInsertRowid, body)
    }
  })
  for (; fs.statSync(file).size < megabytes * 1e6; db.pragma('wal_checkpoint(TRUNCATE)')) batch()
  const session = db.prepare("INSERT INTO sessions VALUES (?, 0, '')")
  for (let i = 0; i < CLIENTS; i++) session.run(i)
  db.close()
}

function openStore({ file, autocheckpoint, syncMs }) {
  const db = new Database(file)
  db.pragma('journal_mode = WAL')
  db.pragma('synchronous = FULL')
  db.pragma(`wal_autocheckpoint = ${autocheckpoint}`)
  const event = db.prepare('INSERT INTO events VALUES (?, ?, ?, ?)')
  const message = db.prepare('INSERT INTO pending_messages(session, payload) VALUES (?, ?)')
  const session = db.prepare('UPDATE sessions SET seq = seq + 1, snapshot = ? WHERE id = ?')
  const trace = db.prepare('INSERT INTO trace(session, event, from_state, to_state) VALUES (?, ?, ?, ?)')
  const write = db.transaction((group) => {
    for (const e of group) {
      event.run(e.id, e.session, e.type, Date.now())
      message.run(e.session, e.payload)
      session.run(e.snapshot, e.session)
      trace.run(e.session, e.type, e.from, e.to)
    }
  })
  const commit = (group) => {
    const start = performance.now()
    write.immediate(group)
    if (syncMs) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, syncMs)
    return performance.now() - start
  }
  return { db, commit }
}

const note = assign({
  count: ({ context }) => context.count + 1,
  recent: ({ context, event }) => [...context.recent.slice(-11), { id: event.id, digest: event.payload.slice(0, 70) }],
})
const sessionMachine = setup({ actions: { note } }).createMachine({
  context: { count: 0, recent: [] },
  initial: 'idle',
  states: {
    idle: { on: { PROMPT: { target: 'working', actions: 'note' }, '*': { actions: 'note' } } },
    working: { on: { TOOL: { actions: 'note' }, STOP: { target: 'idle', actions: 'note' } } },
  },
})

const threads = {
  writer(data) {
    const { db, commit } = openStore(data)
    parentPort.on('message', (group) => {
      if (group) return parentPort.postMessage(commit(group))
      db.close()
      parentPort.close()
    })
  },
  checkpointer({ file }) {
    const db = new Database(file)
    const timer = setInterval(() => db.pragma('wal_checkpoint(PASSIVE)'), 200)
    parentPort.on('message', () => {
      clearInterval(timer)
      db.close()
      parentPort.close()
    })
  },
  reader({ file }) {
    const db = new Database(file, { readonly: true })
    const find = db.prepare('SELECT rowid FROM observations_fts WHERE observations_fts MATCH ? ORDER BY rank LIMIT 20')
    const took = []
    const loop = setInterval(() => {
      const start = performance.now()
      find.all(randomWords(4).join(' OR '))
      took.push(performance.now() - start)
    }, 0)
    parentPort.on('message', () => {
      clearInterval(loop)
      parentPort.postMessage(summary(took))
      db.close()
      parentPort.close()
    })
  },
}
const startThread = (role, data) => new Worker(SELF, { workerData: { role, ...data } })
async function stopThread(worker) {
  let last = null
  worker
    ?.on('message', (m) => {
      last = m
    })
    .postMessage(null)
  if (worker) await once(worker, 'exit')
  return last
}

const connect = (socket, url) =>
  new WebSocket(`ws+unix:${socket}:${url}`, { perMessageDeflate: false }).on('error', () => {})
const children = {
  clients(socket, inFlight, prefix) {
    let latencies = []
    for (let session = 0; session < CLIENTS; session++) {
      const sentAt = new Map()
      let n = 0
      const ws = connect(socket, '/session')
      const send = () => {
        const id = `${prefix}-${session}-${n}`
        sentAt.set(id, performance.now())
        ws.send(JSON.stringify({ id, session, type: EVENT_TYPES[n++ % EVENT_TYPES.length], payload: PAYLOAD }))
      }
      ws.on('open', () => {
        for (let i = 0; i < inFlight; i++) send()
      })
      ws.on('message', (data) => {
        const { ack } = JSON.parse(data)
        latencies.push(performance.now() - sentAt.get(ack))
        sentAt.delete(ack)
        send()
      })
    }
    process.on('message', (m) => {
      if (m === 'measure') latencies = []
      else process.send({ acks: latencies.length, ...summary(latencies) }, () => process.exit(0))
    })
  },
  subscribers(socket) {
    let open = 0
    for (let i = 0; i < SUBSCRIBERS; i++) {
      connect(socket, '/subscribe')
        .on('message', () => {})
        .on('open', () => {
          if (++open === SUBSCRIBERS) process.send('ready')
        })
    }
    process.on('message', () => process.exit(0))
  },
}

async function run({ file, dir, seconds, syncMs, withReader }, { writer, inFlight, checkpoint }, prefix) {
  const storeOptions = { file, syncMs, autocheckpoint: checkpoint === 'auto' ? 1000 : 0 }
  const store = writer === 'main' ? openStore(storeOptions) : null
  const thread = store ? null : startThread('writer', storeOptions)
  const actors = Array.from({ length: CLIENTS }, () => createActor(sessionMachine).start())
  const subscribers = new Set()
  const queue = [] // decided events waiting for the next group
  let scheduled = false
  let groups = [] // { commit: ms, publish: ms, events } per transaction

  const decide = (ws, event) => {
    const actor = actors[event.session]
    const from = actor.getSnapshot().value
    actor.send(event)
    const snapshot = JSON.stringify(actor.getPersistedSnapshot())
    return { ws, row: { ...event, from, to: actor.getSnapshot().value, snapshot } }
  }
  const publish = (group, commit) => {
    const start = performance.now()
    for (const { ws, row } of group) ws.send(JSON.stringify({ ack: row.id }))
    for (const { row } of group) for (const s of subscribers) s.send(row.snapshot)
    groups.push({ commit, publish: performance.now() - start, events: group.length })
    setImmediate(flush)
  }
  const flush = () => {
    // one group at a time; whatever arrives meanwhile forms the next one
    scheduled = queue.length > 0
    if (!scheduled) return
    const group = queue.splice(0)
    const rows = group.map((g) => g.row)
    if (store) publish(group, store.commit(rows))
    else thread.once('message', (ms) => publish(group, ms)).postMessage(rows)
  }

  const socket = path.join(dir, `${prefix}.sock`)
  const server = http.createServer().listen(socket)
  const wss = new WebSocketServer({ server, perMessageDeflate: false })
  wss.on('connection', (ws, req) => {
    ws.on('error', () => {}).on('close', () => subscribers.delete(ws))
    if (req.url === '/subscribe') subscribers.add(ws)
    else
      ws.on('message', (data) => {
        queue.push(decide(ws, JSON.parse(data))) // with a writer thread this overlaps the fsync
        if (!scheduled) {
          scheduled = true
          setImmediate(flush)
        }
      })
  })
  await once(server, 'listening')

  const reader = withReader ? startThread('reader', { file }) : null
  const checkpointer = checkpoint === 'thread' ? startThread('checkpointer', { file }) : null
  const listeners = fork(SELF, ['role:subscribers', socket])
  await once(listeners, 'message')
  const clients = fork(SELF, ['role:clients', socket, String(inFlight), prefix])
  await sleep(WARMUP_MS)

  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  groups = []
  clients.send('measure')
  const start = performance.now()
  await sleep(seconds * 1000)
  clients.send('stop')
  const elapsed = performance.now() - start
  delay.disable()
  const [commit, published, size] = ['commit', 'publish', 'events'].map((k) => summary(groups.map((g) => g[k])))
  const groupCount = groups.length
  const [ack] = await once(clients, 'message')
  const walMb = round(fs.statSync(`${file}-wal`).size / 1e6)
  listeners.send('stop')
  await once(listeners, 'exit')
  while (scheduled) await sleep(5)
  const search = await stopThread(reader)
  await stopThread(checkpointer)
  await stopThread(thread)
  store?.db.close() // the last connection to close checkpoints and deletes the WAL
  wss.close()
  server.close()
  return {
    writer,
    inFlight,
    checkpoint,
    acksPerSec: round((ack.acks / elapsed) * 1000),
    ackP50: ack.p50,
    ackP99: ack.p99,
    ackMax: ack.max,
    loopP99: round(delay.percentile(99) / 1e6),
    loopMax: round(delay.max / 1e6),
    commitP50: commit.p50,
    commitP99: commit.p99,
    commitMax: commit.max,
    commitShare: round(commit.sum / elapsed),
    publishShare: round(published.sum / elapsed),
    publishP99: published.p99,
    eventsPerCommit: round(size.sum / groupCount),
    searchP50: search?.p50 ?? 0,
    walMb,
  }
}

// Baseline: one transaction per event, nothing else on the thread, the reader beside it.
async function baseline({ file, seconds, syncMs, withReader }, prefix) {
  const reader = withReader ? startThread('reader', { file }) : null
  await sleep(500)
  const { db, commit } = openStore({ file, syncMs, autocheckpoint: 1000 })
  const row = { type: 'TOOL', payload: PAYLOAD, snapshot: 's'.repeat(1500), from: 'working', to: 'working' }
  const took = []
  const start = performance.now()
  while (performance.now() - start < seconds * 500)
    took.push(commit([{ ...row, id: `${prefix}-${took.length}`, session: took.length % CLIENTS }]))
  const rate = round((took.length / (performance.now() - start)) * 1000)
  await stopThread(reader)
  db.close()
  return { rate, ...summary(took) }
}

async function main() {
  const text = (value) => ({ type: 'string', default: value })
  const { values } = parseArgs({
    options: {
      json: { type: 'boolean' },
      'no-reader': { type: 'boolean' },
      seconds: text('10'),
      'db-mb': text('500'),
      repeats: text('3'),
      'sync-ms': text('0'),
    },
  })
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'writer-thread-'))
  try {
    const opts = {
      dir,
      file: path.join(dir, 'db.sqlite'),
      seconds: +values.seconds,
      syncMs: +values['sync-ms'],
      withReader: !values['no-reader'],
    }
    prefill(opts.file, +values['db-mb'])
    const dbMb = Math.round(fs.statSync(opts.file).size / 1e6)
    const kinds = [
      ['main', 'auto'],
      ['worker', 'auto'],
      ['main', 'off'],
      ['worker', 'off'],
      ['main', 'thread'],
    ]
    const configs = [1, 8].flatMap((inFlight) =>
      kinds.map(([writer, checkpoint]) => ({ writer, inFlight, checkpoint })),
    )
    const baselines = []
    const runs = []
    for (let r = 0; r < +values.repeats; r++) {
      // interleaved, so that noise falls on every configuration
      baselines.push(await baseline(opts, `b${r}`))
      for (const [i, config] of configs.entries()) {
        const result = await run(opts, config, `r${r}c${i}`)
        runs.push({ ...result, vsBaseline: round(result.acksPerSec / baselines[r].rate) }) // the same round's baseline
        if (!values.json) console.error(JSON.stringify(runs.at(-1)))
      }
    }
    const table = configs.map((config) => {
      // median over the repeats, but the worst of them for every *Max
      const same = runs.filter((x) => Object.keys(config).every((k) => x[k] === config[k]))
      const metrics = Object.keys(same[0]).filter((k) => !(k in config))
      const merge = (k) => (k.endsWith('Max') ? Math.max(...same.map((x) => x[k])) : median(same.map((x) => x[k])))
      return { ...config, ...Object.fromEntries(metrics.map((k) => [k, merge(k)])) }
    })
    if (!values.json) console.table(table)
    console.log(
      JSON.stringify({
        node: process.version,
        cpus: os.cpus().length,
        dbMb,
        ...opts,
        dir: undefined,
        file: undefined,
        baselineRate: median(baselines.map((b) => b.rate)),
        baselines,
        table,
        runs,
      }),
    )
  } finally {
    fs.rmSync(dir, { recursive: true, force: true })
  }
}

const [role, ...args] = process.argv.slice(2)
if (!isMainThread) threads[workerData.role](workerData)
else if (role?.startsWith('role:')) children[role.slice(5)](args[0], Number(args[1]), args[2])
else await main()
