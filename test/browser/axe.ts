/** The accessibility checks of axe-core. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Serious and critical violations. The page needs `bypassCSP`. */
export async function axeFaults(page: Page): Promise<string[]> {
  await page.evaluate(AXE)
  return await page.evaluate(runAxe)
}

/** Runs in the page. */
async function runAxe(): Promise<string[]> {
  const { axe } = window as unknown as {
    axe: { run(): Promise<{ violations: { id: string; impact: string; nodes: { html: string }[] }[] }> }
  }
  const { violations } = await axe.run()
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(' | ')}`)
}
