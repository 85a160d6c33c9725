/** The fuzz script (`npm run fuzz`): its inputs can be repeated, and what it looks for is found. */
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { hookInput } from '../scripts/fuzz/parsers.ts'
import { checkStored } from '../scripts/fuzz/stored.ts'
import { randomOf } from '../scripts/fuzz/target.ts'
import { frame } from '../scripts/fuzz/wire.ts'
import { bash, eventOf, userPrompt } from '../scripts/lib/payloads.ts'
import { Harness } from './daemon/actors/harness.ts'

describe('fuzz', () => {
  test('an input is made again from seed, target and index, and neighbours differ', () => {
    const inputs = Array.from({ length: 50 }, (_, index) => hookInput(randomOf(7, 'hook', index)).raw)
    expect(Array.from({ length: 50 }, (_, index) => hookInput(randomOf(7, 'hook', index)).raw)).toEqual(inputs)
    expect(new Set(inputs).size).toBeGreaterThan(45)
  })

  test('frames have the length and the mask that the protocol asks for', () => {
    const bytes = frame(Buffer.from('hello'))
    expect([...bytes.subarray(0, 2)]).toEqual([0x81, 0x85])
    const mask = bytes.subarray(2, 6)
    expect(String.fromCharCode(...bytes.subarray(6).map((byte, i) => byte ^ (mask[i % 4] ?? 0)))).toBe('hello')
    expect(frame(Buffer.alloc(70_000)).readBigUInt64BE(2)).toBe(70_000n)
  })

  test('a stored row that is not valid is found, of every kind', async () => {
    const h = await new Harness().start()
    const file = join(h.directory, 'db.sqlite')
    const turn = { session: 's-1', prompt: 'p-1', cwd: h.directory }
    await h.supervisor.accept(eventOf(userPrompt(turn, 'go')))
    await h.supervisor.accept(eventOf(bash(turn, 't-1', 'ls', 'a.txt')))
    await h.supervisor.drain('the test')
    await h.store.indexNext(100)
    await h.store.close()
    expect(checkStored(file)).toMatchObject({ problems: [], rows: { prompt: 1, sdk_sessions: 1, events: 2 } })

    const damage = (sql: string, finding: string) => {
      const db = new Database(file)
      db.unsafeMode()
      db.pragma('foreign_keys = OFF')
      db.exec(`BEGIN; ${sql}`)
      db.exec('COMMIT')
      db.close()
      expect(checkStored(file).problems.join('\n'), sql).toContain(finding)
    }
    damage('UPDATE user_prompts SET prompt_number = -1', 'a stored prompt is not valid: number')
    damage(
      `UPDATE pending_messages SET payload = json_set(payload, '$.at', 'now')`,
      'an event in pending_messages is not valid: at',
    )
    damage('UPDATE events SET at = 9000000000000000', 'which no date can hold')
    damage(
      `UPDATE sdk_sessions SET snapshot = '{"version":2,"value":"nowhere","context":{}}'`,
      'a snapshot cannot be loaded',
    )
    damage('DELETE FROM memory_fts_data WHERE id > 10', 'the full-text index memory_fts is not consistent')
    damage('DELETE FROM sdk_sessions', 'foreign_key_check')
  })
})
