/** A daemon that is killed during a call to a model: the call is counted, and it is not repeated for ever. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { UNKNOWN_OUTCOME } from '../../src/domain/model-call.ts'
import { goodAnswer } from '../observer/servers/answers.ts'
import type { Fault, ModelRequest } from '../observer/servers/fault.ts'
import { MessagesServer } from '../observer/servers/messages-server.ts'
import { DaemonSandbox } from '../support/daemon.ts'
import { exited } from '../support/programs.ts'
import { waitUntil } from '../support/waiting.ts'

const KEY = 'sk-test-0123456789abcdef'
let place: DaemonSandbox
let server: MessagesServer
let script: (call: ModelRequest) => string | Fault | null
let requests = 0

beforeEach(async () => {
  place = new DaemonSandbox()
  requests = 0
  script = () => ({ fault: 'hang' })
  server = await MessagesServer.listen(
    (call) => {
      requests++
      return script(call) ?? goodAnswer(call)
    },
    { apiKey: KEY },
  )
})
afterEach(async () => {
  await place.dispose()
  await server.close()
})

const env = (more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv => ({
  CLAUDE_MEM_PROVIDER: 'anthropic',
  CLAUDE_MEM_ANTHROPIC_API_KEY: KEY,
  CLAUDE_MEM_ANTHROPIC_BASE_URL: server.url,
  ...more,
})
const base = { session_id: 'demo', cwd: '/nowhere/shop', prompt_id: 'p1' }

async function turn(tools: readonly string[]): Promise<void> {
  await place.hook({ ...base, hook_event_name: 'UserPromptSubmit', prompt: 'request' })
  for (const id of tools) {
    await place.hook({
      ...base,
      hook_event_name: 'PostToolUse',
      tool_name: 'Edit',
      tool_input: { file_path: `/nowhere/shop/${id}.ts`, old_string: 'a', new_string: 'b' },
      tool_response: { ok: true },
      tool_use_id: id,
    })
  }
  await place.hook({ ...base, hook_event_name: 'Stop', last_assistant_message: 'done' })
}

const usage = async () => (await place.ask((client) => client.call('usage', {}))).usage.total
const calls = async () => (await place.ask((client) => client.call('calls', { session: 'demo' }))).calls
const messages = async () => (await place.ask((client) => client.call('queue', {}))).messages

/** Starts a daemon, waits until a model is asked, and kills the daemon without a chance to record anything. */
async function killedDuringCall(more: NodeJS.ProcessEnv = {}, first: () => Promise<void> = async () => undefined) {
  const before = requests
  const daemon = await place.start(env(more))
  await first()
  await waitUntil('the model is called', () => requests > before)
  daemon.kill('SIGKILL')
  await exited(daemon)
}

describe('a daemon that is killed during a model call', () => {
  test('has recorded the call: the budget ends the loop, and the work is done without a model', async () => {
    const budget = { CLAUDE_MEM_DAILY_BUDGET_TOKENS: '1000' }
    await killedDuringCall(budget, () => turn(['t1', 't2']))
    await place.start(env(budget))
    await waitUntil('the queue is empty', async () => (await messages()).length === 0)
    expect(requests).toBe(1)
    expect(await usage()).toMatchObject({ calls: 1, failed: 1 })
    const [call] = await calls()
    expect(call).toMatchObject({ error: UNKNOWN_OUTCOME, kind: 'observe' })
    expect(call?.usage.input).toBeGreaterThan(1_000)
    expect((await place.status()).budget?.reason).toContain('tokens used today')
  })

  test('three times over the same effect blames the message, which is set aside with a clear error', async () => {
    await killedDuringCall({}, () => turn(['t1']))
    const failed = async () => (await messages()).some(({ status }) => status === 'failed')
    for (let deaths = 1; deaths < 20; deaths++) {
      const before = requests
      const daemon = await place.start(env())
      await waitUntil('called or set aside', async () => (await failed()) || requests > before)
      if (await failed()) break
      daemon.kill('SIGKILL')
      await exited(daemon)
    }
    const [message] = (await messages()).filter(({ status }) => status === 'failed')
    expect(message).toMatchObject({ eventId: 't1', error: expect.stringContaining('the daemon ended 3 times') })
    // Three starts for each of the three attempts of a message; the summary of the turn is next.
    const observing = (await calls()).filter(({ kind }) => kind === 'observe')
    expect(observing.map(({ error }) => error)).toEqual(Array.from({ length: 9 }, () => UNKNOWN_OUTCOME))
  }, 120_000)

  test('has an estimate that the result corrects', async () => {
    script = () => null
    await place.start(env())
    await turn(['t1'])
    await waitUntil(
      'observed and summarised',
      async () => (await calls()).length === 2 && (await messages()).length === 0,
    )
    expect(await usage()).toMatchObject({ calls: 2, failed: 0 })
    for (const call of await calls()) expect(call).toMatchObject({ error: null, received: expect.any(String) })
    const { budget } = await place.status()
    const { usage: spent } = await usage()
    expect(budget?.spentTokens).toBe(Math.round(spent.input + spent.output + spent.cacheWrite + spent.cacheRead / 10))
  })
})
