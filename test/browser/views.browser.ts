/** Search, filters, passages, forgetting, dialogs, keyboard and accessibility. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { bash, stop, userPrompt } from '../../scripts/lib/payloads.ts'
import { projectOfDirectory } from '../../src/domain/project.ts'
import type { DaemonClient } from '../../src/transport/client.ts'
import { waitUntil } from '../support/waiting.ts'
import { axeFaults } from './axe.ts'
import { type OpenPage, ViewerFixture } from './viewer-fixture.ts'

const VIEWS = ['#/start', '#/memory', '#/session', '#/usage', '#/settings', '#/team'] as const
const HOSTILE = `<img src=x onerror="document.title='owned'"><script>document.title='owned'</script>\u202Egnp.exe \u001b[2Jescape`

let fixture: ViewerFixture
let ids: Record<'lamp' | 'ferry' | 'hostile', number>
const open: OpenPage[] = []

beforeAll(async () => {
  fixture = await ViewerFixture.start({ CLAUDE_MEM_PROVIDER: 'offline' })
  ids = await fixture.daemon.ask(async (client) => ({
    lamp: await remember(client, 'The lamp needs three volts', 'bugfix', ['power'], ['src/lamp.ts']),
    ferry: await remember(client, 'The ferry leaves at nine', 'decision', ['schedule'], ['docs/ferry.md']),
    hostile: await remember(client, HOSTILE, 'discovery', ['<b>bold</b>'], ['src/<svg onload=alert(1)>.ts']),
  }))
})
afterEach(async () => {
  for (const { page } of open.splice(0)) await page.context().close()
})
afterAll(() => fixture.dispose())

async function remember(
  client: DaemonClient,
  title: string,
  kind: 'bugfix' | 'decision' | 'discovery',
  concepts: string[],
  files: string[],
): Promise<number> {
  const project = projectOfDirectory('/tmp/island')
  const text = `${title}, as was found out on the island.`
  const { observation } = await client.call('remember', {
    project,
    cwd: '/tmp/island',
    title,
    text,
    kind,
    concepts,
    files,
  })
  return observation
}

async function watch(hash: string, options = {}): Promise<OpenPage> {
  const opened = await fixture.open(hash, options)
  open.push(opened)
  return opened
}

const row = (id: number) => `[data-testid=memory-row][data-kind=observation][data-id="${id}"]`

describe('viewer.memory', () => {
  test('search finds by words and explains ranks; filters exclude rows', async () => {
    const { page, errors } = await watch('#/memory')
    await page.locator(row(ids.lamp)).waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('volts')
    await page.locator(row(ids.lamp)).locator('mark', { hasText: 'volts' }).first().waitFor()
    expect(page.url()).toContain('q=volts')
    expect(await page.locator('[data-testid=memory-row]').first().getAttribute('data-id')).toBe(String(ids.lamp))
    await page.locator(row(ids.lamp)).getByRole('link').first().click()
    await page.getByText(/^Why it was found: score/).click()
    await page.getByRole('table', { name: 'Parts of the score' }).waitFor()
    await page.keyboard.press('Escape')
    await page.waitForFunction((id) => document.activeElement?.getAttribute('data-address') === `${id}`, ids.lamp)
    await fixture.goTo(page, '#/memory?type=decision')
    await page.locator(row(ids.ferry)).waitFor()
    await page.locator(row(ids.lamp)).waitFor({ state: 'detached' })
    await fixture.goTo(page, '#/memory?file=lamp.ts')
    await page.locator(row(ids.lamp)).waitFor()
    await page.locator(row(ids.ferry)).waitFor({ state: 'detached' })
    await fixture.goTo(page, '#/memory?concept=schedule')
    await page.locator(row(ids.ferry)).waitFor()
    await page.locator(row(ids.lamp)).waitFor({ state: 'detached' })
    expect(errors).toEqual([])
  })

  test('stored HTML, scripts and escape sequences are displayed as text', async () => {
    const { page, errors } = await watch(`#/memory/${ids.hostile}`)
    await page.locator('[data-testid=memory-open]').getByText('<img src=x onerror=').first().waitFor()
    expect(await page.locator('[data-testid=memory-open] img, [data-testid=memory-open] script').count()).toBe(0)
    expect(await page.title()).not.toContain('owned')
    const shown = `${await page.locator('[data-testid=memory-open]').textContent()}${await page.locator(row(ids.hostile)).textContent()}`
    for (const acts of ['\u202e', '\u001b']) expect(shown.includes(acts)).toBe(false)
    expect(errors).toEqual([])
  })

  test('a forgotten memory disappears from all pages', async () => {
    const id = await fixture.daemon.ask((client) => remember(client, 'A secret to forget', 'discovery', [], []))
    const list = await watch('#/memory')
    const found = await watch('#/memory?q=secret')
    const opened = await watch(`#/memory/${id}`)
    await list.page.locator(row(id)).waitFor()
    await found.page.locator(row(id)).waitFor()
    await opened.page.locator(`[data-testid=memory-open]`).waitFor()
    await opened.page
      .locator('[data-testid=memory-open]')
      .getByRole('button', { name: /forget/i })
      .click()
    const dialog = opened.page.getByRole('dialog')
    await dialog.getByRole('button', { name: /forget/i }).click()
    await list.page.locator(row(id)).waitFor({ state: 'detached' })
    await found.page.locator(row(id)).waitFor({ state: 'detached' })
    await opened.page
      .locator('[data-testid=memory-open]')
      .getByText('A secret to forget')
      .waitFor({ state: 'detached' })
    const left = await fixture.daemon.ask((client) => client.call('observations', { ids: [id] }))
    expect(left.missing).toEqual([id])
    for (const { errors } of [list, found, opened]) expect(errors).toEqual([])
  })
})

describe('who', () => {
  test('each session and each memory says which agent it is from', async () => {
    const session = 'c0de0001-0000-4000-8000-000000000001'
    const codex = { session_id: session, turn_id: 'turn-1', cwd: '/tmp/island', model: 'gpt-5.5' }
    await fixture.runHooksOf(
      'codex',
      { ...codex, hook_event_name: 'SessionStart', source: 'startup' },
      { ...codex, hook_event_name: 'UserPromptSubmit', prompt: 'Why does the buoy drift?' },
      {
        ...codex,
        hook_event_name: 'Stop',
        last_assistant_message: 'The buoy drifts because its chain is too long. Decided to shorten the chain to 12 m.',
      },
    )
    const learned = async () => {
      const { answer } = await fixture.daemon.ask((client) =>
        client.call('search', { query: 'buoy chain', kinds: ['observation'] }),
      )
      return answer.hits.find(({ session: from }) => from === session)
    }
    await expect.poll(learned).toBeDefined()
    const id = (await learned())?.id
    const list = await watch('#/session')
    await list.page.getByText('Codex', { exact: true }).first().waitFor()
    const story = await watch(`#/session/${session}`)
    await story.page
      .getByText(/Codex in/)
      .first()
      .waitFor()
    const memory = await watch(`#/memory/${id}`)
    await memory.page.locator('[data-testid=memory-open]').getByText('What Codex did').waitFor()
    for (const { errors } of [list, story, memory]) expect(errors).toEqual([])
  })
})

/** Runs in the page. */
function isComplete(): boolean {
  return document.querySelector('[aria-busy=true]') === null
}

