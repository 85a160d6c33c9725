/** What the rules claim is never contradicted by a later event of the same turn, and the same turn gives the same notes. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { InboxEvent, TurnEndEvent } from '../../../src/domain/event.ts'
import type { ObservationDraft } from '../../../src/domain/observation.ts'
import { offlineObserver } from '../../../src/observer/rules/index.ts'
import type { ObserverTurn } from '../../../src/store/commit.ts'
import { bash, bashFails, edit, used, write } from '../events.ts'

const signal = new AbortController().signal
const project = { key: 'dir:/home/dev/shop', name: 'shop' }
const FILES = ['src/a.ts', 'src/b.ts', 'test/a.test.ts']
const COMMANDS = ['npm test', 'npx tsc --noEmit', 'cargo build']
const CLOSINGS = [
  null,
  '',
  'Done.',
  'Added `total()` to src/a.ts because the cart needs it. You can now run `npm test`.',
  '已修复。原因是缓存。',
  '## Options\n- one\n- two\n\nWhich?',
]

/** One step of a turn, as data: events have fresh ids. */
const step = fc.oneof(
  fc.record({ do: fc.constant('fail' as const), command: fc.constantFrom(...COMMANDS) }),
  fc.record({ do: fc.constant('pass' as const), command: fc.constantFrom(...COMMANDS) }),
  fc.record({ do: fc.constant('write' as const), file: fc.constantFrom(...FILES) }),
  fc.record({ do: fc.constant('edit' as const), file: fc.constantFrom(...FILES) }),
  fc.record({ do: fc.constant('delete' as const), file: fc.constantFrom(...FILES) }),
  fc.record({ do: fc.constant('commit' as const), hash: fc.integer({ min: 0x1000000, max: 0xfffffff }) }),
  fc.record({ do: fc.constant('amend' as const), hash: fc.integer({ min: 0x1000000, max: 0xfffffff }) }),
  fc.record({ do: fc.constant('report' as const), text: fc.string() }),
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

function eventOf(one: Step): InboxEvent {
  switch (one.do) {
    case 'fail':
      return bashFails(one.command, 'error TS2322: Type string is not assignable to type number.')
    case 'pass':
      return bash(one.command, '      Tests  12 passed (12)\n   Duration  1.20s')
    case 'write':
      return write(one.file, 'export function made() {}\n')
    case 'edit':
      return edit(one.file, 'export function made() {}\n', '{}', '{ return 1 }')
    case 'delete':
      return bash(`rm ${one.file}`)
    case 'commit':
      return bash(
        'git commit -am "Add made" -m "The cart needs `made()` because totals are wrong."',
        `[main ${one.hash.toString(16)}] Add made`,
      )
    case 'amend':
      return bash('git commit --amend --no-edit', `[main ${one.hash.toString(16)}] Add made`)
    case 'report':
      return used('Agent', { description: 'Look' }, { content: [{ type: 'text', text: one.text }] })
  }
}

interface TurnInput {
  batches: readonly (readonly InboxEvent[])[]
  prompt: string | null
  closing: string | null
}

/** A turn of some batches and its end. */
async function observeTurn({ batches, prompt, closing }: TurnInput): Promise<ObservationDraft[]> {
  const request = {
    session: 's',
    project,
    cwd: '/home/dev/shop',
    at: 0,
    promptNumber: 1,
    prompt,
    contextTokens: 0,
    recorded: async () => [],
    openProblems: async () => [],
    calls: { begin: async () => () => undefined },
  }
  let conversation: ObserverTurn[] = []
  const all: ObservationDraft[] = []
  for (const messages of batches) {
    const seen = async () => new Map<string, string>()
    const answer = await offlineObserver.observe({ ...request, conversation, messages, seen }, signal)
    all.push(...answer.observations)
    conversation = answer.turns.map((turn) => ({ ...turn, generation: 1, at: 0 }))
  }
  const turnEnd: TurnEndEvent = {
    kind: 'turn_end',
    id: 'end',
    session: 's',
    at: 1,
    client: 'c',
    project,
    cwd: '/home/dev/shop',
    transcriptPath: null,
    promptId: null,
    agent: null,
    lastMessage: closing,
    words: [],
    error: null,
  }
  const end = { ...request, conversation, turnEnd: closing === null ? null : turnEnd, observations: [], turns: null }
  const { observations } = await offlineObserver.summarize(end, signal)
  return [...all, ...observations]
}

const turn = fc.record({
  batches: fc.array(fc.array(step, { maxLength: 8 }), { maxLength: 3 }),
  prompt: fc.option(fc.oneof(fc.string(), fc.constant('Use a map instead of Redis, because one process serves all.'))),
  closing: fc.constantFrom(...CLOSINGS),
})
const textOf = ({ title, narrative, facts }: ObservationDraft): string => [title, narrative, ...facts].join('\n')

describe('rules.properties', () => {
  test('no observation without a source, a title and a narrative', async () => {
    await fc.assert(
      fc.asyncProperty(turn, async ({ batches, prompt, closing }) => {
        const events = batches.map((steps) => steps.map(eventOf))
        const ids = new Set([...events.flat().map(({ id }) => id), 'end'])
        for (const draft of await observeTurn({ batches: events, prompt, closing })) {
          expect(draft.sources.length).toBeGreaterThan(0)
          expect(draft.sources.every((id) => ids.has(id))).toBe(true)
          expect(draft.title).not.toBe('')
          expect(draft.narrative).not.toBe('')
        }
      }),
      { numRuns: 200 },
    )
  })

  test('the same turn gives the same notes', async () => {
    await fc.assert(
      fc.asyncProperty(turn, async ({ batches, prompt, closing }) => {
        const events = batches.map((steps) => steps.map(eventOf))
        const input = { batches: events, prompt, closing }
        expect(await observeTurn(input)).toEqual(await observeTurn(input))
      }),
      { numRuns: 60 },
    )
  })

  test('a command that passes in the end is not told as failing', async () => {
    await fc.assert(
      fc.asyncProperty(turn, fc.constantFrom(...COMMANDS), async ({ batches, closing }, command) => {
        const events = [...batches.map((steps) => steps.map(eventOf)), [eventOf({ do: 'pass', command })]]
        for (const draft of await observeTurn({ batches: events, prompt: null, closing })) {
          // A fix tells both: the failure, and that the command succeeded.
          const failed = textOf(draft).includes(`\`${command}\` failed`)
          if (failed) expect(textOf(draft)).toContain('the command succeeded')
        }
      }),
      { numRuns: 200 },
    )
  })

  test('a file that is deleted in the end is not told as created', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 8 }), fc.constantFrom(...FILES), async (steps, file) => {
        const events = [
          [
            ...steps.filter((one) => one.do !== 'commit' && one.do !== 'amend').map(eventOf),
            eventOf({ do: 'delete', file }),
          ],
        ]
        for (const draft of await observeTurn({ batches: events, prompt: null, closing: null })) {
          const created = /Created ([^;.]*(?:\.ts[^;.]*)*)/.exec(draft.narrative ?? '')?.[1] ?? ''
          expect(created).not.toContain(file)
        }
      }),
      { numRuns: 200 },
    )
  })

  test('a commit that is amended is told by its final hash', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 6 }), async (steps) => {
        const events = [steps.map(eventOf)]
        const text = (await observeTurn({ batches: events, prompt: null, closing: null })).map(textOf).join('\n')
        steps.forEach((one, i) => {
          const next = steps.slice(i + 1).find((later) => later.do === 'commit' || later.do === 'amend')
          if (one.do === 'commit' && next?.do === 'amend' && next.hash !== one.hash) {
            expect(text).not.toContain(one.hash.toString(16))
          }
        })
      }),
      { numRuns: 200 },
    )
  })
})
