/** A recovery that lost data is reported to the person by whichever daemon and session comes next. */
import { closeSync, openSync, statSync, writeSync } from 'node:fs'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { DaemonSandbox } from '../support/daemon.ts'
import { temporaryDirectory } from '../support/directories.ts'
import { exited } from '../support/programs.ts'
import { events } from './actors/harness.ts'

let place: DaemonSandbox
beforeEach(() => {
  place = new DaemonSandbox()
})
afterEach(() => place.dispose())

function overwriteDatabase(): void {
  const bytes = statSync(place.paths.database).size
  const descriptor = openSync(place.paths.database, 'r+')
  writeSync(descriptor, Buffer.alloc(bytes, 0xa5), 0, bytes, 0)
  closeSync(descriptor)
}

async function messageOfStart(session: string): Promise<string> {
  const payload = {
    hook_event_name: 'SessionStart',
    session_id: session,
    cwd: temporaryDirectory('project'),
    source: 'startup',
  }
  const { stdout } = await place.hook(payload)
  return stdout === '' ? '' : (JSON.parse(stdout).systemMessage ?? '')
}

const notices = async () => (await place.status()).notices.map(({ text }) => text).join('\n')

test('recovery.thatLostDataIsInStatusAfterTheNextDaemonStartsAndShownAtOneSessionStart', async () => {
  const first = await place.start()
  await place.ask((client) => client.call('event', { event: events.prompt('demo-session', 'p1'), version: '0' }))
  await place.ask((client) => client.call('stop', {}))
  await exited(first)
  overwriteDatabase()
  // Dies before anybody looks.
  const second = await place.start()
  second.kill('SIGKILL')
  await exited(second)
  await place.start()
  expect(await notices()).toContain('There was no intact backup: a new database was created.')
  const message = await messageOfStart('next')
  expect(message).toContain('The database was damaged (file is not a database).')
  expect(message).toContain('There was no intact backup: a new database was created.')
  expect(await messageOfStart('later')).not.toContain('damaged')
  expect(await notices()).toContain('The database was damaged')
})
