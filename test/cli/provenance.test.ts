import { describe, expect, it } from 'vitest'
import { eventViewLines, provenanceLines } from '../../src/cli/render/provenance.ts'
import { sessionViewLines } from '../../src/cli/render/session.ts'
import { sessionTraceLines } from '../../src/cli/render/sessions.ts'
import { createStyle, type Display } from '../../src/cli/style.ts'
import { displayWidth } from '../../src/cli/text.ts'
import type { ToolUseEvent } from '../../src/domain/event.ts'
import type { CallFigures, EventView, EventWithPayload, InboxMessage, TraceRow } from '../../src/store/port.ts'
import { observationOf, sessionViewOf } from './view-fixtures.ts'

const NOW = 1_800_000_000_000
const display: Display = { style: createStyle(false), columns: null, now: NOW }
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
const event: EventWithPayload = {
  eventId: 'toolu_1',
  session: 's-1',
  kind: 'tool_use',
  tool: 'Bash',
  at: NOW - 60_000,
  receivedAt: NOW - 60_000,
  outcome: null,
  reason: null,
  observationIds: [],
  effectId: null,
  attempts: 0,
  payload,
}
const message: InboxMessage = {
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
const rendered = (changes: Partial<EventView>, full = false) =>
  eventViewLines({ ...view, ...changes }, full, display).join('\n')

describe('inspect --message.output', () => {
  it('prints that a pending event has no outcome yet, and why', () => {
    const text = rendered({ message: { ...message, attempts: 2, error: 'no observation in the reply' } })
    expect(text).toContain('none yet: it waits for the observer: no observation in the reply')
    expect(text).toMatch(/attempts +2 failed attempts/)
    expect(text).toContain('│ {"command":"npm test"}')
    expect(text).not.toContain('Calls')
  })

  it('prints since when it is with the observer, or the error of a failed message', () => {
    const claimed = { ...message, status: 'processing', claimedAt: NOW - 5_000, effectId: 'effect-1' } as const
    expect(rendered({ message: claimed })).toMatch(/it is with the observer since [\d :-]+, effect effect-1/)
    expect(rendered({ message: { ...message, status: 'failed', error: 'refused' } })).toContain(
      'failed: refused; to retry it: claude-mem queue retry',
    )
  })

  it('prints the observations, the call that made them and its cost', () => {
    const text = rendered({
      event: { ...event, outcome: 'observed', observationIds: [12], effectId: 'effect-1', attempts: 1, payload: null },
      observations: [observationOf({ id: 12, title: 'Tests pass' })],
      calls: [call],
    })
    expect(text).toMatch(/outcome +observed in #12/)
    expect(text).toContain('Tests pass')
    expect(text).toMatch(/claude-haiku-4-5 {2}1 s {2}\$0\.0016/)
    expect(text).toContain('removed; CLAUDE_MEM_KEEP_PAYLOADS_DAYS')
    expect(text).toMatch(/attempts +1 failed attempt\n/)
  })

  it('does not report a missing payload for an event that never had one', () => {
    const noted = { ...event, tool: null, outcome: 'noted', reason: 'prompt', payload: null }
    expect(rendered({ event: { ...noted, kind: 'prompt' } })).toContain(
      'none: the text is stored with the prompts of the session',
    )
    const end = rendered({ event: { ...noted, kind: 'session_end' } })
    expect(end).toContain('none: only that it happened is stored')
    expect(end).not.toContain('removed; CLAUDE_MEM_KEEP_PAYLOADS_DAYS')
  })

  it('truncates a long payload, and prints all of it with --full', () => {
    const long = { ...event, payload: { ...payload, response: 'word '.repeat(100_000) } }
    const text = rendered({ event: long })
    expect(text.length).toBeLessThan(3_000)
    expect(text).toContain('response, 500000 characters, truncated (--full: all)')
    expect(rendered({ event: long }, true).length).toBeGreaterThan(500_000)
  })

  it('is sanitised', () => {
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
      display,
    )
    for (const line of lines) expect(line).not.toMatch(/[\p{Cc}\u202e]/u)
    expect(lines.join('\n')).toContain('<script>')
    const error = eventViewLines({ ...view, message: { ...message, error: EVIL, status: 'failed' } }, true, display)
    for (const line of error) expect(line).not.toMatch(/[\p{Cc}\u202e]/u)
  })
})

describe('inspect --observation.output', () => {
  const origin = {
    client: 'codex',
    prompt: { number: 1, text: 'Do the tests pass?', private: false, at: NOW - 90_000 },
    events: [event],
    effectId: 'effect-1',
    calls: [call],
    trace: [step],
  }

  it('prints the prompt, the tool uses, the effect and its calls', () => {
    const text = provenanceLines({ observation: observationOf({}), origin }, false, display).join('\n')
    expect(text).toContain('│ Do the tests pass?')
    expect(text).toContain('Events of Codex')
    expect(text).toMatch(/toolu_1 {2}[\d: -]+ {2}tool_use Bash\n {2}│ \{"command":"npm test"\}/)
    expect(text).toContain('effect effect-1')
    expect(text).toContain('prompts v3')
    expect(text).toContain('queued, 1 waiting')
  })

  it('prints that an observation was written by hand', () => {
    const bare = { client: null, prompt: null, events: [], effectId: null, calls: [], trace: [] }
    const text = provenanceLines({ observation: observationOf({}), origin: bare }, false, display).join('\n')
    expect(text).toContain('none: it was written by hand or imported')
    expect(text).not.toContain('Calls')
  })

  it('is sanitised and fits the terminal', () => {
    const evil = {
      ...origin,
      client: EVIL,
      prompt: { ...origin.prompt, text: EVIL.repeat(30) },
      events: [{ ...event, eventId: EVIL, tool: EVIL, payload: { ...payload, input: EVIL.repeat(30) } }],
      effectId: EVIL,
    }
    const narrow = { ...display, columns: 60 }
    const lines = provenanceLines(
      { observation: observationOf({ title: EVIL, projectName: EVIL }), origin: evil },
      false,
      narrow,
    )
    for (const line of lines) expect(line).not.toMatch(/[\p{Cc}\u202e]/u)
    for (const line of lines.filter((text) => text.startsWith('  │')))
      expect(displayWidth(line)).toBeLessThanOrEqual(60)
  })
})

describe('inspect --trace.output', () => {
  it('prints only the transitions, in order, and how many were removed or left out', () => {
    const second = { ...step, id: 2, event: 'TURN_END', to: 'batching.calling', reason: 'turn ended' }
    const view = { ...sessionViewOf('batching.calling'), trace: [second, step], traceDropped: 7 }
    const all = sessionTraceLines(view, 10_000, display)
    expect(all[0]).toBe('Session s-1: 2 transitions, now batching.calling')
    expect(all.findIndex((line) => line.includes('MESSAGE'))).toBeLessThan(
      all.findIndex((line) => line.includes('TURN_END')),
    )
    expect(all.at(-1)).toContain('7 older ones were removed')
    expect(sessionTraceLines(view, 2, display)[0]).toContain('the last 2 transitions')
  })

  it('prints that a quarantined session has no active state', () => {
    const usual = sessionViewOf('observing')
    const view = { ...usual, row: { ...usual.row, quarantine: 'its snapshot is broken', wakeAt: NOW - 1_000 } }
    expect(sessionTraceLines(view, 10, display)[0]).toBe('Session s-1: 0 transitions, now in quarantine')
    const life = sessionViewLines(view, 10, display).join('\n')
    expect(life).toContain('│ observing │')
    expect(life).not.toContain('●')
    expect(life).not.toMatch(/^ {2}(next|wakes) /m)
  })
})
