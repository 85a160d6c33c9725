/** The page of one session, with a model server on loopback. */
import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { edit, stop, userPrompt } from '../../scripts/lib/payloads.ts'
import { goodAnswer } from '../observer/servers/answers.ts'
import { MessagesServer } from '../observer/servers/messages-server.ts'
import { type OpenPage, ViewerFixture } from './viewer-fixture.ts'

const KEY = 'sk-test-0123456789abcdef'

let fixture: ViewerFixture
let model: MessagesServer
const open: OpenPage[] = []

beforeAll(async () => {
  model = await MessagesServer.listen(goodAnswer, { apiKey: KEY })
  fixture = await ViewerFixture.start({
    CLAUDE_MEM_PROVIDER: 'anthropic',
    CLAUDE_MEM_ANTHROPIC_API_KEY: KEY,
    CLAUDE_MEM_ANTHROPIC_BASE_URL: model.url,
  })
})
afterEach(async () => {
  for (const { page } of open.splice(0)) await page.context().close()
})
afterAll(async () => {
  await fixture.dispose()
  await model.close()
})

async function work(): Promise<string> {
  const turn = { session: randomUUID(), prompt: randomUUID(), cwd: '/tmp/quay' }
  await fixture.runHooks(
    userPrompt(turn, 'Mend the quay'),
    edit(turn, 'toolu_quay', `${turn.cwd}/src/quay.ts`),
    stop(turn, 'The quay is mended.'),
  )
  return turn.session
}

async function watch(session: string): Promise<OpenPage> {
  const opened = await fixture.open(`#/session/${session}`)
  open.push(opened)
  return opened
}

describe('viewer.story', () => {
  test('shows the prompt and what came of it; transitions and calls with their cost are behind Details', async () => {
    const session = await work()
    const { page, errors } = await watch(session)
    const story = page.locator('[data-testid=story]')
    await story.getByText('Mend the quay').first().waitFor()
    await story.getByText(/^Details: /).click()
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
    expect(errors).toEqual([])
  })
})
