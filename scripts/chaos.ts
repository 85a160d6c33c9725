/**
 * `npm run chaos -- --kills 200 [--provider anthropic] --json`: hooks report while the daemon is killed again and again, then a clean daemon
 * works off what is left, and the clients' own log is compared with the database. docs/benchmarks.md says how to read it.
 */
import { mkdirSync, watch } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { FAULT_POINTS } from '../src/faults.ts'
import { Clients } from './lib/chaos-clients.ts'
import { Killer, type Way } from './lib/chaos-killer.ts'
import { ChaosModel } from './lib/chaos-model.ts'
import { judge, type Verdict } from './lib/chaos-verdict.ts'
import { connect, startDaemon, statusOf } from './lib/daemon.ts'
import { Progress, report, say } from './lib/output.ts'
import { kill, makePlace, type Place, processesIn } from './lib/place.ts'
import { freshSeed, Random } from './lib/random.ts'
import { rounded } from './lib/stats.ts'
import { until } from './lib/until.ts'

const CLIENTS = 4
/** Small, so that the observer is at work all the time. */
const BATCH = '3'
/** Share of commits that a sabotaged store pretends to make. */
const LOSE = 0.4
/** A sabotaged run goes on until clients have reported so many events. */
const SABOTAGED_EVENTS = 80
/** By then a clean daemon has worked off everything, or never will. */
const DRAIN_LIMIT_MS = 60_000

const { values: options } = parseArgs({
  options: {
    kills: { type: 'string', default: '200' },
    provider: { type: 'string', default: 'plain' },
    seed: { type: 'string' },
    json: { type: 'boolean', default: false },
    sabotage: { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false },
  },
})

async function main(): Promise<number> {
  const wanted = Number(options.kills)
  const seed = options.seed === undefined ? freshSeed() : Number(options.seed)
  const known = options.provider === 'plain' || options.provider === 'anthropic'
  if (!Number.isInteger(wanted) || wanted < 1 || !Number.isInteger(seed) || !known) {
    say('usage: npm run chaos -- [--kills 200] [--seed 1] [--provider plain|anthropic] [--sabotage] [--keep] [--json]')
    return 2
  }
  say(`seed ${seed}`)
  const model = options.provider === 'anthropic' ? await ChaosModel.listen() : null
  const place = makePlace('chaos', { CLAUDE_MEM_BATCH_MAX_SIZE: BATCH, ...model?.settings })
  const began = performance.now()
  const endEverything = () => {
    for (const pid of processesIn(place)) kill(pid)
  }
  process.once('SIGINT', () => {
    endEverything()
    process.exit(130)
  })
  try {
    const { clients, killer, spooled } = await wreck(place, wanted, seed)
    await workOff(place)
    const orphans = await leftovers(place)
    const verdict = judge(place.paths.database, clients.log)
    explain(verdict, killer, clients)
    const reported = clients.log.filter((entry) => entry.reported).length
    report(
      {
        kills: killer.total,
        lost: verdict.lost.length,
        duplicated: verdict.duplicated.length,
        stuck: verdict.stuck.length,
        orphans: orphans.length,
        seed,
        events: reported,
        maybe: clients.log.length - reported,
        spooled,
        restarts: killer.starts,
        kills_by_point: killer.kills,
        missed: killer.missed,
        crashes: killer.crashes.length,
        hook_failures: clients.failures.length,
        damage: verdict.damage.length,
        provider: options.provider,
        ...model?.figures(place.paths.database),
        sabotage: options.sabotage,
        duration_s: rounded((performance.now() - began) / 1000, 1),
      },
      options.json,
    )
    if (options.sabotage) return verdict.lost.length > 0 ? 0 : 1
    const wrong = [verdict.lost, verdict.duplicated, verdict.stuck, verdict.damage, orphans, killer.crashes]
    return wrong.every((list) => list.length === 0) && clients.failures.length === 0 ? 0 : 1
  } finally {
    endEverything()
    await model?.close()
    if (options.keep) say(`kept: ${place.paths.dataDir}`)
    else place.remove()
  }
}

