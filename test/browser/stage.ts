/** A real daemon on a port of its own, real hooks, and a browser that watches it. What pages complain about is kept. */
import { type AddressInfo, createServer } from 'node:net'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { launchBrowser } from '../../scripts/lib/browser.ts'
import type { Payload } from '../../scripts/lib/payloads.ts'
import { Place } from '../daemon-process.ts'

export interface Watched {
  page: Page
  /** Errors in the console, and scripts that failed. */
  complaints: string[]
  /** Where requests and WebSockets went. */
  addresses: string[]
}

export class Stage {
  readonly place = new Place()
  readonly port: number
  readonly #browser: Browser
  readonly #env: NodeJS.ProcessEnv

  private constructor(browser: Browser, port: number, env: NodeJS.ProcessEnv) {
    this.#browser = browser
    this.port = port
    this.#env = { CLAUDE_MEM_WORKER_PORT: String(port), ...env }
  }

  static async set(env: NodeJS.ProcessEnv = {}): Promise<Stage> {
    const stage = new Stage(await launchBrowser(), await freePort(), env)
    await stage.startDaemon()
    return stage
  }

  get origin(): string {
    return `http://127.0.0.1:${this.port}`
  }

  startDaemon() {
    return this.place.start(this.#env)
  }

  async report(...payloads: Payload[]): Promise<void> {
    for (const payload of payloads) {
      const { code, stdout } = await this.place.hook(payload, this.#env)
      if (code !== 0 || !stdout.includes('"continue":true')) throw new Error(`the hook ended with ${code}: ${stdout}`)
    }
  }

  link(): Promise<string> {
    return this.place.ask(async (client) => (await client.request('viewer_link', { type: 'viewer_link' })).url)
  }

  /** A page of its own, in a window that nobody else's storage reaches. */
  async blank(options: BrowserContextOptions = {}): Promise<Watched> {
    const context = await this.#browser.newContext({ viewport: { width: 1280, height: 800 }, ...options })
    const page = await context.newPage()
    const complaints: string[] = []
    const addresses: string[] = []
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text())
    })
    page.on('pageerror', (error) => complaints.push(String(error)))
    page.on('request', (request) => addresses.push(request.url()))
    page.on('websocket', (socket) => addresses.push(socket.url()))
    return { page, complaints, addresses }
  }

  /** The viewer, by a link of its own. `hash`: where in it. */
  async open(hash = '#/now', options: BrowserContextOptions = {}): Promise<Watched> {
    const watched = await this.blank(options)
    await watched.page.goto(await this.link())
    await this.live(watched.page)
    await this.goTo(watched.page, hash)
    return watched
  }

  async goTo(page: Page, hash: string): Promise<void> {
    await page.evaluate((where) => {
      location.hash = where
    }, hash)
  }

  async live(page: Page): Promise<void> {
    await page.locator('[data-testid=connection][data-state=live]').waitFor()
  }

  async strike(): Promise<void> {
    await this.#browser.close()
    await this.place.dispose()
  }
}

export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
