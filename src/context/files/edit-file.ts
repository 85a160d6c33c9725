/**
 * Changes one file of a working tree atomically. People and programs edit these files too: if a file changed since it
 * was read, the edit is computed again, so that nothing they wrote is lost. Nothing outside of the working tree is read
 * or written.
 */
import type { Stats } from 'node:fs'
import { chmod, lstat, mkdir, open, realpath, rm, rmdir, stat, unlink } from 'node:fs/promises'
import { extname, isAbsolute, join, relative, sep } from 'node:path'
import { errorMessage, systemCode } from '../../lib/errors.ts'
import { isMissingFile, moveFile, readRegularFile } from '../../lib/files.ts'
import { isInside } from '../../lib/paths.ts'
import type { SectionEdit } from './section.ts'

export type FileAction = 'made' | 'changed' | 'cleaned' | 'deleted' | 'unchanged' | 'absent' | 'left'

export interface FileOutcome {
  /** Absolute path. */
  file: string
  what: FileAction
  /** Why it was left as it is; null for other actions. */
  why: string | null
}

/** Then the file is left until the next change of the memory: another program keeps saving it. */
const MAX_ATTEMPTS = 5
const TEMPORARY_SUFFIX = '.claude-mem-new'

type WritableState = Exclude<FileState, { kind: 'refused' }>

interface FileChange {
  /** Relative to the root, with slashes. */
  file: string
  edit: (old: string | null) => SectionEdit
  /** The action to report for a file that existed and still exists. */
  done: 'changed' | 'cleaned'
}

export async function changeFile(
  root: string,
  { file, edit, done }: FileChange,
  dryRun: boolean,
): Promise<FileOutcome> {
  const outcome = (what: FileAction, why: string | null = null): FileOutcome => ({ file: join(root, file), what, why })
  try {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const state = await fileState(root, file)
      if (state.kind === 'refused') return outcome('left', state.why)
      const old = contentOf(state)?.toString('latin1') ?? null
      const edited = edit(old)
      if (edited.kind === 'broken') return outcome('left', edited.why)
      if (edited.text === old) return outcome(old === null ? 'absent' : 'unchanged')
      if (state.kind === 'file' && isReadOnly(state.stats)) return outcome('left', 'it is read-only')
      if (dryRun || (await replaceFile(root, file, state, edited.text))) {
        return outcome(old === null ? 'made' : edited.text === null ? 'deleted' : done)
      }
    }
    return outcome('left', 'another program keeps changing it')
  } catch (error) {
    return outcome('left', failureReason(error))
  }
}

/** False if the file changed meanwhile, or a missing directory was created: then the edit is computed again. */
async function replaceFile(root: string, file: string, state: WritableState, text: string | null): Promise<boolean> {
  const unchanged = async () => {
    const now = await fileState(root, file)
    return now.kind === state.kind && now.path === state.path && sameBytes(contentOf(now), contentOf(state))
  }
  if (text === null) {
    if (!(await unchanged())) return false
    await unlink(state.path)
    return true
  }
  if (state.kind === 'absent' && state.missing.length > 0) {
    await makeDirectories(root, state.missing, state.directory)
    // The new directories are checked like existing ones before a file is written into them.
    return false
  }
  const temporary = state.path + TEMPORARY_SUFFIX
  try {
    await writeTemporaryFile(temporary, Buffer.from(text, 'latin1'), state)
    if (!(await unchanged())) return false
    await moveFile(temporary, state.path)
    return true
  } finally {
    await rm(temporary, { force: true })
  }
}

