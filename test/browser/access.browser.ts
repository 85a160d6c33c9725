/** Access to the viewer: one-time links, tokens, origins, hosts. */
import { createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isAlive } from '../support/programs.ts'
import { ViewerFixture } from './viewer-fixture.ts'

let fixture: ViewerFixture
let stranger: Server

beforeAll(async () => {
  fixture = await ViewerFixture.start()
  stranger = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>another page</title>')
  })
  await new Promise<void>((resolve) => stranger.listen(0, '127.0.0.1', resolve))
})
afterAll(async () => {
  stranger.close()
  await fixture.dispose()
})

function get(path: string, headers: Record<string, string>): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port: fixture.port, path, headers }, (response) => {
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

describe('viewer.access', () => {
  test('a link works once', async () => {
    const link = await fixture.link()
    const first = await fixture.newPage()
    await first.page.goto(link)
    await fixture.waitUntilLive(first.page)
    expect(first.page.url()).not.toContain('open=')
    const second = await fixture.newPage()
    await second.page.goto(link)
    await second.page.getByText('claude-mem viewer', { exact: true }).waitFor()
    expect(await second.page.locator('[data-testid=connection]').count()).toBe(0)
  })

  test('without a link the page only explains how to get one', async () => {
    const { page, errors } = await fixture.newPage()
    await page.goto(fixture.origin)
    await page.getByText('claude-mem viewer', { exact: true }).waitFor()
    expect(errors).toEqual([])
  })

  test('a link works in a tab that is already open', async () => {
    const { page } = await fixture.newPage()
    await page.goto(fixture.origin)
    await page.getByText('claude-mem viewer', { exact: true }).waitFor()
    await page.goto(await fixture.link())
    await fixture.waitUntilLive(page)
  })

  test('a reload keeps access, another tab needs another link', async () => {
    const { page } = await fixture.open()
    await page.reload()
    await fixture.waitUntilLive(page)
    const other = await page.context().newPage()
    await other.goto(fixture.origin)
    await other.getByText('claude-mem viewer', { exact: true }).waitFor()
  })

  test('another origin has no access, even with the token', async () => {
    const viewer = await fixture.open()
    const token = await viewer.page.evaluate(() => sessionStorage.getItem('claude-mem-token'))
    const { page } = await fixture.newPage()
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
      { origin: fixture.origin, given: token },
    )
    // A no-cors request is answered, but the page cannot read the answer.
    expect(got).toEqual(['refused', expect.stringMatching(/^refused$|^0 $/), 'refused', 'refused'])
  })

  test('another program on the port of a stopped daemon gets no token, and the page says so', async () => {
    const other = await ViewerFixture.start()
    const received: string[] = []
    const squatter = createServer(({ method, url, headers }, response) => {
      received.push(`${method} ${url} ${JSON.stringify(headers)}`)
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"proof":"guessed"}')
    })
    squatter.on('upgrade', ({ url, headers }, socket) => {
      received.push(`upgrade ${url} ${JSON.stringify(headers)}`)
      socket.destroy()
    })
    try {
      const { page } = await other.open()
      const token = String(await page.evaluate(() => sessionStorage.getItem('claude-mem-token')))
      const { pid } = await other.daemon.status()
      process.kill(pid, 'SIGKILL')
      await expect.poll(() => isAlive(pid)).toBe(false)
      await page.locator('[data-testid=connection][data-state=stale]').waitFor()
      await new Promise<void>((resolve) => squatter.listen(other.port, '127.0.0.1', resolve))
      await page.getByText('Another program answers at this address').waitFor()
      expect(received.length).toBeGreaterThan(0)
      expect(received.join('\n')).not.toContain(token.split('.')[2])
      expect(received.join('\n')).not.toContain('upgrade')
      await new Promise((resolve) => squatter.close(resolve))
      // The next daemon is another run: the token is worth nothing to it.
      await other.startDaemon()
      await page.getByText('This page needs a personal link').waitFor()
      expect(await page.evaluate(() => sessionStorage.getItem('claude-mem-token'))).toBeNull()
    } finally {
      squatter.closeAllConnections()
      squatter.close()
      await other.dispose()
    }
  })

  test('a page whose access was revoked says how to get a new link', async () => {
    const { page } = await fixture.open()
    await fixture.daemon.ask((client) => client.call('viewer_revoke', { viewer: null }))
    await page.getByText('claude-mem viewer', { exact: true }).waitFor()
  })

  test('a wrong Host or a missing token is rejected', async () => {
    const host = `127.0.0.1:${fixture.port}`
    for (const path of ['/', '/app.js', '/api/health']) {
      expect((await get(path, { host: `evil.example:${fixture.port}` })).status).toBe(403)
    }
    expect((await get('/api/health', { host })).status).toBe(401)
    expect((await get('/api/sessions', { host, authorization: 'Bearer wrong' })).status).toBe(401)
    expect((await get('/app.js', { host })).status).toBe(200)
  })

  test('the page sends requests only to the daemon', async () => {
    const { page, addresses, errors } = await fixture.open()
    for (const view of ['start', 'memory', 'session', 'usage', 'settings', 'team']) {
      await fixture.goTo(page, `#/${view}`)
      await page.locator(`main.view-${view}`).waitFor()
    }
    const strangers = addresses.filter((address) => new URL(address).host !== new URL(fixture.origin).host)
    expect(strangers).toEqual([])
    expect(addresses.length).toBeGreaterThan(3)
    expect(errors).toEqual([])
  })
})
