/**
 * `npm run bench -- hook [--json]`: the cost of a hook. The installed command line as a fresh process, payload on stdin,
 * until it exits, compared with `node -e 0` started the same way in turn. The daemon is real, and every event must be
 * acknowledged, not spooled; then the same without a daemon, where the hook spools the event and starts one.
 */
import { spawnSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import Database from 'better-sqlite3'
import { listSpool } from '../../src/hook/spool.ts'
import { bash, type Payload, sessionStart, stop, userPrompt } from '../lib/payloads.ts'
import { median, Progress, printNote, report, rounded } from '../lib/report.ts'
import {
  daemonStatus,
  HOOK,
  isAnswer,
  kill,
  makeSandbox,
  processesIn,
  type Sandbox,
  servingPid,
  startDaemon,
  stopServing,
  until,
} from '../lib/sandbox.ts'

const LEAST_RUNS = 30
const WARM_UP = 3
/** Tool uses of one turn, between its prompt and its Stop. */
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

function timed(args: readonly string[], sandbox: Sandbox, input: string): { ms: number; stdout: string; ok: boolean } {
  const began = performance.now()
  const { status, stdout } = spawnSync(process.execPath, args, { input, env: sandbox.env, encoding: 'utf8' })
  return { ms: performance.now() - began, stdout, ok: status === 0 }
}

function baseline(sandbox: Sandbox): number {
  return timed(['-e', '0'], sandbox, '').ms
}

/** Time of one hook; it must have answered its client. */
function hook(sandbox: Sandbox, payload: Payload): number {
  const { ms, stdout, ok } = timed([HOOK], sandbox, JSON.stringify(payload))
  if (!ok || !isAnswer(stdout)) throw new Error(`the hook answered ${JSON.stringify(stdout)}`)
  return ms
}

const turn = (sandbox: Sandbox, n: number) => ({
  session: 'bench-hook',
  prompt: `bench-${Math.floor(n / TURN)}`,
  cwd: sandbox.paths.dataDir,
})

/** A payload of the given size, filled with tool output. */
function toolUse(sandbox: Sandbox, bytes: number): Payload {
  const n = used++
  const make = (stdout: string) => bash(turn(sandbox, n), `toolu_bench_${n}`, 'npm test', stdout)
  const line = `line of output ${n} with some words in it, as tools print them\n`
  const room = Math.max(0, bytes - JSON.stringify(make('')).length)
  return make(line.repeat(Math.ceil(room / line.length)).slice(0, room))
}

async function withDaemon(): Promise<{ baselines: number[]; hooks: Record<Size, number[]> }> {
  const sandbox = makeSandbox('bench-hook')
  const hooks: Record<Size, number[]> = { '1kb': [], '100kb': [], '2mb': [] }
  const baselines: number[] = []
  let others = 0
  let spooled = 0
  used = 0
  try {
    await startDaemon(sandbox)
    hook(sandbox, sessionStart(turn(sandbox, 0)))
    others += 1
    for (let n = 0; n < runs + WARM_UP; n++) {
      progress.show(`daemon up: ${n} of ${runs + WARM_UP}`)
      baselines.push(baseline(sandbox))
      for (const size of SIZE_NAMES) {
        if (used % TURN === 0) {
          hook(sandbox, userPrompt(turn(sandbox, used), 'go on'))
          others += 1
        }
        hooks[size].push(hook(sandbox, toolUse(sandbox, SIZES[size])))
        spooled += listSpool(sandbox.paths.spool).length
        if (used % TURN === 0) {
          hook(sandbox, stop(turn(sandbox, used - 1), 'done'))
          others += 1
        }
      }
    }
    await stopServing(sandbox)
    const stored = countEvents(sandbox)
    if (spooled > 0) throw new Error(`${spooled} events went to the spool: the daemon did not answer in time`)
    if (stored !== used + others) throw new Error(`${used + others} events were acknowledged, ${stored} are stored`)
  } finally {
    for (const pid of processesIn(sandbox)) kill(pid)
    sandbox.remove()
  }
  const warm = (values: number[]) => values.slice(WARM_UP)
  const [kb, middle, mb] = [warm(hooks['1kb']), warm(hooks['100kb']), warm(hooks['2mb'])]
  return { baselines: warm(baselines), hooks: { '1kb': kb, '100kb': middle, '2mb': mb } }
}

async function withoutDaemon(): Promise<{ baselines: number[]; hooks: number[] }> {
  const sandbox = makeSandbox('bench-hook-down')
  const baselines: number[] = []
  const hooks: number[] = []
  used = 0
  try {
    // The first start creates the database, which is not the usual case.
    await startDaemon(sandbox)
    await stopServing(sandbox)
    for (let n = 0; n < runs + WARM_UP; n++) {
      progress.show(`daemon down: ${n} of ${runs + WARM_UP}`)
      baselines.push(baseline(sandbox))
      hooks.push(hook(sandbox, toolUse(sandbox, SIZES['1kb'])))
      await theLaunchedDaemonIsDone(sandbox)
    }
    const stored = countEvents(sandbox)
    if (stored !== used) throw new Error(`${used} events were spooled, ${stored} are stored`)
  } finally {
    for (const pid of processesIn(sandbox)) kill(pid)
    sandbox.remove()
  }
  return { baselines: baselines.slice(WARM_UP), hooks: hooks.slice(WARM_UP) }
}

/** So that the next run finds no daemon, also none that is starting or stopping. */
async function theLaunchedDaemonIsDone(sandbox: Sandbox): Promise<void> {
  if ((await servingPid(sandbox, 15_000)) === null) throw new Error('the hook started no daemon')
  await until(async () => (await daemonStatus(sandbox)).spooled === 0, 5_000)
  if (!(await stopServing(sandbox))) throw new Error('the daemon did not stop')
}

function countEvents(sandbox: Sandbox): number {
  const db = new Database(sandbox.paths.database, { readonly: true })
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
if (ratio(up.hooks['1kb'], base) > 1.4) printNote('above the bound of 1.40 with the daemon up')
if (ratio(down.hooks, median(down.baselines)) > 1.8) printNote('above the bound of 1.8 with the daemon down')
