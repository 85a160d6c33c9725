/** Text of events: clean, on one line, short; paths as the project's own. */
import { posix } from 'node:path'
import { stripVTControlCharacters } from 'node:util'

import { isWindowsPath, pathBelow } from '../lib/paths.ts'
import { trimEndMatching } from '../lib/trim.ts'

/** Without escape sequences of terminals; line feeds and tabs are kept. */
export function stripControlCharacters(text: string): string {
  return stripVTControlCharacters(text).replace(/(?![\n\t])\p{Cc}/gu, '')
}

export function singleLine(text: string, most: number): string {
  return clipAtWord(stripControlCharacters(text).replace(/\s+/g, ' ').trim(), most)
}

/** Cut at the end of a word where there is one near, with an ellipsis. */
export function clipAtWord(text: string, most: number): string {
  if (text.length <= most) return text
  const head = text.slice(0, most - 1)
  const space = head.lastIndexOf(' ')
  return `${trimEndMatching(space > most * 0.7 ? head.slice(0, space) : head, /[\s,;:.–-]/)}…`
}

/** Relative to the directory where it is below it; else as it is, so that everyone sees that it is not. */
export function pathInProject(file: string, cwd: string): string {
  return pathBelow(cwd, file) ?? file.replaceAll('\\', '/')
}

/** Of a path as `pathInProject` gives it: outside are scratch files, settings of the user, other projects. */
export function isOutsidePath(path: string): boolean {
  return /^(?:\/|~|\.\.\/)/.test(path) || isWindowsPath(path)
}

/** Whether a shell that goes to `directory` from `cwd` stays in the same tree: there, above or below. */
export function isSameTree(directory: string, cwd: string): boolean {
  const target = posix.isAbsolute(directory) || isWindowsPath(directory) ? directory : posix.join(cwd, directory)
  const normal = trimEndMatching(posix.normalize(target), /\//)
  return normal === cwd || pathBelow(cwd, normal) !== null || pathBelow(normal, cwd) !== null
}

/** The words of a table in a text, separated by blanks or line feeds. */
export function wordList(text: string): string[] {
  return text.trim().split(/\s+/)
}

export function unique<T>(items: readonly T[]): T[] {
  return [...new Set(items)]
}
