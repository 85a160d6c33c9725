/** A real daemon that is killed while it removes what was forgotten from all copies. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { MEMORY_KINDS } from '../../src/domain/search-query.ts'
import { DaemonSandbox } from '../support/daemon.ts'
import { exited } from '../support/programs.ts'
import { events } from './actors/harness.ts'

const MARKER = 'quokkavlatigo'
let sandbox: DaemonSandbox
beforeEach(() => {
  sandbox = new DaemonSandbox()
})
afterEach(() => sandbox.dispose())

function filesWith(word: string): string[] {
  return readdirSync(sandbox.dataDir, { recursive: true, withFileTypes: true }).flatMap((entry) => {
    const file = join(entry.parentPath, entry.name)
    return entry.isFile() && readFileSync(file).toString('latin1').includes(word) ? [entry.name] : []
  })
}

const report = (...list: Parameters<typeof told>[]) =>
  sandbox.ask(async (client) => {
    for (const args of list) await client.call('event', { event: told(...args), version: '' })
  })
const told = (kind: 'prompt' | 'tool' | 'turnEnd', session: string, id: string) =>
  kind === 'prompt'
    ? events.prompt(session, id, `the ${MARKER}`)
    : kind === 'tool'
      ? { ...events.tool(session, id), input: { file_path: `/w/${MARKER}.ts` }, response: MARKER }
      : events.turnEnd(session, id)

const observed = (session: string) =>
  expect
    .poll(async () => (await sandbox.ask((client) => client.call('session', { session, trace: 0 }))).view.summaries)
    .toBe(1)

/** Rests of earlier times that the database does not know. */
function leaveBehind(): void {
  const { dataDir, spoolBad, logs, context, temporary } = sandbox.paths
  for (const directory of [spoolBad, context, join(temporary, 'replay-999999999-x')]) {
    mkdirSync(directory, { recursive: true })
    writeFileSync(join(directory, 'left'), MARKER)
  }
  for (const name of ['daemon.log.1', 'daemon.log.2']) writeFileSync(join(logs, name), `{"msg":"${MARKER}"}\n`)
  writeFileSync(join(dataDir, 'db.sqlite.corrupt-20261130T101112345Z'), MARKER)
}

test('forget --everywhere leaves no word in any file, also when it was killed in the middle', {
  timeout: 60_000,
}, async () => {
  const killed = await sandbox.start({ CLAUDE_MEM_FAULT: 'copy.rewritten:1' })
  await report(['prompt', 's', 'p'], ['tool', 's', 'a'], ['turnEnd', 's', 'z'])
  await report(['prompt', 'gone', 'p'], ['tool', 'gone', 'b'], ['turnEnd', 'gone', 'z'])
  await observed('s')
  await observed('gone')
  await sandbox.ask((client) => client.call('backup', {}))
  await sandbox.ask((client) => client.call('backup', {}))
  leaveBehind()
  const forgotten = await sandbox.ask((client) =>
    client.call('forget', { session: 's', kinds: [...MEMORY_KINDS], confirm: true }),
  )
  expect(forgotten.report).toMatchObject({ observations: 1, summaries: 1, prompts: 1 })
  expect(forgotten.report.copies.map(({ deletedAfter }) => deletedAfter)).toEqual([3, 2, null])
  await sandbox.ask((client) => client.call('purge_session', { session: 'gone' }))
  await sandbox.ask((client) => client.call('forget_everywhere', {})).catch(() => undefined)
  await exited(killed)
  expect(filesWith(MARKER)).not.toEqual([])
  await sandbox.start()
  const { cleaned } = await sandbox.ask((client) => client.call('forget_everywhere', {}))
  expect(cleaned.failed).toEqual([])
  expect(filesWith(MARKER)).toEqual([])
  expect((await sandbox.ask((client) => client.call('sessions', {}))).sessions).toMatchObject([{ session: 's' }])
})
