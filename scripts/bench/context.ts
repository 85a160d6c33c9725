/**
 * `npm run bench -- context [--sizes 100,10000,100000] [--runs 30] [--json]`: how long a starting session waits for its
 * context, and what it gets.
 *
 * - warm_ratio: SessionStart with the real hook process and a running daemon, compared with `node -e 0`; the worst size
 * - cold_extra_ms: the same without a daemon, minus `node -e 0`; the worst size. The context must be in the answer
 * - changed_ratio: the same just after a prompt of another session, so that the context is rendered anew
 * - render_ms_LARGE_over_SMALL: the operation `context`, which always reads, selects and renders; largest size over
 *   smallest
 * - context_compression: characters of tool input and output behind the rows of the context, per character of context
 */
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { buildContext } from '../../src/context/build.ts'
import { contextSettings } from '../../src/context/options.ts'
import type { MemoryEvent } from '../../src/domain/event.ts'
import { estimateTokens } from '../../src/domain/observation.ts'
import { VERSION } from '../../src/lib/version.ts'
import { offlineObserver } from '../../src/observer/offline/index.ts'
import { loadSettings } from '../../src/settings/settings.ts'
import type { ContextMaterial } from '../../src/store/port.ts'
import { readTranscriptEvents } from '../../src/transfer/transcripts/index.ts'
import type { DaemonClient } from '../../src/transport/client.ts'
import { eventOf, sessionStart, userPrompt } from '../lib/payloads.ts'
import { Random } from '../lib/random.ts'
import { median, Progress, printNote, report, rounded } from '../lib/report.ts'
import {
  connect,
  daemonStatus,
  HOOK,
  kill,
  processesIn,
  ROOT,
  type Sandbox,
  servingPid,
  startDaemon,
  stopServing,
  until,
} from '../lib/sandbox.ts'
import { type Observed, observedEvents } from '../quality/observed.ts'
import { observedSessions } from '../search/code-queries.ts'
import { Corpus } from '../search/corpus.ts'
import { fillProject } from '../search/filled-project.ts'

const RECORDINGS = join(ROOT, 'test', 'quality', 'dev')
const PROJECT = { key: 'dir:/home/dev', name: 'dev' }
const settings = loadSettings('', {}).values

interface Compression {
  /** Characters of tool input and output. */
  rawChars: number
  contextChars: number
  toolUses: number
  /** Observations that have a row. */
  shown: number
  observations: number
}

