/** The team as the daemon sees it, with a log in memory. */
import { afterEach, describe, expect, test } from 'vitest'
import type { Project } from '../../src/domain/project.ts'
import { dataPaths } from '../../src/lib/paths.ts'
import type { LogServer } from '../../src/team/server.ts'
import type { LogAdministration, SharedLog } from '../../src/team/shared-log.ts'
import { Team, type TeamSettings } from '../../src/team/team.ts'
import { readTeamFile } from '../../src/team/team-file.ts'
import { temporaryDirectory } from '../support/directories.ts'
import { waitUntil } from '../support/waiting.ts'
import { MemoryServer, MemoryTeamStore } from './memory-team.ts'
import { observationRecord, SHOP } from './records.ts'

const BEN = { author: 'ben', machine: 'desktop' }
const URL = 'postgres://ana:secret@db.example.com/memory'
const OTHER = 'repo:github.com/acme/other'
const PROJECTS: Project[] = [
  { key: SHOP, name: 'shop' },
  { key: OTHER, name: 'other' },
  { key: 'git:/home/ana/plain/.git', name: 'plain' },
]

const teams: Team[] = []
afterEach(async () => {
  await Promise.all(teams.splice(0).map((team) => team.stop()))
})

/** Only what the team uses of the administration. */
function administered(log: SharedLog): SharedLog & LogAdministration {
  const admin: LogAdministration = {
    members: async () => [],
    grant: async () => undefined,
    revoke: async () => true,
    setMember: async (author) => author || 'ana',
    cleanBodies: async () => undefined,
  }
  return Object.assign(log, admin)
}

function makeTeam(
  memory: MemoryServer,
  settings: Partial<TeamSettings> = {},
  paths = dataPaths(temporaryDirectory('team')),
) {
  const store = new MemoryTeamStore()
  const server: LogServer = {
    server: 'db.example.com:5432',
    database: 'memory',
    role: 'ana',
    tls: 'verify-full',
    open: async () => administered(memory.connect()),
    init: async () => ({ applied: [], version: 3 }),
  }
  const notices: string[] = []
  const team = new Team({
    paths,
    store,
    settings: () => ({ author: '', machine: '', passages: false, startWaitMs: 60_000, ...settings }),
    serverOf: async () => server,
    receive: (records, cursors) => store.applyRecords(records, cursors),
    findProject: async (given) =>
      PROJECTS.find(({ key, name }) => [key, name].includes(given)) ?? { key: given, name: given },
    listProjects: async () => PROJECTS,
    hasMemories: async (project) => [...store.has.values()].some(({ repository }) => repository === project),
    notice: (_, text) => notices.push(text),
    log: () => undefined,
  })
  teams.push(team)
  return { team, store, notices, paths }
}

const request = { since: 0, passages: null, dryRun: false }

describe('team', () => {
  test('the first session of a project waits for the newest memories, for as long as the setting says', async () => {
    const memory = new MemoryServer()
    memory.repositories.set(SHOP, { key: SHOP, mayWrite: true, mayEraseOthers: false })
    memory.put([observationRecord('from ben')], BEN)
    const { team, store } = makeTeam(memory)
    await team.connect(URL, false, false)
    await team.share({ ...request, project: 'shop' })
    await team.sessionStarts(SHOP)
    expect([...store.has.values()]).toHaveLength(1)
  })

  test('it does not wait for a server that is silent longer than the setting says, nor with memories of its own', async () => {
    const memory = new MemoryServer()
    const { team, store } = makeTeam(memory, { startWaitMs: 20 })
    await team.connect(URL, false, false)
    memory.fault = () => new Promise(() => undefined)
    await team.share({ ...request, project: 'shop' })
    await team.sessionStarts(SHOP)
    const patient = makeTeam(memory)
    memory.fault = () => undefined
    await patient.team.connect(URL, false, false)
    memory.fault = () => new Promise(() => undefined)
    await patient.team.share({ ...request, project: 'shop' })
    patient.store.make(observationRecord('own'))
    // With 60 s to wait, the test would end by its timeout.
    await patient.team.sessionStarts(SHOP)
    await patient.team.sessionStarts(OTHER)
    expect(store.has.size).toBe(0)
  })

  test('all projects: those that can travel are shared, later ones too, and the others are named', async () => {
    const memory = new MemoryServer()
    const { team, paths } = makeTeam(memory)
    await team.connect(URL, false, false)
    const report = await team.share({ ...request, project: null })
    expect(report.shared.map(({ name }) => name)).toEqual(['shop', 'other'])
    expect(report.local.map(({ name }) => name)).toEqual(['plain'])
    expect(readTeamFile(paths)?.allProjects).toBe(true)
    const later = 'repo:github.com/acme/later'
    team.changed(later)
    await waitUntil('it is shared', async () => (await team.view()).projects.some(({ project }) => project === later))
    team.changed('git:/home/ana/plain/.git')
    expect((await team.unshare(null, false)).map(({ project }) => project)).toContain(later)
    expect(readTeamFile(paths)?.allProjects).toBe(false)
  })

  test('what cannot be shared, is not shared or has no connection is an error that says what to do', async () => {
    const { team } = makeTeam(new MemoryServer())
    await expect(team.share({ ...request, project: 'shop' })).rejects.toThrow(/claude-mem team connect/)
    await team.connect(URL, false, false)
    await expect(team.share({ ...request, project: 'plain' })).rejects.toThrow(/claude-mem projects link/)
    await expect(team.unshare('shop', false)).rejects.toThrow(/is not shared/)
    await expect(team.disconnect()).resolves.toEqual({ unsent: 0 })
    await expect(team.disconnect()).rejects.toThrow(/no team is connected/)
  })

  test('a connection that fails is not saved, and the one before stays', async () => {
    const memory = new MemoryServer()
    const { team, paths } = makeTeam(memory)
    memory.connect = () => {
      throw Object.assign(new Error('wrong password'), { code: 'auth', retryable: false })
    }
    await expect(team.connect(URL, false, false)).rejects.toThrow('wrong password')
    expect(readTeamFile(paths)).toBeNull()
    expect((await team.view()).connection).toBeNull()
  })

  test('author and machine are the settings; without them the role, and a random name that stays', async () => {
    const memory = new MemoryServer()
    const named = makeTeam(memory, { author: 'Ana B.', machine: 'laptop' })
    await named.team.connect(URL, false, false)
    await waitUntil('it is connected', async () => (await named.team.view()).sync?.phase.is === 'connected')
    expect((await named.team.view()).connection).toMatchObject({ author: 'Ana B.', machine: 'laptop' })
    const plain = makeTeam(memory)
    const first = (await plain.team.connect(URL, false, false)).connection
    expect(first).toMatchObject({ author: 'ana', machine: expect.stringMatching(/^machine-/) })
    const again = makeTeam(memory, {}, plain.paths)
    await again.team.start()
    expect((await again.team.view()).connection?.machine).toBe(first?.machine)
  })

  test('flush without a team is done at once', async () => {
    const { team } = makeTeam(new MemoryServer())
    expect(await team.flush(1_000)).toEqual({ done: true, waiting: 0, line: null })
  })
})
