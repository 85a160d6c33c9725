import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { InboxEvent, TurnEndEvent } from '../../../src/domain/event.ts'
import type { Observation } from '../../../src/domain/observation.ts'
import { offlineObserver } from '../../../src/observer/rules/index.ts'
import type { ObserverTurn } from '../../../src/store/commit.ts'
import { sampleObservation } from '../../support/samples.ts'
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
  openProblems: async () => [],
}
const observe = (
  messages: InboxEvent[],
  prompt: string | null = null,
  conversation: ObserverTurn[] = [],
  stored: Observation[] = [],
) =>
  offlineObserver.observe(
    { ...request, prompt, messages, conversation, recorded: async () => stored, seen: async () => new Map() },
    signal,
  )
/** An observation as the store returns it. */
const STORED = sampleObservation({ project: 'p', contentHash: 'h', model: 'offline', sources: ['e0'], status: null })
const toConversation = (turns: readonly Omit<ObserverTurn, 'generation' | 'at'>[]): ObserverTurn[] =>
  turns.map((turn) => ({ ...turn, generation: 1, at: 0 }))

const CART = `export function total(items) {\n  return items.reduce((sum, item) => sum + item.price, 0)\n}\n\nexport function discount(cart) {\n  return cart.coupon.percent\n}\n`
const TYPE_ERROR = `FAIL test/cart.test.ts > discount > is nothing without a coupon\nTypeError: Cannot read properties of undefined (reading 'percent')\n ❯ discount src/cart.ts:6:22\n\n Test Files  1 failed (1)\n      Tests  1 failed | 11 passed (12)`
const GREEN = ' Test Files  1 passed (1)\n      Tests  12 passed (12)\n   Duration  1.20s'

