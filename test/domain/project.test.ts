import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, posix, resolve, win32 } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import {
  isExcluded,
  type ProjectFiles,
  projectKeyOrName,
  projectKeyPath,
  projectOfDirectory,
  projectWorkingTree,
  resolveGivenPath,
  staysInProject,
  workingTreeRoot,
} from '../../src/domain/project.ts'
import { temporaryDirectory } from '../support/directories.ts'
import { expectLinearTime } from '../support/linear-time.ts'
import { git, repository as realRepository } from '../support/repository.ts'

let root: string
beforeEach(() => {
  root = temporaryDirectory('project')
})
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
  file(`${join(root, 'elsewhere/shop-fix/.git')}\n`, 'shop', '.git', 'worktrees', 'fix', 'gitdir')
  file(`gitdir: ${join(root, 'shop/.git/worktrees/fix')}\n`, 'elsewhere', 'shop-fix', '.git')
  file('ref: refs/heads/main\n', 'shop', '.git', 'modules', 'lib', 'HEAD')
  file('[core]\n\tworktree = ../../../vendor/lib\n', 'shop', '.git', 'modules', 'lib', 'config')
  file('gitdir: ../../.git/modules/lib\n', 'shop', 'vendor', 'lib', '.git')
  return {
    main: directory('shop'),
    worktree: directory('elsewhere', 'shop-fix'),
    submodule: directory('shop', 'vendor', 'lib'),
  }
}

