import { describe } from 'vitest'
import { created, edited, patched } from './edit.ts'
import { examples, swap } from './examples.ts'

const CART = `import { db } from './db.ts'
import type { Item } from './item.ts'

const MAX_ITEMS = 50
export const TAX_RATE = 0.19

export class Cart {
  private items: Item[] = []

  constructor(private readonly owner: string) {}

  addItem(item: Item): void {
    if (this.items.length >= MAX_ITEMS) {
      throw new Error('full')
    }
    this.items.push(item)
  }

  get total(): number {
    return this.items.reduce((sum, item) => sum + item.price, 0)
  }

  async save({
    retries = 3,
    timeout = 1000,
  }: SaveOptions): Promise<void> {
    const query = \`
INSERT INTO carts
VALUES (1)
\`
    await db.run(query, retries)
  }
}

export const formatPrice = (cents: number): string => {
  return (cents / 100).toFixed(2)
}

export function Summary({ cart }: Props) {
  const handleClick = () => {
    cart.save()
  }
  return <button onClick={handleClick}>Save</button>
}

const api = {
  async load(id: string) {
    return db.get(id)
  },
}
`

const SERVER = `import express from 'express'
const app = express()

app.get('/users/:id', async (req, res) => {
  const user = await find(req.params.id)
  res.json(user)
})

app.listen(3000)
`

