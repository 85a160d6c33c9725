import { describe, expect, test } from 'vitest'
import {
  connectionLine,
  nextCommand,
  type TeamAnswer,
  toBeReceived,
  toBeSent,
} from '../../src/viewer/views/team/team-text.ts'

type Sync = NonNullable<TeamAnswer['sync']>

const NOW = 1_700_000_000_000
const SYNC: Sync = {
  phase: { is: 'connected', since: NOW, listening: true },
  outbox: { waiting: 0, oldestAt: null },
  loading: null,
  currentAt: NOW,
  heldBackMs: null,
  pushed: 0,
  received: 0,
  erased: 0,
  refusedPushed: 0,
  refusedReceived: 0,
  refused: [],
  unavailable: [],
}
const SHOP = { project: 'repo:github.com/acme/shop', name: 'shop', since: 0, passages: false, at: NOW }
const CONNECTION = {
  server: 'db.example.com:5432',
  database: 'memory',
  role: 'ana',
  tls: 'verify-full',
  author: 'ana',
  machine: 'laptop',
  allProjects: false,
}

function team(changes: Partial<TeamAnswer> = {}): TeamAnswer {
  const line = { state: 'ok' as const, text: 'connected, everything is sent and received' }
  return { connection: CONNECTION, problem: null, sync: SYNC, line, projects: [SHOP], ...changes }
}

function failing(code: string): TeamAnswer {
  const failure = { code, message: 'it failed', retryable: true }
  const phase = { is: 'waiting' as const, since: NOW, retryAt: NOW + 5_000, attempts: 3, failure }
  return team({ sync: { ...SYNC, phase }, line: { state: 'problem', text: 'not connected: it failed' } })
}

describe('connectionLine', () => {
  test('is a sentence in the tone of its state; nothing without a team', () => {
    expect(connectionLine(team())).toEqual({ tone: 'live', text: 'Connected, everything is sent and received.' })
    expect(connectionLine(failing('auth'))).toEqual({ tone: 'bad', text: 'Not connected: it failed.' })
    expect(connectionLine(team({ line: null }))).toBeNull()
  })

  test('shows control characters of a server as text, on one line', () => {
    const line = { state: 'problem' as const, text: 'failed: \u001b[2J\n\u202egnp' }
    expect(connectionLine(team({ line }))?.text).toBe('Failed: \\x1b[2J \\u202egnp.')
  })
})

describe('nextCommand', () => {
  test('connects again where the connection cannot be used, and asks the doctor where it has a problem', () => {
    const unusable = team({ connection: null, sync: null, problem: 'team.json is damaged' })
    expect(nextCommand(unusable)).toContain('claude-mem team connect')
    expect(nextCommand(failing('auth'))).toBe('claude-mem team doctor')
    const line = { state: 'problem' as const, text: 'connected; shop cannot be shared' }
    expect(nextCommand(team({ line }))).toBe('claude-mem team doctor')
    expect(nextCommand(team())).toBeNull()
  })
})

describe('what waits', () => {
  test('to be sent: how much, and since when', () => {
    expect(toBeSent(SYNC)).toMatchObject({ text: 'Nothing waits', at: null })
    expect(toBeSent({ ...SYNC, outbox: { waiting: 1, oldestAt: NOW } })).toMatchObject({ text: '1 record', at: NOW })
  })

  test('to be received: known only with a connection', () => {
    expect(toBeReceived(SYNC, 0)).toMatchObject({ text: 'Nothing: no project is shared', at: null })
    expect(toBeReceived(SYNC, 1)).toEqual({ text: 'Nothing waits', since: 'checked', at: NOW })
    const loading = { done: 2, total: 10, since: NOW - 1 }
    expect(toBeReceived({ ...SYNC, loading }, 1)).toMatchObject({ text: '2 of 10 records received', at: NOW - 1 })
    const cut = failing('unreachable').sync ?? SYNC
    expect(toBeReceived(cut, 1)).toMatchObject({ text: 'Not known while there is no connection', at: NOW })
    expect(toBeReceived({ ...cut, currentAt: null }, 1)).toMatchObject({ at: null })
  })
})
