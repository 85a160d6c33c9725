import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { InboxEvent, TurnEndEvent } from '../../../src/domain/event.ts'
import type { Observation } from '../../../src/domain/observation.ts'
import { offlineObserver } from '../../../src/observer/rules/index.ts'
import type { ObserverTurn } from '../../../src/store/commit.ts'
import { bash, bashFails, edit, failed, grep, read, used, write } from '../events.ts'

const signal = new AbortController().signal
const project = { key: 'dir:/home/dev/shop', name: 'shop' }
const request = {
  session: 's',
  project,
  cwd: '/home/dev/shop',
  at: 0,
  promptNumber: 1,
  conversation: [] as ObserverTurn[],
  contextTokens: 0,
  calls: { begin: async () => () => undefined },
  recorded: async () => [],
}
const observe = (messages: InboxEvent[], prompt: string | null = null, conversation: ObserverTurn[] = []) =>
  offlineObserver.observe({ ...request, prompt, messages, conversation, seen: async () => new Map() }, signal)
const toConversation = (turns: readonly Omit<ObserverTurn, 'generation' | 'at'>[]): ObserverTurn[] =>
  turns.map((turn) => ({ ...turn, generation: 1, at: 0 }))

const CART = `export function total(items) {\n  return items.reduce((sum, item) => sum + item.price, 0)\n}\n\nexport function discount(cart) {\n  return cart.coupon.percent\n}\n`
const TYPE_ERROR = `FAIL test/cart.test.ts > discount > is nothing without a coupon\nTypeError: Cannot read properties of undefined (reading 'percent')\n ❯ discount src/cart.ts:6:22\n\n Test Files  1 failed (1)\n      Tests  1 failed | 11 passed (12)`
const GREEN = ' Test Files  1 passed (1)\n      Tests  12 passed (12)\n   Duration  1.20s'

describe('rules.fix', () => {
  test('a failure, then edits, then success of the same command is one bugfix with cause and fix', async () => {
    const { observations, skipped } = await observe(
      [
        bashFails('npx vitest run', TYPE_ERROR),
        read('src/cart.ts'),
        grep('coupon', ['src/cart.ts']),
        edit('src/cart.ts', CART, '  return cart.coupon.percent', '  return cart.coupon?.percent ?? 0'),
        bash('npx vitest run', GREEN),
      ],
      'The discount test fails, please fix it',
    )
    expect(observations).toHaveLength(1)
    const [draft] = observations
    expect(draft).toMatchObject({
      type: 'bugfix',
      filesModified: ['src/cart.ts'],
      concepts: ['problem-solution'],
      functionsChanged: [{ name: 'discount', file: 'src/cart.ts', action: 'modified' }],
    })
    expect(draft?.title).toMatch(/^Fix discount in cart\.ts: TypeError/)
    expect(draft?.subtitle).toContain('12 passed')
    expect(draft?.narrative).toContain("Cannot read properties of undefined (reading 'percent')")
    expect(draft?.facts.join('\n')).toContain('`return cart.coupon.percent` → `return cart.coupon?.percent ?? 0`')
    expect(skipped).toEqual([])
  })

  test('a failure of an earlier batch that is fixed in a later one is read from the conversation', async () => {
    const first = await observe([bashFails('npm test', TYPE_ERROR)])
    expect(first.observations).toMatchObject([{ type: 'discovery', concepts: ['gotcha'] }])
    const second = await observe(
      [edit('src/cart.ts', CART, 'cart.coupon.percent', 'cart.coupon?.percent'), bash('npm test', GREEN)],
      null,
      toConversation(first.turns),
    )
    expect(second.observations).toMatchObject([{ type: 'bugfix' }])
    expect(second.observations[0]?.narrative).toContain("reading 'percent'")
    const third = await observe([bash('npm test', GREEN)], null, toConversation(second.turns))
    expect(third.observations.filter((draft) => draft.type === 'bugfix')).toEqual([])
  })

  test('a chain that succeeds is a success of each of its commands', async () => {
    const { observations } = await observe([
      bashFails('npx tsc --noEmit', "src/cart.ts(6,22): error TS2532: Object is possibly 'undefined'."),
      edit('src/cart.ts', CART, '  return cart.coupon.percent', '  return cart.coupon?.percent ?? 0'),
      bash('npx tsc --noEmit && npx vitest run', GREEN),
    ])
    expect(observations).toMatchObject([{ type: 'bugfix' }])
    expect(observations[0]?.narrative).toContain('TS2532')
  })

  test('a chain that ends in another kind of command is a success of the first one', async () => {
    const { observations } = await observe([
      bashFails('npm test', TYPE_ERROR),
      bash('npm test && git commit -am "Wip"', '[main 1a2b3c4] Wip'),
    ])
    expect(observations.filter((draft) => draft.concepts.includes('gotcha'))).toEqual([])
  })

  test('the commit message is the title of the largest work, not of the last edit', async () => {
    const planner = 'export function plan(day) {\n  return day\n}\n'
    const { observations } = await observe([
      bashFails('npm test', TYPE_ERROR),
      edit(
        'src/cart.ts',
        CART,
        '  return cart.coupon.percent',
        '  if (cart.coupon === undefined) return 0\n  const { percent } = cart.coupon\n  return percent',
      ),
      bash('npm test', GREEN),
      edit('src/plan.ts', planner, '  return day', '  // The office opens an hour later in winter.\n  return day + 1'),
      write('src/other.ts', 'export const other = 1\n'),
      bash('git commit -am "Handle carts without a coupon"', '[main 1a2b3c4] Handle carts without a coupon'),
    ])
    expect(observations.find((draft) => draft.title === 'Handle carts without a coupon')?.filesModified).toContain(
      'src/cart.ts',
    )
  })

  test('a command that failed and then succeeded without any change is not a bugfix', async () => {
    const { observations } = await observe([bashFails('npm test', TYPE_ERROR), bash('npm test', GREEN)])
    expect(observations.every((draft) => draft.type !== 'bugfix')).toBe(true)
  })
})

