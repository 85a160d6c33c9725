/**
 * `npm run screenshots [-- --out DIR] [--only VIEW]`: the pictures of the viewer that the documentation shows, with the memory of scripts/demo/fortnight.json. A real daemon and a real Chromium; the model is a slow server on
 * loopback.
 */
import { mkdirSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Browser } from 'playwright-core'
import { VERSION } from '../src/lib/version.ts'
import { DaemonClient } from '../src/transport/client.ts'
import { fillFortnight } from './demo/fortnight.ts'
import { launchBrowser, openViewer } from './lib/browser.ts'
import * as payloads from './lib/payloads.ts'
import { eventOf } from './lib/payloads.ts'
import { printNote } from './lib/report.ts'
import { kill, makeSandbox, processesIn, ROOT, type Sandbox, startDaemon, stopServing } from './lib/sandbox.ts'

const { values: options } = parseArgs({
  options: { out: { type: 'string', default: join(ROOT, 'docs', 'screenshots') }, only: { type: 'string' } },
})

const WIDE = { width: 1280, height: 800 }
const NARROW = { width: 390, height: 844 }

type Look = `${'light' | 'dark'}${'' | '-narrow'}`

interface Shot {
  name: string
  looks: readonly Look[]
  hash: string
  /** Selector that matches when the view is complete. */
  ready: string
}

async function shots(client: DaemonClient): Promise<Shot[]> {
  const { sessions } = await client.call('sessions', { limit: 50 })
  const observed = sessions.find(({ observations }) => observations > 1)
  const { answer } = await client.call('search', { query: 'float dollars', kinds: ['observation'], limit: 1 })
  const best = answer.hits[0]
  if (observed === undefined || best === undefined) throw new Error('the demo data has no session with observations')
  return [
    {
      name: 'start',
      looks: ['light', 'dark', 'light-narrow'],
      hash: `#/start/${encodeURIComponent(observed.project)}`,
      ready: '[data-testid=start-line]',
    },
    { name: 'memory', looks: ['light', 'light-narrow'], hash: '#/memory', ready: '[data-testid=memory-row]' },
    { name: 'observation', looks: ['light'], hash: `#/memory/${best.id}`, ready: '[data-testid=memory-open] .bullets' },
    { name: 'sessions', looks: ['light'], hash: '#/session', ready: '[data-testid=session-row]' },
    { name: 'session', looks: ['light', 'dark-narrow'], hash: `#/session/${observed.session}`, ready: '[data-turn]' },
    { name: 'usage', looks: ['light'], hash: '#/usage?days=30', ready: '.bars' },
  ]
}

/** Three active sessions: one waits for the observer, one collects messages, one has just started. */
async function work(client: DaemonClient): Promise<void> {
  const report = async (payload: payloads.Payload, at: number) => {
    await client.call('event', { event: eventOf(payload, at), version: VERSION })
  }
  const turnOf = (session: string, project: string) => ({
    session,
    prompt: `${session}-1`,
    cwd: `/home/dev/${project}`,
  })
  const now = Date.now()
  const pocket = turnOf('b7d0c1f2-5a66-4c1e-9c0e-1d7d9f3a2c11', 'pocket')
  await report(payloads.sessionStart(pocket), now - 1_500_000)
  const gateway = turnOf('4f9a7e30-81bb-4d52-a1f3-6b1de2a90c57', 'gateway')
  await report(payloads.sessionStart(gateway), now - 900_000)
  await report(payloads.userPrompt(gateway, 'Return retry-after with 429.'), now - 890_000)
  for (const [i, what] of ['rg 429 src', 'cat src/limit.ts', 'npm test -- limit'].entries()) {
    await report(payloads.bash(gateway, `toolu_gateway_${i}`, what, 'done'), now - 300_000 + i * 40_000)
  }
  const shop = turnOf('0c2d8f41-9e5b-4a7d-b3c6-7af1e08d5b92', 'shop')
  await report(payloads.sessionStart(shop), now - 420_000)
  await report(payloads.userPrompt(shop, 'The export still uses offsets: page it by key too.'), now - 400_000)
  for (const [i, what] of ['src/orders/export.ts', 'src/orders/list.ts', 'test/orders/export.test.ts'].entries()) {
    await report(payloads.edit(shop, `toolu_shop_${i}`, `${shop.cwd}/${what}`), now - 300_000 + i * 60_000)
  }
  await report(payloads.bash(shop, 'toolu_shop_9', 'npm test -- orders', '12 passed'), now - 60_000)
  await report(payloads.stop(shop, 'The export pages by key.'), now - 20_000)
}

async function picture(browser: Browser, sandbox: Sandbox, shot: Shot, look: Look) {
  const narrow = look.endsWith('-narrow')
  const page = await openViewer(browser, sandbox, shot.hash, {
    viewport: narrow ? NARROW : WIDE,
    colorScheme: look.startsWith('dark') ? 'dark' : 'light',
    reducedMotion: 'reduce',
    locale: 'en-GB',
    deviceScaleFactor: narrow ? 2 : 1,
  })
  try {
    await page.locator(shot.ready).first().waitFor()
    await page.waitForFunction(() => document.querySelector('[aria-busy=true]') === null)
    await page.evaluate(() => document.fonts.ready)
    const name = `${shot.name}-${look}.png`
    await page.screenshot({ path: join(options.out, name) })
    printNote(name)
  } finally {
    await page.context().close()
  }
}

/** Accepts connections and never answers, so that calls stay in flight. */
async function slowModel(): Promise<{ url: string; close(): void }> {
  const server = createServer(() => undefined)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

async function main(): Promise<void> {
  mkdirSync(options.out, { recursive: true })
  const model = await slowModel()
  const sandbox = makeSandbox('screenshots', {
    CLAUDE_MEM_PROVIDER: 'anthropic',
    CLAUDE_MEM_ANTHROPIC_API_KEY: 'demo-key-for-pictures-only',
    CLAUDE_MEM_ANTHROPIC_BASE_URL: model.url,
  })
  let browser: Browser | null = null
  try {
    await fillFortnight(sandbox)
    await startDaemon(sandbox)
    const client = await DaemonClient.connect(sandbox.paths)
    await work(client)
    browser = await launchBrowser(['--font-render-hinting=none'])
    for (const shot of await shots(client)) {
      if (options.only !== undefined && options.only !== shot.name) continue
      for (const look of shot.looks) await picture(browser, sandbox, shot, look)
    }
    client.close()
  } finally {
    await browser?.close()
    await stopServing(sandbox)
    for (const pid of processesIn(sandbox)) kill(pid)
    model.close()
    sandbox.remove()
  }
}

await main()