/** Runs in the page. */
function openDetails(): void {
  for (const details of document.querySelectorAll('main details')) details.setAttribute('open', '')
}

/** A turn with passages of its prompt, its command and its last message. */
async function workOnFoghorn(session: string) {
  const turn = { session, prompt: `${session}-prompt`, cwd: '/tmp/island' }
  const output = `FAIL test/${session}.test.ts\nError: the ${session} sensor reads zero lux\n1 failed, 3 passed`
  await fixture.runHooks(
    userPrompt(turn, `Why does the ${session} stay silent at dusk?`),
    bash(turn, `toolu_${session}`, `npm test ${session}`, output),
    stop(turn, `The ${session} stays silent because its dusk sensor is unplugged. I connected it to port 4.`),
  )
  const read = () =>
    fixture.daemon.ask(async (client) => ({
      passages: (await client.call('search', { query: session, kinds: ['passage'] })).answer.hits.flatMap((hit) => [
        hit,
        ...hit.further,
      ]),
      observations: (await client.call('search', { session, kinds: ['observation'] })).answer.hits.map(({ id }) => id),
      summaries: (await client.call('summaries', { session })).summaries.length,
    }))
  await waitUntil(`passages of the ${session} are indexed and its turn is summarised`, async () => {
    const { passages, summaries } = await read()
    return passages.length >= 3 && summaries > 0
  })
  return await read()
}

