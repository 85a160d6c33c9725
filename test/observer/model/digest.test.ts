import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { estimateTokens, type Observation, type Summary } from '../../../src/domain/observation.ts'
import { conversationDigest } from '../../../src/observer/model/digest.ts'
import { makeWithheldFilter } from '../../../src/observer/model/withheld.ts'
import type { CompactRequest } from '../../../src/observer/port.ts'
import { sampleObservation, sampleSummary } from '../../support/samples.ts'

const none = makeWithheldFilter({ tools: [], paths: [] })

function observation(id: number, parts: Partial<Observation> = {}): Observation {
  return sampleObservation({
    id,
    contentHash: `${id}`,
    model: 'claude-haiku-4-5',
    createdAt: id,
    title: `Title ${id}`,
    ...parts,
  })
}

function summary(id: number, parts: Partial<Summary> = {}): Summary {
  return sampleSummary({ id, promptNumber: id, model: 'claude-haiku-4-5', createdAt: id, ...parts })
}

function requestWith(parts: Partial<CompactRequest> = {}): CompactRequest {
  return {
    session: 's',
    project: { key: 'dir:/home/dev/shop', name: 'shop' },
    cwd: '/home/dev/shop',
    at: 1,
    promptNumber: 3,
    prompt: 'Make checkout idempotent',
    conversation: [],
    contextTokens: 0,
    calls: { begin: async () => () => undefined },
    recorded: async () => [],
    openProblems: async () => [],
    turnPassages: async () => [],
    observations: [],
    summaries: [],
    ...parts,
  }
}

const digest = (parts: Partial<CompactRequest>, maxTokens = 2_000, withheld = none) =>
  conversationDigest(requestWith(parts), { maxTokens, withheld })

/** The lines under a heading. */
function under(text: string, heading: string): string[] {
  const section = text.split('\n\n').find((part) => part.startsWith(`## ${heading}`))
  return section?.split('\n').slice(1) ?? []
}

