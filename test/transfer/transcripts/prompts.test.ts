/** Which lines of a transcript of Claude Code are the user's words. */
import { Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { typedText } from '../../../src/domain/transcript-entry.ts'
import { loadSettings } from '../../../src/settings/settings.ts'
import { readTranscriptEvents } from '../../../src/transfer/transcripts/index.ts'
import { expectLinearTime } from '../../support/linear-time.ts'

const settings = loadSettings('', {}).values
let seconds = 0

const line = (fields: Record<string, unknown>): string =>
  JSON.stringify({
    sessionId: 's-1',
    timestamp: new Date(Date.UTC(2026, 2, 2, 10, 0, ++seconds)).toISOString(),
    ...fields,
  })
const own = (fields: Record<string, unknown>) => line({ uuid: `u${seconds}`, cwd: '/w/shop', ...fields })
const user = (content: unknown, fields: Record<string, unknown> = {}) =>
  own({ type: 'user', message: { role: 'user', content }, ...fields })
const says = (text: string) =>
  own({ type: 'assistant', message: { id: `m${seconds}`, content: [{ type: 'text', text }] } })
const works = (id: string) => [
  own({
    type: 'assistant',
    message: { id, content: [{ type: 'tool_use', id, name: 'Bash', input: { command: 'ls' } }] },
  }),
  user([{ type: 'tool_result', tool_use_id: id, content: 'a' }]),
]
const queue = (operation: string, content?: string) => line({ type: 'queue-operation', operation, content })

async function read(lines: readonly string[]) {
  const events = []
  for await (const event of readTranscriptEvents(Readable.from([lines.join('\n')]), { settings })) events.push(event)
  return events
}
const prompts = async (lines: readonly string[]) =>
  (await read(lines)).flatMap((event) => (event.kind === 'prompt' ? [event.text] : []))

describe('a line of the user', () => {
  it('is a prompt where the client says that a person typed it, whatever it looks like', async () => {
    const human = { origin: { kind: 'human' }, promptSource: 'typed' }
    expect(
      await prompts([
        user('<task-notification> is what I see', human),
        user('<task-notification>done</task-notification>', { origin: { kind: 'task-notification' } }),
        user('looks good', { origin: { kind: 'peer', from: 'reviewer' } }),
        user('wake up', { promptSource: 'system' }),
        user('from a program', { promptSource: 'sdk' }),
        user('hidden', { isMeta: true, ...human }),
      ]),
    ).toEqual(['<task-notification> is what I see', 'from a program'])
  })

  it('is none where the client wrote it, in versions that do not say whose it is', async () => {
    const texts = [
      '<task-notification>\n<status>completed</status></task-notification>\nFull output: /tmp/x',
      '<agent-message from="review">fine</agent-message>',
      'Another session sent a message:\n<teammate-message teammate_id="review">fine</teammate-message>',
      '<command-name>/model</command-name>\n<command-message>model</command-message>\n<command-args>x</command-args>',
      '<bash-stdout>x</bash-stdout><bash-stderr></bash-stderr>',
      '/compact',
    ]
    expect(await prompts(texts.map((text) => user(text)))).toEqual([])
  })

  it('is what was typed, without what the client put before it', async () => {
    const opened = '<ide_opened_file>The user opened a.ts</ide_opened_file>'
    expect(
      await prompts([
        user([
          { type: 'text', text: opened },
          { type: 'text', text: 'why is it red?' },
        ]),
        user(`<system-reminder>x</system-reminder>\n${opened} and now?`, { origin: { kind: 'human' } }),
        user(opened),
      ]),
    ).toEqual(['why is it red?', 'and now?'])
  })

  it('is nothing of a note, also behind a closing tag in it', async () => {
    const opened = '<ide_opened_file>a</ide_opened_file>'
    const texts = [
      '<system-reminder>a </system-reminder>是, $</system-reminder>\nwhy is it red?',
      `${opened}<system-reminder>a </ide_opened_file>Ja, $</system-reminder>\nand now?`,
    ]
    expect(await prompts(texts.map((text) => user(text)))).toEqual(['why is it red?', 'and now?'])
  })

  it('is a slash command with its words where the agent carries it out', async () => {
    const command = '<command-message>plan is running…</command-message>\n<command-name>/plan</command-name>'
    expect(
      await prompts([user(`${command}\n<command-args>only <b> tags\nplease</command-args>`), user(command)]),
    ).toEqual(['/plan only <b> tags\nplease', '/plan'])
  })
})

it('ends the turn before it where the client wrote it, as the client reported then', async () => {
  const notice = user('the build is done', { origin: { kind: 'task-notification' } })
  const events = await read([user('mend it'), ...works('t1'), says('Waiting.'), notice, ...works('t2'), says('Done.')])
  expect(events.flatMap((event) => (event.kind === 'turn_end' ? [event.lastMessage] : []))).toEqual([
    'Waiting.',
    'Done.',
  ])
  expect(events.filter(({ kind }) => kind === 'prompt')).toHaveLength(1)
})

describe('a message that was typed while the agent worked', () => {
  it('counts where it was handed to the agent, within the turn, and nothing else says so', async () => {
    const events = await read([
      user('mend it'),
      says('First I look.'),
      ...works('t1'),
      queue('enqueue', 'and the tests'),
      queue('remove'),
      ...works('t2'),
      says('Done.'),
    ])
    expect(events.map(({ kind }) => kind)).toEqual([
      'session_start',
      'prompt',
      'tool_use',
      'prompt',
      'tool_use',
      'turn_end',
      'session_end',
    ])
    expect(events[3]).toMatchObject({ text: 'and the tests', cwd: '/w/shop' })
    expect(events[5]).toMatchObject({ lastMessage: 'Done.', words: ['First I look.'] })
    const times = events.map(({ at }) => at)
    expect(times).toEqual([...times].sort((a, b) => a - b))
  })

  it('counts once where the client sends it later as a prompt', async () => {
    expect(
      await prompts([
        user('one'),
        queue('enqueue', 'two'),
        queue('enqueue', 'three'),
        ...works('t1'),
        queue('dequeue'),
        user('two'),
        user('three '),
        queue('enqueue', 'four'),
        queue('remove', 'four'),
        user('four'),
        user('four'),
      ]),
    ).toEqual(['one', 'two', 'three', 'four', 'four'])
  })

  it('is found by its text where the client names it, else the oldest is meant', async () => {
    const notice = '<task-notification>done</task-notification>'
    const start = [user('one'), queue('enqueue', notice), queue('enqueue', 'two'), queue('enqueue', 'three')]
    expect(await prompts([...start, queue('remove', 'three'), queue('remove'), queue('remove')])).toEqual([
      'one',
      'three',
      'two',
    ])
  })

  it('does not count where the user took it back, and does where the session ended before', async () => {
    const taken = [user('one'), queue('enqueue', 'tow'), queue('popAll', 'tow'), user('two')]
    expect(await prompts([...taken, queue('enqueue', 'three'), queue('dequeue'), queue('remove', 'two')])).toEqual([
      'one',
      'two',
    ])
    expect(await prompts([...taken, queue('enqueue', 'three'), queue('enqueue')])).toEqual(['one', 'two', 'three'])
  })
})

it('takes time in proportion to its text', () => {
  const texts: ((n: number) => string)[] = [
    (n) => '<ide_a></ide_a> '.repeat(n),
    (n) => '<system-reminder>'.repeat(n),
    (n) => `${' '.repeat(n * 8)}x`,
    (n) => `x:${' '.repeat(n * 8)}x`,
    (n) => `<command-message></command-message>${' '.repeat(n * 8)}x`,
    (n) => `<command-message></command-message><command-name>/a</command-name>${'<command-args>'.repeat(n)}`,
    (n) => `/${'a'.repeat(n * 8)} `,
  ]
  for (const text of texts) expectLinearTime((n) => typedText(text(n)), 20_000, text(1))
})