async function compression(): Promise<Compression> {
  const observed = await observedEvents(recorded(), { observer: offlineObserver })
  const options = { ...contextSettings(settings), now: observed.events.at(-1)?.at ?? 0 }
  const reader = { contextMaterial: async () => materialOf(observed) }
  const { context } = await buildContext(reader, PROJECT, options)
  const shown = new Set([...context.matchAll(/^- #(\d+) /gm)].map((match) => Number(match[1])))
  const sources = new Set(observed.observations.flatMap(({ id, sources: made }) => (shown.has(id) ? made : [])))
  return {
    rawChars: observed.events.reduce((sum, event) => sum + (sources.has(event.id) ? rawChars(event) : 0), 0),
    contextChars: context.length,
    toolUses: sources.size,
    shown: shown.size,
    observations: observed.observations.length,
  }
}

async function* recorded(): AsyncGenerator<MemoryEvent> {
  for (const name of readdirSync(RECORDINGS).sort()) {
    if (!name.endsWith('.jsonl')) continue
    for await (const event of readTranscriptEvents(join(RECORDINGS, name), { settings, skipped: () => undefined })) {
      yield { ...event, project: PROJECT }
    }
  }
}

/** As the observer gets them: without private parts, and with long fields shortened. */
function rawChars(event: MemoryEvent): number {
  if (event.kind === 'tool_use') return textChars(event.input) + textChars(event.response)
  return event.kind === 'tool_failure' ? textChars(event.input) + event.error.length : 0
}

/** Only the values, without names and punctuation of JSON. */
function textChars(value: unknown): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return String(value).length
  return Object.values(value).reduce((sum: number, part) => sum + textChars(part), 0)
}

function materialOf({ observations, summaries }: Observed): ContextMaterial {
  const newestFirst = <T extends { createdAt: number; id: number }>(rows: readonly T[]): T[] =>
    [...rows].sort((a, b) => b.createdAt - a.createdAt || b.id - a.id)
  return {
    project: PROJECT,
    totals: {
      observations: observations.length,
      discoveryTokens: observations.reduce((sum, { discoveryTokens }) => sum + discoveryTokens, 0),
      since: Math.min(...observations.map(({ createdAt }) => createdAt)),
    },
    observations: newestFirst(observations),
    pinned: [],
    summaries: newestFirst(summaries),
    passages: [],
    prompts: [],
    idle: [],
    repeats: [],
    amends: [],
  }
}

const SEED = 20_261_116
const WARM_UP = 3
/** Each cold run starts a daemon and stops it. */
const COLD_RUNS = 8
const RENDERED = 100
const MOST_WARM = 1.5
const MOST_COLD_MS = 1_000

const progress = new Progress()

/** A memory and its samples. The sizes are measured in turn, so that other load on the machine affects all of them. */
interface Memory {
  observations: number
  sandbox: Sandbox
  warm: number[]
  changed: number[]
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

const startOf = (sandbox: Sandbox, session: string) => sessionStart({ session, prompt: '', cwd: sandbox.paths.dataDir })

/** Time of one hook; its answer must contain the context. */
function start(sandbox: Sandbox, session: string): number {
  const { ms, stdout } = timed(
    [HOOK, '--data-dir', sandbox.paths.dataDir],
    sandbox.env,
    JSON.stringify(startOf(sandbox, session)),
  )
  checked(JSON.parse(stdout).hookSpecificOutput?.additionalContext)
  return ms
}

function checked(context: unknown): string {
  if (typeof context === 'string' && /#\d+ /.test(context)) return context
  throw new Error(`the answer of the hook has no context: ${JSON.stringify(context)}`)
}

async function clientOf({ sandbox }: Memory): Promise<DaemonClient> {
  const client = await connect(sandbox, 0)
  if (client === null) throw new Error('the daemon does not answer')
  return client
}

async function rendering(memories: readonly Memory[]): Promise<void> {
  const open: { memory: Memory; client: DaemonClient; project: string }[] = []
  for (const memory of memories) {
    const { project } = eventOf(startOf(memory.sandbox, 'rendered'))
    open.push({ memory, client: await clientOf(memory), project: project.key })
  }
  for (let n = 0; n < RENDERED + WARM_UP; n++) {
    progress.show(`${n} of ${RENDERED + WARM_UP} rendered`)
    for (const { memory, client, project } of open) {
      const began = performance.now()
      const { context } = await client.call('context', { project })
      memory.rendered.push(performance.now() - began)
      memory.tokens = estimateTokens(checked(context))
    }
  }
  for (const { client } of open) client.close()
}

/** Times of `node -e 0` in the same period. */
async function warm(memories: readonly Memory[], runs: number): Promise<number[]> {
  const baselines: number[] = []
  for (let n = 0; n < runs + WARM_UP; n++) {
    progress.show(`${n} of ${runs + WARM_UP} sessions started`)
    for (const memory of memories) {
      await reportPrompt(memory, n)
      memory.changed.push(start(memory.sandbox, `changed-${n}`))
      memory.warm.push(start(memory.sandbox, `warm-${n}`))
    }
    baselines.push(baseline())
  }
  return baselines
}

async function reportPrompt(memory: Memory, n: number): Promise<void> {
  const turn = { session: 'beside', prompt: `beside-${n}`, cwd: memory.sandbox.paths.dataDir }
  const client = await clientOf(memory)
  await client.call('event', { event: eventOf(userPrompt(turn, `Step ${n} of the other session`)), version: VERSION })
  client.close()
}

async function cold(memories: readonly Memory[]): Promise<number[]> {
  const baselines: number[] = []
  for (let n = 0; n < COLD_RUNS; n++) {
    progress.show(`${n} of ${COLD_RUNS} sessions started without a daemon`)
    baselines.push(baseline())
    for (const { sandbox, cold: times } of memories) {
      times.push(start(sandbox, `cold-${n}`))
      if ((await servingPid(sandbox, 15_000)) === null) throw new Error('the hook started no daemon')
      await until(async () => (await daemonStatus(sandbox)).spooled === 0, 5_000)
      if (!(await stopServing(sandbox))) throw new Error('the daemon did not stop')
    }
  }
  return baselines
}

interface Baselines {
  warm: number
  cold: number
}

async function measure(memories: readonly Memory[], runs: number): Promise<Baselines> {
  for (const { sandbox } of memories) await startDaemon(sandbox)
  await rendering(memories)
  const beside = await warm(memories, runs)
  for (const { sandbox } of memories) await stopServing(sandbox)
  return { warm: median(beside.slice(WARM_UP)), cold: median(await cold(memories)) }
}

function figuresOf(memory: Memory, baselines: Baselines) {
  const warmMs = median(memory.warm.slice(WARM_UP))
  const coldMs = median(memory.cold)
  return {
    observations: memory.observations,
    warm_ratio: rounded(warmMs / baselines.warm, 3),
    changed_ratio: rounded(median(memory.changed.slice(WARM_UP)) / baselines.warm, 3),
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
    printNote('claude-mem: --sizes needs numbers of observations, --runs a number: --sizes 100,10000 --runs 30')
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
      const sandbox = await fillProject(size, corpus, (text) => progress.show(text))
      memories.push({ observations: size, sandbox, warm: [], changed: [], cold: [], rendered: [], tokens: 0 })
    }
    baselines = await measure(memories, runs)
  } finally {
    for (const { sandbox } of memories) {
      for (const pid of processesIn(sandbox)) kill(pid)
      sandbox.remove()
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
      changed_ratio: Math.max(...figures.map((one) => one.changed_ratio)),
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
  if (warmRatio > MOST_WARM) printNote(`above the bound of ${MOST_WARM} with the daemon up`)
  if (coldExtra > MOST_COLD_MS) printNote(`above the bound of ${MOST_COLD_MS} ms with the daemon down`)
  return 0
}

process.exitCode = await main()
