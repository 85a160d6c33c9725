/** Each call stands for a hook process: all that they share is the file. */
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { NO_EXCLUSIONS } from '../../src/domain/clean-event.ts'
import { readPayload } from '../../src/hook/payload.ts'
import { isPrivateTurn, mayReport, privateTurnFile, privateTurnsFallback } from '../../src/hook/private-turn.ts'
import { DaemonSandbox } from '../support/daemon.ts'
import { temporaryDirectory } from '../support/directories.ts'
import { canMount, smallDisk } from '../support/small-disk.ts'
import { buildHook, Hook } from './hook-process.ts'

let directory: string
beforeEach(() => {
  directory = join(temporaryDirectory('private'), 'private-turns')
})

const base = { session_id: 'session-0001', cwd: '/nowhere/shop' }
const prompt = (id: string | null, text: string) => ({
  ...base,
  hook_event_name: 'UserPromptSubmit',
  prompt: text,
  prompt_id: id,
})
const hidden = (id: string | null) => prompt(id, '<private>the merger</private>')
const tool = (id: string | null, agent: string | null = null, marker = 'out') => ({
  ...base,
  hook_event_name: 'PostToolUse',
  tool_name: 'Bash',
  tool_input: { command: 'ls' },
  tool_response: { stdout: marker },
  tool_use_id: `toolu_${Math.random()}`,
  prompt_id: id,
  ...(agent === null ? {} : { agent_id: agent, agent_type: 'general-purpose' }),
})
const agentEnd = (id: string | null, agent: string, marker = 'done') => ({
  ...base,
  hook_event_name: 'SubagentStop',
  prompt_id: id,
  agent_id: agent,
  agent_type: 'general-purpose',
  last_assistant_message: marker,
})

function report(payload: object): boolean {
  const reading = readPayload(JSON.stringify(payload), { settings: NO_EXCLUSIONS, at: Date.now() })
  if (reading.type === 'ignored') throw new Error(reading.reason)
  return mayReport(reading.event, directory)
}

describe('private turns in the hook', () => {
  test("a background agent's late tool uses and last words stay private", () => {
    expect([hidden('a'), tool('a'), tool('a', 'bg')].map(report)).toEqual([true, false, false])
    expect([prompt('b', 'hello'), tool('b')].map(report)).toEqual([true, true])
    expect([tool('a', 'bg'), agentEnd('a', 'bg')].map(report)).toEqual([false, false])
    expect([prompt('c', 'more'), tool('a', 'bg'), agentEnd('a', 'other'), tool('c')].map(report)).toEqual([
      true,
      false,
      false,
      true,
    ])
  })

  test('an agent that was seen in a private turn stays private under another prompt id', () => {
    for (const payload of [hidden('a'), tool('a', 'bg'), prompt('b', 'hello')]) report(payload)
    expect([tool('b', 'bg'), tool('b', 'new')].map(report)).toEqual([false, true])
  })

  test('without prompt ids agents are in doubt, the main agent is not', () => {
    for (const payload of [hidden(null), prompt(null, 'hello')]) report(payload)
    expect([tool(null, 'bg'), tool(null)].map(report)).toEqual([false, true])
  })

  test('the empty file of an older version is a private turn', () => {
    mkdirSync(directory, { recursive: true })
    writeFileSync(join(directory, 'session-0001'), '')
    expect(report(tool('a'))).toBe(false)
    expect([prompt('b', 'hello'), tool('b'), tool('a', 'bg')].map(report)).toEqual([true, true, false])
  })

  test('a line that cannot be read counts as a private turn', () => {
    report(hidden('a'))
    writeFileSync(join(directory, 'session-0001'), '["priv', { flag: 'a' })
    expect(report(tool('z'))).toBe(false)
  })

  test('a question about a file in a private turn is not asked, one in the next turn is', () => {
    report(hidden('a'))
    expect(isPrivateTurn('session-0001', { promptId: 'a', agentId: null }, directory)).toBe(true)
    report(prompt('b', 'hello'))
    expect(isPrivateTurn('session-0001', { promptId: 'b', agentId: null }, directory)).toBe(false)
    expect(isPrivateTurn('session-0001', { promptId: 'a', agentId: 'bg' }, directory)).toBe(true)
  })

  test('the file stays small over thousands of turns, and the newest ids are remembered', () => {
    report(hidden('first'))
    for (let i = 0; i < 2_000; i++) report(i % 7 === 0 ? hidden(`private-${i}`) : prompt(`public-${i}`, 'x'))
    expect(statSync(join(directory, 'session-0001')).size).toBeLessThan(40_000)
    expect(report(tool('private-1995', 'late'))).toBe(false)
    expect(report(tool('first', 'late'))).toBe(false)
    expect(report(tool('public-1999'))).toBe(true)
    expect(readdirSync(directory)).toEqual(['session-0001'])
  })

  test('a turn whose mark cannot be written into the data directory stays private, and so does the rest of its session', () => {
    writeFileSync(directory, 'a file in place of the directory')
    expect([hidden('a'), tool('a'), tool(null), tool(null, 'bg')].map(report)).toEqual([true, false, false, false])
    rmSync(directory)
    expect([tool('a'), prompt('b', 'hello'), tool('b'), tool('a', 'bg'), tool('b', 'bg')].map(report)).toEqual([
      false,
      true,
      true,
      false,
      false,
    ])
    expect(isPrivateTurn('session-0001', { promptId: 'a', agentId: null }, directory)).toBe(true)
    report({ ...base, hook_event_name: 'SessionEnd', reason: 'exit' })
    expect(report(tool('c'))).toBe(true)
  })

  test('a mark that cannot be written follows those that could', () => {
    expect([hidden('a'), prompt('b', 'hello')].map(report)).toEqual([true, true])
    const aside = `${directory}-aside`
    renameSync(directory, aside)
    writeFileSync(directory, '')
    expect([hidden('c'), tool('c')].map(report)).toEqual([true, false])
    rmSync(directory)
    renameSync(aside, directory)
    expect([tool('c'), tool('a', 'late'), tool('b')].map(report)).toEqual([false, false, true])
    expect([prompt('d', 'more'), tool('d'), tool('c')].map(report)).toEqual([true, true, false])
    report({ ...base, hook_event_name: 'SessionStart', source: 'clear' })
  })

  test('in a session with a private turn an event of a prompt that was never seen is private', () => {
    expect([prompt('z', 'before'), hidden('a'), prompt('b', 'hello'), tool('b')].map(report)).toEqual([
      true,
      true,
      true,
      true,
    ])
    // Its prompt may have been private, and its hook may have failed.
    expect(report(tool('lost'))).toBe(false)
    for (let i = 0; i < 10; i++) report(prompt(`public-${i}`, 'x'))
    expect([tool('b', 'late'), tool('public-0')].map(report)).toEqual([true, true])
  })

  test('a directory of another user or one that is open to others keeps no marks', () => {
    writeFileSync(directory, '')
    const kept = privateTurnsFallback(directory)
    mkdirSync(kept, { mode: 0o755 })
    try {
      report(hidden('a'))
      expect(readdirSync(kept)).toEqual([])
    } finally {
      rmSync(kept, { recursive: true })
    }
  })

  test('a new session of the same id starts without it', () => {
    report(hidden('a'))
    report({ ...base, hook_event_name: 'SessionEnd', reason: 'exit' })
    expect(existsSync(join(directory, 'session-0001'))).toBe(false)
  })
})