describe('projectOfDirectory', () => {
  it('of a path that is too long to exist is found in linear time', () => {
    expectLinearTime((size) => projectOfDirectory('/a'.repeat(size)), 2_100)
    expect(projectOfDirectory('/a'.repeat(3_000))).toEqual({ key: `dir:${'/a'.repeat(3_000)}`, name: 'a' })
  })

  it('is the repository, from any directory in it', () => {
    repository()
    const shop = { key: `git:${join(root, 'shop/.git')}`, name: 'shop' }
    expect(projectOfDirectory(join(root, 'shop'))).toEqual(shop)
    expect(projectOfDirectory(`${directory('shop', 'src', 'deep')}/`)).toEqual(shop)
    expect(projectOfDirectory(join(root, 'shop', '.git', 'worktrees'))).toEqual(shop)
  })

  it('is another one for a repository of the same name', () => {
    file('ref: refs/heads/main\n', 'a', 'shop', '.git', 'HEAD')
    file('ref: refs/heads/main\n', 'b', 'shop', '.git', 'HEAD')
    const [one, other] = ['a', 'b'].map((parent) => projectOfDirectory(join(root, parent, 'shop')))
    expect([one?.name, other?.name]).toEqual(['shop', 'shop'])
    expect(one?.key).not.toBe(other?.key)
  })

  it('is one for all worktrees', () => {
    const { main, worktree } = repository()
    expect(projectOfDirectory(worktree)).toEqual(projectOfDirectory(main))
  })

  it('is another one for a submodule', () => {
    const { submodule } = repository()
    expect(projectOfDirectory(submodule)).toEqual({ key: `git:${join(root, 'shop/.git/modules/lib')}`, name: 'lib' })
  })

  it('is named after a bare repository', () => {
    file('ref: refs/heads/main\n', 'api.git', 'HEAD')
    file('ref: refs/heads/x\n', 'api.git', 'worktrees', 'x', 'HEAD')
    file('../..', 'api.git', 'worktrees', 'x', 'commondir')
    file(join(root, 'x/.git'), 'api.git', 'worktrees', 'x', 'gitdir')
    file(`gitdir: ${join(root, 'api.git/worktrees/x')}`, 'x', '.git')
    expect(projectOfDirectory(join(root, 'x'))).toEqual({ key: `git:${join(root, 'api.git')}`, name: 'api' })
  })

  it('is named after the directory around .bare', () => {
    file('ref: refs/heads/main\n', 'tool', '.bare', 'HEAD')
    file('gitdir: ./.bare\n', 'tool', '.git')
    expect(projectOfDirectory(join(root, 'tool'))).toEqual({ key: `git:${join(root, 'tool/.bare')}`, name: 'tool' })
  })

  it('is the git directory elsewhere that names this working tree', () => {
    file('ref: refs/heads/main\n', 'store', 'a.git', 'HEAD')
    file(`[core]\n\tbare = false\n\tworktree = "${join(root, 'work')}"\n`, 'store', 'a.git', 'config')
    file(`gitdir: ${join(root, 'store/a.git')}`, 'work', '.git')
    expect(projectOfDirectory(join(root, 'work'))).toEqual({ key: `git:${join(root, 'store/a.git')}`, name: 'work' })
  })

  it("is the same as git's", () => {
    const main = realRepository(directory('real', 'shop'))
    const library = realRepository(directory('real', 'lib'))
    git(main, 'worktree', 'add', '--quiet', join(root, 'real', 'fix'))
    git(main, 'submodule', '--quiet', 'add', library, 'vendor/lib')
    for (const cwd of [main, join(root, 'real', 'fix'), join(main, 'vendor', 'lib')]) {
      const common = git(cwd, 'rev-parse', '--git-common-dir').trim()
      expect(projectOfDirectory(cwd).key).toBe(`git:${realpathSync(resolve(cwd, common))}`)
    }
    expect(projectOfDirectory(join(root, 'real', 'fix'))).toEqual(projectOfDirectory(main))
  })

  it('is the same through a symbolic link', () => {
    const { main } = repository()
    symlinkSync(main, join(root, 'link'))
    expect(projectOfDirectory(join(root, 'link'))).toEqual(projectOfDirectory(main))
  })

  it('is the directory if there is no repository', () => {
    const plain = directory('plain')
    expect(projectOfDirectory(plain)).toEqual({ key: `dir:${plain}`, name: 'plain' })
  })

  it('ignores a .git that is not a repository', () => {
    const { main } = repository()
    directory('shop', 'odd', '.git')
    file('nothing', 'shop', 'broken', '.git')
    expect(projectOfDirectory(join(root, 'shop', 'odd'))).toEqual(projectOfDirectory(main))
    expect(projectOfDirectory(join(root, 'shop', 'broken'))).toEqual(projectOfDirectory(main))
  })

  it('works for a deleted directory', () => {
    const { main } = repository()
    expect(projectOfDirectory(join(main, 'gone', 'deeper'))).toEqual(projectOfDirectory(main))
    expect(projectOfDirectory(join(root, 'gone'))).toEqual({ key: `dir:${join(root, 'gone')}`, name: 'gone' })
  })

  it('accepts any text as a directory', () => {
    expect(projectOfDirectory('/').name).not.toBe('')
    expect(projectOfDirectory('').key).toMatch(/^(?:git|dir):/)
    expect(projectOfDirectory('a\0b').key).toMatch(/^(?:git|dir):/)
  })

  it.runIf(process.platform !== 'win32')('of a Windows path is that path here, never the current directory', () => {
    for (const cwd of ['C:\\work\\shop', 'c:\\work\\shop', 'c:/work/shop/', 'C:\\work\\x\\..\\shop']) {
      expect(projectOfDirectory(cwd)).toMatchObject({
        key: expect.stringMatching(/^dir:C:\\work\\shop$/),
        name: 'shop',
      })
    }
    expect(projectOfDirectory('\\\\nas\\team\\shop')).toEqual({ key: 'dir:\\\\nas\\team\\shop', name: 'shop' })
    expect(workingTreeRoot('C:\\work\\shop')).toBe('C:\\work\\shop')
    expect(projectKeyOrName('C:\\work\\shop', process.cwd())).toBe('dir:C:\\work\\shop')
  })

  it('of a POSIX path is that path on Windows, not one of the current drive', () => {
    const onDrive: ProjectFiles = { real: (path) => `C:${path}`, kind: () => null, read: () => null }
    expect(projectOfDirectory('/home/me/shop', onDrive, win32)).toEqual({ key: 'dir:/home/me/shop', name: 'shop' })
    expect(projectOfDirectory('//nas/team/shop', onDrive, win32).key).toMatch(/nas/)
  })

  it.runIf(process.platform !== 'win32')('of a Windows path can be excluded', () => {
    const excluded = (cwd: string, entry: string) => isExcluded(cwd, projectOfDirectory(cwd), [entry])
    expect(excluded('c:\\Work\\shop\\src', 'C:\\work\\shop')).toBe(true)
    expect(excluded('C:\\work\\shop', 'C:/work/')).toBe(true)
    expect(excluded('C:\\work\\shopping', 'C:\\work\\shop')).toBe(false)
    expect(excluded('C:\\work\\shop', process.cwd())).toBe(false)
  })

  it('reads Windows paths', () => {
    const there = new Map([
      ['C:\\dev\\shop\\.git', 'gitdir: C:/dev/main/.git/worktrees/shop'],
      ['C:\\dev\\main\\.git\\worktrees\\shop\\HEAD', 'ref'],
      ['C:\\dev\\main\\.git\\worktrees\\shop\\commondir', '../..\r\n'],
      ['C:\\dev\\main\\.git\\worktrees\\shop\\gitdir', 'C:/dev/shop/.git\r\n'],
    ])
    const files: ProjectFiles = {
      real: (path) => path.replace(/^c:/, 'C:'),
      kind: (path) => (there.has(path) ? 'file' : null),
      read: (path) => there.get(path) ?? null,
    }
    expect(projectOfDirectory('c:\\dev\\shop\\src', files, win32)).toEqual({
      key: 'git:C:\\dev\\main\\.git',
      name: 'main',
    })
    expect(projectOfDirectory('D:\\x', files, win32)).toEqual({ key: 'dir:D:\\x', name: 'x' })
    expect(projectOfDirectory('D:\\', files, win32)).toEqual({ key: 'dir:D:\\', name: 'D:\\' })
  })
})

