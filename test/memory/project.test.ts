import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve, win32 } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type ProjectFiles, placeOf, projectOf, treeOf } from '../../src/memory/project.ts'
import { git, repository as realRepository } from '../repository.ts'

let root: string
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'project-')))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

const directory = (...parts: string[]): string => {
  const path = join(root, ...parts)
  mkdirSync(path, { recursive: true })
  return path
}
const file = (content: string, ...parts: string[]): string => {
  directory(...parts.slice(0, -1))
  const path = join(root, ...parts)
  writeFileSync(path, content)
  return path
}

/** A repository as git lays it out, with one worktree elsewhere and one submodule. */
function repository(): { main: string; worktree: string; submodule: string } {
  file('ref: refs/heads/main\n', 'shop', '.git', 'HEAD')
  file('ref: refs/heads/fix\n', 'shop', '.git', 'worktrees', 'fix', 'HEAD')
  file('../..\n', 'shop', '.git', 'worktrees', 'fix', 'commondir')
  file(`gitdir: ${join(root, 'shop/.git/worktrees/fix')}\n`, 'elsewhere', 'shop-fix', '.git')
  file('ref: refs/heads/main\n', 'shop', '.git', 'modules', 'lib', 'HEAD')
  file('gitdir: ../../.git/modules/lib\n', 'shop', 'vendor', 'lib', '.git')
  return {
    main: directory('shop'),
    worktree: directory('elsewhere', 'shop-fix'),
    submodule: directory('shop', 'vendor', 'lib'),
  }
}

