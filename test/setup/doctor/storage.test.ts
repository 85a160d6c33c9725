/** What the doctor says about the memory itself: where it lies, who may read it, what keeps it from growing. */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { writeSpool } from '../../../src/hook/spool.ts'
import { dataPaths } from '../../../src/lib/paths.ts'
import { DoctorFacts, runCheck } from '../../../src/setup/doctor/check.ts'
import { checkNativeModules } from '../../../src/setup/doctor/program.ts'
import { openLocalStore } from '../../../src/store/sqlite/store.ts'
import { commitOf, promptOf, record } from '../../store/samples.ts'
import { DAY_MS, TranscriptFixture } from '../../transfer/backfill/fixture.ts'
import { Built, DoctorFixture } from './fixture.ts'

const built = new Built()
let fixture: DoctorFixture
beforeEach(() => {
  fixture = new DoctorFixture(built)
  fixture.install()
})
afterEach(() => fixture.dispose())
afterAll(() => built.dispose())

const inData = (...names: string[]) => join(fixture.dataDir, ...names)
const settings = (values: object) => fixture.write(inData('settings.json'), JSON.stringify(values))
async function remember(...sessions: string[]): Promise<void> {
  const { database, backups } = fixture.around.paths
  const store = await openLocalStore({ databaseFile: database, backupsDir: backups })
  for (const session of sessions) {
    await store.commit([commitOf(session, 1, { events: [record(promptOf(session, `prompt of ${session}`))] })])
  }
  await store.close()
}

describe.skipIf(process.platform === 'win32')('doctor.dataDirectory', () => {
  it('reports files that other users can read, with the fix', async () => {
    chmodSync(fixture.dataDir, 0o755)
    const token = fixture.write(inData('token'), 'secret', 0o644)
    mkdirSync(inData('spool'), { mode: 0o777 })
    settings({ CLAUDE_MEM_GEMINI_API_KEY: 'a-key' })
    chmodSync(inData('settings.json'), 0o640)
    const faults = await fixture.faults()
    expect(faults).toContain(
      `data-directory problem: ${fixture.dataDir} is open to others (mode 755) -> chmod 700 '${fixture.dataDir}'`,
    )
    expect(faults).toContain(`permissions problem: ${token} is open to others (mode 644) -> chmod 600 '${token}'`)
    expect(faults).toContainEqual(expect.stringContaining(`${inData('spool')} is open to others`))
    expect(faults).toContainEqual(expect.stringMatching(/^settings problem: settings.json holds a key and is open/))
  })

  it('reports that it cannot be written or is not a directory', async () => {
    chmodSync(fixture.dataDir, 0o500)
    expect(await fixture.faults()).toContainEqual(expect.stringContaining(`${fixture.dataDir} cannot be written`))
    const file = fixture.write(join(fixture.home, 'file'), '')
    const faults = await fixture.faults({ paths: dataPaths(file) })
    expect(faults[0]).toBe(
      `data-directory problem: ${file} is not a directory -> move it away, or check CLAUDE_MEM_DATA_DIR`,
    )
  })

  it('reports a nearly full disk', async () => {
    const at = async (megabytes: number) => await fixture.faults({ freeBytes: async () => megabytes * 1024 ** 2 })
    expect(await at(10)).toEqual([expect.stringMatching(/^disk problem: 10 MB free .*: new events may be lost/)])
    expect(await at(300)).toEqual([expect.stringMatching(/^disk advice: 300 MB free .*: soon no backup can be made/)])
    expect(await at(2_000)).toEqual([])
  })

  it('continues after a check that fails', async () => {
    const checks = await fixture.checks({
      freeBytes: async () => {
        throw new Error('no such call')
      },
    })
    expect(checks.find(({ id }) => id === 'disk')).toMatchObject({
      state: 'problem',
      detail: 'the check failed: no such call',
    })
    expect(checks.at(-1)?.id).toBe('mcp.claude-code')
  })
})

describe.skipIf(process.platform === 'win32')('doctor.program', () => {
  it('reports invalid settings', async () => {
    settings({ CLAUDE_MEM_BATCH_MAX_SIZE: 0, CLAUDE_MEM_TYPO: 1 })
    expect(await fixture.faults()).toEqual([
      expect.stringContaining('CLAUDE_MEM_BATCH_MAX_SIZE must be a whole number'),
      expect.stringContaining('CLAUDE_MEM_TYPO is not a setting'),
    ])
  })

  it('reports what observer and embedder lack, without a call to a model', async () => {
    settings({ CLAUDE_MEM_PROVIDER: 'gemini', CLAUDE_MEM_EMBEDDER: './no-such-model' })
    const faults = await fixture.faults()
    expect(faults).toEqual([
      expect.stringMatching(
        /^observer problem: gemini: there is no key; set one: claude-mem config set gemini-api-key/,
      ),
      expect.stringMatching(/^embedder problem: .\/no-such-model cannot be used, static is used instead: /),
    ])
  })

  it('reports that the database driver cannot be loaded, and by which node', async () => {
    const reason = 'The module was compiled against a different Node.js version'
    const load = () => ({ driver: null, reason })
    const [check] = await runCheck(
      { id: 'native-modules', title: 'Native modules', run: (facts) => checkNativeModules(facts, load) },
      new DoctorFacts(fixture.around),
    )
    expect(check).toMatchObject({
      state: 'problem',
      detail: `better-sqlite3, the database driver, cannot be loaded by Node ${process.versions.node}: ${reason}`,
    })
  })
})