describe('digest', () => {
  test('of an empty session says so', () => {
    expect(digest({ prompt: null })).toBe('Nothing has been recorded in this session yet.')
    // The request is in the opening, which comes before the digest.
    expect(digest({})).toBe('Nothing has been recorded in this session yet.')
  })

  test('has one list of what is stored and what it says, beside turns and next steps', () => {
    const text = digest({
      observations: [
        observation(5, { title: 'Share one charge', functionsChanged: [], narrative: 'Uses `chargeOnce` now.' }),
        observation(4, {
          type: 'decision',
          title: 'Keep the mutex',
          narrative: 'A channel was tried. The mutex stays because readers must not block.',
        }),
        observation(3, {
          type: 'discovery',
          status: 'open',
          title: 'Test of refunds fails',
          subtitle: 'Expects 12.50, gets 12.49.',
          filesRead: ['src/refund.ts'],
        }),
        observation(2, {
          type: 'bugfix',
          status: 'resolved',
          title: 'Charge was called twice',
          filesModified: ['src/charge.ts'],
          functionsChanged: [{ name: 'charge', file: 'src/charge.ts', action: 'modified' }],
        }),
        observation(1, { concepts: ['gotcha'], title: 'Order matters', subtitle: null, facts: ['a before b'] }),
      ],
      summaries: [
        summary(2, { request: 'Fix carts', completed: 'Empty carts check out', nextSteps: 'Write the docs' }),
      ],
    })
    expect(text).toMatch(/^This session so far: 5 observations, 1 summary\.\n/)
    expect(under(text, 'Turns')).toEqual(['- prompt 2: Fix carts → Empty carts check out'])
    expect(under(text, 'Next steps')).toEqual(['- Write the docs'])
    expect(under(text, 'Stored')).toEqual([
      '- discovery #3 Test of refunds fails, open: Expects 12.50, gets 12.49.',
      '- decision #4 Keep the mutex: A channel was tried. The mutex stays because readers must not block.',
      '- change #1 Order matters: a before b',
      '- change #5 Share one charge: Uses `chargeOnce` now.',
      '- bugfix #2 Charge was called twice, resolved',
    ])
    for (const number of [1, 2, 3, 4]) expect(text.split(`#${number} `)).toHaveLength(2)
  })

  test('takes next steps only from the newest summary', () => {
    const summaries = [summary(2, { completed: 'Done' }), summary(1, { nextSteps: 'Write the docs' })]
    expect(digest({ summaries })).not.toContain('Write the docs')
  })

  test('leaves out observations of withheld files', () => {
    const withheld = makeWithheldFilter({ tools: [], paths: ['.env'] })
    const text = digest(
      {
        observations: [observation(2, { title: 'Secret title', filesRead: ['deploy/.env'] }), observation(1)],
        summaries: [summary(1, { completed: 'Set up', filesEdited: ['deploy/.env', 'a.ts'] })],
      },
      2_000,
      withheld,
    )
    expect(text).not.toMatch(/Secret title|\.env/)
    expect(text).toContain('1 observation,')
  })

  test('keeps open problems and decisions in little space, and counts the rest', () => {
    const observations = Array.from({ length: 200 }, (_, i) => {
      const id = 200 - i
      const title = `Something of some length happened here, number ${id}`
      return observation(id, { title, type: id === 7 ? 'decision' : 'change', filesModified: [`src/file-${id}.ts`] })
    })
    const text = digest({ observations, summaries: [summary(1, { nextSteps: 'Ship it' })] }, 500)
    expect(estimateTokens(text)).toBeLessThanOrEqual(500)
    expect(under(text, 'Next steps')).toEqual(['- Ship it'])
    const stored = under(text, 'Stored')
    expect(stored[0]).toBe('- decision #7 Something of some length happened here, number 7')
    expect(stored[1]).toContain('#200 ')
    expect(stored.at(-1)).toBe(`(${200 - (stored.length - 1)} more left out)`)
  })

  test('of ten thousand observations fits and counts all of them', () => {
    const observations = Array.from({ length: 10_000 }, (_, i) =>
      observation(10_000 - i, {
        type: i % 3 === 0 ? 'decision' : 'discovery',
        narrative: 'It was `named` because of that. '.repeat(100),
        filesRead: [`src/${i}.ts`],
      }),
    )
    const text = digest({ observations, summaries: [] }, 4_000)
    expect(estimateTokens(text)).toBeLessThanOrEqual(4_000)
    expect(text).toContain('10000 observations')
    const shown = under(text, 'Stored')
    expect(shown.at(-1)).toBe(`(${10_000 - (shown.length - 1)} more left out)`)
  })

  const words = fc.option(
    fc.oneof(fc.string({ unit: 'binary', maxLength: 40 }), fc.constant('long `name` because\n'.repeat(300))),
  )
  const list = fc.array(fc.oneof(fc.string(), fc.constant('a/b.ts'), fc.constant('x'.repeat(5_000))), { maxLength: 5 })
  const anyObservation = fc
    .record({
      type: fc.constantFrom('bugfix', 'feature', 'refactor', 'decision', 'discovery', 'change'),
      title: words,
      subtitle: words,
      narrative: words,
      facts: list,
      concepts: list,
      filesRead: list,
      filesModified: list,
    })
    .map((parts) => observation(1, parts))
  const anySummary = fc
    .record({ request: words, completed: words, nextSteps: words, learned: words, filesRead: list, filesEdited: list })
    .map((parts) => summary(1, parts))

  test('never exceeds its limit and is deterministic', () => {
    fc.assert(
      fc.property(
        fc.array(anyObservation, { maxLength: 8 }),
        fc.array(anySummary, { maxLength: 6 }),
        words,
        fc.oneof(fc.constantFrom(0, 1, -5, Number.NaN, 500, 2_000.5), fc.nat(3_000)),
        (observations, summaries, prompt, maxTokens) => {
          const text = digest({ observations, summaries, prompt }, maxTokens)
          expect(estimateTokens(text)).toBeLessThanOrEqual(Math.max(0, maxTokens || 0))
          expect(digest({ observations, summaries, prompt }, maxTokens)).toBe(text)
        },
      ),
      { numRuns: 100 },
    )
  })
})
