/** Passages are stored with the effect that reads their events, before the observer is called. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { MemoryEvent } from '../../../src/domain/event.ts'
import type { Passage } from '../../../src/domain/passage.ts'
import { NO_FILTERS } from '../../../src/domain/search-query.ts'
import { type Observer, ObserverError } from '../../../src/observer/port.ts'
import type { Store } from '../../../src/store/port.ts'
import { events, Harness } from './harness.ts'

let h: Harness
beforeEach(async () => {
  h = await new Harness().start()
})
afterEach(() => h.dispose())

async function accept(...given: MemoryEvent[]): Promise<void> {
  for (const event of given) await h.supervisor.accept(event)
}

const PROMPT = 'Please move the retry limit of the payment queue to the settings file.'
const CLOSING = 'The retry limit of the payment queue is a setting now, and its tests pass.'

function command(session: string, id: string): MemoryEvent {
  const event = events.failure(session, id)
  return {
    ...event,
    input: { command: `npm test -- ${id}` },
    error: `Exit code 1\nAssertionError: ${id} is not 3`,
  } as MemoryEvent
}

function ended(session: string, id: string, lastMessage = CLOSING): MemoryEvent {
  return { ...events.turnEnd(session, id), lastMessage } as MemoryEvent
}

/** A whole turn, whose last event flushes it. */
const turn = (session: string, prompt = PROMPT) => [
  events.prompt(session, `${session}-p`, prompt),
  command(session, `${session}-a`),
  ended(session, `${session}-z`),
]

const textsOf = async (session: string, prompt = 1) =>
  (await h.store.passagesOfTurn(session, prompt)).map(({ text }) => text).join('\n')

/** An observer that reports what is stored when it is called. */
function watching(seen: (passages: Passage[]) => void): Observer {
  const { observer } = h
  const look = async (session: string) => seen(await h.store.passagesOfTurn(session, 1))
  return {
    ...observer,
    observe: async (request, signal) => {
      await look(request.session)
      return await observer.observe(request, signal)
    },
    summarize: async (request, signal) => {
      await look(request.session)
      return await observer.summarize(request, signal)
    },
  }
}

test('passages.areStoredBeforeTheObserverReadsTheirEvents, and not with the ack', async () => {
  const seen: string[][] = []
  h.observer = watching((passages) => seen.push(passages.map(({ eventId }) => eventId)))
  await accept(events.prompt('s', 's-p', PROMPT), command('s', 's-a'))
  expect(await h.store.passagesOfTurn('s', 1)).toEqual([])
  await accept(ended('s', 's-z'))
  await h.settle()
  expect(new Set(seen[0])).toEqual(new Set(['s-p', 's-a']))
  expect(new Set(seen.at(-1))).toEqual(new Set(['s-p', 's-a', 's-z']))
})

test('passages.areThereWhileTheProviderIsDown', async () => {
  const down = () => Promise.reject(new ObserverError('provider', 'the model is down'))
  h.observer = { ...h.observer, observe: down, summarize: down }
  await accept(...turn('s'), ...turn('t', 'Please write the changelog of the payment queue.'))
  await h.settle()
  expect(await textsOf('s')).toContain('s-a is not 3')
  expect(await textsOf('t')).toContain('changelog')
})

test('passages.ofADaemonThatWasKilledAreThereOnce', async () => {
  const wanted = h.observer
  const called = new Promise<void>((resolve) => {
    const never = () => {
      resolve()
      return new Promise<never>(() => undefined)
    }
    h.observer = { ...wanted, observe: never, summarize: never }
  })
  await accept(...turn('s'))
  await called
  const before = await h.store.passagesOfTurn('s', 1)
  expect(before.length).toBeGreaterThan(1)
  h.observer = wanted
  await h.crash()
  await h.settle()
  const after = await h.store.passagesOfTurn('s', 1)
  const kept = new Set(before.map(({ id }) => id))
  expect(after.filter(({ id }) => kept.has(id))).toEqual(before)
  const places = after.map(({ eventId, position }) => `${eventId} ${position}`)
  expect(new Set(places).size).toBe(places.length)
})

test('passages.haveMaskedSecretsOnly, and nothing of private parts', async () => {
  const key = `sk-ant-api03-${'aB3x'.repeat(24)}`
  await accept(...turn('s', `${PROMPT} The key is ${key}. <private>the quokka</private>`))
  await h.settle()
  const text = await textsOf('s')
  expect(text).toContain('payment queue')
  expect(text).not.toContain(key)
  expect(text).not.toContain('quokka')
})

test('passages.areNotMadeOfAPrivatePromptOrItsTurn', async () => {
  await accept(...turn('s', `<private>${PROMPT}</private>`))
  await h.settle()
  expect(await h.store.passagesOfTurn('s', 1)).toEqual([])
})

test('passages.areNotMadeOfWhatTheUserNeverWantsToBeSent', async () => {
  h.mayBePassage = (event) => event.kind !== 'tool_failure'
  await accept(...turn('s'))
  await h.settle()
  expect(await h.store.passagesOfEvent('s', 's-a')).toEqual([])
  expect(await h.store.passagesOfEvent('s', 's-z')).not.toEqual([])
})

