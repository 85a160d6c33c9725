/**
 * `npm run bench -- year [--sessions 1000] [--tools 100000] [--json]`: a year of a busy developer, read in by the real
 * `claude-mem backfill` with the offline observer, and what search and context cost in a memory of that size beside a small
 * one. docs/backfill.md says what each figure means.
 */
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { startDaemon, statusOf, stopServing } from '../lib/daemon.ts'
import { memoryMb } from '../lib/memory-use.ts'
import { Progress, report } from '../lib/output.ts'
import { kill, makePlace, type Place, processesIn } from '../lib/place.ts'
import { DIST } from '../lib/root.ts'
import { rounded } from '../lib/stats.ts'
import { until } from '../lib/until.ts'
import { type Answers, answersOf } from '../year/answers.ts'
import { type Written, writeYear } from '../year/transcripts.ts'

const SEED = 20_261_116
/** A small memory beside the large one. */
const SMALL = { sessions: 10, toolUses: 500 }
const INDEXED_LIMIT_MS = 3_600_000
const CLI = join(DIST, 'cli.js')

const progress = new Progress()

interface Year {
  written: Written
  backfillS: number
  again: Backfilled
  secondS: number
  made: Backfilled
  indexedS: number
  databaseMb: number
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

async function year(size: { sessions: number; toolUses: number }): Promise<Year> {
  const place = makePlace('bench-year', { CLAUDE_MEM_PROVIDER: 'offline' })
  // Not in the data directory: what lies there is taken for the observer's own.
  const root = mkdtempSync(join(tmpdir(), 'claude-mem-year-'))
  try {
    const at = Date.now()
    const written = writeYear(root, { ...size, seed: SEED, at }, (text) => progress.show(text))
    const daemon = await startDaemon(place)
    progress.show(`${written.sessions} sessions: reading them in`)
    const began = performance.now()
    const made = await backfill(place, written)
    const backfillS = secondsSince(began)
    check(made, written)
    const again = performance.now()
    const second = await backfill(place, written)
    const secondS = secondsSince(again)
    if (second.events > 0) throw new Error(`the second run brought ${second.events} events`)
    progress.show(`${written.sessions} sessions: waiting for the index`)
    if (!(await until(async () => (await statusOf(place)).indexing === null, INDEXED_LIMIT_MS, 200)))
      throw new Error('the memory was not indexed in time')
    const indexedS = secondsSince(began)
    progress.show(`${written.sessions} sessions: asking`)
    const answers = await answersOf(place, root, SEED)
    const { databaseBytes, observations, queue } = await statusOf(place)
    if (queue.failed > 0) throw new Error(`${queue.failed} messages failed`)
    const daemonPeakMb = memoryMb(daemon, 'VmHWM')
    await stopServing(place)
    const databaseMb = databaseBytes / 2 ** 20
    return {
      written,
      backfillS,
      again: second,
      secondS,
      made,
      indexedS,
      databaseMb,
      observations,
      daemonPeakMb,
      answers,
    }
  } finally {
    for (const pid of processesIn(place)) kill(pid)
    rmSync(root, { recursive: true, force: true })
    place.remove()
  }
}

async function backfill(place: Place, { configDir }: Written): Promise<Backfilled> {
  const { stdout } = await promisify(execFile)(process.execPath, [CLI, 'backfill', '--since', '400d', '--json'], {
    env: { ...place.env, CLAUDE_CONFIG_DIR: configDir },
    maxBuffer: 2 ** 26,
  })
  const { sessions, toolUses, events, observations, summaries } = JSON.parse(stdout)
  return { sessions, toolUses, events, observations, summaries }
}

function check({ sessions, toolUses }: Backfilled, written: Written): void {
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
    second_run_s: rounded(large.secondS, 1),
    indexed_after_s: rounded(large.indexedS, 1),
    daemon_peak_rss_mb: large.daemonPeakMb,
    daemon_peak_rss_mb_small: small.daemonPeakMb,
    database_mb: rounded(large.databaseMb, 1),
    observations: large.observations,
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
