/** Exclusions that cannot be read are reported to the person: what they excluded is remembered meanwhile. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { DaemonSandbox } from '../support/daemon.ts'
import { temporaryDirectory } from '../support/directories.ts'
import { DIST } from '../support/paths.ts'
import { runProgram } from '../support/programs.ts'

let place: DaemonSandbox
beforeEach(() => {
  place = new DaemonSandbox()
})
afterEach(() => place.dispose())

async function messageOfStart(session: string): Promise<string> {
  const payload = {
    ...{ hook_event_name: 'SessionStart', session_id: session, source: 'startup' },
    cwd: temporaryDirectory('project'),
  }
  // Not by `place.hook`, which writes the settings file.
  const { stdout } = await runProgram(process.execPath, [join(DIST, 'hook.cjs'), '--data-dir', place.dataDir], {
    env: place.env,
    input: JSON.stringify(payload),
  })
  return JSON.parse(stdout).systemMessage ?? ''
}

test.each([
  { about: 'no JSON', text: '{"CLAUDE_MEM_EXCLUDED_PROJECTS": ["/home/me/diary"', says: 'is not valid JSON' },
  { about: 'a list', text: '[]', says: 'must hold a JSON object' },
  { about: 'another type', text: '{"CLAUDE_MEM_EXCLUDED_PROJECTS": {"a": 1}}', says: 'CLAUDE_MEM_EXCLUDED_PROJECTS' },
])('a session start says that settings cannot be read: $about', async ({ text, says }) => {
  mkdirSync(place.dataDir, { mode: 0o700 })
  const file = join(place.dataDir, 'settings.json')
  writeFileSync(file, text)
  await place.start()
  expect(await messageOfStart('first')).toContain(says)
  expect(await messageOfStart('second')).toContain('what it excludes is remembered, too')
  writeFileSync(file, '{"CLAUDE_MEM_EXCLUDED_PROJECTS": ["/home/me/diary"]}')
  expect(await messageOfStart('third')).toBe('')
})
