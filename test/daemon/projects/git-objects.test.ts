/** A commit counts only where its text really is; whatever the files of a repository say, reading them ends. */
import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { readClaim, readCommitIds } from '../../../src/daemon/git-directory.ts'
import { findCommit } from '../../../src/daemon/git-objects.ts'
import { temporaryDirectory } from '../../support/directories.ts'
import { git, repository } from '../../support/repository.ts'

let root: string
let shop: string
beforeEach(() => {
  root = temporaryDirectory('objects')
  shop = repository(join(root, 'shop'))
})

const gitDir = (tree = shop) => join(tree, '.git')
const head = (tree = shop, revision = 'HEAD') => git(tree, 'rev-parse', revision).trim()
const commit = (tree: string, message: string) => git(tree, 'commit', '--quiet', '--allow-empty', '-m', message)
const allCommits = (tree = shop) => git(tree, 'rev-list', '--all').trim().split('\n')
const pack = (tree = shop) => git(tree, 'gc', '--quiet', '--prune=now')
/** The files of the only pack. */
function packFiles(tree = shop): { index: string; data: string } {
  const directory = join(gitDir(tree), 'objects', 'pack')
  const [name = ''] = readdirSync(directory).filter((file) => file.endsWith('.idx'))
  return { index: join(directory, name), data: join(directory, name.replace(/idx$/, 'pack')) }
}
/** git makes them read-only. */
function overwrite(file: string, bytes: Buffer): void {
  rmSync(file)
  writeFileSync(file, bytes)
}

