/** Whether an observation that names a file means this one. Observations name files as their session saw them. */
import { posix } from 'node:path'
import type { FileQuestion } from '../memory/file-question.ts'
import { foldPath } from '../store/sqlite/search/fold.ts'

/** Files outside of a session's directory are named by their last parts. */
const LAST_PARTS = 3

/** `directory`: where the session worked; null where nobody knows. */
export function isSameFile(
  named: string,
  { file, cwd }: Pick<FileQuestion, 'file' | 'cwd'>,
  directory: string | null,
): boolean {
  const path = clean(named)
  const wanted = clean(file)
  if (isWhole(path)) return path === wanted
  const places = placesOf(clean(cwd), directory === null ? null : clean(directory))
  if (places.some((place) => posix.join(place, path) === wanted)) return true
  const isBelow = [cwd, directory ?? cwd].some((place) => wanted.startsWith(`${clean(place)}/`))
  return !isBelow && path.split('/').length === LAST_PARTS && wanted.endsWith(`/${path}`)
}

/** From where its session saw it. Another worktree has the same files: there they are seen from where we are. */
function placesOf(here: string, there: string | null): string[] {
  if (there === null) return [here]
  const isOneTree = `${here}/`.startsWith(`${there}/`) || there.startsWith(`${here}/`)
  return isOneTree ? [there] : [there, here]
}

/** The last part of a path. */
export function nameOf(file: string): string {
  return file.slice(Math.max(file.lastIndexOf('/'), file.lastIndexOf('\\')) + 1)
}

/** As they are compared when one looks for files: without case, with one kind of slash. */
function clean(path: string): string {
  const folded = posix.normalize(foldPath(path))
  return folded.length > 1 ? folded.replace(/\/$/, '') : folded
}

function isWhole(path: string): boolean {
  return path.startsWith('/') || /^[a-z]:\//.test(path)
}