async function writeTemporaryFile(temporary: string, bytes: Buffer, state: WritableState): Promise<void> {
  // A symbolic link of this name is removed, and the flag `x` does not follow a new one.
  await rm(temporary, { force: true })
  const handle = await open(temporary, 'wx', 0o600)
  try {
    await handle.writeFile(bytes)
    if (process.platform !== 'win32') {
      const { uid, gid } = state.kind === 'file' ? state.stats : state.directory
      const own = await handle.stat()
      // Keeps the owner when run with sudo. An existing file must keep it; for a new one it is not required.
      if (own.uid !== uid || own.gid !== gid) {
        await handle.chown(uid, gid).catch((error: unknown) => {
          if (state.kind === 'file') throw error
        })
      }
      await handle.chmod(state.kind === 'file' ? state.stats.mode & 0o7777 : state.directory.mode & 0o666)
    }
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** With the mode of their parent, because the daemon's umask makes files private. */
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

/** Removes what a daemon that was killed while it wrote may have left. */
export async function removeTemporaryFile(root: string, file: string): Promise<void> {
  const state = await fileState(root, file)
  if (state.kind !== 'refused') await rm(state.path + TEMPORARY_SUFFIX, { force: true })
}

function contentOf(state: FileState): Buffer | null {
  return state.kind === 'file' ? state.bytes : null
}

function sameBytes(a: Buffer | null, b: Buffer | null): boolean {
  return a === null || b === null ? a === b : a.equals(b)
}

/** Checked because a rename ignores the mode, and root is never refused. */
function isReadOnly({ mode }: Stats): boolean {
  return (mode & 0o222) === 0
}

/** Texts for system error codes. */
const FAILURE_REASONS: Record<string, string> = {
  EACCES: 'it may not be written',
  EPERM: 'it may not be written',
  EROFS: 'the disk is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk is full',
  ENOENT: 'its folder is gone',
  EBUSY: 'another program has it open',
}

function failureReason(error: unknown): string {
  return FAILURE_REASONS[systemCode(error) ?? ''] ?? errorMessage(error)
}

type FileState =
  /** `directory`: the nearest existing one. `missing`: directories to create first, relative to the root. */
  | { kind: 'absent'; path: string; directory: Stats; missing: string[] }
  | { kind: 'file'; path: string; bytes: Buffer; stats: Stats }
  | { kind: 'refused'; why: string }

/** Bytes. Larger files are not meant to be read by a model as a whole. */
const MAX_FILE_BYTES = 4 * 1024 * 1024
const NUL = 0

/** `root` contains no symbolic links; `file` is relative to it, with slashes. */
export async function fileState(root: string, file: string): Promise<FileState> {
  const names = file.split('/')
  const name = names.pop() ?? ''
  if (isAbsolute(file) || [...names, name].some((part) => part === '' || part === '.' || part === '..')) {
    return refused('it is not a path inside the project')
  }
  let directory = root
  for (const [i, part] of names.entries()) {
    const next = await directoryAt(root, join(directory, part))
    if (next === 'outside') return refused(`${names.slice(0, i + 1).join('/')} does not lie inside the project`)
    if (next === null) {
      const missing = names.slice(i).map((_, j) => names.slice(0, i + j + 1).join('/'))
      return { kind: 'absent', path: join(root, file), directory: await stat(directory), missing }
    }
    directory = next
  }
  return await fileAt(root, directory, name)
}

/** The directory without symbolic links; null if it does not exist. */
export async function directoryAt(root: string, path: string): Promise<string | 'outside' | null> {
  const real = await realPathOrNull(path)
  if (real === null) return (await pathExists(path)) ? 'outside' : null
  if (!isInside(root, real)) return 'outside'
  return (await stat(real)).isDirectory() ? real : 'outside'
}

async function fileAt(root: string, directory: string, name: string): Promise<FileState> {
  const path = join(directory, name)
  if (!(await pathExists(path))) return { kind: 'absent', path, directory: await stat(directory), missing: [] }
  const real = await realPathOrNull(path)
  if (real === null) return refused('it is a link to nothing')
  if (!isInside(root, real)) return refused('it is a link that leads outside of the project')
  if (!isMarkdown(real) || relative(root, real).split(sep).includes('.git')) {
    return refused('it is a link to something other than Markdown')
  }
  const stats = await stat(real)
  if (!stats.isFile()) return refused('it is not a file')
  // Renaming a new file into place would separate the two names.
  if (stats.nlink > 1) return refused('it has a second name (a hard link)')
  if (stats.size > MAX_FILE_BYTES) return refused(`it is larger than ${MAX_FILE_BYTES / 1024 / 1024} MB`)
  const bytes = await readRegularFile(real, MAX_FILE_BYTES)
  return bytes.includes(NUL) ? refused('it is not UTF-8 text') : { kind: 'file', path: real, bytes, stats }
}

function refused(why: string): FileState {
  return { kind: 'refused', why }
}

function isMarkdown(path: string): boolean {
  return ['.md', '.mdc'].includes(extname(path).toLowerCase())
}

export async function pathExists(path: string): Promise<boolean> {
  try {
    await lstat(path)
    return true
  } catch (error) {
    if (isMissingFile(error)) return false
    throw error
  }
}

/** Null for a broken link and for a cycle of links. */
async function realPathOrNull(path: string): Promise<string | null> {
  try {
    return await realpath(path)
  } catch (error) {
    if (isMissingFile(error) || systemCode(error) === 'ELOOP') return null
    throw error
  }
}

/** Removes directories that were created for a file if they are empty. Returns the ones that are not. */
export async function removeDirectories(root: string, created: readonly string[]): Promise<string[]> {
  const kept: string[] = []
  for (const directory of [...created].sort((a, b) => b.length - a.length)) {
    try {
      await rmdir(join(root, directory))
    } catch (error) {
      if (!isMissingFile(error)) kept.push(directory)
    }
  }
  return kept.sort((a, b) => a.length - b.length)
}
