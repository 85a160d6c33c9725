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
  test('of an empty session contains the request only', () => {
    expect(digest({ prompt: null })).toBe('Nothing has been recorded in this session yet.')
    expect(digest({})).toBe(
      'Nothing has been recorded in this session yet.\n\n## The user asked\n- prompt 3, the current one: Make checkout idempotent',
    )
  })

  test('contains requests, decisions with reasons, open threads, names, files and recorded titles', () => {
    const text = digest({
      observations: [
        observation(4, {
          type: 'decision',
          title: 'Keep the mutex',
          narrative: 'A channel was tried. The mutex stays because readers must not block.',
        }),
        observation(3, { type: 'discovery', title: 'Test of refunds fails', filesRead: ['src/refund.ts'] }),
        observation(2, {
          title: 'Share one charge',
          narrative: 'Uses `chargeOnce` now.',
          filesModified: ['src/charge.ts'],
          functionsChanged: [{ name: 'charge', file: 'src/charge.ts', action: 'modified' }],
          concepts: ['idempotency'],
        }),
        observation(1, {
          type: 'discovery',
          title: 'Charge is called twice',
          filesRead: ['/home/dev/shop/src/charge.ts'],
        }),
      ],
      summaries: [
        summary(2, { request: 'Fix carts', completed: 'Empty carts check out', nextSteps: 'Write the docs' }),
      ],
    })
    expect(text).toMatch(/^This session so far, as it was recorded: 4 observations, 1 summary\.\n/)
    expect(under(text, 'The user asked')).toEqual([
      '- prompt 3, the current one: Make checkout idempotent',
      '- prompt 2: Fix carts',
    ])
    expect(under(text, 'Decisions')).toEqual(['- Keep the mutex: The mutex stays because readers must not block.'])
    expect(under(text, 'Open threads')).toEqual(['- next: Write the docs', '- fails: Test of refunds fails (#3)'])
    expect(under(text, 'Done')).toEqual(['- prompt 2: Empty carts check out'])
    expect(under(text, 'Names')).toEqual(['charge, chargeOnce, idempotency'])
    expect(under(text, 'Files')).toEqual(['src/charge.ts, src/refund.ts, /home/dev/shop/src/charge.ts'])
    expect(under(text, 'Already recorded')).toEqual([
      '- #4 decision: Keep the mutex',
      '- #3 discovery: Test of refunds fails',
      '- #2 change: Share one charge',
      '- #1 discovery: Charge is called twice',
    ])
  })

  test('takes next steps only from the newest summary', () => {
    const summaries = [summary(2, { completed: 'Done' }), summary(1, { nextSteps: 'Write the docs' })]
    expect(digest({ summaries })).not.toContain('Write the docs')
  })

  test('keeps a finding open until its file changes, and a warning forever', () => {
    const found = observation(1, { type: 'discovery', title: 'Rates are stale', filesRead: ['src/rates.ts'] })
    const fix = (file: string) => observation(2, { type: 'bugfix', filesModified: [file] })
    const warning = observation(3, { concepts: ['gotcha'], title: 'Order matters', facts: ['a before b'] })
    expect(under(digest({ observations: [fix('src/other.ts'), found] }), 'Open threads')).toEqual([
      '- found, not acted on: Rates are stale (#1)',
    ])
    expect(under(digest({ observations: [fix('/home/dev/shop/src/rates.ts'), found] }), 'Open threads')).toEqual([])
    expect(under(digest({ observations: [fix('a'), warning] }), 'Open threads')).toEqual([
      '- gotcha: Order matters: a before b',
    ])
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
    expect(under(text, 'Files')).toEqual(['a.ts'])
  })

  test('keeps decisions and open threads in little space, and counts the rest', () => {
    const observations = Array.from({ length: 200 }, (_, i) => {
      const id = 200 - i
      const title = `Something of some length happened here, number ${id}`
      return observation(id, { title, type: id === 7 ? 'decision' : 'change', filesModified: [`src/file-${id}.ts`] })
    })
    const text = digest({ observations, summaries: [summary(1, { nextSteps: 'Ship it' })] }, 500)
    expect(estimateTokens(text)).toBeLessThanOrEqual(500)
    expect(under(text, 'Decisions')).toEqual(['- Something of some length happened here, number 7'])
    expect(under(text, 'Open threads')).toEqual(['- next: Ship it'])
    const recorded = under(text, 'Already recorded')
    expect(recorded[0]).toContain('#200 ')
    expect(recorded.at(-1)).toBe(`(${200 - (recorded.length - 1)} more left out)`)
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
    const shown = under(text, 'Decisions')
    expect(shown.at(-1)).toBe(`(${3_334 - (shown.length - 1)} more left out)`)
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
