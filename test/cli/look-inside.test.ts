import { describe, expect, it } from 'vitest'
import { eventViewLines } from '../../src/cli/render/event.ts'
import { originLines } from '../../src/cli/render/origin.ts'
import { sessionViewLines } from '../../src/cli/render/session.ts'
import { sessionTraceLines } from '../../src/cli/render/trace.ts'
import { type Look, styleOf } from '../../src/cli/style.ts'
import { widthOf } from '../../src/cli/text.ts'
import type { ToolUseEvent } from '../../src/memory/event.ts'
import type { CallFigures, EventView, SourceEvent } from '../../src/store/origin-port.ts'
import type { Message, TraceRow } from '../../src/store/port.ts'
import { observationOf, sessionViewOf } from './views.ts'

const NOW = 1_800_000_000_000
const look: Look = { style: styleOf(false), columns: null, now: NOW }
const EVIL = '\x1b]52;c;aGk=\x07\u009b2J\r\n\u202eevil<script>alert(1)</script>'

const payload: ToolUseEvent = {
  kind: 'tool_use',
  id: 'toolu_1',
  session: 's-1',
  at: NOW - 60_000,
  client: 'claude-code',
  project: { key: 'git:/repo', name: 'repo' },
  cwd: '/repo',
  transcriptPath: null,
  promptId: null,
  agent: null,
  tool: 'Bash',
  input: { command: 'npm test' },
  response: 'ok',
  durationMs: 5,
}
const event: SourceEvent = {
  eventId: 'toolu_1',
  session: 's-1',
  kind: 'tool_use',
  tool: 'Bash',
  at: NOW - 60_000,
  receivedAt: NOW - 60_000,
  payloadHash: 'hash',
  outcome: null,
  reason: null,
  observationIds: [],
  effectId: null,
  attempts: 0,
  payload,
}
const message: Message = {
  id: 5,
  session: 's-1',
  eventId: 'toolu_1',
  kind: 'tool_use',
  tool: 'Bash',
  prompt: 1,
  status: 'pending',
  claimedAt: null,
  effectId: null,
  attempts: 0,
  error: null,
  createdAt: NOW - 60_000,
}
const call: CallFigures = {
  id: 3,
  effectId: 'effect-1',
  kind: 'observe',
  provider: 'anthropic',
  model: 'claude-haiku-4-5',
  promptVersion: 'v3',
  at: NOW - 30_000,
  durationMs: 1_500,
  usage: { input: 1_200, output: 80, cacheRead: 0, cacheWrite: 0 },
  cost: 0.0016,
  observations: 1,
  error: null,
  session: 's-1',
  project: 'git:/repo',
  projectName: 'repo',
}
const step: TraceRow = {
  id: 1,
  at: NOW - 60_000,
  event: 'MESSAGE',
  eventId: 'toolu_1',
  from: 'observing',
  to: 'observing',
  reason: 'queued, 1 waiting',
  effectId: null,
}
const view: EventView = { event, message: null, observations: [], calls: [], trace: [step] }
const shown = (changes: Partial<EventView>, full = false) =>
  eventViewLines({ ...view, ...changes }, full, look).join('\n')

