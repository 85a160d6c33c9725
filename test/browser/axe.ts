/** The accessibility checks of axe-core. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** All violations, also minor ones. The page needs `bypassCSP`. */
export async function axeFaults(page: Page): Promise<string[]> {
  await page.evaluate(AXE)
  return await page.evaluate(runAxe)
}

/** Runs in the page. */
async function runAxe(): Promise<string[]> {
  const { axe } = window as unknown as {
    axe: { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> }
  }
  const { violations } = await axe.run()
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(' | ')}`)
}
