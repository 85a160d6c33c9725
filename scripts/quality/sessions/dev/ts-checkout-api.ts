/** A TypeScript web API: a bug in production, a follow-up on idempotency, a dependency with a breaking change. */
import { changelog, openapi, packageList, tsModule } from '../../material.ts'
import type { Recorder } from '../../recorder.ts'
import type { Fact } from '../../scenario.ts'

export const project = 'shopfront-api'

export const facts: Fact[] = [
  { ask: 'Why did checkout fail for empty carts?', expect: ['applyDiscount', 'undefined'] },
  { ask: 'Which status does checkout answer for an empty cart now?', expect: ['422', 'empty'] },
  { ask: 'Where is the check for empty carts?', expect: ['src/routes/checkout.ts'] },
  { ask: 'Why are amounts kept in integer cents?', expect: ['cents', 'rounding'] },
  { ask: 'How are retried payments kept from charging twice?', expect: ['Idempotency-Key', '24'] },
  { ask: 'Which module holds the idempotency keys?', expect: ['src/payments/idempotency.ts', 'rememberKey'] },
  { ask: 'Why was an in-memory map chosen over Redis?', expect: ['Redis', 'one instance'] },
  { ask: 'What broke when fastify was upgraded?', expect: ['fastify', '5.2.0', 'setErrorHandler'] },
  { ask: 'On which port does the API run locally?', expect: ['8081'] },
  { ask: 'How many tests pass at the end?', expect: ['23 passed'] },
]

const CART = `import type { Cart, LineItem } from '../types'
import { applyDiscount } from './discount'

export interface Totals {
  subtotal: number
  discount: number
  total: number
}

export function subtotalOf(items: LineItem[]): number {
  return items.reduce((sum, item) => sum + item.unitPrice * item.quantity, 0)
}

export function totalsOf(cart: Cart): Totals {
  const subtotal = subtotalOf(cart.items)
  const discount = applyDiscount(cart, subtotal)
  return { subtotal, discount, total: subtotal - discount }
}
`
const DISCOUNT = `import type { Cart } from '../types'

const BULK_THRESHOLD = 10

/** The cheapest item is free from ten pieces on; a coupon comes on top. */
export function applyDiscount(cart: Cart, subtotal: number): number {
  const cheapest = [...cart.items].sort((a, b) => a.unitPrice - b.unitPrice)[0]
  const pieces = cart.items.reduce((sum, item) => sum + item.quantity, 0)
  const bulk = pieces >= BULK_THRESHOLD ? cheapest.unitPrice : 0
  const coupon = cart.coupon ? subtotal * (cart.coupon.percent / 100) : 0
  return Math.min(subtotal, bulk + coupon) + cheapest.unitPrice * 0
}
`
const CHECKOUT = `import type { FastifyInstance } from 'fastify'
import { totalsOf } from '../cart/totals'
import { loadCart } from '../cart/store'
import { charge } from '../payments/gateway'

export async function checkoutRoutes(app: FastifyInstance): Promise<void> {
  app.post<{ Params: { cartId: string } }>('/carts/:cartId/checkout', async (request, reply) => {
    const cart = await loadCart(request.params.cartId)
    if (!cart) return reply.code(404).send({ error: 'cart_not_found' })
    const totals = totalsOf(cart)
    const payment = await charge({ amount: totals.total, currency: cart.currency, reference: cart.id })
    return reply.code(201).send({ orderId: payment.id, totals })
  })
}
`
const SERVER = `import Fastify from 'fastify'
import { checkoutRoutes } from './routes/checkout'
import { healthRoutes } from './routes/health'

const PORT = Number(process.env.PORT ?? 8081)

export function buildServer() {
  const app = Fastify({ logger: true })
  app.register(healthRoutes)
  app.register(checkoutRoutes)
  app.setErrorHandler((error, _request, reply) => {
    reply.code(error.statusCode ?? 500).send({ error: error.message })
  })
  return app
}

if (require.main === module) buildServer().listen({ port: PORT, host: '127.0.0.1' })
`
const TOTALS_TEST = `import { describe, expect, it } from 'vitest'
import { totalsOf } from '../src/cart/totals'

const cart = (items: [number, number][], percent?: number) => ({
  id: 'c1',
  currency: 'EUR',
  items: items.map(([unitPrice, quantity], n) => ({ sku: 's' + n, unitPrice, quantity })),
  coupon: percent === undefined ? undefined : { code: 'X', percent },
})

describe('totalsOf', () => {
  it('adds up items', () => {
    expect(totalsOf(cart([[500, 2], [250, 1]])).subtotal).toBe(1250)
  })
  it('gives the cheapest item for free from ten pieces on', () => {
    expect(totalsOf(cart([[500, 9], [200, 1]])).discount).toBe(200)
  })
})
`

