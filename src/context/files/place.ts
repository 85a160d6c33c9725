/** Where a file of the project really lies. Nothing outside of the working tree is ever read or written. */
import type { Stats } from 'node:fs'
import { lstat, readFile, realpath, stat } from 'node:fs/promises'
import { extname, isAbsolute, join, relative, sep } from 'node:path'
import { systemCode } from '../../errors.ts'
import { isInside } from '../../paths.ts'

export type Place =
  /** `missing`: directories that would have to be made first, seen from the root. */
  | { kind: 'absent'; path: string; directory: Stats; missing: string[] }
  | { kind: 'file'; path: string; bytes: Buffer; stats: Stats }
  | { kind: 'refused'; why: string }

/** Larger than anything that is given to a model as a whole, in bytes. */
const MOST_BYTES = 4 * 1024 * 1024
const NUL = 0

/** `root` has no links in it; `file` is seen from it, with slashes. */
export async function placeOf(root: string, file: string): Promise<Place> {
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

/** The directory without links, null where there is none. */
export async function directoryAt(root: string, path: string): Promise<string | 'outside' | null> {
  const real = await realOf(path)
  if (real === null) return (await exists(path)) ? 'outside' : null
  if (!isInside(root, real)) return 'outside'
  return (await stat(real)).isDirectory() ? real : 'outside'
}

async function fileAt(root: string, directory: string, name: string): Promise<Place> {
  const path = join(directory, name)
  if (!(await exists(path))) return { kind: 'absent', path, directory: await stat(directory), missing: [] }
  const real = await realOf(path)
  if (real === null) return refused('it is a link to nothing')
  if (!isInside(root, real)) return refused('it is a link that leads outside of the project')
  if (!isMarkdown(real) || relative(root, real).split(sep).includes('.git')) {
    return refused('it is a link to something other than Markdown')
  }
  const stats = await stat(real)
  if (!stats.isFile()) return refused('it is not a file')
  // A rename would cut the names apart.
  if (stats.nlink > 1) return refused('it has a second name (a hard link)')
  if (stats.size > MOST_BYTES) return refused(`it is larger than ${MOST_BYTES / 1024 / 1024} MB`)
  const bytes = await readFile(real)
  return bytes.includes(NUL) ? refused('it is not UTF-8 text') : { kind: 'file', path: real, bytes, stats }
}

function refused(why: string): Place {
  return { kind: 'refused', why }
}

function isMarkdown(path: string): boolean {
  return ['.md', '.mdc'].includes(extname(path).toLowerCase())
}

async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path)
    return true
  } catch (error) {
    if (isMissing(error)) return false
    throw error
  }
}

/** Null where it leads to nothing, or in a circle. */
async function realOf(path: string): Promise<string | null> {
  try {
    return await realpath(path)
  } catch (error) {
    if (isMissing(error) || systemCode(error) === 'ELOOP') return null
    throw error
  }
}

export function isMissing(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '')
}
