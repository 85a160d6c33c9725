/**
 * What a repository says about itself, read from its git directory without running git: the remote that it claims, and the
 * commits that it names. Anybody may have written these files, so what is read is bounded and only regular files are opened.
 */
import { createHash } from 'node:crypto'
import type { Dir } from 'node:fs'
import { opendir } from 'node:fs/promises'
import { join } from 'node:path'
import { COMMIT_ID, claimedRepository } from '../domain/repository.ts'
import { MemError } from '../lib/errors.ts'
import { isMissingFile, readFileStart, readRegularFile, readRegularFileEnd } from '../lib/files.ts'

/** A `config` has a section for each branch; a larger one is not read. */
const MAX_CONFIG_BYTES = 1 << 20
const MAX_PACKED_REFS_BYTES = 1 << 20
/** Of each end of the log of HEAD. */
const LOG_BYTES = 32 * 1024
/** A ref has an id or the name of another ref. */
const REF_BYTES = 1_024
/** Directory entries that are looked at for branches. */
const MAX_REF_ENTRIES = 1_000
const MAX_REF_DEPTH = 6
/** Commits taken from each source, so that none of them displaces the others. */
const MAX_OF_SOURCE = 50
/** Commits of a repository that are compared with others. */
const MAX_COMMITS = 150

/** What git writes where there is no commit. */
const NO_COMMIT = /^0+$/

/** The key of the repository that the remote in `config` names; null: it names none. Undefined: it could not be read. */
export async function readClaim(gitDir: string): Promise<string | null | undefined> {
  try {
    return claimedRepository((await readRegularFile(join(gitDir, 'config'), MAX_CONFIG_BYTES)).toString('utf8'))
  } catch (error) {
    // A pipe, a device and a file of unreasonable size make no claim; what a broken drive says is not known.
    return isMissingFile(error) || error instanceof MemError ? null : undefined
  }
}

/** Ids of commits that the repository names: of HEAD, its branches, those of its remotes, and of the log of HEAD. */
export async function readCommitIds(gitDir: string): Promise<string[]> {
  const [head, log, remotes, branches, packed] = await Promise.all([
    readHead(gitDir),
    readLog(gitDir),
    readLooseRefs(join(gitDir, 'refs', 'remotes')),
    readLooseRefs(join(gitDir, 'refs', 'heads')),
    readPackedRefs(gitDir),
  ])
  const ids = [head, ...log.slice(0, 1), ...remotes, ...packed, ...branches, ...log.slice(1)]
  return [...new Set(ids.filter((id) => COMMIT_ID.test(id) && !NO_COMMIT.test(id)))].slice(0, MAX_COMMITS)
}

/** Empty where HEAD names a branch: that is read with the others. */
async function readHead(gitDir: string): Promise<string> {
  return (await textOrEmpty(readFileStart(join(gitDir, 'HEAD'), REF_BYTES))).trim()
}

/** The oldest commit of the log first, which clones have in common most often, then the newest ones. */
async function readLog(gitDir: string): Promise<string[]> {
  const file = join(gitDir, 'logs', 'HEAD')
  const [start, end] = await Promise.all([
    textOrEmpty(readFileStart(file, LOG_BYTES)),
    textOrEmpty(readRegularFileEnd(file, LOG_BYTES)),
  ])
  const commitOf = (line: string): string => line.split(' ', 2)[1] ?? ''
  const newest = end
    .split('\n')
    .map(commitOf)
    .filter((id) => COMMIT_ID.test(id))
  return [commitOf(start.split('\n', 1)[0] ?? ''), ...newest.reverse().slice(0, MAX_OF_SOURCE)]
}

async function readPackedRefs(gitDir: string): Promise<string[]> {
  const text = await textOrEmpty(readFileStart(join(gitDir, 'packed-refs'), MAX_PACKED_REFS_BYTES))
  const ids: string[] = []
  for (const line of text.split('\n')) {
    const [id = '', name = ''] = line.split(' ', 2)
    if (/^refs\/(?:heads|remotes)\//.test(name)) ids.push(id)
    if (ids.length >= MAX_OF_SOURCE) break
  }
  return ids
}

/** Ids in the files below a directory, without following links. */
async function readLooseRefs(root: string): Promise<string[]> {
  const ids: string[] = []
  let entries = 0
  const visit = async (directory: string, depth: number): Promise<void> => {
    const open = await opendir(directory).catch((): Dir | null => null)
    if (open === null) return
    for await (const entry of open) {
      if (++entries > MAX_REF_ENTRIES || ids.length >= MAX_OF_SOURCE) return
      const path = join(directory, entry.name)
      if (entry.isDirectory() && depth < MAX_REF_DEPTH) await visit(path, depth + 1)
      else if (entry.isFile()) ids.push((await textOrEmpty(readFileStart(path, REF_BYTES))).trim())
    }
  }
  await visit(root, 0)
  return ids.filter((id) => COMMIT_ID.test(id))
}

async function textOrEmpty(reading: Promise<Buffer>): Promise<string> {
  try {
    return (await reading).toString('latin1')
  } catch {
    return ''
  }
}

/** Bytes of the first log line that are compared: they contain the first commit, its author and its time. */
const FIRST_LINE_BYTES = 1_024
const FINGERPRINT_CHARS = 32

/**
 * Identifies one clone, also after its directory moved: the oldest entry of git's reflog of HEAD, which contains the time it
 * was made. Null without one: no repository, a bare one, one without a commit.
 */
export async function readFingerprint(gitDir: string): Promise<string | null> {
  const text = await textOrEmpty(readFileStart(join(gitDir, 'logs', 'HEAD'), FIRST_LINE_BYTES))
  const line = text.split('\n', 1)[0] ?? ''
  return line === '' ? null : createHash('sha256').update(line).digest('hex').slice(0, FINGERPRINT_CHARS)
}
