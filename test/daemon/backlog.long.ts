/** A daemon that starts on a long backlog answers hooks before it has stored all of it. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { SPOOLED_BEFORE_LISTEN } from '../../src/daemon/actors/supervisor.ts'
import { DaemonSandbox } from '../support/daemon.ts'
import { events } from './actors/harness.ts'

const FILES = SPOOLED_BEFORE_LISTEN + 600
const SESSIONS = 8
const sessionOf = (i: number): string => `backlog-${i % SESSIONS}`

let place: DaemonSandbox
beforeEach(() => {
  place = new DaemonSandbox()
  mkdirSync(place.paths.spool, { recursive: true, mode: 0o700 })
  for (let i = 0; i < FILES; i++) {
    const make = i < SESSIONS ? events.prompt : events.tool
    const name = `${String(i).padStart(15, '0')}-1-${i}.json`
    writeFileSync(join(place.paths.spool, name), JSON.stringify({ v: 1, event: make(sessionOf(i), `e${i}`) }))
  }
})
afterEach(() => place.dispose())

test('a hook that comes while a long backlog is stored is answered, and nothing is lost', async () => {
  await place.answers(place.spawn(), 60_000)
  const { stdout } = await place.hook({
    session_id: 'now',
    cwd: '/nowhere/shop',
    hook_event_name: 'SessionStart',
    source: 'startup',
  })
  expect(JSON.parse(stdout)).toMatchObject({ continue: true })
  const lines = place.log().trimEnd().split('\n')
  const [restored] = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'restored')
  expect(restored).toMatchObject({ spooled: SPOOLED_BEFORE_LISTEN })
  await place.drained()
  expect(await place.stored('now')).toHaveLength(1)
  const stored = await Promise.all(Array.from({ length: SESSIONS }, (_, i) => place.stored(`backlog-${i}`)))
  expect(stored.flat().sort()).toEqual(Array.from({ length: FILES }, (_, i) => `e${i}`).sort())
})
