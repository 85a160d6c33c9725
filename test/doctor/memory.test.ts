/** What the doctor says about the memory itself: where it lies, who may read it, what keeps it from growing. */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { writeSpool } from '../../src/channel/spool.ts'
import { examine } from '../../src/doctor/check.ts'
import { Facts } from '../../src/doctor/facts.ts'
import { nativeModules } from '../../src/doctor/native-modules.ts'
import { pathsOf } from '../../src/paths.ts'
import { openLocalStore } from '../../src/store/sqlite/local.ts'
import { DAY_MS, Past } from '../backfill/past.ts'
import { commitOf, promptOf, record } from '../store/samples.ts'
import { Built, Patient } from './patient.ts'

const built = new Built()
let patient: Patient
beforeEach(() => {
  patient = new Patient(built)
  patient.install()
})
afterEach(() => patient.dispose())
afterAll(() => built.dispose())

const inData = (...names: string[]) => join(patient.dataDir, ...names)
const settings = (values: object) => patient.write(inData('settings.json'), JSON.stringify(values))
async function remember(...sessions: string[]): Promise<void> {
  const { database, backups } = patient.around.paths
  const store = await openLocalStore({ databaseFile: database, backupsDir: backups })
  for (const session of sessions) {
    await store.commit([commitOf(session, 1, { events: [record(promptOf(session, `prompt of ${session}`))] })])
  }
  await store.close()
}

describe.skipIf(process.platform === 'win32')('the doctor on the data directory', () => {
  it('says what others may read, and how to close it', async () => {
    chmodSync(patient.dataDir, 0o755)
    const token = patient.write(inData('token'), 'secret', 0o644)
    mkdirSync(inData('spool'), { mode: 0o777 })
    settings({ CLAUDE_MEM_GEMINI_API_KEY: 'a-key' })
    chmodSync(inData('settings.json'), 0o640)
    const faults = await patient.faults()
    expect(faults).toContain(
      `data-directory problem: ${patient.dataDir} is open to others (mode 755) -> chmod 700 '${patient.dataDir}'`,
    )
    expect(faults).toContain(`permissions problem: ${token} is open to others (mode 644) -> chmod 600 '${token}'`)
    expect(faults).toContainEqual(expect.stringContaining(`${inData('spool')} is open to others`))
    expect(faults).toContainEqual(expect.stringMatching(/^settings problem: settings.json holds a key and is open/))
  })

  it('says that it cannot be written, or is none', async () => {
    chmodSync(patient.dataDir, 0o500)
    expect(await patient.faults()).toContainEqual(expect.stringContaining(`${patient.dataDir} cannot be written`))
    const file = patient.write(join(patient.home, 'file'), '')
    const faults = await patient.faults({ paths: pathsOf(file) })
    expect(faults[0]).toBe(
      `data-directory problem: ${file} is no directory -> move it away, or see what CLAUDE_MEM_DATA_DIR says`,
    )
  })

  it('says that the disk is nearly full', async () => {
    const at = async (megabytes: number) => await patient.faults({ freeBytes: async () => megabytes * 1024 ** 2 })
    expect(await at(10)).toEqual([expect.stringMatching(/^disk problem: 10 MB free .*: new events can hardly be kept/)])
    expect(await at(300)).toEqual([expect.stringMatching(/^disk advice: 300 MB free .*: soon no backup can be made/)])
    expect(await at(2_000)).toEqual([])
  })

  it('goes on when a check cannot be made', async () => {
    const checks = await patient.checks({
      freeBytes: async () => {
        throw new Error('no such call')
      },
    })
    expect(checks.find(({ id }) => id === 'disk')).toMatchObject({
      state: 'problem',
      detail: 'it could not be looked at: no such call',
    })
    expect(checks.at(-1)?.id).toBe('mcp.claude-code')
  })
})

describe.skipIf(process.platform === 'win32')('the doctor on the program', () => {
  it('says which setting does not hold', async () => {
    settings({ CLAUDE_MEM_BATCH_MAX_SIZE: 0, CLAUDE_MEM_TYPO: 1 })
    expect(await patient.faults()).toEqual([
      expect.stringContaining('CLAUDE_MEM_BATCH_MAX_SIZE must be a whole number'),
      expect.stringContaining('CLAUDE_MEM_TYPO is not a setting'),
    ])
  })

  it('says what the observer and the embedder lack, and calls nobody', async () => {
    settings({ CLAUDE_MEM_PROVIDER: 'gemini', CLAUDE_MEM_EMBEDDER: './no-such-model' })
    const faults = await patient.faults()
    expect(faults).toEqual([
      expect.stringMatching(
        /^observer problem: gemini: there is no key; set one: claude-mem config set gemini-api-key/,
      ),
      expect.stringMatching(/^embedder problem: .\/no-such-model cannot be used, static stands in: /),
    ])
  })

  it('says that the database cannot be loaded, and by which node', async () => {
    const load = async () => {
      throw new Error('The module was compiled against a different Node.js version\nusing NODE_MODULE_VERSION 115.')
    }
    const [check] = await examine(nativeModules(new Facts(patient.around), load))
    expect(check).toMatchObject({
      state: 'problem',
      detail: `better-sqlite3, which keeps the memory, cannot be loaded by Node ${process.versions.node}: The module was compiled against a different Node.js version`,
    })
  })
})

