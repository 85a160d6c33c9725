/** The program where the database driver cannot be loaded: another version of node, or a plugin that has not fetched it yet. */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { temporaryDirectory } from '../support/directories.ts'
import { DIST } from '../support/paths.ts'

const home = temporaryDirectory('without-driver')
const program = join(home, 'program', 'dist')

function run(...args: string[]) {
  const env = { PATH: process.env.PATH, HOME: home, CLAUDE_MEM_DATA_DIR: join(home, 'data') }
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(program, 'cli.js'), ...args], {
    env,
    encoding: 'utf8',
    input: '',
  })
  return { status, output: stdout + stderr }
}

beforeAll(() => {
  mkdirSync(program, { recursive: true })
  cpSync(DIST, program, { recursive: true, filter: (file) => file !== join(DIST, 'plugin') })
})

describe('without the database driver', () => {
  it.each([
    { args: ['--version'] },
    { args: ['--help'] },
    { args: ['packages'] },
    { args: ['install', '--dry-run', '--client', 'claude-code'] },
    { args: ['uninstall'] },
  ])('$args work', ({ args }) => {
    const { status, output } = run(...args)
    expect(output).not.toMatch(/TypeError|ERR_MODULE_NOT_FOUND|Cannot find package/)
    expect(status).toBe(0)
  })

  it('doctor names it, and how to fetch it', () => {
    const { output } = run('doctor')
    expect(output).toContain('better-sqlite3')
    expect(output).toContain('claude-mem packages install better-sqlite3')
    expect(output).not.toMatch(/TypeError|Cannot find package/)
  })

  it.each([{ args: ['search', 'anything'] }, { args: ['backfill', '--dry-run'] }])(
    '$args says how to fetch it',
    ({ args }) => {
      const { status, output } = run(...args)
      expect(status).not.toBe(0)
      expect(output).toContain('better-sqlite3, the database driver, cannot be loaded')
      expect(output.split('\n').length).toBeLessThan(6)
    },
  )
})
