/**
 * `npm run bench -- soak [--minutes 60] [--life MINUTES] [--rate 8] [--sabotage] [--json]`: hours of ordinary use in short. Steady
 * events, viewers, searches, restarts and provider faults; memory, handles, threads and files are sampled, and none may
 * grow after the warm-up. At the end the log of the clients is compared with the database. docs/benchmarks.md describes
 * the result.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { VERSION } from '../../src/lib/version.ts'
import { judge } from '../chaos/verdict.ts'
import { freshSeed, Random } from '../lib/random.ts'
import { Progress, percentile, printNote, report, rounded } from '../lib/report.ts'
import {
  connect,
  daemonStatus,
  kill,
  makeSandbox,
  processesIn,
  ROOT,
  type Sandbox,
  StartLock,
  until,
} from '../lib/sandbox.ts'
import { SoakDaemons } from '../soak/daemons.ts'
import { SessionEraser } from '../soak/eraser.ts'
import { SoakLoad } from '../soak/load.ts'
import { SoakModel } from '../soak/model.ts'
import { type FigureVerdict, Samples } from '../soak/samples.ts'

const SAMPLE_MS = 3_000
/** A run begins with some short lives, one for each way of a restart. The last one takes the rest: slopes need time. */
const SHORT_LIVES = 3
/** A short life, as a share of the run. */
const SHORT_LIFE_SHARE = 1 / 15
/**
 * Warm-up, as a share of the last life: caches fill, the first backup is written, and V8 lets the heaps of three threads
 * grow for about ten minutes.
 */
const WARM_UP_SHARE = 1 / 3
const DRAIN_LIMIT_MS = 300_000
const PROJECTS = 3

const { values: options } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    life: { type: 'string' },
    rate: { type: 'string', default: '8' },
    seed: { type: 'string' },
    json: { type: 'boolean', default: false },
    sabotage: { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false },
  },
})
const progress = new Progress()

interface Soak {
  sandbox: Sandbox
  model: SoakModel
  daemons: SoakDaemons
  load: SoakLoad
  eraser: SessionEraser
  samples: Samples
  /** Times of `hello`, in ms. */
  answers: number[]
}

async function main(): Promise<number> {
  const [minutes, rate] = [Number(options.minutes), Number(options.rate)]
  const life = options.life === undefined ? minutes * SHORT_LIFE_SHARE : Number(options.life)
  const seed = options.seed === undefined ? freshSeed() : Number(options.seed)
  if (!(minutes >= 1 && life > 0 && rate > 0 && Number.isInteger(seed))) {
    printNote(
      'usage: npm run bench -- soak [--minutes 60] [--life MINUTES] [--rate 8] [--seed 1] [--sabotage] [--keep] [--json]',
    )
    return 2
  }
  printNote(`seed ${seed}`)
  const model = await SoakModel.listen(new Random(seed))
  const soak = prepare(model, seed, rate)
  const { sandbox, daemons, load, eraser, samples } = soak
  const startLock = new StartLock(sandbox.paths.starting)
  process.once('SIGINT', () => {
    for (const pid of processesIn(sandbox)) kill(pid)
    process.exit(130)
  })
  const began = performance.now()
  try {
    // Only this script starts daemons, so that it knows their lives.
    startLock.hold()
    const lifeMs = life * 60_000
    const lastLifeMs = await run(soak, minutes * 60_000, lifeMs)
    const failed = await workOff(soak)
    await until(() => processesIn(sandbox).length === 0, 2_000, 50)
    const orphans = processesIn(sandbox)
    const verdict = judge(sandbox.paths.database, load.log)
    const figures = samples.judge(lastLifeMs * WARM_UP_SHARE, lifeMs)
    progress.clear()
    const wrong = {
      lost: [...eraser.lost, ...verdict.lost],
      duplicated: [...eraser.duplicated, ...verdict.duplicated],
      stuck: verdict.stuck,
      damage: verdict.damage,
      orphans,
    }
    for (const [name, list] of Object.entries({ ...wrong, crashes: daemons.crashes, errors: load.errors })) {
      if (list.length > 0) printNote(`${name}: ${list.slice(0, 10).join(', ')}`)
    }
    const growing = Object.entries(figures).flatMap(([name, { flat }]) => (flat ? [] : [name]))
    report(
      {
        flat: growing.length === 0,
        growing,
        ...Object.fromEntries(Object.entries(wrong).map(([name, list]) => [name, list.length])),
        crashes: daemons.crashes.length,
        errors: load.errors.length,
        figures,
        ...loadFigures(soak),
        failed_then_retried: failed,
        seed,
        sabotage: options.sabotage,
        minutes: rounded((performance.now() - began) / 60_000, 1),
      },
      options.json,
    )
    if (options.sabotage) return isDetected(figures) ? 0 : 1
    const clean = Object.values(wrong).every((list) => list.length === 0)
    return clean && growing.length === 0 && daemons.crashes.length + load.errors.length === 0 ? 0 : 1
  } finally {
    startLock.release()
    for (const pid of processesIn(sandbox)) kill(pid)
    await model.close()
    daemons.remove()
    if (options.keep) printNote(`kept: ${sandbox.paths.dataDir}`)
    else sandbox.remove()
  }
}