export default async function (r: Recorder): Promise<void> {
  r.files({
    'package.json':
      '{\n  "name": "shopfront-api",\n  "version": "3.4.1",\n  "scripts": { "test": "vitest run", "dev": "tsx watch src/server.ts", "types": "tsc --noEmit" },\n  "dependencies": { "fastify": "^4.28.1" },\n  "devDependencies": { "typescript": "^5.6.3", "vitest": "^2.1.8", "tsx": "^4.19.2" }\n}\n',
    'src/types.ts':
      'export interface LineItem {\n  sku: string\n  /** Cents. */\n  unitPrice: number\n  quantity: number\n}\n\nexport interface Cart {\n  id: string\n  currency: string\n  items: LineItem[]\n  coupon?: { code: string; percent: number }\n}\n',
    'src/cart/totals.ts': CART,
    'src/cart/discount.ts': DISCOUNT,
    'src/cart/store.ts':
      "import type { Cart } from '../types'\n\nconst carts = new Map<string, Cart>()\n\nexport async function loadCart(id: string): Promise<Cart | undefined> {\n  return carts.get(id)\n}\n\nexport function saveCart(cart: Cart): void {\n  carts.set(cart.id, cart)\n}\n",
    'src/payments/gateway.ts':
      "export interface Charge {\n  amount: number\n  currency: string\n  reference: string\n}\n\nexport async function charge(order: Charge): Promise<{ id: string }> {\n  const response = await fetch(process.env.GATEWAY_URL + '/charges', { method: 'POST', body: JSON.stringify(order) })\n  if (!response.ok) throw new Error('gateway answered ' + response.status)\n  return (await response.json()) as { id: string }\n}\n",
    'src/routes/checkout.ts': CHECKOUT,
    'src/routes/health.ts':
      "import type { FastifyInstance } from 'fastify'\n\nexport async function healthRoutes(app: FastifyInstance): Promise<void> {\n  app.get('/health', async () => ({ ok: true }))\n}\n",
    'src/server.ts': SERVER,
    'test/totals.test.ts': TOTALS_TEST,
    'openapi.yaml': openapi(28),
    'src/admin/reports.ts': tsModule(16),
    'CHANGELOG.md': changelog(24),
    'README.md': '# shopfront-api\n\n`npm run dev` serves on http://127.0.0.1:8081. Prices are cents.\n',
  })
  r.shell('git init -q && git add -A && git commit -qm "Release 3.4.1"')

  r.prompt(
    'Since this morning we see 500s on POST /carts/:id/checkout, always for carts without items: "TypeError: Cannot read properties of undefined (reading \'unitPrice\')". Find out why and fix it. An empty cart should be a clean client error, not a 500.',
  )
  r.say("I'll look at the checkout route and how the totals are computed.")
  await r.bash('ls', { description: 'List project files' })
  await r.glob('src/**/*.ts')
  await r.read('src/routes/checkout.ts')
  await r.read('src/cart/totals.ts')
  await r.read('openapi.yaml')
  await r.read('README.md')
  await r.grep('unitPrice', { output_mode: 'content', '-n': true, path: 'src' })
  await r.read('src/cart/discount.ts')
  await r.bash('git log --oneline -5 && git status --short', { description: 'Recent history' })
  r.todo([
    { content: 'Reproduce with a failing test', status: 'in_progress' },
    { content: 'Guard the discount', status: 'pending' },
    { content: 'Answer 422 for empty carts', status: 'pending' },
  ])
  await r.read('test/totals.test.ts')
  await r.edit(
    'test/totals.test.ts',
    "  it('gives the cheapest item",
    "  it('is zero for an empty cart', () => {\n    expect(totalsOf(cart([]))).toEqual({ subtotal: 0, discount: 0, total: 0 })\n  })\n  it('gives the cheapest item",
  )
  await r.bash('npx vitest run', {
    description: 'Run the tests',
    exitCode: 1,
    stdoutOverride: ` RUN  v2.1.8 /home/dev/shopfront-api

 ❯ test/totals.test.ts (3 tests | 1 failed) 9ms
   × totalsOf > is zero for an empty cart 5ms
     → Cannot read properties of undefined (reading 'unitPrice')
 ✓ test/store.test.ts (4 tests) 3ms
 ✓ test/gateway.test.ts (8 tests) 12ms

⎯⎯⎯⎯⎯⎯⎯ Failed Tests 1 ⎯⎯⎯⎯⎯⎯⎯

 FAIL  test/totals.test.ts > totalsOf > is zero for an empty cart
TypeError: Cannot read properties of undefined (reading 'unitPrice')
 ❯ applyDiscount src/cart/discount.ts:11:62
      9|   const bulk = pieces >= BULK_THRESHOLD ? cheapest.unitPrice : 0
     10|   const coupon = cart.coupon ? subtotal * (cart.coupon.percent / 100) : 0
     11|   return Math.min(subtotal, bulk + coupon) + cheapest.unitPrice * 0
       |                                                              ^
 ❯ totalsOf src/cart/totals.ts:16:20
 ❯ test/totals.test.ts:17:12

 Test Files  1 failed | 2 passed (3)
      Tests  1 failed | 14 passed (15)
   Start at  10:12:44
   Duration  612ms`,
  })
  r.say(
    'Reproduced: with no items `cheapest` is undefined and the pointless `cheapest.unitPrice * 0` reads it. The coupon is not rounded either, so totals can have fractions of a cent.',
  )
  await r.edit(
    'src/cart/discount.ts',
    '  const bulk = pieces >= BULK_THRESHOLD ? cheapest.unitPrice : 0\n  const coupon = cart.coupon ? subtotal * (cart.coupon.percent / 100) : 0\n  return Math.min(subtotal, bulk + coupon) + cheapest.unitPrice * 0',
    '  if (cheapest === undefined) return 0\n  const bulk = pieces >= BULK_THRESHOLD ? cheapest.unitPrice : 0\n  const coupon = cart.coupon ? Math.round(subtotal * (cart.coupon.percent / 100)) : 0\n  return Math.min(subtotal, bulk + coupon)',
  )
  await r.edit(
    'src/routes/checkout.ts',
    '    const totals = totalsOf(cart)\n',
    "    if (cart.items.length === 0) return reply.code(422).send({ error: 'cart_empty' })\n    const totals = totalsOf(cart)\n",
  )
  await r.write(
    'test/checkout.test.ts',
    "import { expect, it } from 'vitest'\nimport { saveCart } from '../src/cart/store'\nimport { buildServer } from '../src/server'\n\nit('answers 422 for an empty cart', async () => {\n  saveCart({ id: 'empty', currency: 'EUR', items: [] })\n  const response = await buildServer().inject({ method: 'POST', url: '/carts/empty/checkout' })\n  expect(response.statusCode).toBe(422)\n  expect(response.json()).toEqual({ error: 'cart_empty' })\n})\n",
  )
  await r.bash('npx vitest run', {
    description: 'Run the tests',
    stdoutOverride: ` RUN  v2.1.8 /home/dev/shopfront-api

 ✓ test/totals.test.ts (3 tests) 4ms
 ✓ test/store.test.ts (4 tests) 3ms
 ✓ test/gateway.test.ts (8 tests) 11ms
 ✓ test/checkout.test.ts (1 test) 38ms

 Test Files  4 passed (4)
      Tests  16 passed (16)
   Start at  10:15:02
   Duration  701ms`,
  })
  await r.bash('npx tsc --noEmit', { description: 'Type-check', stdoutOverride: '' })
  await r.bash('git diff --stat', { description: 'What changed' })
  await r.bash(
    'git add -A && git commit -q -m "Fix checkout of empty carts" -m "applyDiscount read unitPrice of undefined when a cart had no items. It now returns 0, and the route answers 422 cart_empty before it charges anything. Coupons are rounded: amounts stay integer cents, because the gateway rejects fractions and float rounding drifted from the invoice." && git log --oneline -1',
    { description: 'Commit' },
  )
  r.end('Fixed and committed. The new test fails without the change, and all 16 tests pass with it.')

  r.prompt(
    "Good. Next: support tells me customers get charged twice when their phone retries the request. Please make checkout idempotent with an Idempotency-Key header, keep keys for 24 hours. Use a plain in-memory map instead of Redis because we run only one instance and don't want to operate another service.",
  )
  await r.read('CHANGELOG.md')
  await r.read('src/admin/reports.ts')
  await r.grep('charge\\(', { output_mode: 'content', '-n': true })
  await r.read('src/payments/gateway.ts')
  await r.read('src/routes/checkout.ts')
  r.webFetch(
    'https://datatracker.ietf.org/doc/draft-ietf-httpapi-idempotency-key-header/',
    'What must a server do when the same key is reused with another payload, or while the first request is running?',
    'The draft says: a reused key with a different payload should be answered with 422, a retry while the original request is still being processed with 409 Conflict, a retry after completion with the stored result.',
  )
  await r.write(
    'src/payments/idempotency.ts',
    '/** How long a retry finds the first answer, in ms: phones give up long before a day. */\nconst KEEP_MS = 24 * 60 * 60 * 1000\n\ninterface Remembered {\n  at: number\n  answer: Promise<unknown>\n}\n\nconst keys = new Map<string, Remembered>()\n\nexport function rememberKey<T>(key: string, work: () => Promise<T>, now = Date.now()): Promise<T> {\n  forgetOld(now)\n  const known = keys.get(key)\n  if (known) return known.answer as Promise<T>\n  const answer = work()\n  keys.set(key, { at: now, answer })\n  answer.catch(() => keys.delete(key))\n  return answer\n}\n\nfunction forgetOld(now: number): void {\n  for (const [key, { at }] of keys) {\n    if (now - at > KEEP_MS) keys.delete(key)\n  }\n}\n',
  )
  await r.edit(
    'src/routes/checkout.ts',
    '    const payment = await charge({ amount: totals.total, currency: cart.currency, reference: cart.id })',
    "    const key = request.headers['idempotency-key']\n    const pay = () => charge({ amount: totals.total, currency: cart.currency, reference: cart.id })\n    const payment = typeof key === 'string' ? await rememberKeys(cart.id + ':' + key, pay) : await pay()",
  )
  await r.edit(
    'src/routes/checkout.ts',
    "import { charge } from '../payments/gateway'\n",
    "import { charge } from '../payments/gateway'\nimport { rememberKey } from '../payments/idempotency'\n",
  )
  await r.write(
    'test/idempotency.test.ts',
    "import { describe, expect, it, vi } from 'vitest'\nimport { rememberKey } from '../src/payments/idempotency'\n\ndescribe('rememberKey', () => {\n  it('charges once for two requests with one key', async () => {\n    const work = vi.fn(async () => ({ id: 'p1' }))\n    await Promise.all([rememberKey('a', work), rememberKey('a', work)])\n    expect(work).toHaveBeenCalledTimes(1)\n  })\n  it('forgets a key after 24 hours', async () => {\n    const work = vi.fn(async () => ({ id: 'p2' }))\n    await rememberKey('b', work, 0)\n    await rememberKey('b', work, 86_400_001)\n    expect(work).toHaveBeenCalledTimes(2)\n  })\n  it('lets a failed charge be tried again', async () => {\n    const work = vi.fn().mockRejectedValueOnce(new Error('declined')).mockResolvedValue({ id: 'p3' })\n    await expect(rememberKey('c', work)).rejects.toThrow('declined')\n    await expect(rememberKey('c', work)).resolves.toEqual({ id: 'p3' })\n  })\n})\n",
  )
  await r.bash('npx vitest run test/idempotency.test.ts', {
    description: 'Run the new tests',
    stdoutOverride:
      ' RUN  v2.1.8 /home/dev/shopfront-api\n\n ✓ test/idempotency.test.ts (3 tests) 5ms\n\n Test Files  1 passed (1)\n      Tests  3 passed (3)\n   Duration  402ms',
  })
  await r.bash('npx tsc --noEmit', {
    description: 'Type-check',
    exitCode: 2,
    stdoutOverride: "src/routes/checkout.ts(15,25): error TS2304: Cannot find name 'rememberKeys'.",
  })
  await r.read('src/routes/checkout.ts', { offset: 10, limit: 12 })
  await r.edit('src/routes/checkout.ts', 'await rememberKeys(', 'await rememberKey(')
  await r.bash('npx tsc --noEmit', { description: 'Type-check again', stdoutOverride: '' })
  await r.bash('npm run dev', {
    description: 'Start the server',
    background: true,
    stdoutOverride: '> tsx watch src/server.ts\n\n{"level":30,"msg":"Server listening at http://127.0.0.1:8081"}',
  })
  await r.bash("curl -s -o /dev/null -w '%{http_code}' -X POST http://127.0.0.1:8081/carts/nope/checkout", {
    description: 'Try the route',
    stdoutOverride: '404',
  })
  await r.bash(
    'git add -A && git commit -q -m "Make checkout idempotent" -m "Retries with the same Idempotency-Key share one charge for 24 hours. Keys live in a Map instead of Redis because there is only one instance." && git status --short',
    { description: 'Commit' },
  )
  r.end(
    'Checkout is idempotent now and committed. Should you ever run a second instance, the keys must move to a shared store.',
  )

  r.prompt('Dependabot wants fastify 5. Can you try the upgrade?')
  await r.bash('npm ls --all', { description: 'What is installed', stdoutOverride: packageList(120) })
  await r.bash('npm install fastify@5.2.0', {
    description: 'Upgrade fastify',
    stdoutOverride:
      'added 3 packages, removed 5 packages, changed 21 packages, and audited 164 packages in 6s\n\n42 packages are looking for funding\n\nfound 0 vulnerabilities',
  })
  await r.bash('npx tsc --noEmit', {
    description: 'Type-check',
    exitCode: 2,
    stdoutOverride:
      "src/server.ts(12,16): error TS18046: 'error' is of type 'unknown'.\nsrc/server.ts(12,51): error TS18046: 'error' is of type 'unknown'.",
  })
  r.webSearch('fastify 5 setErrorHandler error unknown type', [
    {
      title: 'Fastify v5 migration guide',
      url: 'https://fastify.dev/docs/latest/Guides/Migration-Guide-V5/',
      snippet: 'The error passed to setErrorHandler is typed unknown unless FastifyError is given as type argument.',
    },
  ])
  await r.read('src/server.ts')
  await r.read('openapi.yaml', { offset: 100, limit: 90 })
  await r.edit('src/server.ts', 'app.setErrorHandler((error,', 'app.setErrorHandler<FastifyError>((error,')
  await r.edit('src/server.ts', "import Fastify from 'fastify'", "import Fastify, { type FastifyError } from 'fastify'")
  await r.bash('npx tsc --noEmit && npx vitest run', {
    description: 'Type-check and test',
    stdoutOverride:
      ' RUN  v2.1.8 /home/dev/shopfront-api\n\n ✓ test/totals.test.ts (3 tests) 4ms\n ✓ test/store.test.ts (4 tests) 3ms\n ✓ test/gateway.test.ts (8 tests) 12ms\n ✓ test/checkout.test.ts (5 tests) 51ms\n ✓ test/idempotency.test.ts (3 tests) 5ms\n\n Test Files  5 passed (5)\n      Tests  23 passed (23)\n   Duration  812ms',
  })
  await r.bash(
    'git add -A && git commit -q -m "Upgrade fastify to 5.2.0" -m "setErrorHandler types its error as unknown now: name FastifyError." && git log --oneline -3',
    { description: 'Commit' },
  )
  r.end('The upgrade is in; only one type had to be named. Tests and types are clean.')
}
