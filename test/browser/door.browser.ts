/** Who gets nothing: other pages, other names, those without a token. And the page itself asks nobody else. */
import { createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Stage } from './stage.ts'

let stage: Stage
let stranger: Server

beforeAll(async () => {
  stage = await Stage.set()
  stranger = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>another page</title>')
  })
  await new Promise<void>((resolve) => stranger.listen(0, '127.0.0.1', resolve))
})
afterAll(async () => {
  stranger.close()
  await stage.strike()
})

function get(path: string, headers: Record<string, string>): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port: stage.port, path, headers }, (response) => {
      let body = ''
      response.setEncoding('utf8').on('data', (chunk: string) => {
        body += chunk
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body }))
    })
    asked.on('error', reject)
    asked.end()
  })
}

describe('viewer.door', () => {
  test('a link opens the page once; the second time it asks for a new one', async () => {
    const link = await stage.link()
    const first = await stage.blank()
    await first.page.goto(link)
    await stage.live(first.page)
    expect(first.page.url()).not.toContain('open=')
    const second = await stage.blank()
    await second.page.goto(link)
    await second.page.getByText('claude-mem viewer', { exact: true }).waitFor()
    expect(await second.page.locator('[data-testid=connection]').count()).toBe(0)
  })

  test('without a link there is a page that says how to get one, and nothing of the memory', async () => {
    const { page, complaints } = await stage.blank()
    await page.goto(stage.origin)
    await page.getByText('claude-mem viewer', { exact: true }).waitFor()
    expect(complaints).toEqual([])
  })

  test('a link that is pasted into a tab that is open lets it in', async () => {
    const { page } = await stage.blank()
    await page.goto(stage.origin)
    await page.getByText('claude-mem viewer', { exact: true }).waitFor()
    await page.goto(await stage.link())
    await stage.live(page)
  })

  test('a reload keeps the page open, another tab needs a link of its own', async () => {
    const { page } = await stage.open()
    await page.reload()
    await stage.live(page)
    const other = await page.context().newPage()
    await other.goto(stage.origin)
    await other.getByText('claude-mem viewer', { exact: true }).waitFor()
  })

  test('a page on another origin gets nothing, not even with the token', async () => {
    const viewer = await stage.open()
    const token = await viewer.page.evaluate(() => sessionStorage.getItem('claude-mem-token'))
    const { page } = await stage.blank()
    await page.goto(`http://127.0.0.1:${(stranger.address() as AddressInfo).port}/`)
    const got = await page.evaluate(
      async ({ origin, given }) => {
        const attempt = async (path: string, init: RequestInit) => {
          try {
            const response = await fetch(origin + path, init)
            return `${response.status} ${await response.text()}`
          } catch {
            return 'refused'
          }
        }
        const socket = new WebSocket(`${origin.replace('http', 'ws')}/`, ['claude-mem.v1', `token.${given}`])
        const connected = await new Promise<string>((resolve) => {
          socket.onopen = () => resolve('connected')
          socket.onerror = () => resolve('refused')
        })
        return [
          await attempt('/api/health', { headers: { authorization: `Bearer ${given}` } }),
          await attempt('/api/health', { mode: 'no-cors' }),
          await attempt('/api/viewer/open', { method: 'POST', body: '{"code":"x"}' }),
          connected,
        ]
      },
      { origin: stage.origin, given: token },
    )
    // A request without CORS is answered, but its answer is kept from the page.
    expect(got).toEqual(['refused', expect.stringMatching(/^refused$|^0 $/), 'refused', 'refused'])
  })

  test('a wrong Host and a missing token get nothing', async () => {
    const host = `127.0.0.1:${stage.port}`
    for (const path of ['/', '/app.js', '/api/health']) {
      expect((await get(path, { host: `evil.example:${stage.port}` })).status).toBe(403)
    }
    expect((await get('/api/health', { host })).status).toBe(401)
    expect((await get('/api/sessions', { host, authorization: 'Bearer wrong' })).status).toBe(401)
    expect((await get('/app.js', { host })).status).toBe(200)
  })

  test('no request leaves the machine', async () => {
    const { page, addresses, complaints } = await stage.open()
    for (const view of ['now', 'memory', 'session', 'usage', 'settings']) {
      await stage.goTo(page, `#/${view}`)
      await page.locator(`main.view-${view}`).waitFor()
    }
    const strangers = addresses.filter((address) => new URL(address).host !== new URL(stage.origin).host)
    expect(strangers).toEqual([])
    expect(addresses.length).toBeGreaterThan(3)
    expect(complaints).toEqual([])
  })
})