function prepare(model: SoakModel, seed: number, rate: number): Soak {
  const leak = options.sabotage
    ? { NODE_OPTIONS: `--require ${join(ROOT, 'scripts', 'soak', 'leak.cjs')}`, SOAK_LEAK: '1' }
    : {}
  const sandbox = makeSandbox('soak', { ...model.settings, ...leak })
  const temporary = join(sandbox.paths.dataDir, 'tmp')
  const directories = Array.from({ length: PROJECTS }, (_, i) => join(sandbox.paths.dataDir, `project-${i}`))
  for (const directory of [temporary, ...directories]) mkdirSync(directory)
  Object.assign(sandbox.env, { TMPDIR: temporary })
  const [first = temporary, ...others] = directories
  const load = new SoakLoad(sandbox, [first, ...others], seed, rate)
  return {
    sandbox,
    model,
    daemons: new SoakDaemons(sandbox),
    load,
    eraser: new SessionEraser(sandbox, load),
    samples: new Samples(sandbox, temporary),
    answers: [],
  }
}

/** Resolves with the time that the last daemon served. */
async function run(soak: Soak, durationMs: number, lifeMs: number): Promise<number> {
  const { daemons, load, samples, sandbox } = soak
  const began = performance.now()
  await daemons.start()
  load.start()
  soak.eraser.start()
  while (performance.now() - began < durationMs) {
    await sleep(SAMPLE_MS)
    if (daemons.noticeCrash()) await daemons.start()
    if (daemons.age >= lifeMs && daemons.life <= SHORT_LIVES) await daemons.restart()
    soak.answers.push(await helloMs(sandbox))
    const sample = samples.take({ pid: daemons.pid, life: daemons.life, age: daemons.age })
    const values = Object.entries(sample?.values ?? {}).map(([name, value]) => `${name} ${rounded(value, 1)}`)
    progress.show(
      `${rounded((performance.now() - began) / 60_000, 1)} min, life ${daemons.life}, ${load.events} events, ${values.join(', ')}`,
    )
  }
  const lastLifeMs = daemons.age
  await soak.eraser.stop()
  await load.stop()
  return lastLifeMs
}

/** Infinite if the daemon does not answer. */
async function helloMs(sandbox: Sandbox): Promise<number> {
  const began = performance.now()
  const client = await connect(sandbox, 0)
  try {
    await client?.call('hello', { version: VERSION }, 10_000)
    return client === null ? Number.POSITIVE_INFINITY : performance.now() - began
  } catch {
    return Number.POSITIVE_INFINITY
  } finally {
    client?.close()
  }
}

/** The provider works again, failed messages are retried as a user would, and the last daemon is stopped. */
async function workOff({ sandbox, model, daemons }: Soak): Promise<number> {
  model.recover()
  let failed = 0
  const done = await until(
    async () => {
      const { queue, spooled } = await daemonStatus(sandbox)
      progress.show(`working off: ${JSON.stringify(queue)}, ${spooled} spooled`)
      const client = await connect(sandbox, 1_000)
      if (queue.failed > 0) failed += queue.failed
      if (queue.failed > 0) await client?.call('queue_retry', { session: null })
      if (queue.pending > 0) await client?.call('flush', { session: null, wait: true })
      client?.close()
      return queue.pending + queue.processing + queue.failed + spooled === 0
    },
    DRAIN_LIMIT_MS,
    500,
  )
  if (!done) printNote(`not worked off within ${DRAIN_LIMIT_MS / 1_000} s`)
  await daemons.stop()
  return failed
}

function loadFigures({ load, eraser, model, daemons, samples, answers }: Soak) {
  const answered = answers.filter(Number.isFinite)
  return {
    events: load.events,
    sessions_erased: eraser.sessions,
    through_hooks: load.hooks,
    searches: load.searches,
    requests: load.requests,
    viewers: load.viewers,
    stream_items: load.items,
    model_calls: model.calls,
    model_faults: model.faults,
    lives: daemons.life,
    restarts: daemons.ended,
    samples: samples.count,
    hello_p50_ms: rounded(percentile(answered, 0.5), 1),
    hello_max_ms: rounded(Math.max(...answered), 0),
    // During a restart.
    hello_unanswered: answers.length - answered.length,
  }
}

/** The sabotaged daemon leaks memory and handles: both must be found. */
function isDetected({ rss, handles }: Record<'rss' | 'handles', FigureVerdict>): boolean {
  return !rss.flat && !handles.flat
}

process.exitCode = await main()