describe('findCommit', () => {
  it('finds commits in loose files and in packs, deltas too', async () => {
    for (let i = 0; i < 40; i++) commit(shop, `${'the same long message in every commit\n'.repeat(30)}${i}`)
    const commits = allCommits()
    for (const id of commits) expect(await findCommit(gitDir(), [id])).toBe(id)
    git(shop, 'repack', '--quiet', '-a', '-d', '-f', '--depth=30', '--window=50')
    expect(git(shop, 'verify-pack', '-v', packFiles().index)).toMatch(/commit \d+ \d+ \d+ \d+ [0-9a-f]{40}/)
    for (const id of commits) expect(await findCommit(gitDir(), [id]), id).toBe(id)
  })

  it('finds a commit of a repository with SHA-256', async () => {
    const other = join(root, 'sha256')
    mkdirSync(other)
    git(other, 'init', '--quiet', '--object-format=sha256')
    commit(other, 'first')
    expect(await findCommit(gitDir(other), [head(other)])).toBe(head(other))
    pack(other)
    expect(await findCommit(gitDir(other), [head(), head(other)])).toBe(head(other))
    expect(await readCommitIds(gitDir(other))).toEqual([head(other)])
  })

  it('finds none where none is, and takes no other object for a commit', async () => {
    const tree = head(shop, 'HEAD^{tree}')
    const absent = ['0'.repeat(40), 'f'.repeat(40), `00${'1'.repeat(38)}`, tree]
    expect(await findCommit(gitDir(), absent)).toBeNull()
    pack()
    expect(await findCommit(gitDir(), absent)).toBeNull()
    expect(await findCommit(gitDir(), [])).toBeNull()
    expect(await findCommit(join(root, 'nowhere'), [head()])).toBeNull()
    expect(await findCommit(gitDir(), [...absent, head()])).toBe(head())
  })

  it('does not believe a name: the text must have the id', async () => {
    const evil = repository(join(root, 'evil'))
    const wanted = head()
    const directory = join(gitDir(evil), 'objects', wanted.slice(0, 2))
    mkdirSync(directory, { recursive: true })
    const own = head(evil)
    copyFileSync(join(gitDir(evil), 'objects', own.slice(0, 2), own.slice(2)), join(directory, wanted.slice(2)))
    expect(await findCommit(gitDir(evil), [wanted])).toBeNull()
  })

  it('does not believe an index: the pack must have the commit', async () => {
    pack()
    const wanted = head()
    const evil = repository(join(root, 'evil'))
    pack(evil)
    // The index of the other repository beside a pack of its own.
    overwrite(packFiles(evil).index, readFileSync(packFiles().index))
    expect(await findCommit(gitDir(evil), [wanted])).toBeNull()
  })

  it('does not follow links and alternates into another repository', async () => {
    const wanted = head()
    for (const [name, make] of Object.entries({
      'all objects': (objects: string) => {
        rmSync(objects, { recursive: true })
        symlinkSync(join(gitDir(), 'objects'), objects)
      },
      'one directory': (objects: string) =>
        symlinkSync(join(gitDir(), 'objects', wanted.slice(0, 2)), join(objects, wanted.slice(0, 2))),
      'one file': (objects: string) => {
        mkdirSync(join(objects, wanted.slice(0, 2)))
        symlinkSync(
          join(gitDir(), 'objects', wanted.slice(0, 2), wanted.slice(2)),
          join(objects, wanted.slice(0, 2), wanted.slice(2)),
        )
      },
      alternates: (objects: string) => {
        mkdirSync(join(objects, 'info'), { recursive: true })
        writeFileSync(join(objects, 'info', 'alternates'), `${join(gitDir(), 'objects')}\n`)
      },
      'alternates in a circle': (objects: string) => {
        mkdirSync(join(objects, 'info'), { recursive: true })
        writeFileSync(join(objects, 'info', 'alternates'), `${objects}\n../objects\n`)
      },
    })) {
      const evil = join(root, name)
      mkdirSync(evil)
      git(evil, 'init', '--quiet')
      make(join(gitDir(evil), 'objects'))
      expect(await findCommit(gitDir(evil), [wanted]), name).toBeNull()
    }
    pack()
    const evil = join(root, 'packs')
    mkdirSync(evil)
    git(evil, 'init', '--quiet')
    const packs = join(gitDir(evil), 'objects', 'pack')
    rmSync(packs, { recursive: true })
    symlinkSync(join(gitDir(), 'objects', 'pack'), packs)
    expect(await findCommit(gitDir(evil), [wanted])).toBeNull()
    rmSync(packs)
    mkdirSync(packs)
    copyFileSync(packFiles().index, join(packs, 'pack-1.idx'))
    symlinkSync(packFiles().data, join(packs, 'pack-1.pack'))
    expect(await findCommit(gitDir(evil), [wanted])).toBeNull()
  })

  it('reads damaged and hostile packs to their end', async () => {
    for (let i = 0; i < 20; i++) commit(shop, `${'long message '.repeat(50)}${i}`)
    git(shop, 'repack', '--quiet', '-a', '-d', '-f', '--depth=30', '--window=50')
    const { index, data } = packFiles()
    const [goodIndex, goodData] = [readFileSync(index), readFileSync(data)]
    const commits = allCommits()
    const changed = (bytes: Buffer, change: (copy: Buffer) => unknown): Buffer => {
      const copy = Buffer.from(bytes)
      change(copy)
      return copy
    }
    const indexes: Buffer[] = [
      Buffer.alloc(0),
      goodIndex.subarray(0, 500),
      goodIndex.subarray(0, goodIndex.length - 40),
      changed(goodIndex, (copy) => copy.fill(0xff, 8, 8 + 1024)),
      changed(goodIndex, (copy) => copy.fill(0, 8, 8 + 1020)),
      changed(goodIndex, (copy) => copy.writeUInt32BE(0xffffffff, 8 + 1020)),
      changed(goodIndex, (copy) => copy.writeUInt32BE(1_000, 8)),
      changed(goodIndex, (copy) => copy.writeUInt32BE(3, 4)),
    ]
    for (const bytes of indexes) {
      overwrite(index, bytes)
      expect(await findCommit(gitDir(), commits)).toBeNull()
    }
    // Every offset leads beyond the end, into the middle of something, or to the table of large offsets.
    const offsets = 8 + 1024 + goodIndex.readUInt32BE(8 + 1020) * 24
    for (const value of [0xff, 0x80, 0x7f, 0]) {
      overwrite(
        index,
        changed(goodIndex, (copy) => copy.fill(value, offsets, goodIndex.length - 40)),
      )
      expect(await findCommit(gitDir(), commits)).toBeNull()
    }
    overwrite(index, goodIndex)
    for (const value of [0, 0x6f, 0x7f, 0xff]) {
      overwrite(
        data,
        changed(goodData, (copy) => copy.fill(value, 12)),
      )
      expect(await findCommit(gitDir(), commits)).toBeNull()
    }
    overwrite(data, goodData)
    expect(await findCommit(gitDir(), commits)).not.toBeNull()
  })

  it('survives any damage, and finds no commit that is not there', async () => {
    for (let i = 0; i < 20; i++) commit(shop, `${'long message '.repeat(50)}${i}`)
    git(shop, 'repack', '--quiet', '-a', '-d', '-f', '--depth=30', '--window=50')
    const { index, data } = packFiles()
    const [goodIndex, goodData] = [readFileSync(index), readFileSync(data)]
    const absent = 'ab'.repeat(20)
    const ids = [absent, ...allCommits()]
    const seed = Date.now() % 2 ** 31
    let state = seed
    // A linear congruential generator is random enough for positions.
    const random = (below: number) => {
      state = (state * 1_103_515_245 + 12_345) % 2 ** 31
      return state % below
    }
    const damaged = (bytes: Buffer) => {
      const copy = Buffer.from(bytes)
      for (let i = 0; i <= random(8); i++) copy[random(copy.length)] = random(256)
      return random(10) === 0 ? copy.subarray(0, random(copy.length)) : copy
    }
    for (let round = 0; round < 150; round++) {
      overwrite(index, damaged(goodIndex))
      overwrite(data, damaged(goodData))
      const found = await findCommit(gitDir(), ids)
      expect(found, `seed ${seed}, round ${round}`).not.toBe(absent)
    }
  })

  it.skipIf(process.platform === 'win32')('does not wait for a pipe', async () => {
    const id = head()
    const file = join(gitDir(), 'objects', id.slice(0, 2), id.slice(2))
    rmSync(file)
    execFileSync('mkfifo', [file])
    for (const name of ['pack-1.idx', 'pack-1.pack']) {
      execFileSync('mkfifo', [join(gitDir(), 'objects', 'pack', name)])
    }
    expect(await findCommit(gitDir(), [id])).toBeNull()
  })
})

