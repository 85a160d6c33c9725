/**
 * Changes one file of the project, whole or not at all. People and programs edit these files too: what they wrote since
 * the file was read is never lost, the change is worked out again from it.
 */
import type { Stats } from 'node:fs'
import { chmod, mkdir, open, rename, rm, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { messageOf, systemCode } from '../../errors.ts'
import { type Place, placeOf } from './place.ts'
import type { Edited } from './section.ts'

export type What = 'made' | 'changed' | 'cleaned' | 'deleted' | 'unchanged' | 'absent' | 'left'

export interface FileOutcome {
  /** The whole path, as people know it. */
  file: string
  what: What
  /** Of a file that was left as it is. */
  why: string | null
}

/** An editor that saves all the time is waited for with the next change of the memory. */
const ATTEMPTS = 5
const BESIDE = '.claude-mem-new'

type Present = Exclude<Place, { kind: 'refused' }>

export interface Change {
  /** Seen from the root, with slashes. */
  file: string
  edit: (old: string | null) => Edited
  /** What has become of a file that was there and stays. */
  done: 'changed' | 'cleaned'
}

export async function changeFile(root: string, { file, edit, done }: Change, dryRun: boolean): Promise<FileOutcome> {
  const outcome = (what: What, why: string | null = null): FileOutcome => ({ file: join(root, file), what, why })
  try {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const place = await placeOf(root, file)
      if (place.kind === 'refused') return outcome('left', place.why)
      const old = bytesOf(place)?.toString('latin1') ?? null
      const edited = edit(old)
      if (edited.kind === 'broken') return outcome('left', edited.why)
      if (edited.text === old) return outcome(old === null ? 'absent' : 'unchanged')
      if (place.kind === 'file' && isReadOnly(place.stats)) return outcome('left', 'it is read-only')
      if (dryRun || (await replaced(root, file, place, edited.text))) {
        return outcome(old === null ? 'made' : edited.text === null ? 'deleted' : done)
      }
    }
    return outcome('left', 'another program keeps changing it')
  } catch (error) {
    return outcome('left', reasonOf(error))
  }
}

/** False where somebody changed the file meanwhile. */
async function replaced(root: string, file: string, place: Present, text: string | null): Promise<boolean> {
  const unchanged = async () => {
    const now = await placeOf(root, file)
    return now.kind === place.kind && now.path === place.path && same(bytesOf(now), bytesOf(place))
  }
  if (text === null) {
    if (!(await unchanged())) return false
    await unlink(place.path)
    return true
  }
  if (place.kind === 'absent' && place.missing.length > 0) {
    await makeDirectories(root, place.missing, place.directory)
    // What was made is looked at like everything else before anything is put into it.
    return false
  }
  const beside = place.path + BESIDE
  try {
    await writeBeside(beside, Buffer.from(text, 'latin1'), place)
    if (!(await unchanged())) return false
    await rename(beside, place.path)
    return true
  } finally {
    await rm(beside, { force: true })
  }
}

async function writeBeside(beside: string, bytes: Buffer, place: Present): Promise<void> {
  // A link of that name must not lead us somewhere else: it goes, and `x` follows none.
  await rm(beside, { force: true })
  const handle = await open(beside, 'wx', 0o600)
  try {
    await handle.writeFile(bytes)
    if (process.platform !== 'win32') {
      const { uid, gid } = place.kind === 'file' ? place.stats : place.directory
      const own = await handle.stat()
      // With sudo, too, the file stays its owner's.
      if (own.uid !== uid || own.gid !== gid) await handle.chown(uid, gid).catch(ignoreFor(place))
      await handle.chmod(place.kind === 'file' ? place.stats.mode & 0o7777 : place.directory.mode & 0o666)
    }
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** A file that is made may be ours; one that is there must stay whose it is. */
function ignoreFor(place: Present): (error: unknown) => void {
  return (error) => {
    if (place.kind === 'file') throw error
  }
}

/** With the mode of the directory they stand in: the daemon's own files are private, these are not its own. */
async function makeDirectories(root: string, missing: readonly string[], parent: Stats): Promise<void> {
  for (const directory of missing) {
    const path = join(root, directory)
    try {
      await mkdir(path)
      if (process.platform !== 'win32') await chmod(path, parent.mode & 0o777)
    } catch (error) {
      if (systemCode(error) !== 'EEXIST') throw error
    }
  }
}

/** What a daemon that was killed in the middle may have left beside a file. */
export async function removeBeside(root: string, file: string): Promise<void> {
  const place = await placeOf(root, file)
  if (place.kind !== 'refused') await rm(place.path + BESIDE, { force: true })
}

function bytesOf(place: Place): Buffer | null {
  return place.kind === 'file' ? place.bytes : null
}

function same(a: Buffer | null, b: Buffer | null): boolean {
  return a === null || b === null ? a === b : a.equals(b)
}

/** A rename would get around it, and the superuser is never refused. */
function isReadOnly({ mode }: Stats): boolean {
  return (mode & 0o222) === 0
}

const REASONS: Record<string, string> = {
  EACCES: 'it may not be written',
  EPERM: 'it may not be written',
  EROFS: 'the disk is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk is full',
  ENOENT: 'its folder is gone',
  EBUSY: 'another program has it open',
}

function reasonOf(error: unknown): string {
  return REASONS[systemCode(error) ?? ''] ?? messageOf(error)
}
