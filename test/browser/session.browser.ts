/** One session told from its first prompt to its summary, with a model on loopback; and what can be done about it. */
import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { edit, stop, userPrompt } from '../../scripts/lib/payloads.ts'
import { goodAnswer } from '../observer/servers/answers.ts'
import type { Call, Fault } from '../observer/servers/fault.ts'
import { MessagesServer } from '../observer/servers/messages-server.ts'
import { Stage, type Watched } from './stage.ts'

const KEY = 'sk-test-0123456789abcdef'
const REFUSED: Fault = { fault: 'status', status: 400, message: 'messages: this one cannot be read' }

let stage: Stage
let model: MessagesServer
let script: (call: Call) => string | Fault = goodAnswer
const open: Watched[] = []

beforeAll(async () => {
  model = await MessagesServer.listen((call) => script(call), { apiKey: KEY })
  stage = await Stage.set({
    CLAUDE_MEM_PROVIDER: 'anthropic',
    CLAUDE_MEM_ANTHROPIC_API_KEY: KEY,
    CLAUDE_MEM_ANTHROPIC_BASE_URL: model.url,
  })
})
afterEach(async () => {
  script = goodAnswer
  for (const { page } of open.splice(0)) await page.context().close()
})
afterAll(async () => {
  await stage.strike()
  await model.close()
})

async function work(): Promise<string> {
  const turn = { session: randomUUID(), prompt: randomUUID(), cwd: '/tmp/quay' }
  await stage.report(
    userPrompt(turn, 'Mend the quay'),
    edit(turn, 'toolu_quay', `${turn.cwd}/src/quay.ts`),
    stop(turn, 'The quay is mended.'),
  )
  return turn.session
}

async function watch(session: string): Promise<Watched> {
  const watched = await stage.open(`#/session/${session}`)
  open.push(watched)
  return watched
}

const queue = async () => (await stage.place.status()).queue

describe('viewer.session', () => {
  test('is told with its prompt, transitions and reasons, calls and what they cost, and what came of them', async () => {
    const session = await work()
    const { page, complaints } = await watch(session)
    const story = page.locator('[data-testid=story]')
    await story.getByText('Mend the quay').first().waitFor()
    await story
      .getByText(/claude-haiku/)
      .first()
      .waitFor()
    await story
      .getByText(/\$0\.\d+/)
      .first()
      .waitFor()
    for (const event of ['PROMPT', 'MESSAGE', 'TURN_END', 'OBSERVED', 'SUMMARIZED']) {
      await story.getByText(event, { exact: true }).first().waitFor()
    }
    expect(complaints).toEqual([])
  })

  test('what was set aside is tried again, and dropped, from the page', async () => {
    script = () => REFUSED
    const session = await work()
    await expect.poll(async () => (await queue()).failed, { timeout: 20_000 }).toBeGreaterThan(0)
    const { page, complaints } = await watch(session)
    await page.getByText('this one cannot be read').first().waitFor()
    await page.getByRole('button', { name: 'Retry' }).click()
    await page.getByText(/tried again/).waitFor()
    await expect.poll(async () => (await queue()).pending + (await queue()).processing, { timeout: 20_000 }).toBe(0)
    script = goodAnswer
    await page.getByRole('button', { name: 'Drop' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Drop' }).click()
    await page
      .getByText(/dropped/)
      .first()
      .waitFor()
    await expect.poll(async () => (await queue()).failed).toBe(0)
    await page.getByRole('heading', { name: /set aside/ }).waitFor({ state: 'detached' })
    expect(complaints).toEqual([])
  })

  test('is closed and reopened from the page', async () => {
    const session = await work()
    const { page, complaints } = await watch(session)
    const state = async () =>
      (await stage.place.ask((client) => client.request('session', { type: 'session', session, trace: 0 }))).view.row
        .status
    await page.getByRole('button', { name: 'Close session' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Close session' }).click()
    await page.getByRole('button', { name: 'Reopen' }).waitFor()
    expect(await state()).toBe('completed')
    await page.getByRole('button', { name: 'Reopen' }).click()
    await page.getByRole('button', { name: 'Close session' }).waitFor()
    expect(await state()).toBe('active')
    expect(complaints).toEqual([])
  })
})
