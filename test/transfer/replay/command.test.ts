import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { replayCommand } from '../../../src/cli/commands/replay.ts'
import { dataPaths } from '../../../src/lib/paths.ts'
import { InProcessProgram } from '../../cli/in-process-program.ts'
import { goodAnswer } from '../../observer/servers/answers.ts'
import { MessagesServer } from '../../observer/servers/messages-server.ts'
import { stopDaemons } from '../../support/daemon.ts'
import { asks, edits, end, Recorded, says, WORK } from './recorded.ts'

let recorded: Recorded
const closing: { close(): Promise<void> }[] = []

beforeEach(async () => {
  recorded = await Recorded.make()
})
afterEach(async () => {
  for (const server of closing.splice(0)) await server.close()
  await stopDaemons(dataPaths(recorded.harness.directory))
  await recorded.dispose()
})

function run(args: string[], env: NodeJS.ProcessEnv = {}) {
  const here = new InProcessProgram(recorded.harness.directory, [replayCommand])
  return here.run(['replay', ...args], { env: { CLAUDE_MEM_PROVIDER: 'offline', ...env } })
}

async function model() {
  const server = await MessagesServer.listen(goodAnswer)
  closing.push(server)
  return { server, env: { CLAUDE_MEM_ANTHROPIC_BASE_URL: server.url, CLAUDE_MEM_ANTHROPIC_API_KEY: 'sk-test-0123' } }
}

describe('claude-mem replay', () => {
  it('ends with one line: nothing would change', async () => {
    await recorded.tell(...WORK)
    const { code, stdout, stderr } = await run(['sess'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(/^Session session-one \(shop\), observed again by offline\n/)
    expect(stdout).toMatch(/\n= \d+ would stay the same\n/)
    expect(stdout).toMatch(/\nobservations +(\d+) +\1\n/)
    expect(stdout).toMatch(/the memory was only read\n✓ Nothing would change\n$/)
  })

  it('shows what is different with signs, and text as text', async () => {
    await recorded.tell(asks('Go on'), edits('\x1b[2Jcls.ts', 'one', 'two'), says('Done \x1b]0;title\x07.'), end)
    const { code, stdout } = await run(['session-one', '--provider', 'plain'])
    expect(code).toBe(0)
    expect(stdout).toMatch(/\n~ #\d+ 📝 change {2}Edit .*cls\.ts\n {4}title\n {6}- .*\n {6}\+ Edit .*cls\.ts\n/)
    expect(stdout).toMatch(/\nOf 1 observation 1 would change; of 1 summary 1 would change\n$/)
    expect(stdout).not.toContain('\x1b')
  })

  it('calls a model only with --yes without a terminal, and prints the estimated cost', async () => {
    await recorded.tell(...WORK)
    const { server, env } = await model()
    const asked = await run(['session-one', '--provider', 'anthropic'], env)
    expect(asked.code).toBe(1)
    expect(asked.stdout).toMatch(
      /anthropic \(claude-haiku-4-5\) would be called: about 3\.1k tokens, about \$0\.00\d+\n/,
    )
    expect(asked.stderr).toContain('pass --yes to confirm')
    const json = await run(['session-one', '--provider', 'anthropic', '--json'], env)
    expect(json.code).toBe(1)
    expect(JSON.parse(json.stdout)).toMatchObject({ dryRun: true, estimate: { toolUses: 4 } })
    expect(server.requests).toEqual([])
    const done = await run(['session-one', '--provider', 'anthropic', '--json', '--yes'], env)
    expect(done.code).toBe(0)
    expect(JSON.parse(done.stdout)).toMatchObject({ dryRun: false, session: 'session-one', after: { calls: 4 } })
    // A daemon was started to record the cost: it counts against the budget of today.
    const { cost, usage } = await recorded.harness.store.spentSince(Date.now() - 60_000)
    expect([cost > 0, usage.output > 0]).toEqual([true, true])
    expect(await recorded.harness.store.calls({})).toMatchObject(Array(4).fill({ session: null, sent: null }))
  })

  it('reports an unknown session, an unknown provider, and removed payloads', async () => {
    await recorded.tell(...WORK)
    expect(await run(['nobody'])).toMatchObject({ code: 1, stderr: expect.stringContaining('no session starts with') })
    expect(await run(['sess', '--provider', 'ofline'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('did you mean offline'),
    })
    await recorded.keep(1_200)
    const some = await run(['sess'])
    expect(some.stdout).toMatch(
      /! The payload of \d of 4 tool uses was removed \(.*\) after CLAUDE_MEM_KEEP_PAYLOADS_DAYS\n/,
    )
    expect(some.stdout).toMatch(/as far as it can be compared\n$/)
    await recorded.keep(0)
    expect(await run(['sess'])).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('are gone') })
  })
})
