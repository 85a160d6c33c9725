/**
 * `npm run bench -- year [--sessions 1000] [--tools 100000] [--json]`: a year of a busy developer, read by the real
 * `claude-mem backfill` with the offline observer, and the cost of search and context in a memory of that size compared
 * with a small one. docs/backfill.md describes each figure.
 */
import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import Database from 'better-sqlite3'
import { projectOfDirectory } from '../../src/domain/project.ts'
import { VERSION } from '../../src/lib/version.ts'
import { loadSettings } from '../../src/settings/settings.ts'
import { passageDiskBytes } from '../../src/store/sqlite/passages.ts'
import { DaemonClient } from '../../src/transport/client.ts'
import { eventOf } from '../lib/payloads.ts'
import { Random } from '../lib/random.ts'
import { median, memoryMb, Progress, report, rounded } from '../lib/report.ts'
import {
  DIST,
  daemonStatus,
  kill,
  makeSandbox,
  processesIn,
  type Sandbox,
  startDaemon,
  stopServing,
  until,
} from '../lib/sandbox.ts'
import { CAUSES, PROJECTS, subjectOf } from '../year/code.ts'
import { type WrittenYear, writeYear } from '../year/transcripts.ts'

const ASKED = 60
/** The first queries load everything and are not measured. */
const WARM_UP = 10
const FIRST_ANSWER_MS = 300_000

/** Medians, in ms. */
interface Answers {
  searchMs: number
  contextMs: number
  startMs: number
}

/** `root`: the directory of the projects. */
async function answersOf(sandbox: Sandbox, root: string, seed: number): Promise<Answers> {
  const random = new Random(seed)
  const client = await DaemonClient.connect(sandbox.paths)
  const cwd = () => join(root, 'work', random.pick(PROJECTS).name)
  try {
    const searchMs = await timed(async () => {
      const { name, noun, quality } = subjectOf(random.pick(PROJECTS), random)
      const query = random.pick([
        `why did ${name} keep ${quality} ${noun}s`,
        `${noun} ${quality} ${random.pick(CAUSES)}`,
      ])
      await client.call('search', { query, mode: 'hybrid', limit: 10 }, FIRST_ANSWER_MS)
    })
    const contextMs = await timed(() => client.call('context', { project: projectOfDirectory(cwd()).key }))
    const startMs = await timed(() => {
      const payload = {
        session_id: randomUUID(),
        prompt_id: '',
        cwd: cwd(),
        hook_event_name: 'SessionStart',
        source: 'startup',
      }
      return client.call('event', { event: eventOf(payload), version: VERSION })
    })
    return { searchMs, contextMs, startMs }
  } finally {
    client.close()
  }
}

async function timed(ask: () => Promise<unknown>): Promise<number> {
  const times: number[] = []
  for (let n = 0; n < WARM_UP + ASKED; n++) {
    const began = performance.now()
    await ask()
    if (n >= WARM_UP) times.push(performance.now() - began)
  }
  return median(times)
}

const SEED = 20_261_116
/** The small memory for comparison. */
const SMALL = { sessions: 10, toolUses: 500 }
/** What a backfill with passages and one without read, in turn. */
const COMPARED = { sessions: 60, toolUses: 6_000 }
const COMPARED_ROUNDS = 3
/** Housekeeping begins a minute after the start of a daemon and then deletes what is over the limits. */
const HOUSEKEEPING_LIMIT_MS = 600_000
const INDEXED_LIMIT_MS = 3_600_000
const CLI = join(DIST, 'cli.js')

const progress = new Progress()

interface YearSize {
  sessions: number
  toolUses: number
}

interface Year {
  written: WrittenYear
  backfillS: number
  again: Backfilled
  secondS: number
  made: Backfilled
  indexedS: number
  databaseMb: number
  passages: number
  observations: number
  daemonPeakMb: number | null
  answers: Answers
}

interface Backfilled {
  sessions: number
  toolUses: number
  events: number
  observations: number
  summaries: number
}

/** Seconds of a backfill. `env`: settings of its daemon. The database is removed again. */
async function backfillOnly(size: YearSize, env: Record<string, string>): Promise<number> {
  const sandbox = makeSandbox('bench-year', { CLAUDE_MEM_PROVIDER: 'offline', ...env })
  const root = mkdtempSync(join(tmpdir(), 'claude-mem-year-'))
  try {
    const written = writeYear(root, { ...size, seed: SEED, at: Date.now() }, (text) => progress.show(text))
    await startDaemon(sandbox)
    progress.show(`${written.sessions} sessions: reading them in, ${JSON.stringify(env)}`)
    const began = performance.now()
    check(await backfill(sandbox, written), written)
    return secondsSince(began)
  } finally {
    for (const pid of processesIn(sandbox)) kill(pid)
    rmSync(root, { recursive: true, force: true })
    sandbox.remove()
  }
}

const WITHOUT_PASSAGES = { CLAUDE_MEM_PASSAGE_MB: '0' }

/** How much longer a backfill takes because of passages: both in turn, so that other load affects both. */
async function overWithoutPassages(size: YearSize): Promise<number> {
  const ratios: number[] = []
  for (let n = 0; n < COMPARED_ROUNDS; n++) {
    const without = await backfillOnly(size, WITHOUT_PASSAGES)
    ratios.push((await backfillOnly(size, {})) / without)
  }
  return median(ratios)
}

