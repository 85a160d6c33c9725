/** One session of two turns, as it could happen any day: a bug, a wrong attempt, a decision, a feature. */
import { FILES, ROOT } from './files.ts'
import { bash, failing, fetched, glob, grep, type Step, todos, Workspace } from './tools.ts'

export interface StoryTurn {
  prompt: string
  steps: Step[]
  lastMessage: string
}

const shop = new Workspace(ROOT, FILES)
const NPM_TEST = 'npm test'

const CHECKOUT_FAILS = ` FAIL  test/checkout.test.ts > charges three lamps at 33.10
StripeInvalidRequestError: Invalid integer: 9930.000000000002
 ❯ Gateway.charge src/checkout/gateway.ts:12:20
 ❯ charge src/checkout/charge.ts:7:10

 Test Files  1 failed | 5 passed (6)
      Tests  1 failed | 46 passed (47)`

const COUPON_FAILS = ` FAIL  test/coupon.test.ts > 15 % off three lamps
AssertionError: expected 8440 to be 8441 // Object.is equality
 ❯ test/coupon.test.ts:6:77

 Test Files  1 failed | 5 passed (6)
      Tests  1 failed | 46 passed (47)`

const TYPES_FAIL = `src/checkout/invoice.ts(5,23): error TS2345: Argument of type 'CartLine[]' is not assignable to parameter of type 'PricedLine[]'.
  Property 'cents' is missing in type 'CartLine'.
Found 1 error in src/checkout/invoice.ts:5`

const EXPIRY_FAILS = ` FAIL  test/coupon-expiry.test.ts > is good on its last day
Error: coupon SPRING expired on 2026-03-31
 ❯ redeem src/cart/coupons.ts:14:39

 Test Files  1 failed | 6 passed (7)
      Tests  1 failed | 49 passed (50)`

const green = (tests: number, files: number) =>
  ` Test Files  ${files} passed (${files})\n      Tests  ${tests} passed (${tests})\n   Duration  1.31s`

const COMMIT_ONE = `Keep money as integer cents

Floats lose cents: 33.1 * 3 * 100 is 9930.000000000002 and Stripe 19 refuses amounts that are not whole.
Integer cents everywhere instead of decimal.js, because it adds 32 KB to the browser bundle and the
database stores integers anyway.`

