/**
 * `npm run bench -- hook [--json]`: the cost of a hook. The installed command line as a fresh process, payload on stdin,
 * until it exits, compared with `node -e 0` started the same way in turn; both the hook that is a node program and the fast
 * one (sh and curl). The daemon is real, and every event must be acknowledged, not spooled; then the same without a daemon,
 * where the hook spools the event and starts one. Beside them what sh and curl need to post the same bytes to a server that
 * only answers: the fast hook cannot take less; and a payload of each client.
 *
 * Hooks have the environment of their client, and so it is here. One in which node starts slowly (`NODE_EXTRA_CA_CERTS` takes
 * it three times as long) makes every ratio small: `plain_` is measured without such variables.
 */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import Database from 'better-sqlite3'
import { projectOfDirectory } from '../../src/domain/project.ts'
import { listSpool } from '../../src/hook/spool.ts'
import { CLIENT_PAYLOADS } from '../lib/client-payloads.ts'
import { bash, type Payload, sessionStart, stop, userPrompt } from '../lib/payloads.ts'
import { median, Progress, printNote, report, rounded } from '../lib/report.ts'
import {
  connect,
  daemonStatus,
  type HookKind,
  hookCommandLine,
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
const KINDS: readonly HookKind[] = ['websocket', 'fast']
/** Memories of the project, and the least characters of the answer to a session start that they make. */
const MEMORIES = 80
const CONTEXT_CHARS = 7_800

const { values: options } = parseArgs({
  options: { json: { type: 'boolean', default: false }, runs: { type: 'string', default: '40' } },
})
const runs = Math.max(LEAST_RUNS, Number(options.runs))
const progress = new Progress()
let used = 0

function timed(
  [program, ...args]: [string, ...string[]],
  { env }: Pick<Sandbox, 'env'>,
  text: string,
): { ms: number; stdout: string; ok: boolean } {
  // Encoding it is not part of the hook.
  const input = Buffer.from(text)
  const began = performance.now()
  const { status, stdout } = spawnSync(program, args, { input, env, encoding: 'utf8' })
  return { ms: performance.now() - began, stdout, ok: status === 0 }
}

function baseline(sandbox: Sandbox): number {
  return timed([process.execPath, '-e', '0'], sandbox, '').ms
}

/** Without the variables of node. */
function plain(sandbox: Sandbox): Sandbox {
  const env = Object.fromEntries(Object.entries(sandbox.env).filter(([name]) => !name.startsWith('NODE_')))
  return { ...sandbox, env }
}

/** Time of one hook; it must have answered its client. */
function hook(sandbox: Sandbox, payload: Payload, kind: HookKind, leastAnswerChars = 0): number {
  const { ms, stdout, ok } = timed(hookCommandLine(kind, sandbox), sandbox, JSON.stringify(payload))
  if (!ok || !isAnswer(stdout)) throw new Error(`the hook answered ${JSON.stringify(stdout)}`)
  if (stdout.length < leastAnswerChars) throw new Error(`the answer has only ${stdout.length} characters`)
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

/** Times in ms. */
type SizeTimes = Record<Size, number[]>
/** Of each kind of hook. `start`: a session start with a context of 8 KB. `plain`: 1 KB without the variables of node. */
type Times = Record<HookKind, SizeTimes & { start: number[]; plain: number[] }>

/** A server that reads a request and answers. */
const ONLY_ANSWERS = `require('node:http').createServer((request, response) => {
  request.resume().on('end', () => response.end('{}'))
}).listen(process.argv[1], () => console.log('listening'))`

/** What it takes to start sh and curl and to send the bytes: the least that the fast hook can take. */
async function leastTimes(sandbox: Sandbox): Promise<SizeTimes> {
  const socket = join(sandbox.paths.dataDir, 'only-answers.sock')
  const server = spawn(process.execPath, ['-e', ONLY_ANSWERS, socket], { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(server.stdout, 'data')
  const [shell, , , curl] = hookCommandLine('fast', sandbox)
  const post = `"$0" -q -s -f --unix-socket "$1" -H Expect: -X POST -T - http://localhost/ && :`
  const times: SizeTimes = { '1kb': [], '100kb': [], '2mb': [] }
  try {
    for (let n = 0; n < runs + WARM_UP; n++) {
      progress.show(`sh and curl alone: ${n} of ${runs + WARM_UP}`)
      for (const size of SIZE_NAMES) {
        const { ms, stdout } = timed([shell, '-c', post, curl ?? '', socket], sandbox, 'x'.repeat(SIZES[size]))
        if (stdout !== '{}') throw new Error(`the server answered ${JSON.stringify(stdout)}`)
        times[size].push(ms)
      }
    }
  } finally {
    server.kill()
  }
  for (const one of Object.values(times)) one.splice(0, WARM_UP)
  return times
}

interface TimesWithDaemon {
  baselines: number[]
  plainBaselines: number[]
  hooks: Times
  least: SizeTimes
}

async function withDaemon(): Promise<TimesWithDaemon> {
  const sandbox = makeSandbox('bench-hook')
  const none = () => ({ '1kb': [], '100kb': [], '2mb': [], start: [], plain: [] })
  const hooks: Times = { websocket: none(), fast: none() }
  const baselines: number[] = []
  const plainBaselines: number[] = []
  const least = await leastTimes(sandbox)
  let others = 0
  let spooled = 0
  used = 0
  const reportToolUse = (kind: HookKind, size: Size, where = sandbox): number => {
    if (used % TURN === 0) {
      hook(sandbox, userPrompt(turn(sandbox, used), 'go on'), kind)
      others += 1
    }
    const ms = hook(where, toolUse(sandbox, SIZES[size]), kind)
    spooled += listSpool(sandbox.paths.spool).length
    if (used % TURN === 0) {
      hook(sandbox, stop(turn(sandbox, used - 1), 'done'), kind)
      others += 1
    }
    return ms
  }
  try {
    await startDaemon(sandbox)
    await rememberContext(sandbox)
    for (let n = 0; n < runs + WARM_UP; n++) {
      progress.show(`daemon up: ${n} of ${runs + WARM_UP}`)
      baselines.push(baseline(sandbox))
      for (const kind of KINDS) {
        const started = { ...turn(sandbox, n), session: `bench-start-${kind}-${n}`, cwd: knownProject(sandbox) }
        hooks[kind].start.push(hook(sandbox, sessionStart(started), kind, CONTEXT_CHARS))
        others += 1
      }
      for (const size of SIZE_NAMES) {
        for (const kind of KINDS) hooks[kind][size].push(reportToolUse(kind, size))
      }
      plainBaselines.push(baseline(plain(sandbox)))
      for (const kind of KINDS) hooks[kind].plain.push(reportToolUse(kind, '1kb', plain(sandbox)))
    }
    await stopServing(sandbox)
    const stored = countEvents(sandbox)
    if (spooled > 0) throw new Error(`${spooled} events went to the spool: the daemon did not answer in time`)
    if (stored !== used + others) throw new Error(`${used + others} events were acknowledged, ${stored} are stored`)
  } finally {
    for (const pid of processesIn(sandbox)) kill(pid)
    sandbox.remove()
  }
  for (const kind of KINDS) for (const times of Object.values(hooks[kind])) times.splice(0, WARM_UP)
  return { baselines: baselines.slice(WARM_UP), plainBaselines: plainBaselines.slice(WARM_UP), hooks, least }
}

/** Not the project of the tool uses, whose memories change with them. */
const knownProject = (sandbox: Sandbox): string => join(sandbox.paths.dataDir, 'shop')

/** Enough memories that a session starts with the most context there is. */
async function rememberContext(sandbox: Sandbox): Promise<void> {
  const client = await connect(sandbox, 5_000)
  if (client === null) throw new Error('the daemon does not answer')
  const cwd = knownProject(sandbox)
  for (let n = 0; n < MEMORIES; n++) {
    const text = `The price of article ${n} is computed in step ${n * 7}, because rule ${n * 13} of the tax table needs it there.`
    const about = `${text} Its rounding differs from the others, and a change has to be made in both tables.`
    await client.call('remember', { project: projectOfDirectory(cwd), cwd, text: about, by: 'person' })
  }
  client.close()
}

async function withoutDaemon(): Promise<{ baselines: number[]; hooks: Record<HookKind, number[]> }> {
  const sandbox = makeSandbox('bench-hook-down')
  const baselines: number[] = []
  const hooks: Record<HookKind, number[]> = { websocket: [], fast: [] }
  used = 0
  try {
    // The first start creates the database, which is not the usual case.
    await startDaemon(sandbox)
    await stopServing(sandbox)
    for (let n = 0; n < runs + WARM_UP; n++) {
      progress.show(`daemon down: ${n} of ${runs + WARM_UP}`)
      for (const kind of KINDS) {
        baselines.push(baseline(sandbox))
        hooks[kind].push(hook(sandbox, toolUse(sandbox, SIZES['1kb']), kind))
        await theLaunchedDaemonIsDone(sandbox)
      }
    }
    const stored = countEvents(sandbox)
    if (stored !== used) throw new Error(`${used} events were spooled, ${stored} are stored`)
  } finally {
    for (const pid of processesIn(sandbox)) kill(pid)
    sandbox.remove()
  }
  for (const kind of KINDS) hooks[kind].splice(0, WARM_UP)
  return { baselines: baselines.slice(2 * WARM_UP), hooks }
}

interface ClientTimes {
  client: string
  kind: HookKind
  times: number[]
}

/** A shell command as each client reports it. */
async function ofEachClient(): Promise<{ baselines: number[]; hooks: ClientTimes[] }> {
  const sandbox = makeSandbox('bench-hook-clients')
  const baselines: number[] = []
  const hooks = Object.keys(CLIENT_PAYLOADS).flatMap((client) =>
    KINDS.map((kind): ClientTimes => ({ client, kind, times: [] })),
  )
  const cwd = sandbox.paths.dataDir
  let sent = 0
  try {
    await startDaemon(sandbox)
    for (let n = 0; n < runs + WARM_UP; n++) {
      progress.show(`each client: ${n} of ${runs + WARM_UP}`)
      baselines.push(baseline(sandbox))
      for (const { client, kind, times } of hooks) {
        const session = { session_id: `bench-${client}`, cwd, transcript_path: join(cwd, 'transcript.jsonl') }
        const payload = JSON.stringify(CLIENT_PAYLOADS[client]?.(session, sent++))
        const { ms, ok } = timed([...hookCommandLine(kind, sandbox), '--client', client], sandbox, payload)
        if (!ok) throw new Error(`the hook of ${client} failed`)
        times.push(ms)
      }
    }
    await stopServing(sandbox)
    const stored = countEvents(sandbox)
    if (stored !== sent) throw new Error(`${sent} hooks ran, ${stored} events are stored`)
  } finally {
    for (const pid of processesIn(sandbox)) kill(pid)
    sandbox.remove()
  }
  for (const { times } of hooks) times.splice(0, WARM_UP)
  return { baselines: baselines.slice(WARM_UP), hooks }
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
const clients = await ofEachClient()
progress.clear()
const base = median(up.baselines)
const plainBase = median(up.plainBaselines)
const baseDown = median(down.baselines)
const ratio = (values: number[], against: number) => rounded(median(values) / against, 3)
const { websocket, fast } = up.hooks
const clientBase = median(clients.baselines)
const clientRatios = Object.fromEntries(
  clients.hooks.map(({ client, kind, times }) => [
    `${kind === 'fast' ? 'fast_' : ''}ratio_${client.replace('-', '_')}`,
    ratio(times, clientBase),
  ]),
)
const figures = {
  max_ratio: ratio(websocket['1kb'], base),
  max_ratio_down: ratio(down.hooks.websocket, baseDown),
  ratio_1kb: ratio(websocket['1kb'], base),
  ratio_100kb: ratio(websocket['100kb'], base),
  ratio_2mb: ratio(websocket['2mb'], base),
  ratio_start: ratio(websocket.start, base),
  fast_ratio: ratio(fast['1kb'], base),
  fast_ratio_1kb: ratio(fast['1kb'], base),
  fast_ratio_100kb: ratio(fast['100kb'], base),
  fast_ratio_2mb: ratio(fast['2mb'], base),
  fast_ratio_start: ratio(fast.start, base),
  fast_ratio_down: ratio(down.hooks.fast, baseDown),
  least_ratio_1kb: ratio(up.least['1kb'], base),
  least_ratio_100kb: ratio(up.least['100kb'], base),
  least_ratio_2mb: ratio(up.least['2mb'], base),
  plain_ratio_1kb: ratio(websocket.plain, plainBase),
  plain_fast_ratio_1kb: ratio(fast.plain, plainBase),
  ...clientRatios,
  plain_baseline_ms: rounded(plainBase),
  baseline_ms: rounded(base),
  hook_1kb_ms: rounded(median(websocket['1kb'])),
  hook_100kb_ms: rounded(median(websocket['100kb'])),
  hook_2mb_ms: rounded(median(websocket['2mb'])),
  hook_start_ms: rounded(median(websocket.start)),
  fast_1kb_ms: rounded(median(fast['1kb'])),
  fast_100kb_ms: rounded(median(fast['100kb'])),
  fast_2mb_ms: rounded(median(fast['2mb'])),
  fast_start_ms: rounded(median(fast.start)),
  baseline_down_ms: rounded(baseDown),
  hook_down_ms: rounded(median(down.hooks.websocket)),
  fast_down_ms: rounded(median(down.hooks.fast)),
  runs,
}
report(figures, options.json)
if (figures.max_ratio > 1.4) printNote('above the bound of 1.40 with the daemon up')
if (figures.max_ratio_down > 1.8) printNote('above the bound of 1.8 with the daemon down')
for (const name of ['fast_ratio_1kb', 'fast_ratio_100kb', 'fast_ratio_2mb', 'fast_ratio_start'] as const) {
  if (figures[name] > 0.25) printNote(`${name} is above its bound of .25`)
}
if (figures.fast_ratio_down > 1.5) printNote('fast_ratio_down is above its bound of 1.5')