describe('what became of a tool use', () => {
  it('is nothing yet while it waits, and says why', () => {
    const text = shown({ message: { ...message, attempts: 2, error: 'no observation in the reply' } })
    expect(text).toContain('nothing yet: it waits for the observer: no observation in the reply')
    expect(text).toMatch(/attempts +2 failed attempts/)
    expect(text).toContain('│ {"command":"npm test"}')
    expect(text).not.toContain('Calls')
  })

  it('is with the observer since a time, or set aside with its error', () => {
    const claimed = { ...message, status: 'processing', claimedAt: NOW - 5_000, effectId: 'effect-1' } as const
    expect(shown({ message: claimed })).toMatch(/it is with the observer since [\d :-]+, effect effect-1/)
    expect(shown({ message: { ...message, status: 'failed', error: 'refused' } })).toContain(
      'set aside: refused; claude-mem queue retry brings it back',
    )
  })

  it('is its observations, with the call that made them and what it cost', () => {
    const text = shown({
      event: { ...event, outcome: 'observed', observationIds: [12], effectId: 'effect-1', attempts: 1, payload: null },
      observations: [observationOf({ id: 12, title: 'Tests pass' })],
      calls: [call],
    })
    expect(text).toMatch(/became +observed in #12/)
    expect(text).toContain('Tests pass')
    expect(text).toMatch(/claude-haiku-4-5 {2}1 s {2}\$0\.0016/)
    expect(text).toContain('no longer kept')
    expect(text).toMatch(/attempts +1 failed attempt\n/)
  })

  it('does not miss the payload of what was only noted', () => {
    const noted = { ...event, tool: null, outcome: 'noted', reason: 'prompt', payload: null }
    expect(shown({ event: { ...noted, kind: 'prompt' } })).toContain("none: its text is among its session's prompts")
    const end = shown({ event: { ...noted, kind: 'session_end' } })
    expect(end).toContain('none: only that it happened is kept')
    expect(end).not.toContain('no longer kept')
  })

  it('shows the beginning of what is long, and all of it when asked', () => {
    const long = { ...event, payload: { ...payload, response: 'word '.repeat(100_000) } }
    const text = shown({ event: long })
    expect(text.length).toBeLessThan(3_000)
    expect(text).toContain('response, 500000 characters, its beginning (--full: all)')
    expect(shown({ event: long }, true).length).toBeGreaterThan(500_000)
  })

  it('cannot act on the terminal', () => {
    const lines = eventViewLines(
      {
        event: {
          ...event,
          eventId: EVIL,
          session: EVIL,
          tool: EVIL,
          reason: EVIL,
          outcome: EVIL,
          payload: { ...payload, input: { [EVIL]: EVIL }, response: EVIL },
        },
        message: null,
        observations: [observationOf({ title: EVIL })],
        calls: [{ ...call, model: EVIL, provider: EVIL, error: EVIL, effectId: EVIL, promptVersion: EVIL }],
        trace: [{ ...step, event: EVIL, from: EVIL, reason: EVIL }],
      },
      true,
      look,
    )
    for (const line of lines) expect(line).not.toMatch(/[\p{Cc}\u202e]/u)
    expect(lines.join('\n')).toContain('<script>')
    const error = eventViewLines({ ...view, message: { ...message, error: EVIL, status: 'failed' } }, true, look)
    for (const line of error) expect(line).not.toMatch(/[\p{Cc}\u202e]/u)
  })
})

describe('where an observation comes from', () => {
  const origin = {
    prompt: { number: 1, text: 'Do the tests pass?', private: false, at: NOW - 90_000 },
    events: [event],
    effectId: 'effect-1',
    calls: [call],
    trace: [step],
  }

  it('goes back to the prompt, the tool uses, the effect and its calls', () => {
    const text = originLines({ observation: observationOf({}), origin }, false, look).join('\n')
    expect(text).toContain('│ Do the tests pass?')
    expect(text).toMatch(/toolu_1 {2}[\d: -]+ {2}tool_use Bash\n {2}│ \{"command":"npm test"\}/)
    expect(text).toContain('effect effect-1')
    expect(text).toContain('prompts v3')
    expect(text).toContain('queued, 1 waiting')
  })

  it('is nothing where it was written by hand', () => {
    const bare = { prompt: null, events: [], effectId: null, calls: [], trace: [] }
    const text = originLines({ observation: observationOf({}), origin: bare }, false, look).join('\n')
    expect(text).toContain('no event: it was written by hand or imported')
    expect(text).not.toContain('Calls')
  })

  it('cannot act on the terminal, and stays within it', () => {
    const evil = {
      ...origin,
      prompt: { ...origin.prompt, text: EVIL.repeat(30) },
      events: [{ ...event, eventId: EVIL, tool: EVIL, payload: { ...payload, input: EVIL.repeat(30) } }],
      effectId: EVIL,
    }
    const narrow = { ...look, columns: 60 }
    const lines = originLines(
      { observation: observationOf({ title: EVIL, projectName: EVIL }), origin: evil },
      false,
      narrow,
    )
    for (const line of lines) expect(line).not.toMatch(/[\p{Cc}\u202e]/u)
    for (const line of lines.filter((text) => text.startsWith('  │'))) expect(widthOf(line)).toBeLessThanOrEqual(60)
  })
})

describe('the trace of a session', () => {
  it('is alone, in order, and says what was dropped and where it was cut', () => {
    const second = { ...step, id: 2, event: 'TURN_END', to: 'batching.calling', reason: 'turn ended' }
    const view = { ...sessionViewOf('batching.calling'), trace: [second, step], traceDropped: 7 }
    const all = sessionTraceLines(view, 10_000, look)
    expect(all[0]).toBe('Session s-1: 2 transitions, now batching.calling')
    expect(all.findIndex((line) => line.includes('MESSAGE'))).toBeLessThan(
      all.findIndex((line) => line.includes('TURN_END')),
    )
    expect(all.at(-1)).toContain('7 older ones were removed')
    expect(sessionTraceLines(view, 2, look)[0]).toContain('the last 2 transitions')
  })

  it('is of a session that is in none of its states while it is quarantined', () => {
    const usual = sessionViewOf('observing')
    const view = { ...usual, row: { ...usual.row, quarantine: 'its snapshot is broken', wakeAt: NOW - 1_000 } }
    expect(sessionTraceLines(view, 10, look)[0]).toBe('Session s-1: 0 transitions, now in quarantine')
    const life = sessionViewLines(view, 10, look).join('\n')
    expect(life).toContain('│ observing │')
    expect(life).not.toContain('●')
    expect(life).not.toMatch(/^ {2}(next|wakes) /m)
  })
})