const fixCheckout: StoryTurn = {
  prompt: 'npm test fails since we upgraded to Stripe 19: the checkout test. Find out why and fix it properly.',
  steps: [
    todos([false, 'Reproduce the failure'], [false, 'Find the cause'], [false, 'Fix it']),
    bash('git status --short', 'Working tree'),
    bash('ls', 'List files', 'migrations\nnode_modules\npackage.json\nscripts\nsrc\ntest'),
    failing(NPM_TEST, 'Run the tests', 1, CHECKOUT_FAILS),
    shop.read('test/checkout.test.ts'),
    shop.read('src/checkout/charge.ts'),
    shop.read('src/checkout/gateway.ts'),
    shop.read('src/cart/total.ts'),
    shop.read('src/cart/types.ts'),
    grep('\\* 100|toFixed|/ 100', 'src', [
      'src/cart/total.ts:9:  return amount - amount * (coupon.percent / 100)',
      'src/checkout/charge.ts:6:  const amount = total(cart.lines) * 100',
      "src/checkout/invoice.ts:5:  return 'Total: $' + total(cart.lines).toFixed(2)",
    ]),
    bash('npm ls stripe', 'Which Stripe', 'shop@1.4.0 /home/dev/shop\n└── stripe@19.1.0'),
    fetched(
      'https://docs.stripe.com/changelog',
      'What changed about amounts in version 19?',
      'Since version 19 the SDK validates `amount` before sending: it must be a whole number in the smallest currency unit.',
    ),
    bash('node -e "console.log(33.1 * 3 * 100)"', 'Check the arithmetic', '9930.000000000002'),
    shop.edit('src/checkout/charge.ts', 'total(cart.lines) * 100', 'Math.round(total(cart.lines) * 100)'),
    failing(NPM_TEST, 'Run the tests', 1, COUPON_FAILS),
    shop.read('test/coupon.test.ts'),
    grep('applyCoupon', '.', [
      'src/cart/total.ts:8:export function applyCoupon(amount: number, coupon: Coupon): number {',
      'test/coupon.test.ts:2:import { applyCoupon, total } from "../src/cart/total.ts"',
    ]),
    shop.checkout('src/checkout/charge.ts', 'Rounding at the end hides the error; undo'),
    shop.read('src/checkout/invoice.ts'),
    shop.write(
      'src/money.ts',
      `/** Money is whole cents; dollars exist only where people read them. */
export type Cents = number

export function toCents(dollars: number): Cents {
  return Math.round(dollars * 100)
}

export function formatCents(cents: Cents): string {
  return \`$\${(cents / 100).toFixed(2)}\`
}
`,
    ),
    shop.edit('src/cart/types.ts', '  /** In dollars. */\n  price: number', '  cents: Cents'),
    shop.edit(
      'src/cart/types.ts',
      'export interface CartLine',
      "import type { Cents } from '../money.ts'\n\nexport interface CartLine",
    ),
    shop.edit('src/cart/total.ts', 'sum + line.price * line.quantity', 'sum + line.cents * line.quantity'),
    shop.edit(
      'src/cart/total.ts',
      'return amount - amount * (coupon.percent / 100)',
      'return amount - Math.floor((amount * coupon.percent) / 100)',
    ),
    shop.edit('src/checkout/charge.ts', 'const amount = total(cart.lines) * 100', 'const amount = total(cart.lines)'),
    failing('npm run types', 'Check the types', 2, TYPES_FAIL),
    shop.edit(
      'src/checkout/invoice.ts',
      "'Total: $' + total(cart.lines).toFixed(2)",
      "'Total: ' + formatCents(total(cart.lines))",
    ),
    shop.edit(
      'src/checkout/invoice.ts',
      'import type { Cart }',
      "import { formatCents } from '../money.ts'\nimport type { Cart }",
    ),
    bash('npm run types', 'Check the types', ''),
    shop.edit('test/checkout.test.ts', 'price: 33.1', 'cents: 3310'),
    shop.edit('test/coupon.test.ts', 'price: 33.1', 'cents: 3310'),
    shop.edit(
      'test/coupon.test.ts',
      "Math.round(applyCoupon(amount, { code: 'SPRING', percent: 15 }) * 100)",
      "applyCoupon(amount, { code: 'SPRING', percent: 15 })",
    ),
    bash(NPM_TEST, 'Run the tests', green(47, 6)),
    todos([true, 'Reproduce the failure'], [true, 'Find the cause'], [true, 'Fix it']),
    bash('git diff --stat', 'What changed', ' 6 files changed, 24 insertions(+), 9 deletions(-)'),
    bash(
      `git commit -am "${COMMIT_ONE}"`,
      'Commit',
      '[main 8c1f2ab] Keep money as integer cents\n 6 files changed, 24 insertions(+), 9 deletions(-)',
    ),
  ],
  lastMessage: `The checkout test is green again (47 of 47). The cause: cart totals were float dollars, so 33.1 × 3 × 100 became 9930.000000000002, and Stripe 19 refuses amounts that are not whole cents. Rounding only in charge() was not enough: coupons then lost a cent.

I decided to keep money as integer cents everywhere (src/money.ts) instead of using decimal.js, because decimal.js adds 32 KB to the browser bundle.

Next: carts stored before today still hold dollar prices and need a migration.`,
}

