/** Settings and usage. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { projectOfDirectory } from '../../src/domain/project.ts'
import { SETTINGS_FILE } from '../../src/settings/settings.ts'
import { type OpenPage, ViewerFixture } from './viewer-fixture.ts'

const SECRET = 'not-a-real-key-but-long-enough-wxyz'

let fixture: ViewerFixture
const open: OpenPage[] = []

beforeAll(async () => {
  fixture = await ViewerFixture.start({ CLAUDE_MEM_PROVIDER: 'offline' })
  for (const word of ['lamp', 'ferry', 'harbour']) await remember(word)
})
afterEach(async () => {
  for (const { page } of open.splice(0)) await page.context().close()
})
afterAll(() => fixture.dispose())

async function remember(word: string): Promise<void> {
  const text = `The ${word} stands on the island, as was found out.`
  const where = { project: projectOfDirectory('/tmp/island'), cwd: '/tmp/island', files: [`src/${word}.ts`] }
  const what = { title: `The ${word} stands`, text, kind: 'discovery', concepts: [] } as const
  await fixture.daemon.ask((client) => client.call('remember', { ...where, ...what }))
}

async function watch(hash: string): Promise<OpenPage> {
  const opened = await fixture.open(hash)
  open.push(opened)
  return opened
}

const setting = (page: Page, name: string) => page.locator(`[data-setting=${name}]`)

function kept(): Record<string, unknown> {
  return JSON.parse(readFileSync(join(fixture.daemon.dataDir, SETTINGS_FILE), 'utf8'))
}

describe('viewer.settings', () => {
  test('an invalid value is rejected at its field; a valid one is in the file until it is reset', async () => {
    const { page, errors } = await watch('#/settings')
    const row = setting(page, 'CLAUDE_MEM_KEEP_BACKUPS')
    const field = row.getByRole('spinbutton', { name: 'Keep backups' })
    await field.fill('9999')
    await field.press('Enter')
    await row.getByRole('alert').getByText('must be a whole number from 1 to 365').waitFor()
    expect(await field.getAttribute('aria-invalid')).toBe('true')
    await field.press('Escape')
    await row.getByRole('alert').waitFor({ state: 'detached' })
    expect(await field.inputValue()).toBe('7')
    await field.fill('9')
    await field.press('Enter')
    await row.getByRole('button', { name: 'reset to 7' }).waitFor()
    expect(kept().CLAUDE_MEM_KEEP_BACKUPS).toBe(9)
    await row.getByRole('button', { name: 'reset to 7' }).click()
    await row.getByRole('button', { name: 'reset to 7' }).waitFor({ state: 'detached' })
    expect(kept()).not.toHaveProperty('CLAUDE_MEM_KEEP_BACKUPS')
    expect(errors).toEqual([])
  })

  test('a list is edited with one item per line', async () => {
    const { page } = await watch('#/settings?find=skip')
    const field = setting(page, 'CLAUDE_MEM_SKIP_TOOLS').getByRole('textbox')
    expect(await field.inputValue()).toContain('TodoWrite')
    await field.fill('ListMcpResourcesTool\n\n <b>Tool</b> \n')
    await field.blur()
    await setting(page, 'CLAUDE_MEM_SKIP_TOOLS').getByText('changed', { exact: true }).waitFor()
    expect(kept().CLAUDE_MEM_SKIP_TOOLS).toEqual(['ListMcpResourcesTool', '<b>Tool</b>'])
  })

  test('a secret is never sent to the page; settings for a terminal or from the environment are locked', async () => {
    await fixture.daemon.ask((client) =>
      client.call('setting_set', { name: 'CLAUDE_MEM_GEMINI_API_KEY', value: SECRET }),
    )
    expect(kept().CLAUDE_MEM_GEMINI_API_KEY).toBe(SECRET)
    const { page } = await watch('#/settings')
    const row = setting(page, 'CLAUDE_MEM_GEMINI_API_KEY')
    await row.getByText('claude-mem config set CLAUDE_MEM_GEMINI_API_KEY').waitFor()
    expect(await row.locator('input').isDisabled()).toBe(true)
    expect(await row.locator('input').getAttribute('placeholder')).toBe('Set: …wxyz')
    expect(await row.getByRole('button').count()).toBe(0)
    expect(await page.content()).not.toContain(SECRET)
    expect(await setting(page, 'CLAUDE_MEM_PROVIDER').getByRole('combobox').isDisabled()).toBe(true)
  })
})

describe('viewer.usage', () => {
  test('the observations of each day are counted without a reload, as bars and as a table', async () => {
    const { page, errors } = await watch('#/usage?days=7')
    await page.getByText('nothing was spent').waitFor()
    await page.locator('.bars [title$="3 observations"]').waitFor()
    await remember('lighthouse')
    await page.locator('.bars [title$="4 observations"]').waitFor()
    await page.getByText('Show as table').click()
    const rows = page.getByRole('region', { name: 'By day, newest first' }).getByRole('row')
    await rows.nth(7).waitFor()
    expect(await rows.count()).toBe(8)
    expect(await rows.nth(1).getByRole('cell').first().textContent()).toBe('4')
    expect(errors).toEqual([])
  })
})