describe('viewer.passages', () => {
  test('a search finds them beside memories; one opens with its neighbours, its turn and its observations', async () => {
    const { passages, observations } = await workOnFoghorn('foghorn')
    const check = passages.find(({ passage }) => passage?.kind === 'check')
    const prompt = passages.find(({ passage }) => passage?.kind === 'prompt')
    if (check === undefined || prompt === undefined) throw new Error(JSON.stringify(passages))
    const { page, errors } = await watch('#/memory?q=foghorn+lux')
    await page.locator('[data-testid=memory-row]').first().waitFor()
    await page.getByLabel('Kind').selectOption('passage')
    await page.locator('[data-testid=memory-row]:not([data-kind=passage])').first().waitFor({ state: 'detached' })
    // A turn is one row, led by its best passage.
    const row = page.locator('[data-testid=memory-row]').first()
    await row.locator('mark', { hasText: 'foghorn' }).first().waitFor()
    const opened = await row.getAttribute('data-id')
    expect(await row.textContent()).toContain(`p${opened}`)
    expect(await row.getByRole('link', { name: 'turn 1' }).getAttribute('href')).toContain('session/foghorn?turn=1')

    await row.getByRole('link').first().click()
    const panel = page.locator('[data-testid=memory-open]')
    await panel.getByText('the foghorn sensor reads zero lux').waitFor()
    expect(await panel.locator('[data-testid=passage][aria-current]').getAttribute('data-id')).toBe(opened)
    await panel.getByText('Why does the foghorn stay silent at dusk?').waitFor()
    expect(await panel.getByRole('link', { name: 'turn 1 of its session' }).count()).toBe(1)
    await panel.getByRole('link', { name: `p${prompt.id}`, exact: true }).click()
    await page.locator('[data-testid=passage][aria-current]', { hasText: 'stay silent at dusk?' }).waitFor()

    await fixture.goTo(page, `#/memory/${observations[0]}`)
    await page.getByTestId('evidence').getByRole('link').first().click()
    await panel.locator('[data-testid=passage][aria-current]').waitFor()
    await panel.getByRole('link', { name: `#${observations[0]}` }).waitFor()
    expect(errors).toEqual([])
  })

  test('without a search text they are listed only if they are selected', async () => {
    const { page, errors } = await watch('#/memory')
    await page.locator(row(ids.lamp)).waitFor()
    expect(await page.locator('[data-kind=passage]').count()).toBe(0)
    await page.getByLabel('Kind').selectOption('passage')
    await page.locator('[data-testid=memory-row][data-kind=passage]').first().waitFor()
    const { stats } = await fixture.daemon.ask((client) => client.call('memory_stats', {}))
    expect(stats.passages.count).toBeGreaterThan(2)
    await page.getByTestId('memory-summary').getByText(`of ${stats.passages.count}`).waitFor()
    expect(errors).toEqual([])
  })

  test('they disappear with the memory that is forgotten', async () => {
    const { passages, observations } = await workOnFoghorn('semaphore')
    const closing = passages.find(({ passage }) => passage?.kind === 'closing')
    const found = await watch('#/memory?q=semaphore&kind=passage')
    const opened = await watch(`#/memory/p${closing?.id}`)
    const rows = found.page.locator('[data-testid=memory-row]')
    await rows.first().waitFor()
    await opened.page.getByText('its dusk sensor is unplugged').first().waitFor()
    await fixture.daemon.ask((client) => client.call('forget', { ids: observations, confirm: true }))
    await rows.filter({ hasText: 'unplugged' }).first().waitFor({ state: 'detached' })
    await opened.page.getByText('This passage does not exist').waitFor()
    expect(await opened.page.locator('[data-testid=memory-open]').textContent()).not.toContain('unplugged')
    for (const { errors } of [found, opened]) expect(errors).toEqual([])
  })
})

