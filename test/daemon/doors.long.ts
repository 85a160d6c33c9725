/** Every door of a real daemon keeps to the same rules: what may not be kept is in none of its files afterwards. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { MemoryEvent } from '../../src/domain/event.ts'
import { openStoreReader } from '../../src/store/sqlite/reader.ts'
import { DaemonSandbox } from '../support/daemon.ts'
import { type EventDoor, eventDoors } from '../support/event-doors.ts'

let place: DaemonSandbox
let count = 0
beforeAll(async () => {
  place = new DaemonSandbox()
  await place.start({ CLAUDE_MEM_EXCLUDED_PROJECTS: '/w/excluded', CLAUDE_MEM_SKIP_TOOLS: 'Skipped' })
})
afterAll(() => place.dispose())

const DOOR_NAMES = ['REST', 'WebSocket', 'spool'] as const

/** Everything in the data directory, also the write-ahead log, except the spool's own files. */
function filesContain(marker: string): string[] {
  const found: string[] = []
  const visit = (directory: string) => {
    for (const name of readdirSync(directory)) {
      const path = join(directory, name)
      const stat = statSync(path, { throwIfNoEntry: false })
      if (stat?.isDirectory()) visit(path)
      else if (stat?.isFile() && readFileSync(path).includes(marker)) found.push(path)
    }
  }
  visit(place.dataDir)
  return found
}

const base = (session: string, id: string) => ({
  id,
  session,
  at: Date.now(),
  client: 'rest',
  project: { key: 'dir:/w/shop', name: 'shop' },
  cwd: '/w/shop',
  transcriptPath: null,
  promptId: null,
  agent: null,
})
const prompt = (session: string, id: string, text: string, over: object = {}): MemoryEvent => ({
  ...base(session, id),
  kind: 'prompt',
  text,
  private: false,
  ...over,
})
const toolUse = (session: string, id: string, tool: string, response: unknown): MemoryEvent => ({
  ...base(session, id),
  kind: 'tool_use',
  tool,
  input: { command: 'x' },
  response,
  durationMs: null,
})

/** The events of a rule, with a marker that must not be in any file; `skipped`: nothing of the event is kept. */
const RULES: Record<string, { skipped: boolean; events: (session: string, marker: string) => MemoryEvent[] }> = {
  'private parts': {
    skipped: false,
    events: (s, marker) => [
      prompt(s, `${s}p`, `see <private>${marker}</private> there`),
      toolUse(s, `${s}t`, 'Bash', { stdout: `a\n<private>${marker}` }),
      {
        ...base(s, `${s}e`),
        kind: 'turn_end',
        lastMessage: `<private>${marker}</private>`,
        error: marker && null,
        words: [`<private>${marker}</private>`],
      },
    ],
  },
  'a private prompt': {
    skipped: false,
    events: (s, marker) => [
      prompt(s, `${s}p`, `<private>${marker}</private>`),
      toolUse(s, `${s}t`, 'Bash', { stdout: marker }),
      { ...base(s, `${s}e`), kind: 'turn_end', lastMessage: marker, error: null, words: [marker] },
    ],
  },
  secrets: {
    skipped: false,
    events: (s, marker) => [
      prompt(s, `${s}p`, `use ghp_${marker}${'a'.repeat(36 - marker.length)} now`),
      toolUse(s, `${s}t`, 'Bash', { stdout: `export API_TOKEN=${marker}-${marker}` }),
    ],
  },
  'an excluded project': {
    skipped: true,
    events: (s, marker) => [
      { ...base(s, `${s}s`), kind: 'session_start', source: 'startup', cwd: `/w/excluded/${marker}` },
      prompt(s, `${s}p`, marker, { project: { key: `git:/w/excluded/${marker}/.git`, name: marker } }),
    ],
  },
  'a skipped tool': { skipped: true, events: (s, marker) => [toolUse(s, `${s}t`, 'Skipped', marker)] },
  'an own tool': {
    skipped: true,
    events: (s, marker) => [toolUse(s, `${s}t`, 'mcp__claude-mem__search_memory', marker)],
  },
  // Cleaned on another thread.
  'private parts and secrets of a large event': {
    skipped: false,
    events: (s, marker) => {
      const words = 'some words of an output\n'.repeat(2_000)
      const fields = [`<private>${marker}</private>`, `export API_TOKEN=${marker}-${marker}`, 'done', 'again']
      return [toolUse(s, `${s}t`, 'Bash', Object.fromEntries(fields.map((text, i) => [`f${i}`, words + text])))]
    },
  },
  'a large event of a skipped tool': {
    skipped: true,
    events: (s, marker) => [toolUse(s, `${s}t`, 'Skipped', marker.repeat(50_000))],
  },
  'a field that is too long': {
    skipped: false,
    events: (s, marker) => [
      toolUse(s, `${s}t`, 'Bash', { stdout: `${'x'.repeat(200_000)}${marker}${'y'.repeat(200_000)}` }),
    ],
  },
}

