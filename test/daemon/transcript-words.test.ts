/** What the agent wrote between tool uses, read from the transcript of a live session when its turn ends. */
import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { MemoryEvent, TurnEndEvent } from '../../src/domain/event.ts'
import { MAX_TURN_WORDS_CHARS, wordsOfTurn } from '../../src/domain/turn-words.ts'
import { writeSpool } from '../../src/hook/spool.ts'
import { dataPaths } from '../../src/lib/paths.ts'
import { DaemonSandbox } from '../support/daemon.ts'
import { expectLinearTime } from '../support/linear-time.ts'
import { TranscriptLines } from '../support/transcript-lines.ts'
import { type TestContext, testContext } from '../transport/context.ts'
import { events, Harness } from './actors/harness.ts'

let harness: Harness
let context: TestContext
beforeEach(async () => {
  harness = await new Harness().start()
  context = testContext(harness, dataPaths(harness.directory))
})
afterEach(async () => {
  await context.close()
  await harness.dispose()
})

const SESSION = 's-1'
const file = (): string => join(harness.directory, `${SESSION}.jsonl`)
const turn = (): TranscriptLines =>
  new TranscriptLines({ session: SESSION })
    .prompt('Fix the total')
    .says('The tax is added twice.')
    .tool('Edit', { file_path: '/w/shop/total.ts' }, 'ok')
    .says('Now the tests.')
    .tool('Bash', { command: 'npm test' }, '14 passed')
    .says('Done: the total is right.')
const WORDS = ['The tax is added twice.', 'Now the tests.']

let ends = 0
function turnEnd(fields: Partial<TurnEndEvent> = {}): MemoryEvent {
  const end = { ...events.turnEnd(SESSION, `end-${++ends}`), transcriptPath: file() }
  return { ...end, ...fields } as MemoryEvent
}

/** The words that are stored with the event. */
async function wordsAfter(event: MemoryEvent): Promise<string[] | undefined> {
  const prompt = events.prompt(SESSION, `prompt-of-${event.id}`)
  await context.events.accept(prompt)
  expect(await context.events.accept(event)).toMatchObject({ duplicate: false, skipped: null })
  const payload = (await harness.store.eventView(event.id, SESSION))?.event.payload
  return payload?.kind === 'turn_end' ? payload.words : undefined
}

describe('a turn that ended while no daemon ran', () => {
  it('has its words, too', async () => {
    const place = new DaemonSandbox()
    try {
      writeFileSync(file(), turn().text)
      mkdirSync(place.paths.spool, { recursive: true })
      const end = turnEnd()
      const hidden = { ...turnEnd(), cwd: '/w/hidden', project: { key: 'dir:/w/hidden', name: 'hidden' } }
      for (const event of [events.prompt(SESSION, 'spooled-prompt'), end, hidden]) writeSpool(place.paths.spool, event)
      await place.start({ CLAUDE_MEM_EXCLUDED_PROJECTS: '/w/hidden' })
      const kept = await place.ask((client) => client.call('payloads', { session: SESSION, limit: 10 }))
      const ends = kept.events.flatMap(({ payload }) => (payload?.kind === 'turn_end' ? [payload.words] : []))
      expect(ends).toEqual([WORDS])
    } finally {
      await place.dispose()
    }
  })
})

