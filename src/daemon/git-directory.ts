/**
 * What a repository says about itself, read from its git directory without running git. Anybody may have written these
 * files, so what is read is bounded and only regular files are opened.
 */
import { createHash } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { claimedRepository } from '../domain/repository.ts'
import { MemError } from '../lib/errors.ts'
import { isMissingFile, readFileStart, readRegularFile } from '../lib/files.ts'

/** A `config` has a section for each branch; a larger one is not read. */
const MAX_CONFIG_BYTES = 1 << 20

/** The key of the repository that the remote in `config` names; null: it names none. Undefined: it could not be read. */
export async function readClaim(gitDir: string): Promise<string | null | undefined> {
  try {
    return claimedRepository((await readRegularFile(join(gitDir, 'config'), MAX_CONFIG_BYTES)).toString('utf8'))
  } catch (error) {
    // A pipe, a device and a file of unreasonable size make no claim; what a broken drive says is not known.
    return isMissingFile(error) || error instanceof MemError ? null : undefined
  }
}

/** When a git directory was created, in ms: what was unpacked or cloned in its place has another time. Null: unknown. */
export async function readCreationTime(gitDir: string): Promise<number | null> {
  const created = await stat(gitDir).then(
    ({ birthtimeMs }) => Math.floor(birthtimeMs),
    () => 0,
  )
  return created > 0 ? created : null
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
 * Identifies one clone, also after its directory moved within its file system: when its git directory was created, and the
 * oldest entry of git's reflog of HEAD. That entry alone can be written from the public first commit. Null without either: no
 * repository, a bare one, one without a commit, a file system that does not say when.
 */
export async function readFingerprint(gitDir: string): Promise<string | null> {
  const text = await textOrEmpty(readFileStart(join(gitDir, 'logs', 'HEAD'), FIRST_LINE_BYTES))
  const line = text.split('\n', 1)[0] ?? ''
  const createdAt = await readCreationTime(gitDir)
  if (line === '' || createdAt === null) return null
  return createHash('sha256').update(`${createdAt} ${line}`).digest('hex').slice(0, FINGERPRINT_CHARS)
}
