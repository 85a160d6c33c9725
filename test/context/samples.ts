/** Memories as an observer writes them. */
import { type ContextOptions, contextSettings } from '../../src/context/options.ts'
import type { Observation, Summary } from '../../src/domain/observation.ts'
import type { Passage, PassageKind } from '../../src/domain/passage.ts'
import { loadSettings } from '../../src/settings/settings.ts'
import type { ContextMaterial } from '../../src/store/port.ts'
import { sampleObservation } from '../support/samples.ts'

/** Local time: days and times are the user's. */
export const at = (day: number, hour: number, minute: number) => new Date(2026, 10, day, hour, minute).getTime()
export const NOW = at(17, 9, 5)

export const SHOP = { key: 'git:/home/me/shop/.git', name: 'shop' }

/** The defaults. */
export const CONTEXT_SETTINGS = contextSettings(loadSettings('', {}).values)
export const OPTIONS: ContextOptions = { ...CONTEXT_SETTINGS, now: NOW }

/** Nothing but a project that is known. */
export function material(over: Partial<ContextMaterial> = {}): ContextMaterial {
  const { observations = [], pinned = [] } = over
  return {
    project: SHOP,
    totals: {
      observations: observations.length + pinned.length,
      discoveryTokens: 12_400,
      since: at(15, 10, 0),
    },
    observations,
    pinned,
    summaries: [],
    passages: [],
    prompts: [],
    idle: [],
    repeats: [],
    amends: [],
    ...over,
  }
}

export function observation(id: number, over: Partial<Observation> = {}): Observation {
  return sampleObservation({
    id,
    session: 'monday',
    project: SHOP.key,
    title: `Change number ${id}`,
    contentHash: `hash-${id}`,
    createdAt: at(16, 14, 0) + id * 60_000,
    ...over,
  })
}

export function summary(over: Partial<Summary> = {}): Summary {
  return {
    id: 1,
    session: 'monday',
    project: SHOP.key,
    promptNumber: 1,
    model: null,
    createdAt: at(16, 14, 52),
    request: 'Find out why checkout fails for carts over 1000',
    investigated: null,
    learned: 'Totals were summed as floats; Stripe rejects amounts that are not whole cents.',
    completed: 'Money is integer cents from cart to gateway; 48 tests pass.',
    nextSteps: '- migrate the stored carts\n- remove toFixed from the invoice template',
    notes: null,
    filesRead: [],
    filesEdited: [],
    ...over,
  }
}

let passageIds = 0
/** A passage of the session `monday`, unless told otherwise. */
export function passage(kind: PassageKind, text: string, over: Partial<Passage> = {}): Passage {
  const id = ++passageIds
  return {
    ...{ id, kind, text, subject: null, outcome: null, eventId: `event-${id}`, position: 0, promptNumber: 1 },
    ...{ session: 'monday', project: SHOP.key, at: at(16, 14, 50) },
    ...over,
  }
}

/** Two days of work in two sessions. */
export const MEMORIES: Observation[] = [
  observation(5, {
    type: 'decision',
    title: 'Keep money as integer cents',
    narrative: 'Floats lose cents, and Stripe wants integers.',
    facts: [
      'Money is integer cents everywhere; dollars exist only in the view.',
      'decimal.js was rejected: 32 KB in the browser bundle.',
    ],
    filesModified: ['/home/me/shop/src/cart/total.ts'],
    createdAt: at(16, 14, 48),
  }),
  observation(4, {
    type: 'bugfix',
    title: 'Fix rounding in cart total',
    facts: [
      '0.1 + 0.2 style sums made total() return 1000.0000000000001',
      'Failing test: checkout.test.ts "large carts"',
    ],
    filesModified: ['/home/me/shop/src/cart/total.ts', '/home/me/shop/test/checkout.test.ts'],
    createdAt: at(16, 14, 30),
  }),
  observation(3, {
    type: 'discovery',
    title: 'Stripe rejects amounts with fractions',
    narrative: 'The gateway answers 400 invalid_integer.',
    createdAt: at(16, 14, 10),
  }),
  observation(2, {
    session: 'sunday',
    type: 'feature',
    title: 'Add coupon codes to the cart',
    facts: ['POST /cart/coupon', 'Coupons live in src/cart/coupons.ts'],
    filesModified: ['/home/me/shop/src/cart/coupons.ts'],
    createdAt: at(15, 10, 20),
  }),
  observation(1, {
    session: 'sunday',
    title: 'Update the README',
    filesModified: ['/home/me/shop/README.md'],
    createdAt: at(15, 10, 0),
  }),
]
