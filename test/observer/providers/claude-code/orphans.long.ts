import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { freshSeed, Random } from '../../../../scripts/lib/random.ts'
import { claudeCodeModel } from '../../../../src/observer/providers/claude-code/index.ts'
import { type Bundle, bundle } from '../../../store/bundle.ts'
import { temporaryDirectory } from '../../../support/directories.ts'
import { exited } from '../../../support/programs.ts'
import {
  answerOutput,
  FAKE_CLAUDE,
  type FakeBehaviour,
  type FakeClaudeCall,
  FakeClaudeServer,
} from './fake-claude-server.ts'

const CALLS = 100
/** A hanging process is killed after a second, so several calls run in parallel. */
const PARALLEL_CALLS = 6

/** The outcomes of a call. */
const OUTCOMES = [
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
type Outcome = (typeof OUTCOMES)[number]

const BEHAVIOURS: Record<Outcome, FakeBehaviour> = {
  answers: { do: 'print', stdout: answerOutput('<skip reason="x"/>') },
  'answers and leaves a process behind': { do: 'leave-grandchild', stdout: answerOutput('<skip reason="x"/>') },
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
let server: FakeClaudeServer
const outcomes: Outcome[] = []

beforeAll(async () => {
  guard = bundle('src/observer/providers/claude-code/guard.ts', 'claude-code-guard.js')
  daemon = bundle('test/observer/providers/claude-code/fake-daemon.ts', 'daemon.js')
  directory = temporaryDirectory('orphans')
  server = await FakeClaudeServer.listen(({ call }) => BEHAVIOURS[outcomes[call] ?? 'answers'])
})
afterAll(async () => {
  await server.close()
  guard.dispose()
  daemon.dispose()
})

it(`${CALLS} calls with kills and timeouts leave no process behind`, async () => {
  const seed = freshSeed()
  console.log(`seed ${seed}`)
  const random = new Random(seed)
  // Each outcome as often as the others, in any order. Windows has no process groups.
  const possible = OUTCOMES.filter((outcome) => process.platform !== 'win32' || !/group|behind/.test(outcome))
  outcomes.push(
    ...random.shuffled(Array.from({ length: CALLS }, (_, at) => possible[at % possible.length] ?? 'answers')),
  )
  let next = 0
  const worker = async () => {
    for (let call = next++; call < CALLS; call = next++) await makeCall(call, outcomes[call] ?? 'answers')
  }
  await Promise.all(Array.from({ length: PARALLEL_CALLS }, worker))
  console.log(
    `${server.calls.length} fake processes, ${server.grandchildren} grandchildren, ${server.pids.length} pids`,
  )
  expect(server.calls.length).toBeGreaterThan(CALLS * 0.8)
  expect(server.grandchildren).toBeGreaterThan(CALLS * 0.2)
  expect(await server.survivors()).toEqual([])
}, 120_000)

async function makeCall(call: number, outcome: Outcome): Promise<void> {
  if (outcome.startsWith('loses the daemon')) return await loseDaemon(call, outcome.includes('group'))
  const abort = new AbortController()
  const reason = new Error(outcome)
  const answer = chat(call).complete(REQUEST, abort.signal)
  switch (outcome) {
    case 'answers':
    case 'answers and leaves a process behind':
      expect(await answer).toMatchObject({ stop: 'end' })
      return
    case 'crashes':
      await expect(answer).rejects.toMatchObject({ owner: 'provider' })
      return
    case 'loses its guard':
      await hangs(call)
      process.kill(callReport(call)?.parent ?? 0, 'SIGKILL')
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
  program: FAKE_CLAUDE,
  model: 'haiku',
  workDir: join(directory, String(call)),
  guard: guard.file,
  env: { ...process.env, HOME: directory, ...server.env, FAKE_CLAUDE_CALL: String(call) },
})
const chat = (call: number) => claudeCodeModel(options(call))
const callReport = (call: number): FakeClaudeCall | undefined => server.calls.find((report) => report.call === call)
const hangs = (call: number) => server.until(() => server.hangs(call))