describe.skipIf(process.platform === 'win32')('the doctor on the memory', () => {
  it('reads through the database only when asked to', async () => {
    await remember('one')
    expect(await patient.faults({ deep: true })).toEqual([])
    const { database } = patient.around.paths
    const db = new BetterSqlite3(database)
    db.pragma('user_version = 999')
    db.close()
    expect(await patient.faults()).toEqual([
      expect.stringMatching(/^database problem: .* newer claude-mem \(schema 999/),
    ])
    writeFileSync(database, 'no database at all, and longer than the header of one would be'.repeat(20))
    expect(await patient.faults({ deep: true })).toContainEqual(
      expect.stringMatching(/^database problem: .* is damaged/),
    )
  })

  it('says what waits and what was set aside', async () => {
    writeSpool(inData('spool'), promptOf('one', 'first'))
    patient.write(inData('spool', 'bad', 'x.json'), '?')
    chmodSync(inData('spool', 'bad'), 0o700)
    expect(await patient.faults()).toEqual([
      'waiting advice: 1 event in the spool, for the daemon that the next hook starts -> claude-mem start',
      expect.stringMatching(/^waiting advice: set aside in .*bad, as not understood: 1 event/),
    ])
  })

  it('says why the last daemon ended, and that another does not answer', async () => {
    const lines = [
      { level: 30, msg: 'started' },
      { level: 50, msg: 'could not start: no room' },
    ]
    patient.write(inData('logs', 'daemon.log'), `${lines.map((line) => JSON.stringify(line)).join('\n')}\n`)
    chmodSync(inData('logs'), 0o700)
    expect(await patient.faults()).toEqual([
      expect.stringContaining('daemon problem: the last one ended with an error: could not start: no room'),
    ])
    const mute = createServer((socket) => socket.resume().end('HTTP/1.1 400 Bad Request\r\n\r\n'))
    await new Promise<void>((resolve) => mute.listen(patient.around.paths.socket, resolve))
    chmodSync(patient.around.paths.socket, 0o600)
    try {
      const faults = await patient.faults()
      expect(faults).toEqual([expect.stringMatching(/^daemon problem: something listens on .* and does not answer/)])
    } finally {
      await new Promise((resolve) => mute.close(resolve))
    }
  })
})

describe.skipIf(process.platform === 'win32')('the doctor on sessions', () => {
  const past = new Past()
  afterAll(() => past.remove())

  it('says how many of them no hook reported since the install', async () => {
    const installed = patient.ground().now.getTime()
    const turn = [{ prompt: 'mend it', tools: 1 }]
    const at = (days: number) => installed + days * DAY_MS
    const around = { env: { ...patient.env, CLAUDE_CONFIG_DIR: past.configDir } }
    patient.env = around.env
    patient.install()
    past.session('before', at(-1), turn)
    expect(await patient.checks(around)).toContainEqual(
      expect.objectContaining({ id: 'sessions.claude-code', detail: 'none since the hooks were installed' }),
    )
    past.session('stored', at(1), turn)
    past.session('spooled', at(2), turn)
    past.session('silent', at(3), turn)
    past.session('hidden', at(4), turn, 'secret')
    settings({ CLAUDE_MEM_EXCLUDED_PROJECTS: [past.work('secret')] })
    await remember('stored')
    writeSpool(inData('spool'), promptOf('spooled', 'first'))
    const unreported = async () => (await patient.faults(around)).filter((fault) => fault.startsWith('sessions'))
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

  it('takes a session that was reported for a sign of the plugin, where nothing is registered', async () => {
    const around = { env: { ...patient.env, CLAUDE_CONFIG_DIR: past.configDir } }
    patient.env = around.env
    patient.uninstall()
    const hooks = async () => (await patient.faults(around)).filter((fault) => fault.startsWith('hooks.claude-code'))
    past.session('with-the-plugin', Date.now() - DAY_MS, [{ prompt: 'mend it', tools: 1 }])
    expect(await hooks()).toEqual([expect.stringContaining('problem: no hook is registered')])
    await remember('with-the-plugin')
    expect(await hooks()).toEqual([
      expect.stringContaining('advice: none is registered, but the newest session was reported'),
    ])
  })
})
