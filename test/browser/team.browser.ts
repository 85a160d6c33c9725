/** The team view, with a daemon that is connected to a real PostgreSQL. */
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { sessionStart } from '../../scripts/lib/payloads.ts'
import { type PostgresServer, startPostgres } from '../../scripts/lib/postgres.ts'
import { projectOfDirectory } from '../../src/domain/project.ts'
import { openPostgresLog } from '../../src/team/postgres/log.ts'
import { git, repository } from '../support/repository.ts'
import { waitUntil } from '../support/waiting.ts'
import { observationRecord } from '../team/records.ts'
import { axeFaults } from './axe.ts'
import { type OpenPage, ViewerFixture } from './viewer-fixture.ts'

const SHOP_KEY = 'repo:github.com/acme/shop'
const CALL_TIMEOUT_MS = 60_000

let fixture: ViewerFixture
let postgres: PostgresServer
let shop: string
const open: OpenPage[] = []

beforeAll(async () => {
  ;[fixture, postgres] = await Promise.all([ViewerFixture.start({ CLAUDE_MEM_PROVIDER: 'offline' }), startPostgres()])
  shop = join(fixture.daemon.directory, 'shop')
  repository(shop)
  git(shop, 'remote', 'add', 'origin', 'https://github.com/acme/shop.git')
  // Its first session makes the repository known by its remote.
  await fixture.runHooks(sessionStart({ session: 'first', prompt: 'first-prompt', cwd: shop }))
  await remember('Prices are stored in cents.')
  await remember('Orders are never deleted.')
  await waitUntil('the memories are those of the repository', async () => {
    const { projects } = await fixture.daemon.ask((client) => client.call('projects'))
    return projects.some(({ key, observations }) => key === SHOP_KEY && observations === 2)
  })
})
afterEach(async () => {
  for (const { page } of open.splice(0)) await page.context().close()
})
afterAll(async () => {
  await fixture.dispose()
  await postgres.dispose()
})

async function remember(text: string): Promise<void> {
  const where = { project: projectOfDirectory(shop), cwd: shop }
  await fixture.daemon.ask((client) => client.call('remember', { ...where, text, kind: 'decision' }))
}

async function watch(options = {}): Promise<OpenPage> {
  const opened = await fixture.open('#/team', options)
  open.push(opened)
  return opened
}

/** As `claude-mem team …` in a terminal does. */
const connect = (init: boolean) =>
  fixture.daemon.ask((client) => client.call('team_connect', { url: postgres.url(), init }, CALL_TIMEOUT_MS))
const share = () => fixture.daemon.ask((client) => client.call('team_share', { project: SHOP_KEY }, CALL_TIMEOUT_MS))
const shared = async () => (await fixture.daemon.ask((client) => client.call('team_status'))).team.projects

const state = (page: Page, text: string) => page.getByTestId('team-state').getByText(text).waitFor()

describe('viewer.team', () => {
  test('without a team it says what one is, and the command that connects', async () => {
    const { page, errors } = await watch()
    await page.getByRole('heading', { name: 'All memories stay on this machine' }).waitFor()
    await page.getByText('claude-mem team connect postgres://ROLE@HOST/DATABASE').waitFor()
    expect(await page.getByRole('button', { name: 'Retry now' }).count()).toBe(0)
    expect(errors).toEqual([])
  })

  test('it shows the commands that share; a page shares nothing itself', async () => {
    await connect(true)
    const { page, errors } = await watch()
    await state(page, 'Connected')
    await page.getByText('None: nothing leaves this machine.').waitFor()
    await page.getByText('claude-mem team share . --dry-run', { exact: true }).waitFor()
    expect(await shared()).toEqual([])
    await share()
    await state(page, 'Connected, everything is sent and received.')
    await page.waitForFunction(cells, { key: SHOP_KEY, expected: '2,0' })
    expect(await page.content()).not.toContain(postgres.password)
    expect(await page.content()).not.toContain(encodeURIComponent(postgres.password))
    expect(errors).toEqual([])
  })

  test('while the server is down it says why and what waits; a retry connects again', async () => {
    await connect(true)
    await share()
    const { page, errors } = await watch()
    await state(page, 'Connected, everything is sent and received.')
    await postgres.stop()
    await remember('Discounts end at midnight.')
    await state(page, 'Not connected:')
    await page.getByText('1 record; the oldest from').waitFor()
    await page.getByText('claude-mem team doctor', { exact: true }).waitFor()
    await postgres.start()
    await page.getByRole('button', { name: 'Retry now' }).click()
    await state(page, 'Connected, everything is sent and received.')
    await page.waitForFunction(cells, { key: SHOP_KEY, expected: '3,0' })
    expect(errors).toEqual([])
  })

  test('an invalid record of another machine is listed with the reason; a valid one is counted', async () => {
    await connect(true)
    await share()
    const { page, errors } = await watch()
    await state(page, 'Connected, everything is sent and received.')
    const invalid = observationRecord('x', { type: 'order' as never })
    const log = await openPostgresLog(postgres.url())
    try {
      await log.push([invalid, observationRecord('Refunds need a second person')], {
        author: 'postgres',
        machine: 'desktop',
      })
    } finally {
      await log.close()
    }
    const refused = page.getByRole('table', { name: /^Refused records/ })
    const row = refused.getByRole('row', { name: new RegExp(invalid.id.slice(0, 8)) })
    await row.getByText('type').waitFor()
    await page.waitForFunction(cells, { key: SHOP_KEY, expected: '3,1' })
    expect(errors).toEqual([])
  })

  test.each(['light', 'dark'] as const)('axe finds no violation, and it fits a phone (%s)', async (colorScheme) => {
    await connect(true)
    await share()
    for (const viewport of [
      { width: 360, height: 740 },
      { width: 1280, height: 800 },
      { width: 2560, height: 1300 },
    ]) {
      const { page } = await watch({ colorScheme, viewport, reducedMotion: 'reduce', bypassCSP: true })
      await page.getByRole('table', { name: /^Shared projects/ }).waitFor()
      await page.waitForFunction(() => document.querySelector('[aria-busy=true]') === null)
      expect(await axeFaults(page)).toEqual([])
      expect(await page.evaluate(overflow)).toBe(0)
    }
  })
})

/** Runs in the page. */
function cells({ key, expected }: { key: string; expected: string }): boolean {
  const row = [...document.querySelectorAll('tr')].find((one) => one.textContent?.includes(key))
  const [own, received] = [...(row?.querySelectorAll('td') ?? [])].map((cell) => cell.textContent)
  return `${own},${received}` === expected
}

/** Runs in the page. */
function overflow(): number {
  return document.documentElement.scrollWidth - document.documentElement.clientWidth
}
