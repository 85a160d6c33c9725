import { describe, expect, it } from 'vitest'
import { newContext } from '../../machines/session/context.ts'
import { writeSnapshot } from '../../machines/session/snapshot.ts'
import type { SessionContext } from '../../machines/session/types.ts'
import type { DaemonStatus } from '../../src/api/operations/daemon.ts'
import { resolveSession } from '../../src/api/resolve.ts'
import { sessionViewLines, stateChain } from '../../src/cli/render/session.ts'
import { sessionListLines, shortIds } from '../../src/cli/render/sessions.ts'
import { runningStatusLines, stoppedStatusLines } from '../../src/cli/render/status.ts'
import { createStyle, type Display } from '../../src/cli/style.ts'
import type { InboxMessage, SessionListItem, SessionView, StoredSessionRow } from '../../src/store/port.ts'

const NOW = 1_800_000_000_000
const display: Display = { style: createStyle(false), columns: null, now: NOW }
const effect = {
  id: 'effect-1',
  kind: 'observe',
  prompt: 2,
  limit: 3,
  offline: null,
  timeoutMs: 1_000,
  deadline: NOW + 60_000,
  starts: 0,
} as const

function contextWith(changes: Partial<SessionContext>): SessionContext {
  return { ...newContext(NOW - 5_000), prompt: 2, ...changes }
}

function viewWith(row: Partial<StoredSessionRow>, rest: Partial<SessionView> = {}): SessionView {
  return {
    row: {
      session: 'abcdef01-2345',
      project: { key: 'git:/repo', name: 'repo' },
      client: 'claude-code',
      cwd: '/repo',
      transcriptPath: null,
      status: 'active',
      state: 'batching.calling',
      snapshot: writeSnapshot({ life: { batching: 'calling' }, turn: 'open' }, contextWith({})),
      machineVersion: 1,
      wakeAt: NOW + 60_000,
      effect,
      waiting: null,
      prompts: 2,
      generation: 1,
      contextTokens: 900,
      usage: { input: 10, output: 20, cacheRead: 30, cacheWrite: 40 },
      revision: 7,
      memorySession: 'abcdef01-2345:1',
      createdAt: NOW - 3_600_000,
      heardAt: NOW - 5_000,
      quarantine: null,
      seq: 12,
      ...row,
    },
    messages: [],
    trace: [],
    traceDropped: 0,
    observations: 4,
    summaries: 1,
    ...rest,
  }
}

const message: InboxMessage = {
  id: 5,
  session: 'abcdef01-2345',
  eventId: 'event-5',
  kind: 'tool_use',
  tool: 'Read',
  prompt: 2,
  status: 'processing',
  claimedAt: NOW - 2_000,
  effectId: 'effect-1',
  attempts: 1,
  error: null,
  createdAt: NOW - 9_000,
}

const rendered = (view: SessionView, limit = 20) => sessionViewLines(view, limit, display).join('\n')