describe('readCommitIds', () => {
  it('has HEAD, branches, those of remotes and the log, packed or not', async () => {
    commit(shop, 'second')
    git(shop, 'branch', 'feature/deep/one', 'HEAD~1')
    git(shop, 'update-ref', 'refs/remotes/origin/main', 'HEAD~1')
    const both = [head(), head(shop, 'HEAD~1')].sort()
    expect((await readCommitIds(gitDir())).sort()).toEqual(both)
    pack()
    rmSync(join(gitDir(), 'logs'), { recursive: true })
    expect((await readCommitIds(gitDir())).sort()).toEqual(both)
    git(shop, 'checkout', '--quiet', '--detach')
    rmSync(join(gitDir(), 'packed-refs'))
    expect(await readCommitIds(gitDir())).toEqual([head()])
  })

  it('has nothing of a directory without a repository, or without a commit', async () => {
    const empty = join(root, 'empty')
    mkdirSync(empty)
    expect(await readCommitIds(gitDir(empty))).toEqual([])
    git(empty, 'init', '--quiet')
    expect(await readCommitIds(gitDir(empty))).toEqual([])
  })

  it('is bounded, whatever the files say', async () => {
    const line = (i: number) => `${i.toString(16).padStart(40, '1')} refs/heads/branch-${i}\n`
    writeFileSync(join(gitDir(), 'packed-refs'), Array.from({ length: 1_000_000 }, (_, i) => line(i)).join(''))
    const log = Array.from(
      { length: 5_000 },
      (_, i) => `${'0'.repeat(40)} ${i.toString(16).padStart(40, '2')} a <a> 1\n`,
    )
    appendFileSync(join(gitDir(), 'logs', 'HEAD'), log.join(''))
    const remotes = join(gitDir(), 'refs', 'remotes', 'origin')
    mkdirSync(remotes, { recursive: true })
    for (let i = 0; i < 300; i++) writeFileSync(join(remotes, `b${i}`), `${i.toString(16).padStart(40, '3')}\n`)
    // One that leads into itself.
    symlinkSync(join(gitDir(), 'refs', 'heads'), join(gitDir(), 'refs', 'heads', 'again'))
    const ids = await readCommitIds(gitDir())
    expect(ids.length).toBeLessThanOrEqual(150)
    expect(ids.length).toBeGreaterThan(100)
    expect(ids).toContain(head())
  })

  it.skipIf(process.platform === 'win32')('does not wait for pipes', async () => {
    const id = head()
    for (const name of ['HEAD', 'packed-refs', join('refs', 'heads', 'pipe'), join('logs', 'HEAD')]) {
      rmSync(join(gitDir(), name), { force: true })
      execFileSync('mkfifo', [join(gitDir(), name)])
    }
    // Only the branch is left.
    expect(await readCommitIds(gitDir())).toEqual([id])
  })
})

describe('readClaim', () => {
  it('is what the config says', async () => {
    expect(await readClaim(gitDir())).toBeNull()
    git(shop, 'remote', 'add', 'origin', 'https://me:password@GitHub.com/acme/shop.git')
    expect(await readClaim(gitDir())).toBe('repo:github.com/acme/shop')
  })

  it('is none where the config is missing, too large or no file', async () => {
    const config = join(gitDir(), 'config')
    const remote = '[remote "origin"]\n\turl = https://github.com/acme/shop.git\n'
    writeFileSync(config, remote + '[branch "x"]\n\tmerge = y\n'.repeat(200_000))
    expect(await readClaim(gitDir())).toBeNull()
    rmSync(config)
    expect(await readClaim(gitDir())).toBeNull()
    mkdirSync(config)
    expect(await readClaim(gitDir())).toBeNull()
    rmSync(config, { recursive: true })
    if (process.platform === 'win32') return
    execFileSync('mkfifo', [config])
    expect(await readClaim(gitDir())).toBeNull()
  })

  it('of a worktree and of a submodule is that of their git directory', async () => {
    git(shop, 'remote', 'add', 'origin', 'git@github.com:acme/shop.git')
    const lib = repository(join(root, 'lib'))
    git(shop, 'submodule', '--quiet', 'add', lib, 'vendor/lib')
    renameSync(lib, join(root, 'lib-moved'))
    const modules = join(gitDir(), 'modules', 'vendor', 'lib')
    expect(await readClaim(modules)).toBeNull()
    git(join(shop, 'vendor', 'lib'), 'remote', 'set-url', 'origin', 'git@github.com:acme/lib.git')
    expect(await readClaim(modules)).toBe('repo:github.com/acme/lib')
  })
})
