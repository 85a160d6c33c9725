/**
 * What a hook costs: the installed command line as a fresh process, payload on stdin, until it ends, beside
 * `node -e 0` started the same way in turn. The daemon is real and every event must be stored by an ack, none by the
 * spool; then the same with no daemon there, where the hook spools and starts one.
 */
import { spawnSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import Database from 'better-sqlite3'
import { listSpool } from '../../src/channel/spool.ts'
import { servingPid, startDaemon, statusOf, stopServing } from '../lib/daemon.ts'
import { isAnswer } from '../lib/hook.ts'
import { Progress, report, say } from '../lib/output.ts'
import { bash, type Payload, sessionStart, stop, userPrompt } from '../lib/payloads.ts'
import { kill, makePlace, type Place, processesIn } from '../lib/place.ts'
import { HOOK } from '../lib/root.ts'
import { median, rounded } from '../lib/stats.ts'
import { until } from '../lib/until.ts'

const LEAST_RUNS = 30
const WARM_UP = 3
/** Tool uses of one turn: a new prompt and a Stop around so many. */
const TURN = 15
const SIZES = { '1kb': 1_024, '100kb': 102_400, '2mb': 2 * 1_024 * 1_024 } as const
type Size = keyof typeof SIZES
const SIZE_NAMES: readonly Size[] = ['1kb', '100kb', '2mb']

const { values: options } = parseArgs({
  options: { json: { type: 'boolean', default: false }, runs: { type: 'string', default: '40' } },
})
const runs = Math.max(LEAST_RUNS, Number(options.runs))
const progress = new Progress()
let used = 0

function timed(args: readonly string[], place: Place, input: string): { ms: number; stdout: string; ok: boolean } {
  const began = performance.now()
  const { status, stdout } = spawnSync(process.execPath, args, { input, env: place.env, encoding: 'utf8' })
  return { ms: performance.now() - began, stdout, ok: status === 0 }
}

function baseline(place: Place): number {
  return timed(['-e', '0'], place, '').ms
}

/** The time of one hook, which must have answered its client. */
function hook(place: Place, payload: Payload): number {
  const { ms, stdout, ok } = timed([HOOK], place, JSON.stringify(payload))
  if (!ok || !isAnswer(stdout)) throw new Error(`the hook answered ${JSON.stringify(stdout)}`)
  return ms
}

const turn = (place: Place, n: number) => ({
  session: 'bench-hook',
  prompt: `bench-${Math.floor(n / TURN)}`,
  cwd: place.paths.dataDir,
})

/** The whole payload has the size; its tool output is what fills it. */
function toolUse(place: Place, bytes: number): Payload {
  const n = used++
  const make = (stdout: string) => bash(turn(place, n), `toolu_bench_${n}`, 'npm test', stdout)
  const line = `line of output ${n} with some words in it, as tools print them\n`
  const room = Math.max(0, bytes - JSON.stringify(make('')).length)
  return make(line.repeat(Math.ceil(room / line.length)).slice(0, room))
}

async function withDaemon(): Promise<{ baselines: number[]; hooks: Record<Size, number[]> }> {
  const place = makePlace('bench-hook')
  const hooks: Record<Size, number[]> = { '1kb': [], '100kb': [], '2mb': [] }
  const baselines: number[] = []
  let others = 0
  let spooled = 0
  used = 0
  try {
    await startDaemon(place)
    hook(place, sessionStart(turn(place, 0)))
    others += 1
    for (let n = 0; n < runs + WARM_UP; n++) {
      progress.show(`daemon up: ${n} of ${runs + WARM_UP}`)
      baselines.push(baseline(place))
      for (const size of SIZE_NAMES) {
        if (used % TURN === 0) {
          hook(place, userPrompt(turn(place, used), 'go on'))
          others += 1
        }
        hooks[size].push(hook(place, toolUse(place, SIZES[size])))
        spooled += listSpool(place.paths.spool).length
        if (used % TURN === 0) {
          hook(place, stop(turn(place, used - 1), 'done'))
          others += 1
        }
      }
    }
    await stopServing(place)
    const stored = countEvents(place)
    if (spooled > 0) throw new Error(`${spooled} events went to the spool: the daemon did not answer in time`)
    if (stored !== used + others) throw new Error(`${used + others} events were acknowledged, ${stored} are stored`)
  } finally {
    for (const pid of processesIn(place)) kill(pid)
    place.remove()
  }
  const warm = (values: number[]) => values.slice(WARM_UP)
  const [kb, middle, mb] = [warm(hooks['1kb']), warm(hooks['100kb']), warm(hooks['2mb'])]
  return { baselines: warm(baselines), hooks: { '1kb': kb, '100kb': middle, '2mb': mb } }
}

async function withoutDaemon(): Promise<{ baselines: number[]; hooks: number[] }> {
  const place = makePlace('bench-hook-down')
  const baselines: number[] = []
  const hooks: number[] = []
  used = 0
  try {
    // The first start makes the database: not what a hook finds on a day like any other.
    await startDaemon(place)
    await stopServing(place)
    for (let n = 0; n < runs + WARM_UP; n++) {
      progress.show(`daemon down: ${n} of ${runs + WARM_UP}`)
      baselines.push(baseline(place))
      hooks.push(hook(place, toolUse(place, SIZES['1kb'])))
      await theLaunchedDaemonIsDone(place)
    }
    const stored = countEvents(place)
    if (stored !== used) throw new Error(`${used} events were spooled, ${stored} are stored`)
  } finally {
    for (const pid of processesIn(place)) kill(pid)
    place.remove()
  }
  return { baselines: baselines.slice(WARM_UP), hooks: hooks.slice(WARM_UP) }
}

/** The next run finds no daemon, and nobody who is just starting or stopping. */
async function theLaunchedDaemonIsDone(place: Place): Promise<void> {
  if ((await servingPid(place, 15_000)) === null) throw new Error('the hook started no daemon')
  await until(async () => (await statusOf(place)).spooled === 0, 5_000)
  if (!(await stopServing(place))) throw new Error('the daemon did not stop')
}

function countEvents(place: Place): number {
  const db = new Database(place.paths.database, { readonly: true })
  try {
    return db.prepare<[], number>('SELECT count(*) FROM events').pluck().get() ?? 0
  } finally {
    db.close()
  }
}

const up = await withDaemon()
const down = await withoutDaemon()
progress.clear()
const base = median(up.baselines)
const ratio = (values: number[], against: number) => rounded(median(values) / against, 3)
report(
  {
    max_ratio: ratio(up.hooks['1kb'], base),
    max_ratio_down: ratio(down.hooks, median(down.baselines)),
    ratio_1kb: ratio(up.hooks['1kb'], base),
    ratio_100kb: ratio(up.hooks['100kb'], base),
    ratio_2mb: ratio(up.hooks['2mb'], base),
    baseline_ms: rounded(base),
    hook_1kb_ms: rounded(median(up.hooks['1kb'])),
    hook_100kb_ms: rounded(median(up.hooks['100kb'])),
    hook_2mb_ms: rounded(median(up.hooks['2mb'])),
    baseline_down_ms: rounded(median(down.baselines)),
    hook_down_ms: rounded(median(down.hooks)),
    runs,
  },
  options.json,
)
if (ratio(up.hooks['1kb'], base) > 1.4) say('above the bound of 1.40 with the daemon up')
if (ratio(down.hooks, median(down.baselines)) > 1.8) say('above the bound of 1.8 with the daemon down')