describe('projectOf', () => {
  it('is the repository, from any directory in it', () => {
    repository()
    const shop = { key: `git:${join(root, 'shop/.git')}`, name: 'shop' }
    expect(projectOf(join(root, 'shop'))).toEqual(shop)
    expect(projectOf(`${directory('shop', 'src', 'deep')}/`)).toEqual(shop)
    expect(projectOf(join(root, 'shop', '.git', 'worktrees'))).toEqual(shop)
  })

  it('is another one for a repository of the same name', () => {
    file('ref: refs/heads/main\n', 'a', 'shop', '.git', 'HEAD')
    file('ref: refs/heads/main\n', 'b', 'shop', '.git', 'HEAD')
    const [one, other] = ['a', 'b'].map((parent) => projectOf(join(root, parent, 'shop')))
    expect([one?.name, other?.name]).toEqual(['shop', 'shop'])
    expect(one?.key).not.toBe(other?.key)
  })

  it('is one for all worktrees', () => {
    const { main, worktree } = repository()
    expect(projectOf(worktree)).toEqual(projectOf(main))
  })

  it('is another one for a submodule', () => {
    const { submodule } = repository()
    expect(projectOf(submodule)).toEqual({ key: `git:${join(root, 'shop/.git/modules/lib')}`, name: 'lib' })
  })

  it('is named after a bare repository', () => {
    file('ref: refs/heads/main\n', 'api.git', 'HEAD')
    file('ref: refs/heads/x\n', 'api.git', 'worktrees', 'x', 'HEAD')
    file('../..', 'api.git', 'worktrees', 'x', 'commondir')
    file(`gitdir: ${join(root, 'api.git/worktrees/x')}`, 'x', '.git')
    expect(projectOf(join(root, 'x'))).toEqual({ key: `git:${join(root, 'api.git')}`, name: 'api' })
  })

  it('is named after the directory around .bare', () => {
    file('ref: refs/heads/main\n', 'tool', '.bare', 'HEAD')
    file('gitdir: ./.bare\n', 'tool', '.git')
    expect(projectOf(join(root, 'tool'))).toEqual({ key: `git:${join(root, 'tool/.bare')}`, name: 'tool' })
  })

  it('is named after the working tree of a separate git directory', () => {
    file('ref: refs/heads/main\n', 'store', 'a.git', 'HEAD')
    file(`gitdir: ${join(root, 'store/a.git')}`, 'work', '.git')
    expect(projectOf(join(root, 'work')).name).toBe('work')
  })

  it('is as git itself sees it', () => {
    const main = realRepository(directory('real', 'shop'))
    const library = realRepository(directory('real', 'lib'))
    git(main, 'worktree', 'add', '--quiet', join(root, 'real', 'fix'))
    git(main, 'submodule', '--quiet', 'add', library, 'vendor/lib')
    for (const cwd of [main, join(root, 'real', 'fix'), join(main, 'vendor', 'lib')]) {
      const common = git(cwd, 'rev-parse', '--git-common-dir').trim()
      expect(projectOf(cwd).key).toBe(`git:${realpathSync(resolve(cwd, common))}`)
    }
    expect(projectOf(join(root, 'real', 'fix'))).toEqual(projectOf(main))
  })

  it('is the same through a symbolic link', () => {
    const { main } = repository()
    symlinkSync(main, join(root, 'link'))
    expect(projectOf(join(root, 'link'))).toEqual(projectOf(main))
  })

  it('is the directory where there is no repository', () => {
    const plain = directory('plain')
    expect(projectOf(plain)).toEqual({ key: `dir:${plain}`, name: 'plain' })
  })

  it('passes over a .git that is no repository', () => {
    const { main } = repository()
    directory('shop', 'odd', '.git')
    file('nothing', 'shop', 'broken', '.git')
    expect(projectOf(join(root, 'shop', 'odd'))).toEqual(projectOf(main))
    expect(projectOf(join(root, 'shop', 'broken'))).toEqual(projectOf(main))
  })

  it('still knows a deleted directory', () => {
    const { main } = repository()
    expect(projectOf(join(main, 'gone', 'deeper'))).toEqual(projectOf(main))
    expect(projectOf(join(root, 'gone'))).toEqual({ key: `dir:${join(root, 'gone')}`, name: 'gone' })
  })

  it('takes anything for a directory', () => {
    expect(projectOf('/').name).not.toBe('')
    expect(projectOf('').key).toMatch(/^(?:git|dir):/)
    expect(projectOf('a\0b').key).toMatch(/^(?:git|dir):/)
  })

  it('reads Windows paths', () => {
    const there = new Map([
      ['C:\\dev\\shop\\.git', 'gitdir: C:/dev/main/.git/worktrees/shop'],
      ['C:\\dev\\main\\.git\\worktrees\\shop\\HEAD', 'ref'],
      ['C:\\dev\\main\\.git\\worktrees\\shop\\commondir', '../..\r\n'],
    ])
    const files: ProjectFiles = {
      real: (path) => path.replace(/^c:/, 'C:'),
      kind: (path) => (there.has(path) ? 'file' : null),
      read: (path) => there.get(path) ?? null,
    }
    expect(projectOf('c:\\dev\\shop\\src', files, win32)).toEqual({ key: 'git:C:\\dev\\main\\.git', name: 'main' })
    expect(projectOf('D:\\x', files, win32)).toEqual({ key: 'dir:D:\\x', name: 'x' })
    expect(projectOf('D:\\', files, win32)).toEqual({ key: 'dir:D:\\', name: 'D:\\' })
  })
})

describe('treeOf', () => {
  it('is where people would look for the project of a key', () => {
    expect(treeOf('git:/home/me/shop/.git')).toBe('/home/me/shop')
    expect(treeOf('git:/home/me/tool/.bare')).toBe('/home/me/tool')
    expect(treeOf('git:/srv/api.git')).toBe('/srv/api.git')
    expect(treeOf('dir:/home/me/notes/.git')).toBe('/home/me/notes/.git')
    expect(treeOf('git:C:\\dev\\shop\\.git', win32)).toBe('C:\\dev\\shop')
  })

  it('is nowhere for a key that names no place', () => {
    for (const key of ['import:shop', 'shop', 'git:', '']) expect([placeOf(key), treeOf(key)]).toEqual([null, null])
  })
})
