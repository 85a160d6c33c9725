/**
 * `npm run chaos -- --kills 200 [--provider anthropic] [--hook fast] --json`: hooks report while the daemon is killed again and again; then
 * a clean daemon finishes the work, and the log of the clients is compared with the database. With `--scenario NAME` or
 * `--scenario all` it runs one of the troubles in chaos/scenarios.ts instead, with `--team` the daemons of a team
 * (chaos/team.ts). docs/benchmarks.md describes the results.
 */
import { mkdirSync, watch } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { FAULT_POINTS } from '../src/lib/faults.ts'
import { shortHash } from '../src/lib/paths.ts'
import { ChaosModel, Clients } from './chaos/clients.ts'
import { Killer, type Way } from './chaos/killer.ts'
import { runScenarios } from './chaos/run-scenarios.ts'
import { runTeamChaos } from './chaos/team.ts'
import { judge, judgePassages, type Verdict } from './chaos/verdict.ts'
import { mutantEnvironment, workOff } from './chaos/world.ts'
import { freshSeed, Random } from './lib/random.ts'
import { Progress, printNote, report, rounded } from './lib/report.ts'
import { daemonStatus, kill, makeSandbox, processesIn, type Sandbox, startDaemon, until } from './lib/sandbox.ts'

const CLIENTS = 4
/** Small, so that the observer is always busy. */
const BATCH = '3'
/** Share of commits that a sabotaged store drops but reports as done. Its hooks also wipe every text that they spool. */
const LOSE = 0.4
/** A sabotaged run ends after this many reported events. */
const SABOTAGED_EVENTS = 80
/** Time for a clean daemon to finish all work, in ms. */
const DRAIN_LIMIT_MS = 60_000

const { values: options } = parseArgs({
  options: {
    kills: { type: 'string', default: '200' },
    scenario: { type: 'string' },
    cuts: { type: 'string', default: '100' },
    team: { type: 'boolean', default: false },
    provider: { type: 'string', default: 'plain' },
    hook: { type: 'string', default: 'websocket' },
    seed: { type: 'string' },
    json: { type: 'boolean', default: false },
    sabotage: { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false },
  },
})

async function main(): Promise<number> {
  const wanted = Number(options.kills)
  const cuts = Number(options.cuts)
  const seed = options.seed === undefined ? freshSeed() : Number(options.seed)
  const knownHook = options.hook === 'fast' || options.hook === 'websocket'
  const known = knownHook && (options.provider === 'plain' || options.provider === 'anthropic')
  if (!isCount(wanted) || !isCount(cuts) || !Number.isInteger(seed) || !known) {
    printNote(
      'usage: npm run chaos -- [--kills 200 | --scenario NAME [--cuts 100] | --team --kills 100] [--seed 1] [--provider plain|anthropic] [--hook fast|websocket] [--sabotage] [--keep] [--json]',
    )
    return 2
  }
  printNote(`seed ${seed}`)
  if (options.team) {
    const { sabotage, keep, json } = options
    return await runTeamChaos({ kills: wanted, seed, sabotage, keep, json })
  }
  if (options.scenario !== undefined) {
    const { sabotage, keep, json } = options
    return await runScenarios(options.scenario, { seed, sabotage, keep, json, cuts })
  }
  const model = options.provider === 'anthropic' ? await ChaosModel.listen() : null
  const sandbox = makeSandbox('chaos', { CLAUDE_MEM_BATCH_MAX_SIZE: BATCH, ...model?.settings })
  if (options.sabotage) Object.assign(sandbox.env, mutantEnvironment('spool-wiped'))
  const began = performance.now()
  const endEverything = () => {
    for (const pid of processesIn(sandbox)) kill(pid)
  }
  process.once('SIGINT', () => {
    endEverything()
    process.exit(130)
  })
  try {
    const { clients, killer, spooled } = await wreck(sandbox, wanted, seed)
    await finishWork(sandbox)
    const orphans = await leftovers(sandbox)
    const events = judge(sandbox.paths.database, clients.log)
    const passages = judgePassages(sandbox.paths.database)
    const verdict: Verdict = {
      ...events,
      lost: [...events.lost, ...passages.lost],
      duplicated: [...events.duplicated, ...passages.duplicated],
    }
    explain(verdict, killer, clients)
    const reported = clients.log.filter((entry) => entry.reported)
    const throughSpool = reported.filter(({ event }) => spooled.has(shortHash(event))).length
    report(
      {
        kills: killer.total,
        lost: verdict.lost.length,
        altered: verdict.altered.length,
        duplicated: verdict.duplicated.length,
        stuck: verdict.stuck.length,
        orphans: orphans.length,
        seed,
        events: reported.length,
        passages: passages.stored,
        maybe: clients.log.length - reported.length,
        socket_share: rounded(1 - throughSpool / reported.length),
        spool_share: rounded(throughSpool / reported.length),
        restarts: killer.starts,
        kills_by_point: killer.kills,
        missed: killer.missed,
        crashes: killer.crashes.length,
        hook_failures: clients.failures.length,
        damage: verdict.damage.length,
        provider: options.provider,
        hook: options.hook,
        ...model?.figures(sandbox.paths.database),
        sabotage: options.sabotage,
        duration_s: rounded((performance.now() - began) / 1000, 1),
      },
      options.json,
    )
    if (options.sabotage) return verdict.lost.length > 0 && verdict.altered.length > 0 ? 0 : 1
    const wrong = [
      verdict.lost,
      verdict.altered,
      verdict.duplicated,
      verdict.stuck,
      verdict.damage,
      orphans,
      killer.crashes,
    ]
    return wrong.every((list) => list.length === 0) && clients.failures.length === 0 ? 0 : 1
  } finally {
    endEverything()
    await model?.close()
    if (options.keep) printNote(`kept: ${sandbox.paths.dataDir}`)
    else sandbox.remove()
  }
}

