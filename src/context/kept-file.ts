/** The rendered context of a project in a file beside the database. The hook reads it too while no daemon runs. */
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { shortHash } from '../paths.ts'

export interface SessionContext {
  /** For the model; empty where nothing is known. */
  context: string
  /** For the person; empty where there is nothing to say. */
  message: string
}

export const NOTHING_SAID: SessionContext = { context: '', message: '' }

/** Raised when an older hook would misread it. */
const FORMAT = 1

export function keptFile(directory: string, project: string): string {
  return join(directory, `${shortHash(project)}.json`)
}

/** Null where there is none, or it cannot be read: then it is made again. */
export async function readKept(directory: string, project: string): Promise<SessionContext | null> {
  try {
    const kept: Partial<Record<string, unknown>> | null = JSON.parse(
      await readFile(keptFile(directory, project), 'utf8'),
    )
    const { v, context, message } = kept ?? {}
    return v === FORMAT && typeof context === 'string' && typeof message === 'string' ? { context, message } : null
  } catch {
    return null
  }
}

/** Nothing is written where nothing changed, and no file is left where there is nothing to say. */
export async function writeKept(
  directory: string,
  project: string,
  { context, message }: SessionContext,
): Promise<void> {
  const file = keptFile(directory, project)
  if (context === '' && message === '') return await rm(file, { force: true })
  const old = await readKept(directory, project)
  if (old?.context === context && old.message === message) return
  await mkdir(directory, { recursive: true, mode: 0o700 })
  // A hook may read at any moment: it sees the old text or the new one.
  const beside = `${file}.new`
  try {
    await writeFile(beside, JSON.stringify({ v: FORMAT, context, message }), { mode: 0o600 })
    await rename(beside, file)
  } catch (error) {
    // The old text may hold what was forgotten: on a full disk a session rather starts with less.
    await rm(file, { force: true })
    throw error
  }
}

/** Earlier versions kept plain texts, which nobody would ever clear of what is forgotten. */
export async function removeOldTexts(directory: string): Promise<void> {
  const names = await readdir(directory).catch(() => [])
  for (const name of names.filter((one) => one.endsWith('.txt'))) await rm(join(directory, name), { force: true })
}