describe.skipIf(!canMount)('a disk that could not be written when a private turn began', () => {
  test.each([
    ['it was read-only', ['ro'], ['rw']],
    ['it had no inodes left', ['nr_inodes=3'], ['nr_inodes=0']],
  ])('%s: nothing of the turn is stored once it can', async (_why, fault, repaired) => {
    const disk = smallDisk(8)
    chmodSync(disk, 0o700)
    const remount = (options: string[]) => execFileSync('mount', ['-o', `remount,${options.join(',')}`, disk])
    const hook = new Hook(await buildHook())
    const run = (payload: object) => hook.run({ ...payload }, {}, undefined, ['--data-dir', disk])
    // Two files beside the directory itself: the limit of the third case.
    writeFileSync(join(disk, 'starting'), '{}')
    writeFileSync(join(disk, 'other'), '')
    remount(fault)
    expect(await run(hidden('a'))).toMatchObject({ code: 0, stdout: expect.stringContaining('could not store') })
    remount(repaired)
    await run(tool('a', null, 'marzipan'))
    await run(tool('a', 'bg', 'marzipan'))
    await run(prompt('b', 'hello'))
    await run(tool('b', null, 'public'))
    const spool = join(disk, 'spool')
    const events = readdirSync(spool).map((name) => readFileSync(join(spool, name), 'utf8'))
    expect(events).toHaveLength(2)
    expect(events.join('')).not.toContain('marzipan')
    await run({ ...base, hook_event_name: 'SessionEnd', reason: 'exit' })
  })
})

test('late events of a private turn are in no file, through real hooks and through the socket', async () => {
  const place = new DaemonSandbox()
  try {
    await place.start()
    for (const payload of [hidden('a'), tool('a', 'bg', 'marzipan1'), prompt('b', 'hello'), tool('b')]) {
      await place.hook(payload)
    }
    await place.hook(tool('a', 'bg', 'marzipan2'))
    await place.hook(agentEnd('a', 'bg', 'marzipan3'))
    // A program that does not keep the hook's file: the daemon remembers the private prompt itself.
    const late = readPayload(JSON.stringify(tool('a', 'other', 'marzipan4')), {
      settings: NO_EXCLUSIONS,
      at: Date.now(),
    })
    if (late.type === 'ignored') throw new Error(late.reason)
    await place.ask((client) => client.call('event', { event: late.event, version: '' }))
    const { view } = await place.ask((client) => client.call('session', { session: 'session-0001', trace: 50 }))
    expect(view.messages).toHaveLength(1)
    const files = readdirSync(place.dataDir).filter((name) => name.startsWith('db.sqlite'))
    const bytes = Buffer.concat(files.map((name) => readFileSync(join(place.dataDir, name))))
    expect(bytes.includes('session-0001')).toBe(true)
    expect(bytes.includes('marzipan')).toBe(false)
  } finally {
    await place.dispose()
  }
})

describe('privateTurn.file', () => {
  test.each([
    'CON',
    'nul',
    'COM1',
    'con.txt',
    'aux.',
    '../../etc',
    'C:evil',
    'a'.repeat(300),
    '',
    'a\0b',
    'session.',
    'x ',
  ])('of a session called %j is a plain name on every system', (session) => {
    expect(privateTurnFile(session)).toMatch(/^s-[0-9a-f]{16}$/)
  })

  test('of two sessions that differ only in case are two where case is ignored', () => {
    const [one, other] = ['5f1c0a9e-aaaa', '5F1C0A9E-AAAA'].map((id) => privateTurnFile(id).toLowerCase())
    expect(one).toBe('5f1c0a9e-aaaa')
    expect(other).not.toBe(one)
  })
})
