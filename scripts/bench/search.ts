/**
 * `npm run bench -- search [--sizes 1000,10000,100000] [--json]`: speed of the search, its cost in time and memory, and its
 * effect on hooks. docs/benchmarks.md describes each figure.
 */
import { parseArgs } from 'node:util'
import { Random } from '../lib/random.ts'
import { type Figures, Progress, printNote, report, rounded } from '../lib/report.ts'
import { kill, processesIn } from '../lib/sandbox.ts'
import { type Beside, besideSearches, isSearchChild } from '../search/beside.ts'
import { observedSessions } from '../search/code-queries.ts'
import { Corpus, queriesOf } from '../search/corpus.ts'
import {
  type Answered,
  ask,
  type Filled,
  fill,
  loadMs,
  openSearch,
  plainOf,
  rebuildS,
  recallAt10,
} from '../search/filled-memory.ts'

const SEED = 20_261_116
const QUERIES = 100
/** Above this size facts have no vectors of their own: building such an index takes too long for a benchmark. */
const MOST_APART = 20_000

const progress = new Progress()

interface Measured {
  observations: number
  filled: Filled
  vectorsEach: number
  rebuildS: number | null
  loadMs: number
  recall: number | null
  answered: Answered
  queries: string[]
}

async function measure(observations: number, corpus: Corpus, random: Random): Promise<Measured> {
  const apart = observations <= MOST_APART
  const filled = await fill(observations, { corpus, apart, progress: (text) => progress.show(text) })
  const { sandbox, samples } = filled
  const queries = queriesOf(random.shuffled(samples).slice(0, QUERIES), random)
  progress.show(`${observations}: making the index of vectors anew`)
  const rebuilt = await rebuildS(sandbox)
  const loaded = await loadMs(sandbox)
  const recall = rebuilt === null ? null : await recallAt10(sandbox, queries)
  progress.show(`${observations}: asking`)
  const plain = plainOf(sandbox)
  const search = await openSearch(sandbox)
  const answered = await ask(search, plain, queries, filled)
  const { observations: kept, vectors } = await search.counts(null)
  await search.close()
  plain.close()
  if (kept !== observations) throw new Error(`${observations} observations were expected, but there are ${kept}`)
  const vectorsEach = (vectors?.fragments ?? 0) / observations
  return { observations, filled, vectorsEach, rebuildS: rebuilt, loadMs: loaded, recall, answered, queries }
}

function figuresOf({ observations, filled, vectorsEach, rebuildS: built, loadMs: loaded, recall, answered }: Measured) {
  return {
    observations,
    passages: filled.passages,
    vectors_each: rounded(vectorsEach, 1),
    keep_s: rounded(filled.keepS, 1),
    vectors_s: rounded(filled.vectorsS, 1),
    index_build_s: built === null ? null : rounded(built, 1),
    load_ms: rounded(loaded, 0),
    hnsw_recall_at_10: recall === null ? null : rounded(recall, 4),
    hybrid_p50_over_fts5: overFts5(answered),
    ...Object.fromEntries(answered),
  }
}

function overFts5(answered: Answered): number {
  return rounded((answered.get('hybrid')?.p50_ms ?? Number.NaN) / (answered.get('fts5')?.p50_ms ?? Number.NaN))
}

function besideFigures(beside: Beside): Figures {
  return {
    ack_p99_under_search_ratio: beside.ratio,
    ack_p99_idle_ms: beside.ackIdleP99Ms,
    ack_p99_under_search_ms: beside.ackSearchingP99Ms,
    max_stall_ms: beside.searching?.stall ?? null,
    max_stall_idle_ms: beside.idle?.stall ?? null,
    max_work_ms: beside.searching?.work ?? null,
    max_work_idle_ms: beside.idle?.work ?? null,
    answers_per_s: beside.answersPerS,
    rss_mb: beside.rssMb,
    peak_rss_mb: beside.peakRssMb,
  }
}

async function main(): Promise<void> {
  const { values: options } = parseArgs({
    options: { json: { type: 'boolean', default: false }, sizes: { type: 'string', default: '1000,10000,100000' } },
  })
  const sizes = options.sizes.split(',').map(Number)
  if (sizes.some((size) => !Number.isInteger(size) || size < 1)) {
    printNote('claude-mem: --sizes needs numbers of observations: --sizes 1000,10000')
    process.exit(2)
  }
  const random = new Random(SEED)
  progress.show('observing the recorded sessions')
  const recorded = (await observedSessions()).map(({ observed }) => observed)
  const sources = recorded.flatMap(({ observations }) => observations)
  const events = recorded.flatMap((session) => session.events)
  const corpus = new Corpus(sources, random, events)
  const measured: Measured[] = []
  let beside: Beside | null = null
  try {
    for (const size of sizes) measured.push(await measure(size, corpus, random))
    const largest = measured.reduce((a, b) => (b.observations > a.observations ? b : a))
    progress.show('hooks beside searches')
    beside = await besideSearches(largest.filled.sandbox, largest.queries)
    progress.clear()
    const recalls = measured.flatMap(({ recall }) => recall ?? [])
    report(
      {
        hybrid_p50_over_fts5: overFts5(largest.answered),
        hnsw_recall_at_10: recalls.length === 0 ? null : rounded(Math.min(...recalls), 4),
        ...besideFigures(beside),
        sizes: measured.map(figuresOf),
        queries: QUERIES,
        seed: SEED,
      },
      options.json,
    )
  } finally {
    for (const { filled } of measured) {
      for (const pid of processesIn(filled.sandbox)) kill(pid)
      filled.sandbox.remove()
    }
  }
}

if (!(await isSearchChild())) await main()