describe('TypeScript and JavaScript', () => {
  examples([
    [
      'a line in a method',
      edited('src/cart.ts', CART, swap(CART, ["Error('full')", "RangeError('full')"])),
      { symbols: ['modified Cart.addItem'] },
    ],
    [
      'a getter',
      edited('src/cart.ts', CART, swap(CART, ['item.price, 0', 'item.price * item.count, 0'])),
      { symbols: ['modified Cart.total'] },
    ],
    [
      'a default of a parameter',
      edited('src/cart.ts', CART, swap(CART, ['retries = 3', 'retries = 5'])),
      { symbols: ['modified Cart.save'], values: ['retries: 3 -> 5'] },
    ],
    [
      'a line after a dedented template',
      edited('src/cart.ts', CART, swap(CART, ['db.run(query, retries)', 'db.execute(query)'])),
      { symbols: ['modified Cart.save'] },
    ],
    [
      'an arrow function',
      edited('src/cart.ts', CART, swap(CART, ['cents / 100', 'Math.round(cents) / 100'])),
      { symbols: ['modified formatPrice'] },
    ],
    [
      'a handler inside a component',
      edited('src/Cart.tsx', CART, swap(CART, ['    cart.save()', '    void cart.save()'])),
      { symbols: ['modified Summary.handleClick'] },
    ],
    [
      'a method of an object',
      edited('src/cart.ts', CART, swap(CART, ['return db.get(id)', 'return db.load(id)'])),
      { symbols: ['modified api.load'] },
    ],
    [
      'a constant',
      edited('src/cart.ts', CART, swap(CART, ['MAX_ITEMS = 50', 'MAX_ITEMS = 200'])),
      { symbols: [], values: ['MAX_ITEMS: 50 -> 200'] },
    ],
    [
      'a new method',
      edited(
        'src/cart.ts',
        CART,
        swap(CART, [
          '  get total',
          '  removeItem(id: string): boolean {\n    return this.items.some((it) => it.id === id)\n  }\n\n  get total',
        ]),
      ),
      { symbols: ['new Cart.removeItem'], values: [] },
    ],
    [
      'a deleted method',
      edited(
        'src/cart.ts',
        CART,
        swap(CART, [
          '  get total(): number {\n    return this.items.reduce((sum, item) => sum + item.price, 0)\n  }\n\n',
          '',
        ]),
      ),
      { symbols: ['deleted Cart.total'] },
    ],
    [
      'a renamed function',
      edited('src/cart.ts', CART, swap(CART, ['formatPrice', 'formatMoney'])),
      { renamed: ['formatPrice -> formatMoney'], symbols: ['modified formatMoney'] },
    ],
    [
      'a renamed class',
      edited('src/cart.ts', CART, swap(CART, ['class Cart', 'class Basket'])),
      { renamed: ['Cart -> Basket'], symbols: ['modified Basket'] },
    ],
    [
      'imports',
      edited(
        'src/cart.ts',
        CART,
        swap(CART, ["import { db } from './db.ts'", "import { z } from 'zod'\nimport { store } from './store.ts'"]),
      ),
      { imports: ['+zod', '+./store.ts', '-./db.ts'], symbols: [] },
    ],
    [
      'routes, env and a TODO',
      edited(
        'src/server.ts',
        SERVER,
        swap(SERVER, [
          'app.listen(3000)',
          "// TODO: rate limit this\napp.post('/users', requireAuth, async (req, res) => {\n  res.status(201).end()\n})\n\napp.listen(process.env.PORT ?? 3000)",
        ]),
      ),
      { symbols: [], notable: ['New route POST /users', 'Reads environment variable PORT', 'TODO: rate limit this'] },
    ],
    [
      'a line in a route',
      edited('src/server.ts', SERVER, swap(SERVER, ['res.json(user)', 'res.json({ user })'])),
      { symbols: [], notable: ['Changes route GET /users/:id'] },
    ],
    [
      'a port',
      edited('src/server.ts', SERVER, swap(SERVER, ['3000', '8080'])),
      { values: ['app.listen: 3000 -> 8080'] },
    ],
    [
      'a new file',
      created(
        'src/errors.ts',
        "export class CartError extends Error {\n  readonly code = 'E_CART_FULL'\n}\n\nexport function isCartError(it: unknown): it is CartError {\n  return it instanceof CartError\n}\n",
      ),
      {
        symbols: ['new CartError', 'new isCartError'],
        notable: ['Defines error CartError', 'Uses error code E_CART_FULL', 'Exports CartError, isCartError'],
      },
    ],
    [
      'tests',
      created(
        'test/cart.test.ts',
        "import { it } from 'vitest'\n\ndescribe('cart', () => {\n  it('refuses the 51st item', () => {\n    expect(1).toBe(1)\n  })\n  it.each([1, 2])(\"adds %d\", (n) => {})\n})\n",
      ),
      { symbols: [], imports: ['+vitest'], notable: ['Adds test: refuses the 51st item', 'Adds test: adds %d'] },
    ],
    [
      'a condition, from the patch alone',
      patched(
        'src/a.js',
        ' function retry(job) {',
        '-  if (job.attempts > 3) return',
        '+  if (job.attempts > 5) return',
        ' }',
      ),
      { symbols: ['modified retry'], values: ['job.attempts: 3 -> 5'] },
    ],
    [
      'a right side',
      patched('src/a.js', '-const hash = md5(body)', '+const hash = sha256(body)'),
      { values: ['hash: md5(body) -> sha256(body)'] },
    ],
    [
      'a secret is masked',
      patched('src/a.js', "-const API_KEY = 'old'", "+const API_KEY = 'sk-live-abcdefghijklmnop'"),
      { values: ['API_KEY: *** -> ***'] },
    ],
    [
      'a flag and a feature',
      patched('cli.js', "+  .option('--dry-run', 'change nothing')", "+  if (isFeatureEnabled('new-checkout')) run()"),
      { notable: ['Adds CLI flag --dry-run', 'Uses feature flag new-checkout'] },
    ],
    [
      'a comment only',
      edited(
        'src/cart.ts',
        CART,
        swap(CART, ['    this.items.push(item)', '    // newest last\n    this.items.push(item)']),
      ),
      { symbols: ['modified Cart.addItem'] },
    ],
    [
      'NestJS',
      patched(
        'src/users.controller.ts',
        ' export class UsersController {',
        "+  @Get(':id')",
        '+  findOne(@Param() id: string) {',
        '+    return this.users.find(id)',
        '+  }',
        ' }',
      ),
      { symbols: ['new UsersController.findOne'], notable: ['New route GET :id'] },
    ],
    [
      'Vue',
      edited(
        'src/Cart.vue',
        '<template>\n  <p>{{ total }}</p>\n</template>\n\n<script setup lang="ts">\nconst LIMIT = 3\nfunction add(id: string) {\n  emit(id)\n}\n</script>\n\n<style>\n:root {\n  --gap: 4px;\n}\n</style>\n',
        '<template>\n  <b>{{ total }}</b>\n</template>\n\n<script setup lang="ts">\nconst LIMIT = 4\nfunction add(id: string) {\n  emit("add", id)\n}\n</script>\n\n<style>\n:root {\n  --gap: 8px;\n}\n</style>\n',
      ),
      { symbols: ['modified add'], values: ['LIMIT: 3 -> 4', '--gap: 4px -> 8px'] },
    ],
    [
      'Knex',
      patched(
        'migrations/1.js',
        "+  await knex.schema.createTable('orders', (t) => {",
        '+  await knex.raw(`ALTER TABLE users ADD COLUMN locale text`)',
      ),
      { notable: ['Creates table orders', 'Adds column users.locale'] },
    ],
  ])
})
