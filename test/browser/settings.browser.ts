/** What people change on the page, and the figures that they read: settings, the preview of the context, usage. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { projectOf } from '../../src/memory/project.ts'
import { SETTINGS_FILE } from '../../src/settings.ts'
import { Stage, type Watched } from './stage.ts'

const SECRET = 'not-a-real-key-but-long-enough-wxyz'

let stage: Stage
const open: Watched[] = []

beforeAll(async () => {
  stage = await Stage.set({ CLAUDE_MEM_PROVIDER: 'offline' })
  for (const word of ['lamp', 'ferry', 'harbour']) await remember(word)
})
afterEach(async () => {
  for (const { page } of open.splice(0)) await page.context().close()
})
afterAll(() => stage.strike())

async function remember(word: string): Promise<void> {
  const text = `The ${word} stands on the island, as was found out.`
  const where = { project: projectOf('/tmp/island'), cwd: '/tmp/island', files: [`src/${word}.ts`] }
  const what = { title: `The ${word} stands`, text, kind: 'discovery', concepts: [] } as const
  await stage.place.ask((client) => client.request('remembered', { type: 'remember', ...where, ...what }))
}

async function watch(hash: string): Promise<Watched> {
  const watched = await stage.open(hash)
  open.push(watched)
  return watched
}

const setting = (page: Page, name: string) => page.locator(`[data-setting=${name}]`)

function kept(): Record<string, unknown> {
  return JSON.parse(readFileSync(join(stage.place.dataDir, SETTINGS_FILE), 'utf8'))
}

describe('viewer.settings', () => {
  test('a wrong value is refused at its field; a right one is in the file until it is taken back', async () => {
    const { page, complaints } = await watch('#/settings')
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
    await row.getByRole('button', { name: 'back to 7' }).waitFor()
    expect(kept().CLAUDE_MEM_KEEP_BACKUPS).toBe(9)
    await row.getByRole('button', { name: 'back to 7' }).click()
    await row.getByRole('button', { name: 'back to 7' }).waitFor({ state: 'detached' })
    expect(kept()).not.toHaveProperty('CLAUDE_MEM_KEEP_BACKUPS')
    expect(complaints).toEqual([])
  })

  test('a list grows and shrinks by one', async () => {
    const { page } = await watch('#/settings?find=skip')
    const row = setting(page, 'CLAUDE_MEM_SKIP_TOOLS')
    await row.getByRole('textbox').fill('<b>Tool</b>')
    await row.getByRole('textbox').press('Enter')
    await row.getByRole('button', { name: 'Take out <b>Tool</b>' }).waitFor()
    await row.getByRole('button', { name: 'Take out TodoWrite' }).click()
    await row.getByRole('button', { name: 'Take out TodoWrite' }).waitFor({ state: 'detached' })
    expect(kept().CLAUDE_MEM_SKIP_TOOLS).toEqual(['ListMcpResourcesTool', 'AskUserQuestion', '<b>Tool</b>'])
  })

  test('a key goes in and never comes back; what the environment says cannot be changed here', async () => {
    const { page } = await watch('#/settings')
    const row = setting(page, 'CLAUDE_MEM_GEMINI_API_KEY')
    await row.locator('input').fill(SECRET)
    await row.getByRole('button', { name: 'Save' }).click()
    await row.getByRole('button', { name: 'Replace' }).waitFor()
    expect(await row.locator('input').inputValue()).toBe('')
    expect(await row.locator('input').getAttribute('placeholder')).toBe('Set: …wxyz')
    expect(kept().CLAUDE_MEM_GEMINI_API_KEY).toBe(SECRET)
    await page.reload()
    await setting(page, 'CLAUDE_MEM_GEMINI_API_KEY').waitFor()
    expect(await page.content()).not.toContain(SECRET)
    expect(await setting(page, 'CLAUDE_MEM_PROVIDER').getByRole('combobox').isDisabled()).toBe(true)
  })

  test('the context follows what is moved, and is kept when asked to', async () => {
    const { page, complaints } = await watch('#/settings')
    const preview = page.getByRole('region', { name: 'Preview of the context' })
    const lamp = preview.locator('.line.row', { hasText: 'The lamp stands' })
    await lamp.waitFor()
    await preview.getByRole('checkbox', { name: 'discovery' }).uncheck()
    await lamp.waitFor({ state: 'detached' })
    await preview.getByRole('checkbox', { name: 'discovery' }).check()
    const tokens = preview.getByRole('slider', { name: 'Tokens' })
    await tokens.focus()
    await page.keyboard.press('ArrowLeft')
    await preview.getByText('of 1,950 tokens').waitFor()
    await preview.getByRole('button', { name: 'Keep these' }).click()
    await setting(page, 'CLAUDE_MEM_CONTEXT_TOKENS')
      .getByRole('button', { name: /back to/ })
      .waitFor()
    expect(kept().CLAUDE_MEM_CONTEXT_TOKENS).toBe(1_950)
    expect(complaints).toEqual([])
  })
})

describe('viewer.usage', () => {
  test('what is learned is counted without a reload, told by keyboard, and there as a table', async () => {
    const { page, complaints } = await watch('#/usage?days=7')
    await page.getByText('nothing was spent').waitFor()
    const chart = page.getByRole('slider', { name: /^Observations a day/ })
    await chart.focus()
    await page.waitForFunction(told, '3 observations')
    await remember('lighthouse')
    await page.waitForFunction(told, '4 observations')
    await page.keyboard.press('ArrowLeft')
    await page.waitForFunction(told, '0 observations')
    await page.getByText('Show as table').first().click()
    const table = page.getByRole('region', { name: 'Observations a day, as a table' })
    await table.getByRole('row').nth(7).waitFor()
    expect(await table.getByRole('row').count()).toBe(8)
    expect(await table.getByRole('row').nth(1).getByRole('cell').allTextContents()).toEqual(['4'])
    expect(complaints).toEqual([])
  })
})

/** Runs in the page. */
function told(words: string): boolean {
  const text = document.querySelector('.chart input[type=range]')?.getAttribute('aria-valuetext') ?? ''
  return text.includes(words)
}
