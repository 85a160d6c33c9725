/** A real Chromium without a window, and the viewer in it, opened with a link as `claude-mem viewer` makes one. */
import { type Browser, type BrowserContextOptions, type CDPSession, chromium, type Page } from 'playwright-core'
import { findProgram } from '../../src/lib/find-program.ts'
import { connect, type Sandbox } from './sandbox.ts'

/** Names of the program on Debian, Ubuntu, Fedora, Arch and in Google's packages. */
const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome'] as const

async function findBrowser(env: NodeJS.ProcessEnv = process.env): Promise<string> {
  const given = env.CLAUDE_MEM_TEST_BROWSER
  if (given !== undefined && given !== '') return given
  for (const name of NAMES) {
    const found = await findProgram(name, env)
    if (found !== null) return found
  }
  throw new Error(
    'no Chromium was found; install one (Debian: apt-get install chromium) or name it in CLAUDE_MEM_TEST_BROWSER',
  )
}

export async function launchBrowser(args: readonly string[] = []): Promise<Browser> {
  // Chromium's sandbox does not start for root, as in a container. The page is our own.
  const isRoot = process.getuid?.() === 0
  return await chromium.launch({
    executablePath: await findBrowser(),
    args: [...(isRoot ? ['--no-sandbox'] : []), '--disable-dev-shm-usage', ...args],
  })
}

const START_LIMIT_MS = 300_000

export async function viewerLink(sandbox: Sandbox): Promise<string> {
  const client = await connect(sandbox, START_LIMIT_MS)
  if (client === null) throw new Error('the daemon does not answer')
  try {
    return (await client.call('viewer_link', {})).url
  } finally {
    client.close()
  }
}

/** `hash`: the view, such as `#/memory`. */
export async function openViewer(
  browser: Browser,
  sandbox: Sandbox,
  hash: string,
  options: BrowserContextOptions = {},
): Promise<Page> {
  const context = await browser.newContext(options)
  const page = await context.newPage()
  await page.goto(await viewerLink(sandbox))
  await page.locator('[data-testid=connection][data-state=live]').waitFor()
  await page.evaluate((where) => {
    location.hash = where
  }, hash)
  return page
}

/** JavaScript heap of the page after a garbage collection. */
export async function heapMb(page: Page): Promise<number> {
  const session: CDPSession = await page.context().newCDPSession(page)
  await session.send('HeapProfiler.collectGarbage')
  const { usedSize } = await session.send('Runtime.getHeapUsage')
  await session.detach()
  return usedSize / 1024 / 1024
}

export interface Frames {
  perSecond: number
  /** Longest time between two frames, in ms. */
  longestMs: number
}

/** Counts the frames that the page draws in a period. */
export async function framesFor(page: Page, ms: number): Promise<Frames> {
  return await page.evaluate(
    (duration) =>
      new Promise<{ perSecond: number; longestMs: number }>((resolve) => {
        const began = performance.now()
        let last = began
        let count = 0
        let longestMs = 0
        const draw = (now: number) => {
          count += 1
          longestMs = Math.max(longestMs, now - last)
          last = now
          if (now - began < duration) requestAnimationFrame(draw)
          else resolve({ perSecond: (count * 1_000) / (now - began), longestMs })
        }
        requestAnimationFrame(draw)
      }),
    ms,
  )
}