const isCount = (value: number): boolean => Number.isInteger(value) && value >= 1

/** Runs clients and killer until enough daemons were killed. */
async function wreck(sandbox: Sandbox, wanted: number, seed: number) {
  const random = new Random(seed)
  const killer = new Killer(sandbox, random, options.sabotage ? `commit.lose:${LOSE}` : '', () => clients.acks)
  const clients = new Clients(sandbox, seed, () => killer.serving, options.hook === 'fast' ? 'fast' : 'websocket')
  const spooled = watchSpool(sandbox)
  const progress = new Progress()
  killer.holdStart()
  clients.start(CLIENTS)
  for (const way of plan(wanted, random)) {
    if (killer.total >= wanted || killer.crashes.length > 0) break
    // One fault may kill two daemons; the number of kills must not exceed the request.
    if (way === 'twins' && wanted - killer.total < 2) continue
    progress.show(`${killer.total} of ${wanted} kills, ${clients.log.length} events, now: ${way}`)
    await killer.kill(way)
  }
  // Enough commits that some of them are dropped, however early the daemons were killed.
  if (options.sabotage) await killer.serveUntil(() => clients.log.length >= SABOTAGED_EVENTS)
  await clients.stop()
  killer.letHooksStart()
  progress.clear()
  return { clients, killer, spooled: spooled() }
}

/**
 * Every fault point again and again in random order. A migration runs only once, so its point comes first. No event reaches
 * the one of `forget --everywhere`; test/daemon/forget-everywhere.test.ts kills a daemon there.
 */
function* plan(kills: number, random: Random): Generator<Way> {
  const points: Way[] = FAULT_POINTS.filter(
    (point) => point !== 'migrate.step' && point !== 'copy.rewritten' && !point.startsWith('install.'),
  )
  const ways: Way[] = [...points, 'random', 'random', 'random', 'twins', 'launched']
  const cycles = Math.ceil(kills / (ways.length + 1))
  for (let n = 0; n < cycles; n++) yield 'migrate.step'
  for (;;) yield* random.shuffled(ways)
}

/** The hashes of the events that went through the spool: the last part of the names of their files. */
function watchSpool(sandbox: Sandbox): () => Set<string> {
  mkdirSync(sandbox.paths.spool, { recursive: true, mode: 0o700 })
  const seen = new Set<string>()
  const watcher = watch(sandbox.paths.spool, (_, name) => {
    const [, hash] = /-([^-]+)\.json$/.exec(name ?? '') ?? []
    if (hash !== undefined) seen.add(hash)
  })
  return () => {
    watcher.close()
    return seen
  }
}

/** Runs a clean daemon until no work is left, then stops it as a user does. */
async function finishWork(sandbox: Sandbox): Promise<void> {
  await until(() => processesIn(sandbox).length === 0, 1_000, 50)
  for (const pid of processesIn(sandbox)) kill(pid, 'SIGTERM')
  await until(() => processesIn(sandbox).length === 0, 10_000, 50)
  const daemon = await startDaemon(sandbox, DRAIN_LIMIT_MS)
  if (!(await workOff(sandbox, DRAIN_LIMIT_MS)))
    printNote(
      `not worked off within ${DRAIN_LIMIT_MS / 1000} s: ${JSON.stringify((await daemonStatus(sandbox)).queue)}`,
    )
  daemon.child.kill('SIGTERM')
  await Promise.race([daemon.exited, sleep(10_000, null, { ref: false })])
}

async function leftovers(sandbox: Sandbox): Promise<number[]> {
  await until(() => processesIn(sandbox).length === 0, 2_000, 50)
  return processesIn(sandbox)
}

function explain(verdict: Verdict, killer: Killer, clients: Clients): void {
  const some = (what: string, list: readonly string[]) => {
    if (list.length > 0) printNote(`${what}: ${list.slice(0, 10).join(', ')}${list.length > 10 ? ', …' : ''}`)
  }
  some('lost', verdict.lost)
  some('altered', verdict.altered)
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
