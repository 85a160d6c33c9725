/** Actions on a session: retry and drop failed messages, close, reopen. */
import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { bash, sessionEnd, stop, userPrompt } from '../../scripts/lib/payloads.ts'
import { goodAnswer } from '../observer/servers/answers.ts'
import { MessagesServer } from '../observer/servers/messages-server.ts'
import { type OpenPage, ViewerFixture } from './viewer-fixture.ts'

const REFUSED = 'this <b>cannot</b> be read'

let fixture: ViewerFixture
let model: MessagesServer
let refuses = false
const open: OpenPage[] = []

beforeAll(async () => {
  model = await MessagesServer.listen((call) =>
    refuses ? { fault: 'status', status: 400, message: REFUSED } : goodAnswer(call),
  )
  fixture = await ViewerFixture.start({
    CLAUDE_MEM_PROVIDER: 'anthropic',
    CLAUDE_MEM_ANTHROPIC_API_KEY: 'not-a-real-key',
    CLAUDE_MEM_ANTHROPIC_BASE_URL: model.origin,
  })
})
afterEach(async () => {
  refuses = false
  for (const { page } of open.splice(0)) await page.context().close()
})
afterAll(async () => {
  await fixture.dispose()
  await model.close()
})

async function watch(hash: string): Promise<OpenPage> {
  const opened = await fixture.open(hash)
  open.push(opened)
  return opened
}

function turnOf(session: string = randomUUID()) {
  return { session, prompt: randomUUID(), cwd: '/tmp/harbour' }
}

async function work(turn: ReturnType<typeof turnOf>, word: string): Promise<void> {
  const tool = bash(turn, `toolu_${word}`, `npm run ${word}`, `the ${word} is done`)
  await fixture.runHooks(userPrompt(turn, `Look after the ${word}`), tool, stop(turn, `The ${word} is well.`))
}

describe('viewer.session', () => {
  test('failed messages can be retried or dropped, and the session closed and reopened', async () => {
    const turn = turnOf()
    refuses = true
    await work(turn, 'mooring')
    const { page, errors } = await watch(`#/session/${turn.session}`)
    const failed = page.getByRole('region', { name: /failed message/ })
    await failed.getByText(REFUSED).first().waitFor()
    await page.getByText('could not be observed').waitFor()
    await page
      .locator('[data-turn="1"]')
      .getByText(/^Details: /)
      .click()
    await page.getByTestId('transitions').getByText('FAILED', { exact: true }).first().waitFor()
    expect(await page.evaluate(() => document.documentElement.scrollTop)).toBe(0)

    refuses = false
    await failed.getByRole('button', { name: 'Retry' }).click()
    await page.getByRole('link', { name: /npm run mooring/ }).waitFor()
    await failed.waitFor({ state: 'detached' })

    refuses = true
    await work(turnOf(turn.session), 'rudder')
    await failed.getByText(REFUSED).nth(1).waitFor()
    await failed.getByRole('button', { name: 'Drop' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Drop' }).click()
    await failed.waitFor({ state: 'detached' })
    const { view } = await fixture.daemon.ask((client) => client.call('session', { session: turn.session, trace: 1 }))
    expect(view.messages).toEqual([])

    await page.getByRole('button', { name: 'Close session' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Close session' }).click()
    await page.getByRole('button', { name: 'Reopen' }).click()
    await page.getByRole('button', { name: 'Close session' }).waitFor()
    expect(errors).toEqual([])
  })

  test('a resumed session has each of its turns once', async () => {
    const turn = turnOf()
    await work(turn, 'lighthouse')
    await fixture.runHooks(sessionEnd(turn))
    const { page, errors } = await watch(`#/session/${turn.session}`)
    await page.getByText('completed', { exact: true }).waitFor()
    await fixture.runHooks(userPrompt(turnOf(turn.session), 'And the lamp?'))
    await page.locator('[data-turn="2"]').getByText('And the lamp?').waitFor()
    expect(await page.locator('[data-turn="1"] .prompt').allTextContents()).toEqual(['Look after the lighthouse'])
    expect(await page.locator('[data-turn]').count()).toBe(2)
    await fixture.goTo(page, '#/session?q=lighthouse')
    await page.getByTestId('session-row').getByText('2 turns, 1 observation').waitFor()
    expect(errors).toEqual([])
  })
})