describe.skipIf(process.platform === 'win32')('doctor.memory', () => {
  it('checks the whole database only with deep', async () => {
    await remember('one')
    expect(await fixture.faults({ deep: true })).toEqual([])
    const { database } = fixture.around.paths
    const db = new BetterSqlite3(database)
    db.pragma('user_version = 999')
    db.close()
    expect(await fixture.faults()).toEqual([
      expect.stringMatching(/^database problem: .* newer claude-mem \(schema 999/),
    ])
    writeFileSync(database, 'no database at all, and longer than the header of one would be'.repeat(20))
    expect(await fixture.faults({ deep: true })).toContainEqual(
      expect.stringMatching(/^database problem: .* is damaged/),
    )
  })

  it('reports spooled events and bad spool files', async () => {
    writeSpool(inData('spool'), promptOf('one', 'first'))
    fixture.write(inData('spool', 'bad', 'x.json'), '?')
    chmodSync(inData('spool', 'bad'), 0o700)
    expect(await fixture.faults()).toEqual([
      'waiting advice: 1 event in the spool; the next daemon reads them -> claude-mem start',
      expect.stringMatching(/^waiting advice: unreadable spool files in .*bad: 1 event/),
    ])
  })

  it('reports the error of the last daemon, and one that does not answer', async () => {
    const lines = [
      { level: 30, msg: 'started' },
      { level: 50, msg: 'could not start: no room' },
    ]
    fixture.write(inData('logs', 'daemon.log'), `${lines.map((line) => JSON.stringify(line)).join('\n')}\n`)
    chmodSync(inData('logs'), 0o700)
    expect(await fixture.faults()).toEqual([
      expect.stringContaining('daemon problem: the last one ended with an error: could not start: no room'),
    ])
    const faultsBeside = async (answer: string): Promise<string[]> => {
      const mute = createServer((socket) => (answer === '' ? socket.resume() : socket.resume().end(answer)))
      await new Promise<void>((resolve) => mute.listen(fixture.around.paths.socket, resolve))
      chmodSync(fixture.around.paths.socket, 0o600)
      try {
        return await fixture.faults()
      } finally {
        await new Promise((resolve) => mute.close(resolve))
      }
    }
    const mute = /^daemon problem: something listens on .* and does not answer/
    expect(await faultsBeside('')).toEqual([expect.stringMatching(mute)])
    const foreign = /^daemon problem: .*daemon\.sock: Unexpected server response: 400 -> claude-mem restart/
    expect(await faultsBeside('HTTP/1.1 400 Bad Request\r\n\r\n')).toEqual([expect.stringMatching(foreign)])
  })
})

describe.skipIf(process.platform === 'win32')('doctor.sessions', () => {
  const past = new TranscriptFixture()
  afterAll(() => past.remove())

  it('counts sessions that no hook reported since the install', async () => {
    const installed = fixture.ground().now.getTime()
    const turn = [{ prompt: 'mend it', tools: 1 }]
    const at = (days: number) => installed + days * DAY_MS
    const around = { env: { ...fixture.env, CLAUDE_CONFIG_DIR: past.configDir } }
    fixture.env = around.env
    fixture.install()
    past.session('before', at(-1), turn)
    expect(await fixture.checks(around)).toContainEqual(
      expect.objectContaining({ id: 'sessions.claude-code', detail: 'none since the hooks were installed' }),
    )
    past.session('stored', at(1), turn)
    past.session('spooled', at(2), turn)
    past.session('silent', at(3), turn)
    past.session('hidden', at(4), turn, 'secret')
    settings({ CLAUDE_MEM_EXCLUDED_PROJECTS: [past.work('secret')] })
    await remember('stored')
    writeSpool(inData('spool'), promptOf('spooled', 'first'))
    const unreported = async () => (await fixture.faults(around)).filter((fault) => fault.startsWith('sessions'))
    expect(await unreported()).toEqual([
      expect.stringContaining('problem: 1 of 3 sessions since the hooks were installed were not reported, the newest'),
    ])
    past.session('later', at(5), turn)
    await remember('later')
    expect(await unreported()).toEqual([
      expect.stringMatching(/advice: 1 of 4 sessions .* not reported; the newest was -> claude-mem backfill/),
    ])
    await remember('silent')
    expect(await unreported()).toEqual([])
  })

  it('infers the plugin from a reported session if nothing is registered', async () => {
    const around = { env: { ...fixture.env, CLAUDE_CONFIG_DIR: past.configDir } }
    fixture.env = around.env
    fixture.uninstall()
    const hooks = async () => (await fixture.faults(around)).filter((fault) => fault.startsWith('hooks.claude-code'))
    past.session('with-the-plugin', Date.now() - DAY_MS, [{ prompt: 'mend it', tools: 1 }])
    expect(await hooks()).toEqual([expect.stringContaining('problem: no hook is registered')])
    await remember('with-the-plugin')
    expect(await hooks()).toEqual([
      expect.stringContaining('advice: none is registered, but the newest session was reported'),
    ])
  })
})
