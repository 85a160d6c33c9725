/** The viewer in a browser, opened by a link of its own, as `claude-mem viewer` does it. */
import type { Browser, BrowserContextOptions, CDPSession, Page } from 'playwright-core'
import { connect } from '../lib/daemon.ts'
import type { Place } from '../lib/place.ts'

const START_LIMIT_MS = 300_000

export async function viewerLink(place: Place): Promise<string> {
  const client = await connect(place, START_LIMIT_MS)
  if (client === null) throw new Error('the daemon does not answer')
  try {
    return (await client.request('viewer_link', { type: 'viewer_link' })).url
  } finally {
    client.close()
  }
}

/** `hash`: where in the viewer, like `#/memory`. */
export async function openViewer(
  browser: Browser,
  place: Place,
  hash: string,
  options: BrowserContextOptions = {},
): Promise<Page> {
  const context = await browser.newContext(options)
  const page = await context.newPage()
  await page.goto(await viewerLink(place))
  await page.locator('[data-testid=connection][data-state=live]').waitFor()
  await page.evaluate((where) => {
    location.hash = where
  }, hash)
  return page
}

/** Of the page's scripts, after a collection. */
export async function heapMb(page: Page): Promise<number> {
  const session: CDPSession = await page.context().newCDPSession(page)
  await session.send('HeapProfiler.collectGarbage')
  const { usedSize } = await session.send('Runtime.getHeapUsage')
  await session.detach()
  return usedSize / 1024 / 1024
}

export interface Frames {
  perSecond: number
  /** The longest time between two of them, in ms. */
  longestMs: number
}

/** How often the page is drawn for so long. */
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
