/** A clock that is wrong for a moment deletes nothing, neither in a running daemon nor in one that starts with it. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { DaemonSandbox } from '../support/daemon.ts'
import { ROOT } from '../support/paths.ts'
import { waitUntil } from '../support/waiting.ts'

const DAY_MS = 24 * 3_600_000
let place: DaemonSandbox
beforeEach(() => {
  place = new DaemonSandbox()
})
afterEach(() => place.dispose())

const clockFile = () => join(place.directory, 'clock')
const setClock = (days: number) => writeFileSync(clockFile(), String(days * DAY_MS))
const env = () => ({
  CLAUDE_MEM_IDLE_EXIT_MINUTES: '0',
  CHAOS_CLOCK: clockFile(),
  NODE_OPTIONS: `--require=${join(ROOT, 'scripts', 'chaos', 'clock.cjs')}`,
})

/** Rows of each table that retention deletes from by age. */
function kept(): Record<string, number> {
  const db = new Database(place.paths.database, { readonly: true })
  const count = (table: string) => db.prepare<[], number>(`SELECT count(*) FROM ${table}`).pluck().get() ?? 0
  const rows = Object.fromEntries(['passages', 'payloads', 'user_prompts'].map((table) => [table, count(table)]))
  db.close()
  return rows
}

const backups = () => place.log().split('daily backup written').length - 1

test.each([
  ['400 days ahead for a moment', { work: 0, jumps: [400, 0] }],
  ['400 days behind while a session worked, and corrected', { work: -400, jumps: [0] }],
])('%s', async (_, { work, jumps }) => {
  setClock(work)
  await place.start(env())
  const base = { session_id: 'clock', cwd: '/nowhere/shop', prompt_id: 'p1' }
  await place.hook({ ...base, hook_event_name: 'UserPromptSubmit', prompt: 'why do the totals differ?' })
  await place.hook({
    ...{ ...base, hook_event_name: 'PostToolUse', tool_name: 'Bash', tool_use_id: 't1' },
    ...{ tool_input: { command: 'npm test' }, tool_response: { stdout: 'Tests: 3 passed, 3 total', stderr: '' } },
  })
  await place.hook({ ...base, hook_event_name: 'Stop', last_assistant_message: 'Cents are rounded twice.' })
  await place.ask((client) => client.call('flush', { session: 'clock', wait: true }))
  const before = kept()
  expect(Math.min(...Object.values(before))).toBeGreaterThan(0)
  for (const days of jumps) {
    const made = backups()
    setClock(days)
    // The backup is made after retention.
    await waitUntil('a backup at the jump of the clock', () => backups() > made)
    expect(kept()).toEqual(before)
  }
})
