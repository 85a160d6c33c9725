/** What people do with a session: look at what went wrong, try it again, drop it, close it, open it again. */
import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { bash, sessionEnd, stop, userPrompt } from '../../scripts/lib/payloads.ts'
import { goodAnswer } from '../observer/servers/answers.ts'
import { MessagesServer } from '../observer/servers/messages-server.ts'
import { Stage, type Watched } from './stage.ts'

const REFUSED = 'this <b>cannot</b> be read'

let stage: Stage
let model: MessagesServer
let refuses = false
const open: Watched[] = []

beforeAll(async () => {
  model = await MessagesServer.listen((call) =>
    refuses ? { fault: 'status', status: 400, message: REFUSED } : goodAnswer(call),
  )
  stage = await Stage.set({
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
  await stage.strike()
  await model.close()
})

async function watch(hash: string): Promise<Watched> {
  const watched = await stage.open(hash)
  open.push(watched)
  return watched
}

function turnOf(session: string = randomUUID()) {
  return { session, prompt: randomUUID(), cwd: '/tmp/harbour' }
}

async function work(turn: ReturnType<typeof turnOf>, word: string): Promise<void> {
  const tool = bash(turn, `toolu_${word}`, `npm run ${word}`, `the ${word} is done`)
  await stage.report(userPrompt(turn, `Look after the ${word}`), tool, stop(turn, `The ${word} is well.`))
}

describe('viewer.session', () => {
  test('messages that were set aside are tried again or dropped, and the session is closed and opened again', async () => {
    const turn = turnOf()
    refuses = true
    await work(turn, 'mooring')
    const { page, complaints } = await watch(`#/session/${turn.session}`)
    const failed = page.locator('.story-failed')
    await failed.getByText(REFUSED).first().waitFor()
    await page.getByRole('radio', { name: /^errors/ }).check()
    await page.locator('.story-turn', { hasText: 'FAILED' }).waitFor()
    expect(await page.evaluate(() => document.documentElement.scrollTop)).toBe(0)
    await page.getByRole('radio', { name: /^all/ }).check()

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
    const { view } = await stage.place.ask((client) =>
      client.request('session', { type: 'session', session: turn.session, trace: 1 }),
    )
    expect(view.messages).toEqual([])

    await page.getByRole('button', { name: 'Close session' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Close session' }).click()
    await page.getByRole('button', { name: 'Reopen' }).click()
    await page.getByRole('button', { name: 'Close session' }).waitFor()
    expect(complaints).toEqual([])
  })

  test('a session that is taken up again has on its card what it learned before', async () => {
    const turn = turnOf()
    await work(turn, 'lighthouse')
    await stage.report(sessionEnd(turn))
    const { page, complaints } = await watch(`#/session/${turn.session}`)
    await page.getByText('completed', { exact: true }).waitFor()
    // Loaded anew, the page knows of sessions at work only.
    await stage.goTo(page, '#/now')
    await page.reload()
    await page.getByTestId('live-count').getByText('at work').waitFor()
    await stage.report(userPrompt(turnOf(turn.session), 'And the lamp?'))
    const figures = page.locator(`[data-testid=session-card][data-session="${turn.session}"] .now-figures`)
    await figures.getByText('2', { exact: true }).waitFor()
    await figures.getByTitle('What was learned in it').getByText('1', { exact: true }).waitFor()
    expect(complaints).toEqual([])
  })
})