describe('rules.fix', () => {
  test('a failure, then edits, then success of the same command is one bugfix with cause and fix', async () => {
    const { observations } = await observe(
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
      title: 'Fix TypeError in cart.ts',
      filesModified: ['src/cart.ts'],
      concepts: ['problem-solution'],
      functionsChanged: [{ name: 'discount', file: 'src/cart.ts', action: 'modified' }],
    })
    expect(draft?.narrative).toContain("Cannot read properties of undefined (reading 'percent')")
    expect(draft?.narrative).toMatch(/After changes in `src\/cart\.ts` the command succeeded \(12 passed/)
    expect(draft?.facts).toEqual([
      'In `src/cart.ts`, `return cart.coupon.percent` became `return cart.coupon?.percent ?? 0`.',
    ])
  })

  test('a failure of an earlier batch that is fixed in a later one is read from the conversation', async () => {
    const first = await observe([bashFails('npm test', TYPE_ERROR)])
    // Whether it stays is known at the end of the turn.
    expect(first.observations).toEqual([])
    const second = await observe(
      [edit('src/cart.ts', CART, 'cart.coupon.percent', 'cart.coupon?.percent'), bash('npm test', GREEN)],
      null,
      toConversation(first.turns),
    )
    expect(second.observations).toMatchObject([{ type: 'bugfix' }])
    expect(second.observations[0]?.narrative).toContain("reading 'percent'")
    const third = await observe([bash('npm test', GREEN)], null, toConversation(second.turns))
    expect(third.observations).toEqual([])
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

  test.each<[string, InboxEvent[]]>([
    ['succeeded without any change', [bashFails('npm test', TYPE_ERROR), bash('npm test', GREEN)]],
    [
      'is missing',
      [bashFails('rg foo', 'bash: rg: command not found', 127), write('a.ts', 'a\n'), bash('rg foo', 'a')],
    ],
    [
      'failed in a scratch directory',
      [bashFails('cd /tmp/x && npm test', TYPE_ERROR), write('a.ts', 'a\n'), bash('cd /tmp/x && npm test', GREEN)],
    ],
    [
      'failed because a test was written before the code',
      [
        write('test/cart.test.ts', 'test("x")\n'),
        bashFails('npm test', TYPE_ERROR),
        write('src/a.ts', 'a\n'),
        bash('npm test', GREEN),
      ],
    ],
    [
      'failed because the code was broken on purpose, and mended',
      [
        edit('src/cart.ts', CART, 'sum + item.price', 'sum - item.price'),
        bashFails('npm test', TYPE_ERROR),
        edit('src/cart.ts', CART, 'sum - item.price', 'sum + item.price'),
        bash('npm test', GREEN),
      ],
    ],
  ])('a command that %s is not a bugfix', async (_name, messages) => {
    const { observations } = await observe(messages)
    expect(observations).toEqual([])
  })
})

describe('rules.commits', () => {
  const MESSAGE =
    'feat(api): Limit requests per client" -m "Counts in memory instead of Redis because one process serves all.'
  test('the subject is the title, the body the narrative, with the hash and the files', async () => {
    const { observations } = await observe([
      write(
        'src/rate-limit.ts',
        'export const MAX_REQUESTS = 100\nexport function limit(request) {\n  return true\n}\n',
      ),
      bash(`git commit -am "${MESSAGE}"`, '[main 1a2b3c4] feat(api): Limit requests per client\n 1 file changed'),
    ])
    expect(observations).toMatchObject([
      {
        type: 'feature',
        title: 'Limit requests per client',
        narrative: 'Counts in memory instead of Redis because one process serves all.',
        facts: ['Commit 1a2b3c4 on main is titled “Limit requests per client” and changes 1 file.'],
        filesModified: ['src/rate-limit.ts'],
      },
    ])
  })

  test('an amended commit is told by its final hash, and replaces the one that is stored', async () => {
    const commit = bash(`git commit -am "${MESSAGE}"`, '[main 1a2b3c4] feat(api): Limit requests per client')
    const amend = bash('git commit --amend --no-edit', '[main 9f8e7d6] feat(api): Limit requests per client')
    const once = await observe([commit, amend])
    expect(once.observations).toMatchObject([{ subtitle: 'commit 9f8e7d6' }])
    const first = await observe([commit])
    const stored = first.observations.map((draft): Observation => ({ ...STORED, ...draft, id: 7 }))
    const second = await observe([amend], null, toConversation(first.turns), stored)
    expect(second.observations).toMatchObject([{ subtitle: 'commit 9f8e7d6', supersedes: [7] }])
    expect(second.observations[0]?.narrative).toContain('instead of Redis')
  })

  test('an amendment of a commit that was not seen does not take the message of another', async () => {
    const first = await observe([
      bash(`git commit -am "${MESSAGE}"`, '[main 1a2b3c4] feat(api): Limit requests per client'),
    ])
    const amend = bash('git commit --amend --no-edit', '[develop 9f8e7d6] docs: mark phase 7 as complete')
    const second = await observe([amend], null, toConversation(first.turns))
    expect(JSON.stringify(second.observations)).not.toContain('Redis')
  })

  test('a commit has the files that it names, not all that were changed', async () => {
    const { observations } = await observe([
      write('src/a.ts', 'a\n'),
      write('src/b.ts', 'b\n'),
      bash(
        'git add src/b.ts && git commit -m "Add b" -m "The second letter of the `alphabet` was missing."',
        '[main 1a2b3c4] Add b',
      ),
    ])
    expect(observations[0]?.filesModified).toEqual(['src/b.ts'])
  })
})

describe('rules.user', () => {
  test('a choice of the user is stored as a decision once', async () => {
    const prompt = 'Add a cache. Use an LRU map instead of Redis, because we deploy a single process.'
    const first = await observe([write('src/cache.ts', 'export class Cache {\n  get(key) {}\n}\n')], prompt)
    expect(first.observations).toMatchObject([
      {
        type: 'decision',
        saidBy: 'person',
        title: 'Use an LRU map instead of Redis',
        narrative: 'Use an LRU map instead of Redis, because we deploy a single process.',
        concepts: ['trade-off', 'why-it-exists'],
      },
    ])
    const second = await observe([write('src/more.ts', 'export const A = 1\n')], prompt, toConversation(first.turns))
    expect(second.observations).toEqual([])
  })

  test('an answer to a question of a tool is a decision, with what was not chosen', async () => {
    const questions = [{ question: 'Which store?', options: [{ label: 'SQLite' }, { label: 'Redis' }] }]
    const { observations } = await observe([
      used('AskUserQuestion', { questions }, { questions, answers: { 'Which store?': 'SQLite' } }),
      used(
        'AskUserQuestion',
        { questions },
        'User has answered your questions: "Which store?"="Redis". You can continue.',
      ),
    ])
    expect(observations.map(({ type, narrative }) => [type, narrative])).toEqual([
      ['decision', 'Asked “Which store?”, the user chose “SQLite”, not “Redis”.'],
      ['decision', 'Asked “Which store?”, the user chose “Redis”, not “SQLite”.'],
    ])
  })

  test('a refusal with a reason is a decision, without one it is nothing', async () => {
    const refusal = "The user doesn't want to proceed with this tool use. The tool use was rejected."
    const { observations } = await observe([
      failed(
        'Bash',
        { command: 'git push --force' },
        `${refusal} To tell you how to proceed, the user said:\nnever force-push to main`,
      ),
      failed('Edit', { file_path: '/home/dev/shop/a.ts' }, refusal),
    ])
    expect(observations.map(({ narrative }) => narrative)).toEqual([
      'The user refused Bash on `git push --force` and said: “never force-push to main”.',
    ])
  })
})

describe('rules.events', () => {
  test('routine events are skipped with a reason', async () => {
    const { observations, skipped } = await observe([
      bash('ls -la', 'total 8'),
      bash('git status', 'nothing to commit'),
      used('TodoWrite', { todos: [] }, {}),
      read('src/a.ts'),
      used('Write', { file_path: '/tmp/scratch.ts', content: 'x' }, { type: 'create' }),
    ])
    expect(observations).toEqual([])
    expect(skipped.map((item) => item.reason)).toEqual([
      'only showed something',
      'only showed something',
      'a list of things to do',
      'looked without a finding',
      'outside of the project, or undone',
    ])
  })

  test('what a subagent reports is kept once', async () => {
    const text =
      'Done. The leak is in `SessionPool.acquire`: connections are never released because the timeout handler returns early.'
    const agent = used('Agent', { description: 'Find the leak', prompt: '…' }, { content: [{ type: 'text', text }] })
    const { observations } = await observe([agent, agent], 'Why does memory grow?')
    expect(observations).toMatchObject([{ type: 'discovery', saidBy: 'agent' }])
    expect(observations[0]?.narrative).toContain('never released because the timeout handler returns early')
  })
})

describe('rules.turn', () => {
  const turnEnd = (lastMessage: string | null, words: string[] = []): TurnEndEvent => ({
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
    words,
    error: null,
  })
  interface Turn {
    prompt?: string | null
    conversation?: ObserverTurn[]
    observations?: Observation[]
    end?: TurnEndEvent | null
    recorded?: Observation[]
    promptNumber?: number
  }
  const summarize = (lastMessage: string | null, turn: Turn = {}) =>
    offlineObserver.summarize(
      {
        ...request,
        promptNumber: turn.promptNumber ?? 1,
        prompt: turn.prompt ?? null,
        conversation: turn.conversation ?? [],
        turnEnd: turn.end === undefined ? turnEnd(lastMessage) : turn.end,
        observations: turn.observations ?? [],
        recorded: async () => turn.recorded ?? [],
        turns: null,
      },
      signal,
    )
  const edited = async (prompt: string | null = null) =>
    toConversation((await observe([write('src/auth.ts', 'export function login() {}\n')], prompt)).turns)

  test('the closing message gives completed, learned and next steps, and observations', async () => {
    const { summary, observations } = await summarize(
      'I fixed `login()` in src/auth.ts. The root cause was an expired clock skew of 5 minutes. You should rotate the keys next. I kept JWT instead of sessions because the mobile app needs tokens.',
      { prompt: 'Fix the login', conversation: await edited('Fix the login') },
    )
    expect(summary).toMatchObject({
      request: 'Fix the login',
      completed:
        'I fixed `login()` in src/auth.ts. I kept JWT instead of sessions because the mobile app needs tokens.',
      learned: 'The root cause was an expired clock skew of 5 minutes.',
      nextSteps: 'You should rotate the keys next.',
    })
    expect(observations).toMatchObject([
      { type: 'bugfix', title: 'Fixed login() in src/auth.ts', filesModified: ['src/auth.ts'], saidBy: 'agent' },
      {
        type: 'decision',
        title: 'I kept JWT instead of sessions because the mobile app needs tokens',
        saidBy: 'agent',
        sources: ['z'],
      },
    ])
    expect(observations[0]?.sources).toContain('z')
  })

  test('a message in another language gives statements too', async () => {
    for (const message of [
      '已修复登录错误。令牌在五分钟后过期。',
      'Готово, сервер перенесён.\nПароль хранится в файле.',
    ]) {
      const { observations } = await summarize(message, { conversation: await edited() })
      expect(observations[0]?.narrative?.length).toBeGreaterThan(10)
    }
  })

  test('without a closing message, the request, the changes and the results are told', async () => {
    const { turns } = await observe(
      [write('src/auth.ts', 'export function login() {}\n'), bash('npm test', GREEN)],
      'Add a login',
    )
    const { summary, observations } = await summarize(null, {
      prompt: 'Add a login',
      conversation: toConversation(turns),
      end: null,
    })
    expect(observations).toMatchObject([{ type: 'feature', title: 'Add a login', filesModified: ['src/auth.ts'] }])
    expect(observations[0]?.narrative).toBe(
      'Created `src/auth.ts` (`login`) for the request “Add a login”. `npm test` succeeded: 12 passed in 1.2 s.',
    )
    expect(observations[0]?.sources).not.toEqual([])
    expect(summary?.completed).toBe('Add a login.')
  })

  test('an open failure is no next step', async () => {
    const { turns } = await observe([bashFails('npm test', TYPE_ERROR)], 'Run the tests')
    const { summary } = await summarize('The test of `discount` fails, which is expected before the migration.', {
      conversation: toConversation(turns),
    })
    expect(summary?.nextSteps).toBeNull()
  })

  test('a question at the end is the next step, and the answer to it is a decision', async () => {
    const first = await summarize(
      'I see two ways.\n\nOptions:\n1. Poll the table\n2. Use a queue\n\nWhich one do you prefer?',
    )
    expect(first.summary?.nextSteps).toContain('The agent asked: “Which one do you prefer?”')
    expect(first.observations).toEqual([])
    const second = await summarize('Done.', { prompt: '2', promptNumber: 2, conversation: toConversation(first.turns) })
    expect(second.observations).toMatchObject([
      { type: 'decision', narrative: 'The user chose “Use a queue” and said: “2”.' },
    ])
    const late = await summarize('Done.', { prompt: '2', promptNumber: 3, conversation: toConversation(first.turns) })
    expect(late.observations).toEqual([])
  })

  test('a finding that the user corrects is replaced by the next one', async () => {
    const wrong: Observation = { ...STORED, id: 3, type: 'discovery', saidBy: 'agent', promptNumber: 1 }
    const { observations } = await summarize(
      'CI fails because `main` has lint errors, and it checks out the merge commit.',
      {
        prompt: 'no, CI runs on the current commit',
        promptNumber: 2,
        recorded: [wrong],
      },
    )
    expect(observations).toMatchObject([{ type: 'discovery', supersedes: [3] }])
  })

  test('what a commit of the turn says is not told again', async () => {
    const commit: Observation = {
      ...STORED,
      type: 'feature',
      narrative: 'Added `login()` to src/auth.ts with a lock of 5 minutes.',
    }
    const { observations } = await summarize('Added `login()` to src/auth.ts.', { observations: [commit] })
    expect(observations).toEqual([])
  })

  test('the words between tool uses are not told where the last message tells the result', async () => {
    const { observations } = await summarize('Imports are idempotent now, by a fingerprint of day and payee.', {
      conversation: await edited(),
      end: turnEnd('Imports are idempotent now, by a fingerprint of day and payee.', [
        'Now let me read the reader.',
        'The bank exports `cp1252`, because the column names have umlauts. Let me fix that.',
      ]),
    })
    expect(JSON.stringify(observations)).toContain('Imports are idempotent')
    expect(JSON.stringify(observations)).not.toContain('cp1252')
  })

  test('without a last message the summary has the request only', async () => {
    const { summary } = await summarize(null, { prompt: 'Do the migration' })
    expect(summary).toMatchObject({ request: 'Do the migration', completed: null })
  })
})

test('rules.blocking: a large batch yields to the event loop', async () => {
  let ticks = 0
  const counter = setInterval(() => ticks++, 0)
  const many = Array.from({ length: 200 }, (_, i) =>
    edit(`src/f${i}.ts`, CART.repeat(40), '  return cart.coupon.percent', `  return ${i}`),
  )
  const { skipped } = await observe(many)
  clearInterval(counter)
  expect(ticks).toBeGreaterThan(2)
  expect(skipped).toHaveLength(many.length)
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
      expect((draft.title ?? '').length).toBeLessThanOrEqual(101)
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
          for (const draft of observations) expect((draft.title ?? '').split(' ').length).toBeLessThanOrEqual(12)
          expect(skipped.every((item) => item.reason !== '')).toBe(true)
        },
      ),
      { numRuns: 200 },
    )
  })
})
