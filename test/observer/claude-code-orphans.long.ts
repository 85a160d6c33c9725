import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { freshSeed, Random } from '../../scripts/lib/random.ts'
import { claudeCodeModel } from '../../src/observer/providers/claude-code.ts'
import { exited } from '../daemon-process.ts'
import { type Bundle, bundle } from '../store/bundle.ts'
import { answered, Desk, type Order, type Report, STAND_IN } from './stand-in-claude.desk.ts'

const CALLS = 100
/** Each with one process at a time: what hangs is given a second before it is killed. */
const LANES = 6

/** What becomes of one call. */
const FATES = [
  'answers',
  'answers and leaves a process behind',
  'crashes',
  'is aborted before it started',
  'is aborted in mid-call',
  'hangs with a grandchild and is aborted',
  'loses its guard',
  'loses the daemon',
  "loses the daemon's whole group",
] as const
type Fate = (typeof FATES)[number]

const ORDERS: Record<Fate, Order> = {
  answers: { do: 'print', stdout: answered('<skip reason="x"/>') },
  'answers and leaves a process behind': { do: 'leave-grandchild', stdout: answered('<skip reason="x"/>') },
  crashes: { do: 'die', signal: 'SIGKILL' },
  'is aborted before it started': { do: 'hang', grandchild: false },
  'is aborted in mid-call': { do: 'hang', grandchild: false },
  'hangs with a grandchild and is aborted': { do: 'hang', grandchild: true },
  'loses its guard': { do: 'hang', grandchild: true },
  'loses the daemon': { do: 'hang', grandchild: true },
  "loses the daemon's whole group": { do: 'hang', grandchild: false },
}

let guard: Bundle
let daemon: Bundle
let directory: string
let desk: Desk
const fates: Fate[] = []

beforeAll(async () => {
  guard = bundle('src/observer/providers/claude-code/guard.ts', 'claude-code-guard.js')
  daemon = bundle('test/observer/stand-in-claude.daemon.ts', 'daemon.js')
  directory = mkdtempSync(join(tmpdir(), 'claude-mem-orphans-'))
  desk = await Desk.listen(({ call }) => ORDERS[fates[call] ?? 'answers'])
})
afterAll(async () => {
  await desk.close()
  guard.dispose()
  daemon.dispose()
  rmSync(directory, { recursive: true, force: true })
})

it(`${CALLS} calls with kills and timeouts leave no process behind`, async () => {
  const seed = freshSeed()
  console.log(`seed ${seed}`)
  const random = new Random(seed)
  // Each fate as often as the others, in any order. Windows has no process groups.
  const possible = FATES.filter((fate) => process.platform !== 'win32' || !/group|behind/.test(fate))
  fates.push(...random.shuffled(Array.from({ length: CALLS }, (_, at) => possible[at % possible.length] ?? 'answers')))
  let next = 0
  const lane = async () => {
    for (let call = next++; call < CALLS; call = next++) await suffer(call, fates[call] ?? 'answers')
  }
  await Promise.all(Array.from({ length: LANES }, lane))
  console.log(`${desk.reports.length} stand-ins, ${desk.grandchildren} grandchildren, ${desk.pids.length} pids`)
  expect(desk.reports.length).toBeGreaterThan(CALLS * 0.8)
  expect(desk.grandchildren).toBeGreaterThan(CALLS * 0.2)
  expect(await desk.survivors()).toEqual([])
}, 120_000)

async function suffer(call: number, fate: Fate): Promise<void> {
  if (fate.startsWith('loses the daemon')) return await loseDaemon(call, fate.includes('group'))
  const abort = new AbortController()
  const reason = new Error(fate)
  const answer = chat(call).complete(REQUEST, abort.signal)
  switch (fate) {
    case 'answers':
    case 'answers and leaves a process behind':
      expect(await answer).toMatchObject({ stop: 'end' })
      return
    case 'crashes':
      await expect(answer).rejects.toMatchObject({ owner: 'provider' })
      return
    case 'loses its guard':
      await hangs(call)
      process.kill(reportOf(call)?.parent ?? 0, 'SIGKILL')
      await expect(answer).rejects.toMatchObject({ owner: 'provider' })
      return
    case 'is aborted before it started':
      break
    default:
      await hangs(call)
  }
  abort.abort(reason)
  await expect(answer).rejects.toBe(reason)
}

async function loseDaemon(call: number, group: boolean): Promise<void> {
  const child = spawn(process.execPath, [daemon.file, JSON.stringify({ ...options(call), env: undefined })], {
    env: options(call).env,
    stdio: 'ignore',
    detached: group,
  })
  await hangs(call)
  kill(child, group)
  await exited(child)
}

function kill(child: ChildProcess, group: boolean): void {
  if (group && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
  else child.kill('SIGKILL')
}

const REQUEST = { system: 'Take notes.', messages: [{ role: 'user' as const, content: 'a batch' }], maxTokens: 1_000 }

const options = (call: number) => ({
  program: STAND_IN,
  model: 'haiku',
  workDir: join(directory, String(call)),
  guard: guard.file,
  env: { ...process.env, HOME: directory, ...desk.env, STAND_IN_CALL: String(call) },
})
const chat = (call: number) => claudeCodeModel(options(call))
const reportOf = (call: number): Report | undefined => desk.reports.find((report) => report.call === call)
const hangs = (call: number) => desk.until(() => desk.hangs(call))