describe('the end of a turn', () => {
  it('has what the agent wrote between tool uses, without its last message', async () => {
    writeFileSync(file(), turn().text)
    expect(await wordsAfter(turnEnd())).toEqual(WORDS)
  })

  it('has them while the client writes: before its last message, and with half a line', async () => {
    const { lines } = turn()
    writeFileSync(file(), lines.slice(0, -1).join('\n'))
    expect(await wordsAfter(turnEnd())).toEqual(WORDS)
    appendFileSync(file(), `\n${lines.at(-1)?.slice(0, 60)}`)
    expect(await wordsAfter(turnEnd())).toEqual(WORDS)
  })

  it('has only those of this turn, of this session and of the main agent', async () => {
    const before = new TranscriptLines({ session: SESSION, at: Date.UTC(2026, 2, 1) })
      .prompt('Earlier')
      .says('An earlier turn.')
      .tool('Bash', { command: 'ls' }, 'a')
      .says('Earlier done.')
    const other = new TranscriptLines({ session: 'another' }).says('Another session.')
    const side = new TranscriptLines({ session: SESSION }).says('A subagent.', { isSidechain: true })
    const [first = '', ...rest] = turn().lines
    const after = new TranscriptLines({ session: SESSION, at: Date.now() + 3_600_000 })
      .prompt('The next turn')
      .says('Next words.')
      .tool('Bash', { command: 'ls' }, 'b')
    const all = [...before.lines, first, ...other.lines, ...side.lines, ...rest, ...after.lines]
    writeFileSync(file(), all.join('\n'))
    expect(await wordsAfter(turnEnd())).toEqual(WORDS)
  })

  it('has none where its prompt is private', async () => {
    const lines = new TranscriptLines({ session: SESSION })
      .prompt('<private>the merger</private>')
      .says('About the merger.')
      .tool('Bash', { command: 'ls' }, 'a')
      .says('Done.')
    writeFileSync(file(), lines.text)
    expect(await wordsAfter(turnEnd())).toEqual([])
  })

  it('has them without private parts, secrets and injected context, and bounded', async () => {
    const secret = `ghp_${'a1B2'.repeat(9)}`
    const lines = new TranscriptLines({ session: SESSION })
      .prompt('go')
      .says('x'.repeat(MAX_TURN_WORDS_CHARS * 2))
      .says(`Key ${secret}, <private>salary</private>, <claude-mem-context>old notes</claude-mem-context> end.`)
      .tool('Bash', { command: 'ls' }, 'a')
    for (let i = 0; i < 60; i++) lines.says(`Step ${i}: ${'y'.repeat(100)}`)
    lines.tool('Bash', { command: 'ls' }, 'a').says('Done.')
    writeFileSync(file(), lines.text)
    const bounded = await wordsAfter(turnEnd())
    expect(bounded).toHaveLength(40)
    expect(bounded?.at(-1)).toMatch(/^Step 59/)
    writeFileSync(file(), [...lines.lines.slice(0, 5), ...lines.lines.slice(-3)].join('\n'))
    const words = (await wordsAfter(turnEnd())) ?? []
    const text = words.join('\n')
    expect(text).toMatch(/Key .* end\./)
    expect(text).not.toMatch(/ghp_|salary|old notes/)
    expect(text.length).toBeLessThanOrEqual(MAX_TURN_WORDS_CHARS)
  })

  it('is accepted once, also where it is sent twice at the same time', async () => {
    writeFileSync(file(), turn().text)
    await context.events.accept(events.prompt(SESSION, 'p'))
    const end = turnEnd()
    const answers = await Promise.all([context.events.accept(end), context.events.accept({ ...end })])
    expect(answers.map(({ duplicate }) => duplicate).sort()).toEqual([false, true])
  })

  it('is stored before the events that follow it', async () => {
    writeFileSync(file(), turn().text)
    const sent = [
      events.prompt(SESSION, 'p1'),
      turnEnd({ id: 'e1' }),
      events.prompt(SESSION, 'p2'),
      turnEnd({ id: 'e2' }),
      events.prompt(SESSION, 'p3'),
    ]
    await Promise.all(sent.map((event) => context.events.accept(event)))
    const rows = await harness.store.events(SESSION, 10)
    expect(rows.map(({ eventId }) => eventId)).toEqual(['p1', 'e1', 'p2', 'e2', 'p3'])
  })
})

describe('a transcript that cannot be read leaves the end of the turn as it is:', () => {
  const special: Record<string, () => string> = {
    'it is gone': () => join(harness.directory, 'gone.jsonl'),
    'it is a directory': () => {
      const path = join(harness.directory, 'directory.jsonl')
      mkdirSync(path)
      return path
    },
    'it is a pipe': () => {
      const path = join(harness.directory, 'pipe.jsonl')
      execFileSync('mkfifo', [path])
      return path
    },
    'it is a link to a device': () => {
      const path = join(harness.directory, 'zero.jsonl')
      symlinkSync('/dev/zero', path)
      return path
    },
    'it is 200 MB of nothing': () => {
      const path = join(harness.directory, 'huge.jsonl')
      writeFileSync(path, '')
      truncateSync(path, 200 * 1024 * 1024)
      return path
    },
    'it is binary': () => {
      const path = join(harness.directory, 'binary.jsonl')
      writeFileSync(path, Buffer.alloc(100_000, '\xff\x00\n"assistant"', 'latin1'))
      return path
    },
    'its path is one of another system': () => 'C:\\Users\\me\\.claude\\projects\\shop\\s-1.jsonl',
    'its path is relative': () => 'package.json',
    'it has no path': () => '',
  }
  it.runIf(process.platform !== 'win32').each(Object.keys(special))('%s', async (name) => {
    const path = special[name]?.() ?? ''
    expect(await wordsAfter(turnEnd({ transcriptPath: path === '' ? null : path }))).toEqual([])
  })
})

it('reads the end of a long transcript', async () => {
  const filler = new TranscriptLines({ session: SESSION, at: Date.UTC(2026, 0, 1) }).prompt('before')
  for (let i = 0; i < 30; i++) filler.tool('Read', { file_path: `/w/${i}` }, 'z'.repeat(200_000))
  writeFileSync(file(), filler.text + turn().text)
  expect(await wordsAfter(turnEnd())).toEqual(WORDS)
})

it('takes linear time for hostile text', () => {
  const ended = { session: SESSION, promptId: null, at: Date.now() }
  for (const piece of ['\n', '"assistant"\n', '{"type":"assistant"', '"tool_result""tool_use_id"\n', '{'.repeat(50)]) {
    expectLinearTime((size) => wordsOfTurn(piece.repeat(size / piece.length), ended), 100_000, piece)
  }
})
