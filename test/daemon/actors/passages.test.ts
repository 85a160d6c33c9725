/** Passages are made when an event is accepted, of what is kept of it. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { MemoryEvent } from '../../../src/domain/event.ts'
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
const textsOf = async (turn: number) => (await h.store.passagesOfTurn('s', turn)).map(({ text }) => text).join('\n')

test('passages.areThereWhenTheEventIsAcknowledged, without an observer', async () => {
  h.observer = {
    ...h.observer,
    observe: () => Promise.reject(new Error('the model is down')),
    summarize: () => Promise.reject(new Error('the model is down')),
  }
  await accept(events.prompt('s', 'p', PROMPT))
  expect(await textsOf(1)).toContain('payment queue')
  expect(await h.store.passagesOfEvent('s', 'p')).toMatchObject([{ kind: 'prompt', promptNumber: 1, position: 0 }])
})

test('passages.haveMaskedSecretsOnly, and nothing of private parts', async () => {
  const key = `sk-ant-api03-${'aB3x'.repeat(24)}`
  await accept(events.prompt('s', 'p', `${PROMPT} The key is ${key}. <private>the quokka</private>`))
  const text = await textsOf(1)
  expect(text).toContain('payment queue')
  expect(text).not.toContain(key)
  expect(text).not.toContain('quokka')
})

test('passages.areNotMadeOfAPrivatePromptOrItsTurn', async () => {
  const ended = { ...events.turnEnd('s', 'z'), lastMessage: 'The quokka queue is done and tested.' } as MemoryEvent
  await accept(events.prompt('s', 'p', `<private>${PROMPT}</private>`), events.tool('s', 'a'), ended)
  expect(
    await h.store.newestPassages({ project: 'dir:/w/shop', kinds: ['prompt', 'closing', 'edit'], limit: 9 }),
  ).toEqual([])
})

test('passages.areNotMadeWhileTheyAreSwitchedOff', async () => {
  h.keepsPassages = false
  await accept(events.prompt('s', 'p', PROMPT))
  expect(await h.store.passagesOfTurn('s', 1)).toEqual([])
  h.keepsPassages = true
  await accept(events.prompt('s', 'q', PROMPT))
  expect(await h.store.passagesOfTurn('s', 2)).toHaveLength(1)
})

test('passages.ofAClockThatIsAheadAreOfNow', async () => {
  await accept({ ...events.prompt('s', 'p', PROMPT), at: Date.now() + 86_400_000 })
  expect((await h.store.passagesOfTurn('s', 1))[0]?.at).toBeLessThanOrEqual(Date.now())
})