async function year(size: YearSize): Promise<Year> {
  const sandbox = makeSandbox('bench-year', { CLAUDE_MEM_PROVIDER: 'offline' })
  // Not in the data directory: transcripts there are taken for sessions of the observer.
  const root = mkdtempSync(join(tmpdir(), 'claude-mem-year-'))
  try {
    const at = Date.now()
    const written = writeYear(root, { ...size, seed: SEED, at }, (text) => progress.show(text))
    const daemon = await startDaemon(sandbox)
    progress.show(`${written.sessions} sessions: reading them in`)
    const began = performance.now()
    const made = await backfill(sandbox, written)
    const backfillS = secondsSince(began)
    check(made, written)
    const again = performance.now()
    const second = await backfill(sandbox, written)
    const secondS = secondsSince(again)
    if (second.events > 0) throw new Error(`the second run of backfill added ${second.events} events`)
    progress.show(`${written.sessions} sessions: waiting for the index`)
    if (!(await until(async () => (await daemonStatus(sandbox)).indexing === null, INDEXED_LIMIT_MS, 200)))
      throw new Error('the memory was not indexed in time')
    const indexedS = secondsSince(began)
    progress.show(`${written.sessions} sessions: waiting for housekeeping`)
    const passages = await withinLimit(sandbox)
    progress.show(`${written.sessions} sessions: asking`)
    const answers = await answersOf(sandbox, root, SEED)
    const { databaseBytes, observations, queue } = await daemonStatus(sandbox)
    if (queue.failed > 0) throw new Error(`${queue.failed} messages failed`)
    const daemonPeakMb = memoryMb(daemon, 'VmHWM')
    await stopServing(sandbox)
    const databaseMb = databaseBytes / 2 ** 20
    return {
      written,
      backfillS,
      again: second,
      secondS,
      made,
      indexedS,
      databaseMb,
      passages,
      observations,
      daemonPeakMb,
      answers,
    }
  } finally {
    for (const pid of processesIn(sandbox)) kill(pid)
    rmSync(root, { recursive: true, force: true })
    sandbox.remove()
  }
}

/** Waits until housekeeping has deleted the passages above the limit of their size; returns how many are left. */
async function withinLimit(sandbox: Sandbox): Promise<number> {
  const most = loadSettings('', {}).values.CLAUDE_MEM_PASSAGE_MB * 2 ** 20
  const db = new Database(sandbox.paths.database, { readonly: true })
  const counted = db.prepare<[], { n: number; bytes: number }>(
    'SELECT count(*) AS n, coalesce(sum(bytes), 0) AS bytes FROM passages',
  )
  const left = () => counted.get() ?? { n: 0, bytes: 0 }
  const isWithin = () => passageDiskBytes(left().n, left().bytes) <= most
  try {
    if (!(await until(isWithin, HOUSEKEEPING_LIMIT_MS, 1_000)))
      throw new Error('passages were not deleted down to the limit of their size')
    return left().n
  } finally {
    db.close()
  }
}

async function backfill(sandbox: Sandbox, { configDir }: WrittenYear): Promise<Backfilled> {
  const { stdout } = await promisify(execFile)(process.execPath, [CLI, 'backfill', '--since', '400d', '--json'], {
    env: { ...sandbox.env, CLAUDE_CONFIG_DIR: configDir },
    maxBuffer: 2 ** 26,
  })
  const { sessions, toolUses, events, observations, summaries } = JSON.parse(stdout)
  return { sessions, toolUses, events, observations, summaries }
}

function check({ sessions, toolUses }: Backfilled, written: WrittenYear): void {
  if (sessions !== written.sessions || toolUses !== written.toolUses)
    throw new Error(`${written.sessions} sessions of ${written.toolUses} tool uses became ${sessions} of ${toolUses}`)
}

function secondsSince(began: number): number {
  return (performance.now() - began) / 1_000
}

const { values: options } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    sessions: { type: 'string', default: '1000' },
    tools: { type: 'string', default: '100000' },
  },
})
const backfillRatio = await overWithoutPassages(COMPARED)
const small = await year(SMALL)
const large = await year({ sessions: Number(options.sessions), toolUses: Number(options.tools) })
progress.clear()
const over = (figure: (answers: Answers) => number) => rounded(figure(large.answers) / figure(small.answers))
report(
  {
    sessions: large.written.sessions,
    tool_uses: large.written.toolUses,
    transcripts_mb: rounded(large.written.bytes / 2 ** 20, 0),
    backfill_s: rounded(large.backfillS, 1),
    tool_uses_per_s: rounded(large.written.toolUses / large.backfillS, 0),
    backfill_over_without_passages: rounded(backfillRatio),
    second_run_s: rounded(large.secondS, 1),
    indexed_after_s: rounded(large.indexedS, 1),
    daemon_peak_rss_mb: large.daemonPeakMb,
    daemon_peak_rss_mb_small: small.daemonPeakMb,
    database_mb: rounded(large.databaseMb, 1),
    observations: large.observations,
    passages: large.passages,
    summaries: large.made.summaries,
    search_p50_ms: rounded(large.answers.searchMs),
    search_over_small: over(({ searchMs }) => searchMs),
    context_p50_ms: rounded(large.answers.contextMs),
    context_over_small: over(({ contextMs }) => contextMs),
    session_start_p50_ms: rounded(large.answers.startMs),
    session_start_over_small: over(({ startMs }) => startMs),
  },
  options.json,
)
