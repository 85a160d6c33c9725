/** A real daemon with real hooks, and a browser with the viewer. Records the errors and requests of each page. */
import { type AddressInfo, createServer } from 'node:net'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { launchBrowser } from '../../scripts/lib/browser.ts'
import type { Payload } from '../../scripts/lib/payloads.ts'
import { DaemonSandbox } from '../support/daemon.ts'

export interface OpenPage {
  page: Page
  /** Console errors and uncaught exceptions. */
  errors: string[]
  /** Addresses of all requests and WebSockets. */
  addresses: string[]
}

export class ViewerFixture {
  readonly daemon = new DaemonSandbox()
  readonly port: number
  readonly #browser: Browser
  readonly #env: NodeJS.ProcessEnv

  private constructor(browser: Browser, port: number, env: NodeJS.ProcessEnv) {
    this.#browser = browser
    this.port = port
    this.#env = { CLAUDE_MEM_WORKER_PORT: String(port), ...env }
  }

  static async start(env: NodeJS.ProcessEnv = {}): Promise<ViewerFixture> {
    const fixture = new ViewerFixture(await launchBrowser(), await freePort(), env)
    await fixture.startDaemon()
    return fixture
  }

  get origin(): string {
    return `http://127.0.0.1:${this.port}`
  }

  startDaemon() {
    return this.daemon.start(this.#env)
  }

  async runHooks(...payloads: Payload[]): Promise<void> {
    for (const payload of payloads) {
      const { code, stdout } = await this.daemon.hook(payload, this.#env)
      if (code !== 0 || !stdout.includes('"continue":true')) throw new Error(`the hook exited with ${code}: ${stdout}`)
    }
  }

  /** The hook as it is registered in another client. */
  async runHooksOf(client: string, ...payloads: object[]): Promise<void> {
    for (const payload of payloads) {
      const { code, stdout } = await this.daemon.hook(payload, this.#env, { args: ['--client', client] })
      if (code !== 0) throw new Error(`the hook exited with ${code}: ${stdout}`)
    }
  }

  link(): Promise<string> {
    return this.daemon.ask(async (client) => (await client.call('viewer_link')).url)
  }

  /** A page in a browser context of its own, without the viewer. */
  async newPage(options: BrowserContextOptions = {}): Promise<OpenPage> {
    const context = await this.#browser.newContext({ viewport: { width: 1280, height: 800 }, ...options })
    const page = await context.newPage()
    const errors: string[] = []
    const addresses: string[] = []
    page.on('console', (message) => {
      if (message.type() === 'error') errors.push(message.text())
    })
    page.on('pageerror', (error) => errors.push(String(error)))
    page.on('request', (request) => addresses.push(request.url()))
    page.on('websocket', (socket) => addresses.push(socket.url()))
    return { page, errors, addresses }
  }

  /** A page with the viewer. `hash`: the view. */
  async open(hash = '#/start', options: BrowserContextOptions = {}): Promise<OpenPage> {
    const opened = await this.newPage(options)
    await opened.page.goto(await this.link())
    await this.waitUntilLive(opened.page)
    await this.goTo(opened.page, hash)
    return opened
  }

  async goTo(page: Page, hash: string): Promise<void> {
    await page.evaluate((where) => {
      location.hash = where
    }, hash)
  }

  async waitUntilLive(page: Page): Promise<void> {
    await page.locator('[data-testid=connection][data-state=live]').waitFor()
  }

  async dispose(): Promise<void> {
    await this.#browser.close()
    await this.daemon.dispose()
  }
}

export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
