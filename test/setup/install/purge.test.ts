/** Deleting the data directory: all of it, and never anything else. */
import { existsSync, lstatSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { deleteDataDirectory } from '../../../src/cli/purge.ts'
import { dataPaths } from '../../../src/lib/paths.ts'
import { removableEntries } from '../../../src/setup/install/purge.ts'
import { tryLock } from '../../../src/transport/daemon-lock.ts'
import { temporaryDirectory } from '../../support/directories.ts'

const homes: string[] = []
function home(): string {
  const made = temporaryDirectory('erase')
  homes.push(made)
  return made
}
afterEach(() => {
  for (const made of homes.splice(0)) rmSync(made, { recursive: true, force: true })
})

const put = (directory: string, ...names: string[]) => {
  mkdirSync(directory, { recursive: true })
  for (const name of names) {
    if (name.endsWith('/')) mkdirSync(join(directory, name), { recursive: true })
    else writeFileSync(join(directory, name), 'x')
  }
}

describe('a data directory', () => {
  it('is deleted with everything of claude-mem in it', () => {
    const at = home()
    const paths = dataPaths(join(at, '.claude-mem'))
    put(paths.dataDir, 'db.sqlite', 'db.sqlite-wal', 'db.sqlite-shm', 'backups/')
    tryLock(paths.lock)?.release()
    put(paths.dataDir, 'db.sqlite.corrupt-2026', 'settings.json', 'starting', 'starting.7.8', 'port.json', 'token')
    put(paths.dataDir, '.DS_Store')
    put(
      paths.dataDir,
      'logs/',
      'spool/',
      'install/',
      'prompts/',
      'models/a/b/',
      'vectors/',
      'context/',
      'private-turns/',
    )
    put(join(paths.dataDir, 'models/a/b'), 'model.onnx')
    deleteDataDirectory(paths, at)
    expect(readdirSync(at)).toEqual([])
    deleteDataDirectory(paths, at)
  })

  it('that is a symbolic link is deleted with its target', () => {
    const at = home()
    const paths = dataPaths(join(at, '.claude-mem'))
    put(join(at, 'disk', 'mem'), 'db.sqlite', 'token')
    symlinkSync(join(at, 'disk', 'mem'), paths.dataDir)
    deleteDataDirectory(paths, at)
    expect(readdirSync(at)).toEqual(['disk'])
    expect(readdirSync(join(at, 'disk'))).toEqual([])
    expect(lstatSync(paths.dataDir, { throwIfNoEntry: false })).toBeUndefined()
  })

  it('that is in use is not deleted', () => {
    const at = home()
    const paths = dataPaths(join(at, '.claude-mem'))
    put(paths.dataDir, 'db.sqlite')
    const lock = tryLock(paths.lock)
    expect(() => deleteDataDirectory(paths, at)).toThrow('another process uses')
    expect(readdirSync(paths.dataDir)).toContain('db.sqlite')
    lock?.release()
    deleteDataDirectory(paths, at)
    expect(existsSync(paths.dataDir)).toBe(false)
  })

  it.skipIf(process.platform === 'win32')(
    'too deep for a socket loses its private directory, when nobody else is in it',
    () => {
      const at = home()
      const paths = dataPaths(join(at, 'x'.repeat(120), '.claude-mem'))
      put(paths.dataDir, 'db.sqlite')
      const sockets = dirname(paths.socket)
      expect(sockets).not.toBe(paths.dataDir)
      mkdirSync(sockets, { recursive: true, mode: 0o700 })
      const others = readdirSync(sockets)
      deleteDataDirectory(paths, at)
      expect(existsSync(sockets)).toBe(others.length > 0)
    },
  )
})

describe('what is not deleted', () => {
  const wrong: [string, string[], string][] = [
    ['a home in which somebody ran it by mistake', ['db.sqlite', 'daemon.lock', 'Documents/', '.bashrc'], 'Documents'],
    ['a project', ['src/', 'package.json', 'settings.json'], 'package.json'],
    ['names that anybody might use', ['logs/', 'models/', 'context/', 'token'], 'nothing in it shows'],
    ['settings of another program', ['settings.json', 'logs/'], 'nothing in it shows'],
  ]
  it.each(wrong)('%s', (_, names, words) => {
    const at = home()
    const paths = dataPaths(join(at, 'data'))
    put(paths.dataDir, ...names)
    expect(() => deleteDataDirectory(paths, at)).toThrow(words)
    expect(() => removableEntries(paths, at)).toThrow('Nothing was changed.')
    expect(readdirSync(paths.dataDir)).toHaveLength(names.length)
  })

  it('the home directory and its parents', () => {
    const at = home()
    put(at, 'db.sqlite', 'daemon.lock')
    expect(() => deleteDataDirectory(dataPaths(at), at)).toThrow('your home directory')
    expect(() => deleteDataDirectory(dataPaths(dirname(at)), at)).toThrow('your home directory')
    expect(readdirSync(at)).toHaveLength(2)
  })

  it('a file', () => {
    const at = home()
    put(at, 'data')
    expect(() => deleteDataDirectory(dataPaths(join(at, 'data')), at)).toThrow('not a directory')
    expect(readdirSync(at)).toEqual([basename('data')])
  })
})