const addExpiry: StoryTurn = {
  prompt: 'Now give coupons an expiry date. Expired ones must be refused with a clear message and status 410.',
  steps: [
    todos([false, 'Model'], [false, 'Refuse expired coupons'], [false, 'Migration'], [false, 'Tests']),
    glob('migrations/*.sql', ['migrations/0005_carts.sql', 'migrations/0006_coupons.sql']),
    shop.read('src/cart/coupons.ts'),
    shop.read('src/routes.ts'),
    shop.edit(
      'src/cart/types.ts',
      '  percent: number\n',
      "  percent: number\n  /** The last day it is good for, as YYYY-MM-DD in the shop's time zone; null: for ever. */\n  expiresOn: string | null\n",
    ),
    shop.edit(
      'src/cart/coupons.ts',
      'export function redeem(code: string): Coupon {',
      `export class CouponExpired extends Error {}

export function isExpired(coupon: Coupon, now: Date): boolean {
  return coupon.expiresOn !== null && now > new Date(coupon.expiresOn)
}

export function redeem(code: string, now = new Date()): Coupon {`,
    ),
    shop.edit(
      'src/cart/coupons.ts',
      '  return coupon\n',
      `  if (isExpired(coupon, now)) throw new CouponExpired(\`coupon \${code} expired on \${coupon.expiresOn}\`)
  return coupon
`,
    ),
    shop.edit(
      'src/routes.ts',
      '  return c.json(redeem(code))',
      `  try {
    return c.json(redeem(code))
  } catch (error) {
    if (error instanceof CouponExpired) return c.json({ error: error.message }, 410)
    throw error
  }`,
    ),
    shop.edit('src/routes.ts', 'import { redeem }', 'import { CouponExpired, redeem }'),
    shop.write(
      'test/coupon-expiry.test.ts',
      `import { expect, test } from 'vitest'
import { addCoupon, CouponExpired, redeem } from '../src/cart/coupons.ts'

addCoupon({ code: 'SPRING', percent: 15, expiresOn: '2026-03-31' })

test('is good on its last day', () => {
  expect(redeem('SPRING', new Date('2026-03-31T18:00:00')).percent).toBe(15)
})

test('is refused on the day after', () => {
  expect(() => redeem('SPRING', new Date('2026-04-01T00:00:01'))).toThrow(CouponExpired)
})
`,
    ),
    failing(NPM_TEST, 'Run the tests', 1, EXPIRY_FAILS),
    bash('node -e "console.log(new Date(\'2026-03-31\'))"', 'How is the date read', '2026-03-31T00:00:00.000Z'),
    shop.edit('src/cart/coupons.ts', 'now > new Date(coupon.expiresOn)', 'localDay(now) > coupon.expiresOn'),
    shop.edit(
      'src/cart/coupons.ts',
      'export function isExpired',
      `/** YYYY-MM-DD where the shop is: a date alone would be read as midnight UTC. */
function localDay(now: Date): string {
  return now.toLocaleDateString('sv-SE')
}

export function isExpired`,
    ),
    bash(NPM_TEST, 'Run the tests', green(50, 7)),
    shop.write('migrations/0007_coupon_expiry.sql', 'ALTER TABLE coupons ADD COLUMN expires_on TEXT;\n'),
    bash('npm run migrate', 'Apply the migration', '0007_coupon_expiry.sql applied\n1 migration applied to shop.db'),
    failing(
      'npm run lint',
      'Lint',
      1,
      'src/routes.ts:2:1 lint/style/useImportType  Some named imports are only used as types.\nFound 1 error.',
    ),
    bash('npx biome check --write src/routes.ts', 'Fix it', 'Checked 1 file. Fixed 1 file.'),
    bash('npm run lint', 'Lint', 'Checked 21 files. No fixes applied.'),
    bash('ls test', 'List the tests', 'checkout.test.ts\ncoupon-expiry.test.ts\ncoupon.test.ts'),
    todos([true, 'Model'], [true, 'Refuse expired coupons'], [true, 'Migration'], [true, 'Tests']),
    bash(NPM_TEST, 'Run all tests once more', green(50, 7)),
    bash(
      'git add -A && git commit -m "Refuse expired coupons with 410"',
      'Commit',
      '[main 41d07e9] Refuse expired coupons with 410\n 6 files changed, 41 insertions(+), 3 deletions(-)',
    ),
  ],
  lastMessage: `Coupons now have an expiresOn date, and POST /cart/coupon answers 410 with "coupon SPRING expired on 2026-03-31". Migration 0007_coupon_expiry.sql adds the column; all 50 tests pass.

One trap on the way: new Date('2026-03-31') is midnight UTC, so a coupon died on its last day; isExpired() compares local days as text instead.

Next steps: show the expiry date in the cart page, and migrate stored carts to cents.`,
}

export const STORY: readonly StoryTurn[] = [fixCheckout, addExpiry]