describe('a path with the prefix of long paths', () => {
  const nothing: ProjectFiles = { real: () => null, kind: () => null, read: () => null }

  it.each([
    ['\\\\?\\C:\\work\\shop', 'C:\\work\\shop'],
    ['\\\\?\\UNC\\nas\\team\\shop', '\\\\nas\\team\\shop'],
  ])('%s is the project of %s, on Windows and elsewhere', (long, plain) => {
    for (const path of [win32, posix]) {
      expect(projectOfDirectory(long, nothing, path)).toEqual({ key: `dir:${plain}`, name: 'shop' })
    }
  })
})

describe('isExcluded on each system', () => {
  const excluded = (
    platform: NodeJS.Platform,
    home: string,
    cwd: string,
    entry: string,
    real = (path: string) => path,
  ) => isExcluded(cwd, { key: `dir:${real(cwd)}`, name: 'x' }, [entry], { platform, home, real })

  it.each([
    ['win32', 'c:\\users\\me\\secret\\src', '~/Secret', true],
    ['win32', 'C:\\Users\\me\\secret', '~\\secret\\', true],
    ['win32', 'C:\\Users\\me\\secrets', '~/secret', false],
    ['win32', 'C:\\Users\\me', '~', true],
    ['win32', 'D:\\x', 'C:\\', false],
    ['win32', 'C:\\x', 'c:/', true],
    ['win32', '\\\\nas\\team\\shop', '//NAS/team', true],
    ['win32', '\\\\?\\C:\\x\\y', 'C:\\X', true],
    ['win32', '/home/me/shop', '/home/me', true],
    ['win32', '/home/me/shop', 'C:\\home\\me', false],
  ] as const)('%s: %s with %s excluded: %s', (platform, cwd, entry, expected) => {
    expect(excluded(platform, 'C:\\Users\\me', cwd, entry)).toBe(expected)
  })

  it.each([
    ['darwin', '/Users/Me/Secret/src', '~/secret', true],
    ['darwin', '/Users/me/zoe\u0308', '~/zo\u00eb', true],
    ['linux', '/Users/me/Secret', '~/secret', false],
    ['linux', '/Users/me/secret', '~/secret/', true],
    ['linux', 'c:\\work\\shop', 'C:/Work', true],
  ] as const)('%s: %s with %s excluded: %s', (platform, cwd, entry, expected) => {
    expect(excluded(platform, '/Users/me', cwd, entry)).toBe(expected)
  })

  it('follows links: macOS has /tmp in /private', () => {
    const real = (path: string) => path.replace(/^\/tmp/, '/private/tmp')
    expect(excluded('darwin', '/Users/me', '/tmp/shop', '/private/tmp', real)).toBe(true)
    expect(excluded('darwin', '/Users/me', '/private/tmp/shop', '/tmp', real)).toBe(true)
  })
})

