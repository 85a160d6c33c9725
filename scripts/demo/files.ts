/** The little shop that the demo's session works on. */
export const ROOT = '/home/dev/shop'

export const FILES: Record<string, string> = {
  'package.json': `{
  "name": "shop",
  "type": "module",
  "scripts": { "test": "vitest run", "types": "tsc --noEmit", "lint": "biome check .", "migrate": "node scripts/migrate.js" },
  "dependencies": { "stripe": "^19.1.0", "hono": "^4.6.0", "better-sqlite3": "^12.4.1" }
}
`,
  'src/cart/types.ts': `export interface CartLine {
  sku: string
  /** In dollars. */
  price: number
  quantity: number
}

export interface Coupon {
  code: string
  percent: number
}

export interface Cart {
  lines: CartLine[]
  currency: 'usd'
}
`,
  'src/cart/total.ts': `import type { CartLine, Coupon } from './types.ts'

/** Sum of all lines, in dollars. */
export function total(lines: CartLine[]): number {
  return lines.reduce((sum, line) => sum + line.price * line.quantity, 0)
}

export function applyCoupon(amount: number, coupon: Coupon): number {
  return amount - amount * (coupon.percent / 100)
}
`,
  'src/checkout/charge.ts': `import { total } from '../cart/total.ts'
import type { Cart } from '../cart/types.ts'
import type { Gateway, Receipt } from './gateway.ts'

export async function charge(cart: Cart, gateway: Gateway): Promise<Receipt> {
  const amount = total(cart.lines) * 100
  return await gateway.charge({ amount, currency: cart.currency })
}
`,
  'src/checkout/gateway.ts': `import Stripe from 'stripe'

export interface Receipt {
  id: string
  amount: number
}

export class Gateway {
  constructor(private readonly stripe: Stripe) {}

  async charge(order: { amount: number; currency: string }): Promise<Receipt> {
    const intent = await this.stripe.paymentIntents.create(order)
    return { id: intent.id, amount: intent.amount }
  }
}
`,
  'src/checkout/invoice.ts': `import { total } from '../cart/total.ts'
import type { Cart } from '../cart/types.ts'

export function invoiceLine(cart: Cart): string {
  return 'Total: $' + total(cart.lines).toFixed(2)
}
`,
  'src/cart/coupons.ts': `import type { Coupon } from './types.ts'

const coupons = new Map<string, Coupon>()

export function addCoupon(coupon: Coupon): void {
  coupons.set(coupon.code, coupon)
}

export function redeem(code: string): Coupon {
  const coupon = coupons.get(code)
  if (coupon === undefined) throw new Error(\`unknown coupon \${code}\`)
  return coupon
}
`,
  'src/routes.ts': `import { Hono } from 'hono'
import { redeem } from './cart/coupons.ts'

export const app = new Hono()

app.post('/cart/coupon', async (c) => {
  const { code } = await c.req.json()
  return c.json(redeem(code))
})
`,
  'test/checkout.test.ts': `import { expect, test } from 'vitest'
import { charge } from '../src/checkout/charge.ts'
import { strictGateway } from './strict-gateway.ts'

test('charges three lamps at 33.10', async () => {
  const cart = { currency: 'usd', lines: [{ sku: 'lamp', price: 33.1, quantity: 3 }] }
  expect(await charge(cart, strictGateway())).toMatchObject({ amount: 9930 })
})
`,
  'test/coupon.test.ts': `import { expect, test } from 'vitest'
import { applyCoupon, total } from '../src/cart/total.ts'

test('15 % off three lamps', () => {
  const amount = total([{ sku: 'lamp', price: 33.1, quantity: 3 }])
  expect(Math.round(applyCoupon(amount, { code: 'SPRING', percent: 15 }) * 100)).toBe(8441)
})
`,
}
