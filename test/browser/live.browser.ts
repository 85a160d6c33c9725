/** Live updates of sessions, states and memories, and the page while the daemon is down. */
import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { bash, edit, sessionEnd, sessionStart, stop, userPrompt } from '../../scripts/lib/payloads.ts'
import { type OpenPage, ViewerFixture } from './viewer-fixture.ts'

let fixture: ViewerFixture
const open: OpenPage[] = []
/** Errors that Chromium logs while the daemon is down, and when the next one refuses the page's access. */
const CONNECTION_ERRORS = /ERR_CONNECTION_REFUSED|ERR_CONNECTION_RESET|WebSocket connection to .* failed|status of 401/

/** Without a search text only observations are listed. */
const ALL_KINDS = '#/memory?kind=observation,summary,prompt'

beforeAll(async () => {
  fixture = await ViewerFixture.start({ CLAUDE_MEM_PROVIDER: 'offline' })
})
afterEach(async () => {
  for (const { page } of open.splice(0)) await page.context().close()
})
afterAll(() => fixture.dispose())

async function watch(hash: string): Promise<OpenPage> {
  const opened = await fixture.open(hash)
  open.push(opened)
  return opened
}

function turnOf(cwd = '/tmp/harbour') {
  return { session: randomUUID(), prompt: randomUUID(), cwd }
}

/** Tool uses from which the offline observer makes an observation. */
function work(turn: ReturnType<typeof turnOf>, word: string) {
  const failing = `FAIL test/${word}.test.ts > ${word} adds up\nAssertionError: expected 3 to be 4\n\nTests  1 failed | 4 passed (5)`
  return [
    bash(turn, `toolu_${word}_1`, 'npm test', failing),
    edit(turn, `toolu_${word}_2`, `${turn.cwd}/src/${word}.ts`),
    bash(turn, `toolu_${word}_3`, 'npm test', 'Tests  5 passed (5)'),
    bash(turn, `toolu_${word}_4`, `git commit -m "Fix ${word}: totals are whole cents"`, `[main 1234567] Fix ${word}`),
  ]
}

describe('viewer.live', () => {
  test('a session reported by real hooks is listed by its request and outcome; its states are there in order', async () => {
    const { page, errors } = await watch('#/session')
    const turn = turnOf()
    await fixture.runHooks(sessionStart(turn), userPrompt(turn, 'Why does the **harbour** test fail?'))
    const row = page.locator(`[data-testid=session-row][data-session="${turn.session}"]`)
    await row.getByRole('link', { name: 'Why does the harbour test fail?' }).waitFor()
    await fixture.runHooks(...work(turn, 'harbour'), stop(turn, 'Fixed: totals are whole cents now.'), sessionEnd(turn))
    await row.getByText('completed').waitFor()
    await row.getByText('Fixed: totals are whole cents now.').waitFor()
    await row.getByRole('link').click()
    await page.getByText('Details', { exact: true }).click()
    await page.locator('[data-testid=statechart][data-state=closed] [data-active=true]').waitFor()
    await page
      .locator('[data-turn="1"]')
      .getByText(/^Details: /)
      .click()
    const states = await page.getByTestId('transitions').locator('.accent').allTextContents()
    const entered = states.map((text) => text.split(' → ').at(-1) ?? '')
    expect(inOrder(entered, ['observing', 'batching, calling', 'summarizing, calling', 'closed']), states.join()).toBe(
      true,
    )
    expect(errors).toEqual([])
  })

  test('a new observation appears without a reload', async () => {
    const { page, errors } = await watch(ALL_KINDS)
    await page.evaluate(() => {
      document.documentElement.dataset.mark = 'the same page'
    })
    const turn = turnOf()
    await fixture.runHooks(
      userPrompt(turn, 'Mend the lantern'),
      ...work(turn, 'lantern'),
      stop(turn, 'The lantern is mended.'),
    )
    await page
      .locator('[data-testid=memory-row][data-kind=observation]', { hasText: /lantern/i })
      .first()
      .waitFor()
    await page.locator('[data-testid=memory-row][data-kind=prompt]', { hasText: 'Mend the lantern' }).first().waitFor()
    expect(await page.evaluate(() => document.documentElement.dataset.mark)).toBe('the same page')
    expect(errors).toEqual([])
  })

  test('after a restart of the daemon the page needs a new link, and no row is missing or duplicated', async () => {
    const { page, errors } = await watch(ALL_KINDS)
    const before = turnOf()
    await fixture.runHooks(userPrompt(before, 'Before the storm'), stop(before, 'Nothing done.'))
    await page.locator('[data-testid=memory-row][data-kind=summary]', { hasText: 'Before the storm' }).waitFor()
    const { pid } = await fixture.daemon.status()
    process.kill(pid, 'SIGTERM')
    await page.locator('[data-testid=connection][data-state=stale]').waitFor()
    // The hook cannot connect: it spools the event and starts a daemon.
    const during = turnOf()
    await fixture.runHooks(userPrompt(during, 'During the storm'), ...work(during, 'anchor'), stop(during, 'Anchored.'))
    await page.getByText('This page needs a personal link').waitFor()
    await page.goto(await fixture.link())
    await fixture.waitUntilLive(page)
    await fixture.goTo(page, ALL_KINDS)
    const after = turnOf()
    await fixture.runHooks(userPrompt(after, 'After the storm'), stop(after, 'Calm.'))
    for (const text of ['Before the storm', 'During the storm', 'After the storm']) {
      const rows = page.locator('[data-testid=memory-row][data-kind=prompt]', { hasText: text })
      await rows.first().waitFor()
      expect(await rows.count()).toBe(1)
    }
    await page
      .locator('[data-testid=memory-row]', { hasText: /anchor/i })
      .first()
      .waitFor()
    const ids = await page
      .locator('[data-testid=memory-row]')
      .evaluateAll((rows) => rows.map((row) => `${row.getAttribute('data-kind')} ${row.getAttribute('data-id')}`))
    expect(new Set(ids).size).toBe(ids.length)
    expect(errors.filter((text) => !CONNECTION_ERRORS.test(text))).toEqual([])
  })
})

/** Whether `seen` contains `wanted` in this order, possibly with others in between. */
function inOrder(seen: readonly string[], wanted: readonly string[]): boolean {
  let at = 0
  for (const state of seen) if (state === wanted[at]) at += 1
  return at === wanted.length
}