test('passages.ofAClockThatIsAheadAreOfNow', async () => {
  await accept(...turn('s').map((event) => ({ ...event, at: Date.now() + 3_600_000 })))
  await h.settle()
  for (const { at } of await h.store.passagesOfTurn('s', 1)) expect(at).toBeLessThanOrEqual(Date.now())
})

const NONE_KEPT = { payloadDays: 1, payloadBytes: 1e9, passageDays: 0, passageBytes: 0 } as const
const KEEP_REST = { traceDays: 1, tracePerSession: 100, observerTurnDays: 1 }

test('passages.ofATurnAreDeletedWithItsSummary, where none are kept', async () => {
  h.keepsPassages = false
  let seen: Passage[] = []
  h.observer = watching((passages) => {
    seen = passages
  })
  await accept(...turn('s').slice(0, 2))
  await h.supervisor.flush(null)
  await h.settle()
  const open = await h.store.passagesOfTurn('s', 1)
  expect(open.length).toBeGreaterThan(0)
  await h.store.applyRetention({ ...NONE_KEPT, ...KEEP_REST }, Date.now())
  expect(await h.store.passagesOfTurn('s', 1)).toEqual(open)
  await h.store.indexNext(10)
  expect(await h.store.indexState()).toMatchObject({ done: (await h.store.indexState()).total })
  await accept(ended('s', 's-z'))
  await h.settle()
  expect(seen.map(({ eventId }) => eventId)).toContain('s-z')
  expect(await h.store.passagesOfTurn('s', 1)).toEqual([])
})

/** A store whose passages arrive late: after what is being forgotten is gone. */
function late(store: Store): { store: Store; release: () => void; called: Promise<void> } {
  let release: () => void = () => undefined
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  let begin: () => void = () => undefined
  const called = new Promise<void>((resolve) => {
    begin = resolve
  })
  const addPassages: Store['addPassages'] = async (...args) => {
    begin()
    await held
    return await store.addPassages(...args)
  }
  return { store: { ...store, addPassages }, release, called }
}

const FORGOTTEN = 'quokkavlatigo'
const SECRET_TURN = () => [
  events.prompt('s', 's-p', `Please tell ${FORGOTTEN}.`),
  { ...command('s', 's-a'), error: `Exit code 1\nError: ${FORGOTTEN} x` } as MemoryEvent,
  ended('s', 's-z', `I told ${FORGOTTEN}.`),
]

function bytesOnDisk(): string {
  return ['db.sqlite', 'db.sqlite-wal'].map((name) => readFileSync(join(h.directory, name), 'latin1')).join('')
}

/** Forgets while the passages of an effect are on their way to the store. */
async function forgetDuringAnEffect(forget: () => Promise<unknown>): Promise<void> {
  const held: ReturnType<typeof late>[] = []
  await h.crash((store) => {
    const made = late(store)
    held.push(made)
    return made.store
  })
  const [gate] = held
  await accept(...SECRET_TURN())
  await gate?.called
  expect(bytesOnDisk()).toContain(FORGOTTEN)
  await forget()
  gate?.release()
  await h.settle()
  expect(await h.store.passagesOfTurn('s', 1)).toEqual([])
  expect(bytesOnDisk()).not.toContain(FORGOTTEN)
}

test('passages.ofASessionThatIsErasedMeanwhileAreNotStored', async () => {
  await forgetDuringAnEffect(() =>
    h.supervisor.eraseSession('s', async () => {
      await h.store.eraseSession('s', Date.now())
    }),
  )
})

test('passages.ofATurnThatIsForgottenMeanwhileAreNotStored', async () => {
  await forgetDuringAnEffect(async () => {
    const request = { ids: [], filters: { ...NO_FILTERS, kinds: [], session: 's' }, at: Date.now() }
    const planned = await h.store.forget({ ...request, dryRun: true })
    await h.supervisor.whileForgetting(planned.inbox, () => h.store.forget({ ...request, dryRun: false }))
  })
})

test('passages.ofATurnThatWasForgottenDoNotComeBackWithItsNextBatch', async () => {
  await accept(...turn('s').slice(0, 2))
  await h.supervisor.flush(null)
  await h.settle()
  const [observation] = await h.store.observations({ session: 's' })
  await h.store.forget({ ids: [observation?.id ?? 0], filters: null, at: Date.now() + 1, dryRun: false })
  expect(await h.store.passagesOfTurn('s', 1)).toEqual([])
  const later = Date.now() + 60_000
  h.clockOffset = 60_000
  await accept({ ...command('s', 's-b'), at: later }, { ...ended('s', 's-z'), at: later })
  await h.settle()
  const of = new Set((await h.store.passagesOfTurn('s', 1)).map(({ eventId }) => eventId))
  expect(of).toEqual(new Set(['s-b', 's-z']))
})

test('passages.stayInTheProjectOfASessionThatEntersAFolderOfIt', async () => {
  const shop = { key: 'dir:/work/shop', name: 'shop' }
  const client = { key: 'dir:/work/shop/app/client', name: 'client' }
  const inside = turn('s').map((event, i) => ({ ...event, project: i === 0 ? shop : client }))
  await accept(...inside)
  await h.settle()
  expect((await h.store.session('s'))?.project).toEqual(shop)
  const found = await h.store.newestPassages({ project: shop.key, kinds: ['closing'], limit: 9 })
  expect(found.map(({ text }) => text)).toEqual([CLOSING])
})
