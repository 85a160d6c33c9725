import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { dataPaths } from '../../src/lib/paths.ts'
import { machineName, readTeamFile, removeTeamFile, type TeamFile, writeTeamFile } from '../../src/team/team-file.ts'
import { temporaryDirectory } from '../support/directories.ts'

const URL = 'postgres://ana:s3cret-word@db.example.com/memory'

function emptyDirectory() {
  return dataPaths(temporaryDirectory('team'))
}

describe('team file', () => {
  test('is readable by its owner only, and read back as it was written', () => {
    const paths = emptyDirectory()
    const file: TeamFile = { url: URL, insecure: false, allProjects: true, machine: 'laptop' }
    writeTeamFile(paths, file)
    expect(readTeamFile(paths)).toEqual(file)
    expect(statSync(paths.team).mode & 0o777).toBe(0o600)
  })

  test('a file that others could read is replaced by one that they cannot', () => {
    const paths = emptyDirectory()
    writeFileSync(paths.team, '{}')
    chmodSync(paths.team, 0o644)
    writeTeamFile(paths, { url: URL, insecure: false, allProjects: false })
    expect(statSync(paths.team).mode & 0o777).toBe(0o600)
  })

  test('no file is no team; a file that was mounted needs only the URL', () => {
    const paths = emptyDirectory()
    expect(readTeamFile(paths)).toBeNull()
    writeFileSync(paths.team, JSON.stringify({ url: URL }))
    expect(readTeamFile(paths)).toEqual({ url: URL, insecure: false, allProjects: false })
    expect(removeTeamFile(paths)).toBe(true)
    expect(removeTeamFile(paths)).toBe(false)
  })

  test.each([
    ['half a file', `{"url": "${URL}`],
    ['no object', '[1]'],
    ['no URL', '{"insecure": true}'],
    ['a URL that is a number', '{"url": 5}'],
    ['bytes', '\u0000\u0001'],
    ['nothing', ''],
  ])('%s is an error that says what to do and does not show the password', (_, text) => {
    const paths = emptyDirectory()
    writeFileSync(paths.team, text)
    let message = ''
    try {
      readTeamFile(paths)
    } catch (error) {
      message = String(error)
    }
    expect(message).toContain('claude-mem team connect')
    expect(message).toContain('stay on this machine')
    expect(message).not.toContain('s3cret')
  })

  test('a directory in its place is an error, not a crash of the daemon', () => {
    const paths = emptyDirectory()
    writeFileSync(join(paths.dataDir, 'x'), '')
    expect(() => readTeamFile({ team: paths.dataDir })).toThrow(/cannot be used/)
  })
})

describe('machine name', () => {
  test('is made once, with nothing of the system in it, and kept', () => {
    const { dataDir } = emptyDirectory()
    const name = machineName(dataDir, '', null)
    expect(name).toMatch(/^machine-[a-z2-9]{6}$/)
    expect(machineName(dataDir, '', null)).toBe(name)
    expect(readFileSync(join(dataDir, 'team-machine'), 'utf8').trim()).toBe(name)
    expect(machineName(dataDir, '', null, true)).not.toBe(name)
  })

  test('the setting comes before the file, and the file before a random name', () => {
    const { dataDir } = emptyDirectory()
    const file = { url: URL, insecure: false, allProjects: false, machine: 'container' }
    expect(machineName(dataDir, 'laptop', file)).toBe('laptop')
    expect(machineName(dataDir, '', file)).toBe('container')
  })

  test('a damaged file gets a new name', () => {
    const { dataDir } = emptyDirectory()
    writeFileSync(join(dataDir, 'team-machine'), 'ana\u0000laptop\n')
    expect(machineName(dataDir, '', null)).toMatch(/^machine-/)
  })
})
