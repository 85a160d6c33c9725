/** `claude-mem team` and `claude-mem flush --wait` as the user runs them, with a real PostgreSQL. */
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { temporaryDirectory } from '../support/directories.ts'
import { usePostgres, withParts } from '../support/postgres.ts'
import { git, repository } from '../support/repository.ts'
import { Program } from './program.ts'

const postgres = usePostgres()
const programs: Program[] = []

afterEach(async () => {
  await Promise.all(programs.splice(0).map((program) => program.end()))
})

interface Clone {
  program: Program
  cwd: string
  run(...args: string[]): ReturnType<Program['run']>
}

/** A program with a repository as its current directory, or with a clone of another one. */
async function inClone(of: Clone | null = null): Promise<Clone> {
  const program = await Program.make()
  programs.push(program)
  const parent = temporaryDirectory('clone')
  const cwd = join(parent, 'shop')
  if (of === null) repository(cwd)
  else git(parent, 'clone', '--quiet', '--origin', 'elsewhere', of.cwd, cwd)
  if (of !== null) git(cwd, 'remote', 'remove', 'elsewhere')
  git(cwd, 'remote', 'add', 'origin', 'git@github.com:Acme/shop.git')
  return { program, cwd, run: (...args) => program.run(args, { cwd }) }
}

async function ok(running: ReturnType<Program['run']>): Promise<string> {
  const { code, stdout, stderr } = await running
  expect(code, stderr + stdout).toBe(0)
  return stdout
}

describe('claude-mem team', () => {
  test('without a team it says so, and how to connect', async () => {
    const { run } = await inClone()
    expect(await ok(run('team'))).toContain('claude-mem team connect postgres://')
    expect(await run('team', 'members')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('no team is connected'),
    })
    expect(JSON.parse(await ok(run('team', '--json')))).toMatchObject({ connection: null, problem: null })
    expect(await ok(run('status'))).not.toMatch(/^\s+team /m)
  })

  test('one command connects, shares and receives; flush --wait sends before it ends', async () => {
    const { url } = await postgres.database()
    const first = await inClone()
    const connected = await ok(first.run('team', 'connect', url, '--init', '--share', '.'))
    expect(connected).toContain('repo:github.com/Acme/shop')
    await ok(first.run('remember', 'The cache is cleared by a deploy.'))
    expect(await ok(first.run('flush', '--wait', '--timeout', '30'))).toContain('Everything shared is in the database')
    const second = await inClone(first)
    await ok(second.run('team', 'connect', url, '--share', '.'))
    expect(await ok(second.run('search', 'cache', 'deploy', '-p', 'all'))).toContain('cleared by a deploy')
    const status = await ok(second.run('status'))
    expect(status).toContain('connected, everything is sent and received')
    expect(await ok(second.run('team', 'doctor'))).toContain('notifications: arrive')
    expect((await second.run('doctor')).stdout).toContain('connected, everything is sent and received')
    const members = JSON.parse(await ok(second.run('team', 'members', '--json')))
    expect(members.members[0].machines[0]).toMatch(/^machine-/)
  })

  test('a dry run lists what would leave, and nothing is shared', async () => {
    const { url } = await postgres.database()
    const { run } = await inClone()
    await ok(run('team', 'connect', url, '--init'))
    await ok(run('remember', 'A rule about colours.'))
    expect(await ok(run('team', 'share', '.', '--dry-run'))).toContain('1 observations would leave this machine')
    const shown = await ok(run('team', 'share', '.', '--dry-run', '--show'))
    expect(shown).toContain('"title":"A rule about colours"')
    const json = JSON.parse(await ok(run('team', 'share', '.', '--dry-run', '--json')))
    expect(json).toMatchObject({
      dryRun: true,
      records: [{ kind: 'observation', body: { title: 'A rule about colours' } }],
    })
    expect(JSON.parse(await ok(run('team', '--json'))).projects).toEqual([])
    await ok(run('team', 'share', '.'))
    expect(await ok(run('team'))).toContain('all memories')
    await ok(run('flush', '--wait'))
    expect(await ok(run('team', 'unshare', '.', '--withdraw', '--yes'))).toContain('withdrawn: 1 observations')
    expect(await ok(run('search', 'colours'))).toContain('A rule about colours')
    expect(await ok(run('team', 'disconnect'))).toContain('All memories stay')
    expect(await ok(run('team'))).toContain('No team is connected')
  })

  test('flush --wait fails with the reason when the server cannot be reached', async () => {
    const { url } = await postgres.database()
    const { run, program } = await inClone()
    await ok(run('team', 'connect', url, '--init', '--share', '.'))
    await ok(run('stop'))
    const nowhere = new URL(url)
    nowhere.port = '1'
    writeFileSync(join(program.dataDir, 'team.json'), JSON.stringify({ url: nowhere.href }))
    await ok(run('start'))
    await ok(run('remember', 'Waits for the server.'))
    const result = await run('flush', '--wait', '--timeout', '1')
    expect(result.code).toBe(1)
    expect(result.stdout).toContain('could not be sent in time')
    expect(result.stdout).toContain('cannot be reached')
    expect(await run('team')).toMatchObject({ code: 1, stdout: expect.stringContaining('cannot be reached') })
  })

  test('a URL from standard input, a wrong password, a wrong URL and missing arguments', async () => {
    const { url } = await postgres.database()
    const { run, program, cwd } = await inClone()
    const wrong = await run('team', 'connect', withParts(url, { password: 'wr0ng' }))
    expect(wrong).toMatchObject({ code: 1, stderr: expect.stringMatching(/password/i) })
    expect(wrong.stderr).not.toContain('wr0ng')
    expect(existsSync(join(program.dataDir, 'team.json'))).toBe(false)
    expect(await run('team', 'connect')).toMatchObject({ code: 2, stderr: expect.stringContaining('stdin') })
    expect(await run('team', 'connect', 'mysql://x')).toMatchObject({ code: 2 })
    expect(await run('team', 'connect', 'postgres://ana:x@localhost/db?sslmode=nonsense')).toMatchObject({ code: 1 })
    expect(await run('team', 'share')).toMatchObject({ code: 2, stderr: expect.stringContaining('--all-projects') })
    expect(await run('team', 'grant', 'ben')).toMatchObject({ code: 2 })
    expect(await run('team', 'status', '--withdraw')).toMatchObject({ code: 2 })
    const missing = await run('team', 'connect', url)
    expect(missing).toMatchObject({ code: 1, stderr: expect.stringContaining('claude-mem team init') })
    const piped = await program.run(['team', 'connect', '-', '--init'], { cwd, input: `${url}\n` })
    expect(piped.code, piped.stderr).toBe(0)
    expect(await ok(run('team', 'init'))).toContain('up to date')
  })
})
