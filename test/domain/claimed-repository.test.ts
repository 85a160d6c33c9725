/** A tree belongs to the repository that git itself would agree on; a `.git` that only claims one gets nothing. */
import { appendFileSync, mkdirSync, realpathSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { projectOfDirectory, workingTreeRoot } from '../../src/domain/project.ts'
import { temporaryDirectory } from '../support/directories.ts'
import { git, repository } from '../support/repository.ts'

let root: string
let shop: string
beforeEach(() => {
  root = realpathSync(temporaryDirectory('claims'))
  shop = repository(join(root, 'shop'))
})

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

/** What git says about a directory. */
function gitKey(cwd: string): string {
  return `git:${realpathSync(resolve(cwd, git(cwd, 'rev-parse', '--git-common-dir').trim()))}`
}

describe('a real layout keeps its repository', () => {
  test('a clone, and a directory in it', () => {
    const clone = join(root, 'clone')
    git(root, 'clone', '--quiet', shop, clone)
    mkdirSync(join(clone, 'src'))
    expect(projectOfDirectory(join(clone, 'src')).key).toBe(gitKey(clone))
  })

  test('a linked worktree', () => {
    git(shop, 'worktree', 'add', '--quiet', join(root, 'fix'))
    expect(projectOfDirectory(join(root, 'fix'))).toEqual({ key: gitKey(shop), name: 'shop' })
  })

  test('a linked worktree that was moved with git', () => {
    git(shop, 'worktree', 'add', '--quiet', join(root, 'fix'))
    mkdirSync(join(root, 'deep'))
    git(shop, 'worktree', 'move', join(root, 'fix'), join(root, 'deep', 'moved'))
    expect(projectOfDirectory(join(root, 'deep', 'moved')).key).toBe(gitKey(shop))
  })

  test('a linked worktree whose repository moved, after git worktree repair', () => {
    git(shop, 'worktree', 'add', '--quiet', join(root, 'fix'))
    renameSync(shop, join(root, 'store'))
    git(join(root, 'store'), 'worktree', 'repair')
    expect(projectOfDirectory(join(root, 'fix')).key).toBe(gitKey(join(root, 'store')))
  })

  test('a linked worktree with relative paths, as extensions.relativeWorktrees writes them', () => {
    const fix = join(root, 'fix')
    git(shop, 'worktree', 'add', '--quiet', fix)
    const gitDir = join(shop, '.git', 'worktrees', 'fix')
    write(join(fix, '.git'), `gitdir: ${relative(fix, gitDir)}\n`)
    write(join(gitDir, 'gitdir'), `${relative(gitDir, join(fix, '.git'))}\n`)
    expect(projectOfDirectory(fix).key).toBe(gitKey(shop))
  })

  test('a linked worktree reached through a symbolic link', () => {
    git(shop, 'worktree', 'add', '--quiet', join(root, 'fix'))
    symlinkSync(join(root, 'fix'), join(root, 'link'))
    expect(projectOfDirectory(join(root, 'link')).key).toBe(gitKey(shop))
  })

  test('a submodule, one in it, and one in a linked worktree', () => {
    const inner = repository(join(root, 'inner'))
    const library = repository(join(root, 'lib'))
    git(library, 'submodule', '--quiet', 'add', inner, 'third party/inner')
    git(library, 'commit', '--quiet', '-m', 'inner')
    git(shop, 'submodule', '--quiet', 'add', library, 'vendor/lib')
    git(shop, 'submodule', '--quiet', 'update', '--init', '--recursive')
    git(shop, 'commit', '--quiet', '-m', 'lib')
    git(shop, 'worktree', 'add', '--quiet', join(root, 'fix'))
    git(join(root, 'fix'), 'submodule', '--quiet', 'update', '--init')
    for (const cwd of [
      join(shop, 'vendor/lib'),
      join(shop, 'vendor/lib/third party/inner'),
      join(root, 'fix/vendor/lib'),
    ]) {
      expect(projectOfDirectory(cwd).key).toBe(gitKey(cwd))
    }
  })

  test('a linked worktree of a submodule', () => {
    git(shop, 'submodule', '--quiet', 'add', repository(join(root, 'lib')), 'vendor/lib')
    git(join(shop, 'vendor/lib'), 'worktree', 'add', '--quiet', join(root, 'lib-fix'))
    expect(projectOfDirectory(join(root, 'lib-fix')).key).toBe(gitKey(join(shop, 'vendor/lib')))
  })

  test('worktrees of a bare repository, also of one named .bare', () => {
    for (const name of ['api.git', 'tool/.bare']) {
      const bare = join(root, name)
      mkdirSync(dirname(bare), { recursive: true })
      git(root, 'clone', '--quiet', '--bare', shop, bare)
      git(bare, 'worktree', 'add', '--quiet', '--detach', join(dirname(bare), `tree-of-${name.length}`))
      expect(projectOfDirectory(join(dirname(bare), `tree-of-${name.length}`)).key).toBe(`git:${bare}`)
    }
    write(join(root, 'tool', '.git'), 'gitdir: ./.bare\n')
    expect(projectOfDirectory(join(root, 'tool')).key).toBe(`git:${join(root, 'tool/.bare')}`)
  })

  test('a separate git directory is a plain directory, until core.worktree names the tree', () => {
    const work = join(root, 'work')
    mkdirSync(join(root, 'store'))
    git(root, 'init', '--quiet', '--separate-git-dir', join(root, 'store', 'work.git'), work)
    expect(projectOfDirectory(work).key).toBe(`dir:${work}`)
    git(work, 'config', 'core.worktree', work)
    expect(projectOfDirectory(work).key).toBe(gitKey(work))
  })
})

describe('a tree that claims the repository of another project is a directory of its own', () => {
  const own = () => ({ key: `dir:${join(root, 'evil')}`, name: 'evil' })
  const evil = (...parts: string[]) => join(root, 'evil', ...parts)

  test.each<[string, () => void]>([
    ['.git is a file that names its git directory', () => write(evil('.git'), `gitdir: ${join(shop, '.git')}\n`)],
    ['.git is a file with a relative path to it', () => write(evil('.git'), 'gitdir: ../shop/.git\n')],
    [
      '.git is a file that names the git directory of a worktree',
      () => {
        git(shop, 'worktree', 'add', '--quiet', join(root, 'fix'))
        write(evil('.git'), `gitdir: ${join(shop, '.git/worktrees/fix')}\n`)
      },
    ],
    [
      '.git is a link to the .git file of a worktree',
      () => {
        git(shop, 'worktree', 'add', '--quiet', join(root, 'fix'))
        mkdirSync(evil())
        symlinkSync(join(root, 'fix', '.git'), evil('.git'))
      },
    ],
    [
      '.git is a file that names the git directory of a submodule',
      () => {
        git(shop, 'submodule', '--quiet', 'add', repository(join(root, 'lib')), 'lib')
        write(evil('.git'), `gitdir: ${join(shop, '.git/modules/lib')}\n`)
      },
    ],
    [
      '.git is a directory with a commondir',
      () => {
        write(evil('.git', 'HEAD'), 'ref: refs/heads/main\n')
        write(evil('.git', 'commondir'), `${join(shop, '.git')}\n`)
        write(evil('.git', 'gitdir'), evil('.git'))
      },
    ],
    [
      '.git is a directory whose commondir is a link',
      () => {
        write(evil('.git', 'HEAD'), 'ref: refs/heads/main\n')
        symlinkSync('/dev/zero', evil('.git', 'commondir'))
      },
    ],
    [
      '.git is a link to its git directory',
      () => {
        mkdirSync(evil())
        symlinkSync(join(shop, '.git'), evil('.git'))
      },
    ],
    [
      '.git names a git directory of its own, with a commondir and a back-link',
      () => {
        write(evil('x', 'worktrees', 'y', 'HEAD'), 'ref: refs/heads/main\n')
        write(evil('x', 'worktrees', 'y', 'commondir'), `${join(shop, '.git')}\n`)
        write(evil('x', 'worktrees', 'y', 'gitdir'), `${evil('.git')}\n`)
        write(evil('.git'), 'gitdir: x/worktrees/y\n')
      },
    ],
    [
      'its own directory of worktrees is a link to the repository',
      () => {
        write(evil('x', 'worktrees', 'y', 'HEAD'), 'ref: refs/heads/main\n')
        write(evil('x', 'worktrees', 'y', 'gitdir'), `${evil('.git')}\n`)
        symlinkSync(join(shop, '.git'), evil('z'))
        write(evil('x', 'worktrees', 'y', 'commondir'), '../../../z\n')
        write(evil('.git'), 'gitdir: x/worktrees/y\n')
      },
    ],
  ])('%s', (_, prepare) => {
    prepare()
    mkdirSync(evil('src'), { recursive: true })
    expect(projectOfDirectory(evil())).toEqual(own())
    expect(projectOfDirectory(evil('src'))).toEqual(own())
    expect(workingTreeRoot(evil('src'))).toBe(evil())
  })

  test('.git in the directory around a project names its repository', () => {
    write(join(root, '.git'), 'gitdir: shop/.git\n')
    expect(projectOfDirectory(root).key).toBe(`dir:${root}`)
    expect(projectOfDirectory(shop).key).toBe(gitKey(shop))
  })

  test('a core.worktree that names another tree does not give it away', () => {
    write(evil('.git'), `gitdir: ${join(shop, '.git')}\n`)
    appendFileSync(join(shop, '.git', 'config'), `[core]\n\tworktree = ${shop}\n`)
    expect(projectOfDirectory(evil())).toEqual(own())
  })
})
