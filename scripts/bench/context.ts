/**
 * `npm run bench -- context [--sizes 100,10000,100000] [--runs 30] [--json]`: what a session that starts waits for its
 * memory, and what it gets.
 *
 * - warm_ratio: SessionStart with the real hook process and a daemon that runs, beside `node -e 0` in turn; the worst size
 * - cold_extra_ms: the same with no daemon there, less `node -e 0`; the worst size. The context must be in the answer
 * - render_ms_LARGE_over_SMALL: ack of a SessionStart that was reported before, of the largest size over the smallest: nothing
 *   has to be stored again, so that this is reading, choosing and rendering
 * - context_compression: characters of tool input and output that the text stands for, for each character of it
 */
import { spawnSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import type { ChannelClient } from '../../src/channel/client.ts'
import type { MemoryEvent } from '../../src/memory/event.ts'
import { estimateTokens } from '../../src/memory/observation.ts'
import { VERSION } from '../../src/version.ts'
import { compression } from '../context/compression.ts'
import { fill } from '../context/filled.ts'
import { connect, servingPid, startDaemon, statusOf, stopServing } from '../lib/daemon.ts'
import { eventOf } from '../lib/events.ts'
import { Progress, report, say } from '../lib/output.ts'
import { sessionStart } from '../lib/payloads.ts'
import { kill, type Place, processesIn } from '../lib/place.ts'
import { Random } from '../lib/random.ts'
import { HOOK } from '../lib/root.ts'
import { median, rounded } from '../lib/stats.ts'
import { until } from '../lib/until.ts'
import { observedSessions } from '../retrieval/code-queries.ts'
import { Corpus } from '../search/corpus.ts'

const SEED = 20_261_116
const WARM_UP = 3
/** Each of them starts a daemon and stops it again. */
const COLD_RUNS = 8
const RENDERED = 100
const MOST_WARM = 1.5
const MOST_COLD_MS = 1_000

const progress = new Progress()

/** A memory and what was measured with it. All sizes take turns: whatever else the machine does, it does to all of them. */
interface Memory {
  observations: number
  place: Place
  warm: number[]
  cold: number[]
  rendered: number[]
  tokens: number
}

function timed(args: readonly string[], env: NodeJS.ProcessEnv, input: string): { ms: number; stdout: string } {
  const began = performance.now()
  const { stdout } = spawnSync(process.execPath, args, { input, env, encoding: 'utf8' })
  return { ms: performance.now() - began, stdout }
}

const baseline = (): number => timed(['-e', '0'], process.env, '').ms

const startOf = (place: Place, session: string) => sessionStart({ session, prompt: '', cwd: place.paths.dataDir })

/** The time of one hook, whose answer must hold the memory. */
function start(place: Place, session: string): number {
  const { ms, stdout } = timed([HOOK], place.env, JSON.stringify(startOf(place, session)))
  checked(JSON.parse(stdout).hookSpecificOutput?.additionalContext)
  return ms
}

function checked(context: unknown): string {
  if (typeof context === 'string' && context.includes('\n| #')) return context
  throw new Error(`the session got no memory: ${JSON.stringify(context)}`)
}

async function rendering(memories: readonly Memory[]): Promise<void> {
  const open: { memory: Memory; client: ChannelClient; event: MemoryEvent }[] = []
  for (const memory of memories) {
    const client = await connect(memory.place, 0)
    if (client === null) throw new Error('nobody serves')
    open.push({ memory, client, event: eventOf(startOf(memory.place, 'rendered')) })
  }
  for (let n = 0; n < RENDERED + WARM_UP; n++) {
    progress.show(`${n} of ${RENDERED + WARM_UP} rendered`)
    for (const { memory, client, event } of open) {
      const began = performance.now()
      const { context } = await client.request('ack', { type: 'event', event, version: VERSION })
      memory.rendered.push(performance.now() - began)
      memory.tokens = estimateTokens(checked(context))
    }
  }
  for (const { client } of open) client.close()
}

/** How long `node -e 0` took meanwhile. */
function warm(memories: readonly Memory[], runs: number): number[] {
  return Array.from({ length: runs + WARM_UP }, (_, n) => {
    progress.show(`${n} of ${runs + WARM_UP} sessions started`)
    for (const { place, warm: times } of memories) times.push(start(place, `warm-${n}`))
    return baseline()
  })
}

async function cold(memories: readonly Memory[]): Promise<number[]> {
  const baselines: number[] = []
  for (let n = 0; n < COLD_RUNS; n++) {
    progress.show(`${n} of ${COLD_RUNS} sessions started without a daemon`)
    baselines.push(baseline())
    for (const { place, cold: times } of memories) {
      times.push(start(place, `cold-${n}`))
      if ((await servingPid(place, 15_000)) === null) throw new Error('the hook started no daemon')
      await until(async () => (await statusOf(place)).spooled === 0, 5_000)
      if (!(await stopServing(place))) throw new Error('the daemon did not stop')
    }
  }
  return baselines
}

interface Baselines {
  warm: number
  cold: number
}

async function measure(memories: readonly Memory[], runs: number): Promise<Baselines> {
  for (const { place } of memories) await startDaemon(place)
  await rendering(memories)
  const beside = warm(memories, runs)
  for (const { place } of memories) await stopServing(place)
  return { warm: median(beside.slice(WARM_UP)), cold: median(await cold(memories)) }
}

function figuresOf(memory: Memory, baselines: Baselines) {
  const warmMs = median(memory.warm.slice(WARM_UP))
  const coldMs = median(memory.cold)
  return {
    observations: memory.observations,
    warm_ratio: rounded(warmMs / baselines.warm, 3),
    cold_extra_ms: rounded(coldMs - baselines.cold, 1),
    render_ms: rounded(median(memory.rendered.slice(WARM_UP))),
    warm_ms: rounded(warmMs),
    cold_ms: rounded(coldMs),
    context_tokens: memory.tokens,
  }
}

async function main(): Promise<number> {
  const { values: options } = parseArgs({
    options: {
      json: { type: 'boolean', default: false },
      sizes: { type: 'string', default: '100,10000,100000' },
      runs: { type: 'string', default: '30' },
    },
  })
  const sizes = options.sizes.split(',').map(Number)
  const runs = Number(options.runs)
  if ([...sizes, runs].some((size) => !Number.isInteger(size) || size < 1)) {
    say('claude-mem: --sizes takes numbers of observations, --runs a number: --sizes 100,10000 --runs 30')
    return 2
  }
  progress.show('observing the recorded sessions')
  const sources = (await observedSessions()).flatMap(({ observed }) => observed.observations)
  const corpus = new Corpus(sources, new Random(SEED))
  const { rawChars, contextChars, toolUses, shown, observations } = await compression()
  const memories: Memory[] = []
  let baselines: Baselines
  try {
    for (const size of [...sizes].sort((a, b) => a - b)) {
      const place = await fill(size, corpus, (text) => progress.show(text))
      memories.push({ observations: size, place, warm: [], cold: [], rendered: [], tokens: 0 })
    }
    baselines = await measure(memories, runs)
  } finally {
    for (const { place } of memories) {
      for (const pid of processesIn(place)) kill(pid)
      place.remove()
    }
  }
  progress.clear()
  const figures = memories.map((memory) => figuresOf(memory, baselines))
  const warmRatio = Math.max(...figures.map((one) => one.warm_ratio))
  const coldExtra = Math.max(...figures.map((one) => one.cold_extra_ms))
  const [smallest, largest] = [figures[0], figures.at(-1)]
  const name = (size: number | undefined) => (Number(size) >= 1_000 ? `${Number(size) / 1_000}k` : `${size}`)
  const over = `render_ms_${name(largest?.observations)}_over_${name(smallest?.observations)}`
  report(
    {
      warm_ratio: warmRatio,
      cold_extra_ms: coldExtra,
      [over]: rounded((largest?.render_ms ?? Number.NaN) / (smallest?.render_ms ?? Number.NaN)),
      context_compression: rounded(rawChars / contextChars, 1),
      compressed: { raw_chars: rawChars, context_chars: contextChars, tool_uses: toolUses, shown, observations },
      sizes: figures,
      baseline_ms: rounded(baselines.warm),
      runs,
      cold_runs: COLD_RUNS,
      seed: SEED,
    },
    options.json,
  )
  if (warmRatio > MOST_WARM) say(`above the bound of ${MOST_WARM} with the daemon up`)
  if (coldExtra > MOST_COLD_MS) say(`above the bound of ${MOST_COLD_MS} ms with the daemon down`)
  return 0
}

process.exitCode = await main()