describe('rules.work', () => {
  test('reads and searches belong to the edit that follows them', async () => {
    const { observations } = await observe(
      [
        read('src/a.ts'),
        read('src/b.ts'),
        grep('total', ['src/cart.ts', 'src/b.ts']),
        read('src/cart.ts'),
        edit(
          'src/cart.ts',
          CART,
          '  return items.reduce((sum, item) => sum + item.price, 0)',
          '  return items.reduce((sum, item) => sum + item.price * item.count, 0)',
        ),
      ],
      'Count the items of a cart',
    )
    expect(observations).toMatchObject([
      { title: 'Count the items of a cart', filesRead: ['src/a.ts', 'src/b.ts'], filesModified: ['src/cart.ts'] },
    ])
  })

  test('the commit subject is the title, and its body is in the narrative', async () => {
    const { observations } = await observe([
      write(
        'src/rate-limit.ts',
        'export const MAX_REQUESTS = 100\nexport function limit(request) {\n  return true\n}\n',
      ),
      bash(
        'git commit -m "feat(api): Limit requests per client" -m "Counts in memory instead of Redis because one process serves all."',
        '[main 1a2b3c4] feat(api): Limit requests per client\n 1 file changed',
      ),
    ])
    expect(observations).toHaveLength(1)
    expect(observations[0]).toMatchObject({ type: 'feature', title: 'Limit requests per client' })
    expect(observations[0]?.narrative).toContain('instead of Redis because one process serves all')
    expect(observations[0]?.facts.join()).toContain('1a2b3c4')
  })

  test('a rule of the user is stored as a decision once', async () => {
    const prompt = 'Add a cache. Use an LRU map instead of Redis, because we deploy a single process.'
    const first = await observe([write('src/cache.ts', 'export class Cache {\n  get(key) {}\n}\n')], prompt)
    const decision = first.observations.find((draft) => draft.type === 'decision')
    expect(decision).toMatchObject({
      title: 'Use an LRU map instead of Redis',
      concepts: ['trade-off', 'why-it-exists'],
    })
    const second = await observe(
      [read('src/cache.ts'), write('src/more.ts', 'export const A = 1\n')],
      prompt,
      toConversation(first.turns),
    )
    expect(second.observations.filter((draft) => draft.type === 'decision')).toEqual([])
  })

  test('routine events are skipped with a reason', async () => {
    const { observations, skipped } = await observe([
      bash('ls -la', 'total 8'),
      bash('git status', 'nothing to commit'),
      used('TodoWrite', { todos: [] }, {}),
      read('src/a.ts'),
    ])
    expect(observations).toEqual([])
    expect(skipped.map((item) => item.reason)).toEqual([
      'only showed something',
      'only showed something',
      'a list of things to do',
      'looked without a finding',
    ])
  })

  test('the informative sentences of a subagent are kept', async () => {
    const agent = used(
      'Agent',
      { description: 'Find the leak', prompt: '…' },
      {
        content: [
          {
            type: 'text',
            text: 'Done. The leak is in `SessionPool.acquire`: connections are never released because the timeout handler returns early.',
          },
        ],
      },
    )
    const { observations } = await observe([agent], 'Why does memory grow?')
    expect(observations).toMatchObject([{ type: 'discovery' }])
    expect(observations[0]?.facts.join()).toContain('never released because the timeout handler returns early')
  })

  test('every field is filled', async () => {
    const { observations } = await observe(
      [
        edit(
          'src/cart.ts',
          CART,
          '  return items.reduce((sum, item) => sum + item.price, 0)',
          '  return items.reduce((sum, item) => sum + item.price * 2, 0)',
        ),
        bash('npm test', GREEN),
      ],
      'Double the prices',
    )
    const [draft] = observations
    expect(draft?.title).toBe('Double the prices')
    for (const text of [draft?.title, draft?.subtitle, draft?.narrative]) expect(text?.length).toBeGreaterThan(5)
    for (const list of [draft?.facts, draft?.concepts, draft?.filesModified, draft?.functionsChanged, draft?.sources])
      expect(list?.length).toBeGreaterThan(0)
    expect(draft?.discoveryTokens).toBeGreaterThan(0)
  })
})

