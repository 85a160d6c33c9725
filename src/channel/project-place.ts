/** What the daemon asks about the place of a project: whether it is there, and which repository it is. */
import { createHash } from 'node:crypto'
import { open, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { systemCode } from '../errors.ts'
import { placeOf } from '../memory/project.ts'

/** Longer first lines are told apart by their beginning: it holds the first commit, who made it and when. */
const FIRST_LINE_BYTES = 1_024
const FINGERPRINT_CHARS = 32

/**
 * Tells a clone apart from every other one, and stays when its directory moves: the oldest entry of git's log of HEAD,
 * with the moment at which it was made. Null for what has none: no repository, a bare one, one without a commit.
 */
export async function fingerprintOf(key: string): Promise<string | null> {
  const place = placeOf(key)
  if (place === null || !key.startsWith('git:')) return null
  const line = await firstLine(join(place, 'logs', 'HEAD'))
  return line === '' ? null : createHash('sha256').update(line).digest('hex').slice(0, FINGERPRINT_CHARS)
}

/** Empty where there is none, or none that can be read. */
async function firstLine(file: string): Promise<string> {
  try {
    const handle = await open(file)
    try {
      const { bytesRead, buffer } = await handle.read(Buffer.alloc(FIRST_LINE_BYTES), 0, FIRST_LINE_BYTES, 0)
      return buffer.toString('latin1', 0, bytesRead).split('\n', 1)[0] ?? ''
    } finally {
      await handle.close()
    }
  } catch {
    return ''
  }
}

/** Nothing is where the key says. What cannot be looked at is not gone. */
export async function isGone(key: string): Promise<boolean> {
  const place = placeOf(key)
  if (place === null) return false
  try {
    await stat(place)
    return false
  } catch (error) {
    return ['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '')
  }
}