/** Clients and killer at work until enough daemons have died. */
async function wreck(place: Place, wanted: number, seed: number) {
  const random = new Random(seed)
  const killer = new Killer(place, random, options.sabotage ? `commit.lose:${LOSE}` : '')
  const clients = new Clients(place, seed, () => killer.serving)
  const spooled = watchSpool(place)
  const progress = new Progress()
  killer.holdStart()
  clients.start(CLIENTS)
  for (const way of plan(wanted, random)) {
    if (killer.total >= wanted || killer.crashes.length > 0) break
    // Two may die of it, and the number of kills is what was asked for.
    if (way === 'twins' && wanted - killer.total < 2) continue
    progress.show(`${killer.total} of ${wanted} kills, ${clients.log.length} events, now: ${way}`)
    await killer.kill(way)
  }
  // Enough commits for some of them to be pretended, however early the others died.
  if (options.sabotage) await killer.serveUntil(() => clients.log.length >= SABOTAGED_EVENTS)
  await clients.stop()
  killer.letHooksStart()
  progress.clear()
  return { clients, killer, spooled: spooled() }
}

/** Every point again and again in ever new order. A migration happens only at first: its turn comes before the others. */
function* plan(kills: number, random: Random): Generator<Way> {
  const points: Way[] = FAULT_POINTS.filter((point) => point !== 'migrate.step')
  const ways: Way[] = [...points, 'random', 'random', 'random', 'twins', 'launched']
  const cycles = Math.ceil(kills / (ways.length + 1))
  for (let n = 0; n < cycles; n++) yield 'migrate.step'
  for (;;) yield* random.shuffled(ways)
}

/** How many events went through the spool. */
function watchSpool(place: Place): () => number {
  mkdirSync(place.paths.spool, { recursive: true, mode: 0o700 })
  const seen = new Set<string>()
  const watcher = watch(place.paths.spool, (_, name) => {
    if (name?.endsWith('.json') === true) seen.add(name)
  })
  return () => {
    watcher.close()
    return seen.size
  }
}

/** A clean daemon, until nothing waits anywhere; then it is stopped as people stop it. */
async function workOff(place: Place): Promise<void> {
  await until(() => processesIn(place).length === 0, 1_000, 50)
  for (const pid of processesIn(place)) kill(pid, 'SIGTERM')
  await until(() => processesIn(place).length === 0, 10_000, 50)
  const daemon = await startDaemon(place, DRAIN_LIMIT_MS)
  const done = await until(
    async () => {
      const { queue, spooled } = await statusOf(place)
      if (queue.pending > 0) await flush(place)
      return queue.pending + queue.processing + spooled === 0
    },
    DRAIN_LIMIT_MS,
    200,
  )
  if (!done) say(`not worked off within ${DRAIN_LIMIT_MS / 1000} s: ${JSON.stringify((await statusOf(place)).queue)}`)
  daemon.child.kill('SIGTERM')
  await Promise.race([daemon.exited, sleep(10_000, null, { ref: false })])
}

async function flush(place: Place): Promise<void> {
  const client = await connect(place, 1_000)
  await client?.request('done', { type: 'flush', session: null, wait: true })
  client?.close()
}

async function leftovers(place: Place): Promise<number[]> {
  await until(() => processesIn(place).length === 0, 2_000, 50)
  return processesIn(place)
}

function explain(verdict: Verdict, killer: Killer, clients: Clients): void {
  const some = (what: string, list: readonly string[]) => {
    if (list.length > 0) say(`${what}: ${list.slice(0, 10).join(', ')}${list.length > 10 ? ', …' : ''}`)
  }
  some('lost', verdict.lost)
  some('duplicated', verdict.duplicated)
  some('stuck', verdict.stuck)
  some('damage', verdict.damage)
  some('crashes', killer.crashes)
  some(
    'hook failures',
    clients.failures.map((run) => JSON.stringify(run)),
  )
}

process.exitCode = await main()
