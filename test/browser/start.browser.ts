/** What the next session will be told: each line with its source, and what can be done about it. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { sessionStart, stop, userPrompt } from '../../scripts/lib/payloads.ts'
import { projectOfDirectory } from '../../src/domain/project.ts'
import { waitUntil } from '../support/waiting.ts'
import { type OpenPage, ViewerFixture } from './viewer-fixture.ts'

const ISLAND = '/tmp/island'

let fixture: ViewerFixture
let lamp: number
const open: OpenPage[] = []

beforeAll(async () => {
  fixture = await ViewerFixture.start({ CLAUDE_MEM_PROVIDER: 'offline' })
  lamp = await remember('The lamp needs three volts.')
  const turn = { session: 'ferry-session', prompt: 'ferry-prompt', cwd: ISLAND }
  await fixture.runHooks(
    userPrompt(turn, 'When does the **ferry** leave?'),
    stop(turn, 'The ferry leaves at nine, because the tide is high then. Decided to print the timetable.'),
  )
  await waitUntil('the turn is observed', async () => {
    const { sessions } = await fixture.daemon.ask((client) => client.call('sessions'))
    return sessions.some(({ session, observations }) => session === turn.session && observations > 0)
  })
})
afterEach(async () => {
  for (const { page } of open.splice(0)) await page.context().close()
})
afterAll(() => fixture.dispose())

async function remember(text: string): Promise<number> {
  const where = { project: projectOfDirectory(ISLAND), cwd: ISLAND }
  const note = { text, kind: 'decision', by: 'person' } as const
  return (await fixture.daemon.ask((client) => client.call('remember', { ...where, ...note }))).observation
}

async function watch(hash = '#/'): Promise<OpenPage> {
  const opened = await fixture.open(hash)
  open.push(opened)
  return opened
}

describe('viewer.start', () => {
  test('the page lands on what the next session will be told, line by line as it is', async () => {
    const { page, errors } = await watch()
    await page.getByRole('heading', { name: 'What your next session will be told' }).waitFor()
    await page.getByTestId('start-line').getByText('The ferry leaves at nine').first().waitFor()
    const { key } = projectOfDirectory(ISLAND)
    const { context } = await fixture.daemon.ask((client) => client.call('context', { project: key }))
    await page.getByText('The exact text', { exact: true }).click()
    expect((await page.getByTestId('start-text').textContent())?.trim()).toBe(context.trim())
    const lines = (await page.getByTestId('start-line').locator('.prose').allTextContents()).join('\n').split('\n')
    for (const line of lines) expect(context.replaceAll('`', '')).toContain(line)
    expect(errors).toEqual([])
  })

  test('a line of a turn leads to it and to its observations, which can be pinned, corrected and forgotten', async () => {
    const { page, errors } = await watch()
    const exchange = page.getByTestId('part-exchange')
    await exchange.getByText('of “When does the ferry leave?”').waitFor()
    expect(await exchange.getByRole('link', { name: 'turn 1' }).getAttribute('href')).toContain(
      '#/session/ferry-session?turn=1',
    )
    await exchange.getByText('Pin, correct or forget').click()
    await exchange.getByRole('button', { name: 'Forget' }).first().waitFor()

    const line = page.getByTestId('start-line').filter({ hasText: 'The lamp needs three volts' })
    await line.getByRole('link', { name: `Observation #${lamp}` }).waitFor()
    await line.getByRole('button', { name: 'Pin' }).click()
    const pinned = page.getByTestId('part-pinned').getByText('The lamp needs three volts')
    await pinned.first().waitFor()
    await line.getByRole('button', { name: 'Correct' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('textbox', { name: /^Text/ }).fill('The lamp needs five volts.')
    await dialog.getByRole('button', { name: 'Correct it' }).click()
    const corrected = page.getByTestId('start-line').filter({ hasText: 'The lamp needs five volts' })
    await corrected.getByRole('button', { name: 'Forget' }).click()
    await dialog.getByRole('button', { name: 'Forget permanently' }).click()
    await corrected.waitFor({ state: 'detached' })
    expect(errors).toEqual([])
  })

  test('what is written down there will be told; what was given is said only where it is recorded', async () => {
    const { page, errors } = await watch()
    await page.getByRole('button', { name: 'Remember…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('textbox', { name: /^Text/ }).fill('The pier is closed in winter.')
    await dialog.getByRole('button', { name: 'Remember it' }).click()
    await page.getByTestId('start-line').getByText('The pier is closed in winter').first().waitFor()
    const log = page.getByRole('region', { name: 'What earlier sessions were given' })
    await log.getByText('No observation was added to a prompt').waitFor()
    await log.getByText('is not recorded').waitFor()
    expect(errors).toEqual([])
  })

  test('observations that were added to a prompt are in the log, and with their session', async () => {
    const other = await ViewerFixture.start({
      CLAUDE_MEM_PROVIDER: 'offline',
      CLAUDE_MEM_PROMPT_CONTEXT: 'true',
      CLAUDE_MEM_PROMPT_CONTEXT_FLOOR: '0',
    })
    try {
      const text = 'The lighthouse lamp needs three volts.'
      const where = { project: projectOfDirectory(ISLAND), cwd: ISLAND }
      await other.daemon.ask((client) => client.call('remember', { ...where, text, kind: 'decision', by: 'person' }))
      const turn = { session: 'keeper-session', prompt: 'keeper-prompt', cwd: ISLAND }
      await other.runHooks(
        sessionStart(turn),
        userPrompt(turn, 'How many volts does the lighthouse lamp need?'),
        stop(turn, 'Three.'),
      )
      const { page, errors } = await other.open('#/')
      const log = page.getByTestId('given-log')
      await log.getByText('1 observation').waitFor()
      await log.getByRole('link', { name: 'How many volts does the lighthouse lamp need?' }).click()
      await page
        .getByRole('region', { name: 'What it was given' })
        .getByText('The lighthouse lamp needs three volts')
        .waitFor()
      expect(errors).toEqual([])
    } finally {
      await other.dispose()
    }
  })
})