describe('inspect session.output', () => {
  it('is one line with the active state marked', () => {
    expect(stateChain('batching.calling', display)).toBe(
      'init → observing → [batching: calling] → summarizing → compacting → closed',
    )
    expect(stateChain('closed', display)).toBe('init → observing → batching → summarizing → compacting → [closed]')
  })

  it('draws the statechart with the last and the next transitions', () => {
    const step = { id: 1, at: NOW - 3_000, eventId: null, effectId: null, reason: 'turn ended' }
    const trace = [{ ...step, event: 'TURN_END', from: 'observing', to: 'batching.calling' }]
    const text = rendered(viewWith({}, { trace }))
    expect(text).toContain('┃ calling ┃')
    expect(text).toContain('last  observing → batching.calling on TURN_END, 3 s ago: turn ended')
    expect(text).toMatch(/next {2}→ observing on FORGET; on OBSERVED when result is current/)
  })

  it.each([
    ['on a narrow terminal', viewWith({}), { ...display, columns: 50 }, '[batching: calling]'],
    ['without signs to draw with', viewWith({}), { ...display, ascii: true }, '[batching: calling]'],
    ['in a state that this version does not know', viewWith({ state: 'dreaming' }), display, 'closed → [dreaming]'],
  ])('is one line %s', (_, view, how, line) => {
    const text = sessionViewLines(view, 20, how).join('\n')
    expect(text).toContain(line)
    expect(text).not.toContain('╭')
  })

  it('names the claimed messages and since when', () => {
    const messages = [1, 2].map((id) => ({ ...message, id }))
    expect(rendered(viewWith({}, { messages }))).toMatch(
      /claimed +2 messages \(#1, #2\), with the observer since [\d: -]+\n/,
    )
  })

  it('prints the effect in flight, its deadline and the messages it claimed', () => {
    const text = rendered(viewWith({}, { messages: [message] }))
    expect(text).toContain('observe effect-1 for prompt 2, up to 3 messages, deadline in 1 min')
    expect(text).toMatch(/5 {2}processing {2}tool_use Read +2 +1 {2}9 s ago {2}effect-1 2 s ago/)
    expect(text).toContain('10 in, 20 out, 30 cache read, 40 cache write')
  })

  it('prints why the session waits, and its context', () => {
    const context = contextWith({
      turns: [{ prompt: 2, pending: 4, flush: true, summary: true }],
      failed: 1,
      waiting: { since: NOW - 10_000, until: NOW + 30_000, reason: 'key rejected' },
    })
    const snapshot = writeSnapshot({ life: { batching: 'waiting' }, turn: 'open' }, context)
    const text = rendered(viewWith({ state: 'batching.waiting', waiting: 'key rejected', effect: null, snapshot }))
    expect(text).toMatch(/waiting +key rejected/)
    expect(text).toMatch(/turn 2 +4 messages, to be flushed, summary due/)
    expect(text).toMatch(/failed +1 message\n/)
    expect(text).toContain('next attempt in 30 s: key rejected')
  })

  it('prints transitions oldest first, with their reasons and the number of removed ones', () => {
    const entry = { eventId: null, effectId: null, at: NOW }
    const trace = [
      { ...entry, id: 2, event: 'FLUSH', from: 'observing', to: 'batching.calling', reason: 'flushed by hand' },
      { ...entry, id: 1, event: 'MESSAGE', from: 'observing', to: 'observing', reason: 'queued' },
    ]
    const lines = rendered(viewWith({}, { trace, traceDropped: 9 })).split('\n')
    const first = lines.findIndex((line) => line.includes('MESSAGE'))
    expect(lines[first + 1]).toMatch(/FLUSH +observing → batching\.calling +flushed by hand/)
    expect(lines.at(-1)).toContain('9 older ones were removed')
  })

  it('is printed although the snapshot is broken', () => {
    const text = rendered(viewWith({ snapshot: '{broken', status: 'failed', quarantine: 'bad snapshot' }))
    expect(text).toContain('bad snapshot')
    expect(text).toContain('the snapshot cannot be read')
  })

  it('is sanitised', () => {
    const evil = '\x1b[2J\u009b31m\r\n'
    const view = viewWith(
      { session: evil, cwd: evil, waiting: evil, quarantine: evil, client: evil, project: { key: evil, name: evil } },
      {
        messages: [{ ...message, tool: evil, error: evil }],
        trace: [{ id: 1, at: NOW, event: evil, eventId: null, from: evil, to: 'b', reason: evil, effectId: null }],
      },
    )
    for (const line of sessionViewLines(view, 20, display)) expect(line).not.toMatch(/\p{Cc}/u)
  })

  it('prints how many messages are not shown', () => {
    const messages = [1, 2, 3].map((id) => ({ ...message, id }))
    expect(rendered(viewWith({}, { messages }), 2)).toContain('and 1 more: --limit N')
  })
})

describe('inspect sessions.output', () => {
  const item: SessionListItem = {
    session: 'abcdef01-2345',
    project: 'git:/repo',
    projectName: 'repo',
    client: 'claude-code',
    status: 'active',
    state: 'observing',
    prompts: 1,
    pending: 2,
    processing: 1,
    failed: 0,
    observations: 4,
    request: null,
    outcome: null,
    given: 0,
    waiting: null,
    quarantine: null,
    wakeAt: null,
    createdAt: NOW,
    updatedAt: NOW - 60_000,
  }

  it('has one line per session', () => {
    const lines = sessionListLines([item, { ...item, session: 'ffff', waiting: 'no key' }], true, display)
    expect(lines[1]).toMatch(/^abcdef01 +repo +Claude Code +active +observing +1 +4 +3 +0 +1 min ago$/)
    expect(lines[2]).toContain('waiting: no key')
    expect(lines.at(-1)).toContain('--limit')
    expect(sessionListLines([], false, display)[0]).toContain('No session yet')
  })

  it('shortens ids as long as they stay unique', () => {
    expect(shortIds(['abcdefgh-1', 'abcdefgh-2'])).toEqual(['abcdefgh-1', 'abcdefgh-2'])
    expect(shortIds(['short', 'short'])).toEqual(['short', 'short'])
  })
})

describe('inspect session.id prefix', () => {
  it('is enough if only one session has it', async () => {
    const resolve = (prefix: string, found: string[]) => resolveSession({ findSessions: async () => found }, prefix)
    expect(await resolve('ab', ['abc'])).toBe('abc')
    expect(await resolve('abc', ['abc', 'abcd'])).toBe('abc')
    await expect(resolve('ab', ['abc', 'abd'])).rejects.toThrow('2 sessions start with "ab"')
    await expect(resolve('x', [])).rejects.toThrow('no session starts with "x"')
  })
})

describe('status.output', () => {
  const status: DaemonStatus = {
    settings: [
      { name: 'CLAUDE_MEM_PROVIDER', source: 'file' },
      { name: 'CLAUDE_MEM_WORKER_PORT', source: 'environment' },
    ],
    version: '1.2.3',
    pid: 42,
    dataDir: '/data',
    socket: '/data/daemon.sock',
    port: 37777,
    startedAt: NOW - 120_000,
    state: 'serving',
    provider: 'anthropic',
    model: 'claude-haiku-4-5',
    budget: {
      spentUsd: 0.5,
      limitUsd: 2,
      spentTokens: 120_000,
      limitTokens: 5_000_000,
      reason: null,
      until: NOW + 3_600_000,
    },
    waiting: { since: NOW - 60_000, reason: 'key rejected', offline: false },
    queue: { pending: 3, processing: 1, failed: 2, sessions: 2, oldestAt: NOW - 60_000, trend: 'growing' },
    alert: { since: NOW - 1_000, text: 'the queue is long: 610 messages', fix: 'claude-mem flush' },
    activeSessions: 2,
    memory: { rss: 90 * 1024 * 1024, heapUsed: 40 * 1024 * 1024, heapTotal: 50 * 1024 * 1024 },
    observationsToday: 1,
    observations: 10,
    sessions: 5,
    awake: 1,
    databaseBytes: 2048,
    spooled: 1,
    indexing: { what: 'vectors', done: 120, total: 400, embedder: 'static-1' },
    team: { state: 'problem', text: 'not connected: PostgreSQL at db:5432 cannot be reached' },
    notices: [{ at: NOW - 1_000, level: 'warn', text: 'a \x1b[2Jnotice' }],
  }

  it('of a running daemon prints the queue and the notices', () => {
    const text = runningStatusLines(status, display).join('\n')
    expect(text).toContain('claude-mem 1.2.3 is serving (pid 42, up 2 min)')
    expect(text).toContain('anthropic (claude-haiku-4-5), waiting for 1 min: key rejected')
    expect(text).toContain('3 pending, 1 processing, 2 failed in 2 sessions, oldest 1 min ago, growing')
    expect(text).toMatch(/alert +the queue is long: 610 messages; claude-mem flush/)
    expect(text).toMatch(/sessions +5, 2 active, 1 in memory/)
    expect(text).toMatch(/process +90(?:\.0)? MB in memory/)
    expect(text).toContain('1 event to be read')
    expect(text).toContain("CLAUDE_MEM_PROVIDER in settings.json; CLAUDE_MEM_WORKER_PORT in the daemon's environment")
    expect(text).toContain('warn   a \\x1b[2Jnotice (1 s ago)')
  })

  it('without a daemon prints the counts of the database, or why it cannot be read', () => {
    const base = { dataDir: '/data', spooled: 0, notices: [] }
    expect(stoppedStatusLines({ ...base, stats: null, problem: null }, display).join('\n')).toMatch(
      /database +none yet/,
    )
    expect(stoppedStatusLines({ ...base, stats: null, problem: 'damaged' }, display).join('\n')).toMatch(
      /database +damaged/,
    )
  })
})