describe('resolveGivenPath', () => {
  it.each([
    [win32, '~/shop', 'C:\\Users\\me\\shop'],
    [win32, '.\\shop', 'C:\\work\\shop'],
    [win32, 'sub/shop', 'C:\\work\\sub\\shop'],
    [win32, 'd:/shop', 'd:\\shop'],
    [win32, '\\\\nas\\team\\shop', '\\\\nas\\team\\shop'],
    [win32, '/home/me/shop', '/home/me/shop'],
    [win32, 'shop', null],
  ])('%#: of %s', (path, given, expected) => {
    expect(resolveGivenPath(given, 'C:\\work', 'C:\\Users\\me', path)).toBe(expected)
  })
})

describe('projectWorkingTree', () => {
  it('is the working tree of a key', () => {
    expect(projectWorkingTree('git:/home/me/shop/.git')).toBe('/home/me/shop')
    expect(projectWorkingTree('git:/home/me/tool/.bare')).toBe('/home/me/tool')
    expect(projectWorkingTree('git:/srv/api.git')).toBe('/srv/api.git')
    expect(projectWorkingTree('dir:/home/me/notes/.git')).toBe('/home/me/notes/.git')
    expect(projectWorkingTree('git:C:\\dev\\shop\\.git', win32)).toBe('C:\\dev\\shop')
  })

  it('is null for a key without a path', () => {
    for (const key of ['import:shop', 'shop', 'git:', ''])
      expect([projectKeyPath(key), projectWorkingTree(key)]).toEqual([null, null])
  })
})

describe('a session that changes its directory', () => {
  const at = (key: string) => ({ key, name: 'any' })

  it('stays in its project below a directory outside of repositories', () => {
    expect(staysInProject(at('dir:/work/shop'), at('dir:/work/shop/app/client'))).toBe(true)
    expect(staysInProject(at('dir:C:\\work\\shop'), at('dir:C:\\work\\shop\\app'))).toBe(true)
  })

  it('leaves it for a sibling, a parent, a repository, and below the home directory', () => {
    expect(staysInProject(at('dir:/work/shop'), at('dir:/work/shopping'))).toBe(false)
    expect(staysInProject(at('dir:/work/shop'), at('dir:/work'))).toBe(false)
    expect(staysInProject(at('dir:/work/shop'), at('git:/work/shop/lib/.git'))).toBe(false)
    expect(staysInProject(at('git:/work/shop/.git'), at('dir:/work/shop/lib'))).toBe(false)
    expect(staysInProject(at(`dir:${homedir()}`), at(`dir:${join(homedir(), 'notes')}`))).toBe(false)
    expect(staysInProject(at('dir:/'), at('dir:/work'))).toBe(false)
  })
})
