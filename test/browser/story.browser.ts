/** One session told from its first prompt to its summary, with a model on loopback. */
import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { edit, stop, userPrompt } from '../../scripts/lib/payloads.ts'
import { goodAnswer } from '../observer/servers/answers.ts'
import { MessagesServer } from '../observer/servers/messages-server.ts'
import { Stage, type Watched } from './stage.ts'

const KEY = 'sk-test-0123456789abcdef'

let stage: Stage
let model: MessagesServer
const open: Watched[] = []

beforeAll(async () => {
  model = await MessagesServer.listen(goodAnswer, { apiKey: KEY })
  stage = await Stage.set({
    CLAUDE_MEM_PROVIDER: 'anthropic',
    CLAUDE_MEM_ANTHROPIC_API_KEY: KEY,
    CLAUDE_MEM_ANTHROPIC_BASE_URL: model.url,
  })
})
afterEach(async () => {
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

describe('viewer.story', () => {
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
})