describe.each(DOOR_NAMES)('over %s', (doorName) => {
  const door: EventDoor = (event) => eventDoors(place)[doorName](event)
  test.each(Object.keys(RULES))('%s', async (ruleName) => {
    const rule = RULES[ruleName]
    if (rule === undefined) throw new Error(ruleName)
    const marker = `marzipan${++count}q`
    const session = `door-${count}-session`
    for (const event of rule.events(session, marker)) {
      const answer = await door(event)
      if (answer === null) continue
      expect(answer.duplicate).toBe(false)
      if (rule.skipped) expect(answer.skipped).toEqual(expect.stringMatching(/excluded|SKIP_TOOLS|own tools/))
      else expect(answer.skipped).toBeUndefined()
    }
    expect(filesContain(marker)).toEqual([])
    const { sessions } = await place.ask((client) => client.call('sessions', {}))
    expect(sessions.some((one) => one.session === session)).toBe(!rule.skipped)
  })

  test('an impossible time does not keep an event out, and the event gets the time of its arrival', async () => {
    const session = `door-${++count}-session`
    for (const [i, at] of [9e15, -5, 1.5].entries()) {
      await door(prompt(session, `${session}p${i}`, 'hello', { at }))
    }
    const { view } = await place.ask((client) => client.call('session', { session, trace: 10 }))
    expect(view.row.prompts).toBe(3)
    expect(view.row.heardAt).toBeLessThanOrEqual(Date.now())
  })

  test('values that a row can hardly hold are stored', async () => {
    const session = `door-${++count}-session`
    let deep: unknown = 1
    for (let i = 0; i < 400; i++) deep = { deep }
    const odd = { deep, 'a\0b': 'c\0d', half: '\ud800', number: 1e308, ['k'.repeat(5_000)]: [deep] }
    await door(prompt(session, `${session}p\0\udfff`, 'nul \0 and half \ud83d'))
    await door({ ...toolUse(session, `${session}t`, 'Ba\0sh', odd), cwd: '/w/\0', durationMs: 1e300 } as MemoryEvent)
    const { view } = await place.ask((client) => client.call('session', { session, trace: 10 }))
    expect(view).toMatchObject({ row: { prompts: 1 }, messages: [{ kind: 'tool_use' }] })
  })
})

test('events of a session keep their order, also behind a large one', async () => {
  const session = 'door-order-session'
  const large = { stdout: 'words '.repeat(60_000), stderr: 'more '.repeat(60_000) }
  const events = [
    toolUse(session, 'large-1', 'Bash', large),
    toolUse(session, 'small-1', 'Bash', 'small'),
    toolUse(session, 'large-2', 'Bash', large),
    { ...base(session, 'end-1'), kind: 'turn_end' as const, lastMessage: 'done', error: null, words: [] },
    prompt(session, 'prompt-1', 'and now?'),
  ]
  await place.ask((client) => Promise.all(events.map((event) => client.call('event', { event, version: '' }))))
  const reader = await openStoreReader(place.paths.database)
  const stored = await reader.events(session, 10)
  await reader.close()
  expect(stored.map(({ eventId }) => eventId)).toEqual(events.map(({ id }) => id))
})