describe('rules.summary', () => {
  const turnEnd = (lastMessage: string | null): TurnEndEvent => ({
    kind: 'turn_end',
    id: 'z',
    session: 's',
    at: 1,
    client: 'c',
    project,
    cwd: '/',
    transcriptPath: null,
    promptId: null,
    agent: null,
    lastMessage,
    error: null,
    words: [],
  })
  const summarize = (prompt: string | null, lastMessage: string | null, observations: Observation[] = []) =>
    offlineObserver.summarize({ ...request, prompt, turnEnd: turnEnd(lastMessage), observations, turns: null }, signal)

  test('sorts the last message into completed, learned and next steps', async () => {
    const { summary, observations } = await summarize(
      'Fix the login',
      'I fixed `login()` in src/auth.ts. The root cause was an expired clock skew of 5 minutes. You should rotate the keys next. I kept JWT instead of sessions because the mobile app needs tokens.',
    )
    expect(summary).toMatchObject({ request: 'Fix the login' })
    expect(summary?.completed).toContain('I fixed `login()`')
    expect(summary?.learned).toContain('root cause was an expired clock skew')
    expect(summary?.nextSteps).toContain('rotate the keys')
    expect(observations).toMatchObject([{ type: 'decision', sources: ['z'] }])
  })

  test('without a last message the summary has the request only', async () => {
    const { summary } = await summarize('Do it', null)
    expect(summary).toMatchObject({ request: 'Do it', completed: null })
  })
})

test('rules.blocking: a large batch yields to the event loop', async () => {
  let ticks = 0
  const counter = setInterval(() => ticks++, 0)
  const many = Array.from({ length: 200 }, (_, i) =>
    edit(`src/f${i}.ts`, CART.repeat(40), '  return cart.coupon.percent', `  return ${i}`),
  )
  const { observations } = await observe(many)
  clearInterval(counter)
  expect(ticks).toBeGreaterThan(2)
  expect(observations.length).toBeGreaterThan(0)
})

describe('rules.unexpected input', () => {
  const unexpected: [string, InboxEvent][] = [
    ['a response of unknown shape', used('Edit', 7, ['x', { deep: [null] }])],
    ['no input at all', used('Write', null, null)],
    ['an MCP tool', used('mcp__db__query', { sql: 'select 1' }, [{ type: 'text', text: '1 row' }])],
    ['binary output', bash('cat image.png', '\u0000\u0001\ufffd'.repeat(5_000))],
    ['escapes and progress bars', bash('npm test', '\u001b[31mFAIL\u001b[0m\r\u001b[2K50%\r\u001b[2K100%')],
    ['minified code', edit('dist/app.min.js', `var a=${'1+'.repeat(50_000)}1`, '1+1', '1+2')],
    [
      'a patch of 20,000 lines',
      write(
        'src/big.ts',
        Array.from({ length: 20_000 }, (_, i) => `export function f${i}() { return ${i} }`).join('\n'),
      ),
    ],
    [
      'several languages in one file',
      write(
        'src/App.vue',
        '<template><p/></template>\n<script>export default { methods: { go() {} } }</script>\n<style>:root{--x:1px}</style>',
      ),
    ],
    ['mixed line ends', write('src/mixed.py', 'def a():\r\n    pass\rdef b():\n    pass\n')],
    ['a failure without a message', failed('Bash', { command: '' }, '')],
    ['half a heredoc', bash('cat <<EOF > x', '')],
  ]
  test.each(unexpected)('%s: no exception, no control characters in titles, bounded size', async (_name, event) => {
    const { observations } = await observe([event], 'x'.repeat(100_000))
    for (const draft of observations) {
      expect(draft.title ?? '').not.toMatch(/\p{Cc}/u)
      expect((draft.title ?? '').length).toBeLessThanOrEqual(80)
      expect(JSON.stringify(draft).length).toBeLessThan(6_000)
    }
  })

  test('any event is read without an exception', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.tuple(
            fc.constantFrom(
              'Bash',
              'Edit',
              'Write',
              'MultiEdit',
              'Read',
              'Grep',
              'WebFetch',
              'Agent',
              'NotebookEdit',
              'Other',
            ),
            fc.jsonValue(),
            fc.jsonValue(),
          ),
          { maxLength: 8 },
        ),
        fc.string(),
        async (tools, prompt) => {
          const { observations, skipped } = await observe(
            tools.map(([tool, input, response]) => used(tool, input, response)),
            prompt,
          )
          for (const draft of observations) expect((draft.title ?? '').split(' ').length).toBeLessThan(10)
          expect(skipped.every((item) => item.reason !== '')).toBe(true)
        },
      ),
      { numRuns: 200 },
    )
  })
})