describe('viewer.accessibility', () => {
  test('a dialog focuses its first field and restores the focus when it is closed', async () => {
    const { page } = await watch(`#/memory/${ids.lamp}`)
    const correct = page.locator('[data-testid=memory-open]').getByRole('button', { name: 'Correct' })
    const dialog = page.getByRole('dialog')
    const leave = [() => page.keyboard.press('Escape'), () => dialog.getByRole('button', { name: 'Cancel' }).click()]
    for (const close of leave) {
      await correct.focus()
      await page.keyboard.press('Enter')
      await dialog.waitFor()
      await page.waitForFunction(() => document.activeElement?.matches('dialog select') === true)
      await close()
      await dialog.waitFor({ state: 'detached' })
      await page.waitForFunction(() => document.activeElement?.textContent === 'Correct')
    }
  })

  test.each(['light', 'dark'] as const)('axe finds no violation in any view (%s)', async (colorScheme) => {
    const faults: string[] = []
    await workOnFoghorn('beacon')
    const { page } = await watch('#/start', { colorScheme, reducedMotion: 'reduce', bypassCSP: true })
    for (const hash of [...VIEWS, `#/memory/${ids.lamp}`, '#/memory/p1?q=foghorn', '#/session/beacon']) {
      await fixture.goTo(page, hash)
      await page.locator(`main.view-${hash.split('/')[1]}`).waitFor()
      await page.waitForFunction(isComplete)
      await page.evaluate(openDetails)
      await page.waitForFunction(isComplete)
      for (const width of [360, 1280, 2560]) {
        await page.setViewportSize({ width, height: 800 })
        faults.push(...(await axeFaults(page)).map((fault) => `${hash} ${width}: ${fault}`))
      }
    }
    expect(faults).toEqual([])
  })

  test('a list is walked and opened by keyboard alone', async () => {
    const { page, errors } = await watch('#/memory')
    await page.locator(row(ids.lamp)).waitFor()
    const focused = () => page.evaluate(() => document.activeElement?.getAttribute('data-address'))
    const addresses = await page
      .locator('[data-row][data-address]')
      .evaluateAll((rows) => rows.map((one) => one.getAttribute('data-address')))
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    expect(await focused()).toBe(addresses[1])
    await page.keyboard.press('k')
    expect(await focused()).toBe(addresses[0])
    await page.keyboard.press('Enter')
    await page.getByTestId('memory-open').waitFor()
    await page.keyboard.press('Escape')
    await page.getByTestId('memory-open').waitFor({ state: 'detached' })
    await expect.poll(focused).toBe(addresses[0])
    expect(errors).toEqual([])
  })

  test('every view is reachable by keyboard and fits a phone', async () => {
    const { page, errors } = await watch('#/start', { viewport: { width: 360, height: 740 } })
    for (const [key, view] of [
      ['2', 'memory'],
      ['3', 'session'],
      ['4', 'usage'],
      ['5', 'settings'],
      ['6', 'team'],
      ['1', 'start'],
    ]) {
      await page.keyboard.press(key ?? '')
      await page.locator(`main.view-${view}`).waitFor()
      const over = await page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      )
      expect(`${view} ${over}`).toBe(`${view} 0`)
    }
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keys' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(errors).toEqual([])
  })
})
