/**
 * Reads and atomically replaces a client's settings file. Settings under version control are often symbolic links: the
 * link stays, its target is replaced.
 */
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  readlinkSync,
  realpathSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, resolve } from 'node:path'
import { errorMessage, MemError, systemCode } from '../../lib/errors.ts'
import { moveFileSync, readRegularFileSync } from '../../lib/files.ts'
import type { EntrySyntax } from './entry-format.ts'
import { hasComments, withoutComments } from './json-edit.ts'
import { readTomlTables } from './toml-edit.ts'

const BOM = '\uFEFF'
const NOTHING_CHANGED = 'Nothing was changed.'

export interface SettingsFile {
  /** The path as the user knows it. */
  file: string
  /** With symbolic links resolved. */
  target: string
  /** Null if the file does not exist. */
  bytes: Buffer | null
  bom: string
  /** Without the byte order mark; of a JSON file that is empty or missing `{}`. */
  text: string
}

export function readSettingsFile(file: string, syntax: EntrySyntax = 'json'): SettingsFile {
  const target = resolveLinkTarget(file)
  const bytes = readBytes(target)
  const isJson = syntax === 'json' || syntax === 'json-with-comments'
  const empty = isJson ? '{}\n' : ''
  if (bytes === null) return { file, target, bytes, bom: '', text: empty }
  const decoded = decode(bytes, file)
  const bom = decoded.startsWith(BOM) ? BOM : ''
  const text = decoded.slice(bom.length)
  if (isJson && text.trim() === '') return { file, target, bytes, bom, text: empty }
  if (isJson) checkJson(text, file, syntax === 'json-with-comments')
  if (syntax === 'toml') readTomlTables(text, file)
  return { file, target, bytes, bom, text }
}

/** `mode` is used for a new file. */
export function writeSettingsFile(before: SettingsFile, bytes: Buffer, mode: number): void {
  const { file, target } = before
  refuseReadOnly(file, target)
  const temporary = `${target}.claude-mem-${process.pid}`
  try {
    mkdirSync(dirname(target), { recursive: true })
    writeTemporary(temporary, bytes, statSync(target, { throwIfNoEntry: false }), mode)
    refuseChanged(before)
    moveFileSync(temporary, target)
  } catch (error) {
    try {
      rmSync(temporary, { force: true })
    } catch {
      // The first error is the one to report.
    }
    throw fileError(file, 'written', error)
  }
}

export function removeSettingsFile(before: SettingsFile): void {
  refuseReadOnly(before.file, before.target)
  try {
    refuseChanged(before)
    rmSync(before.target, { force: true })
  } catch (error) {
    throw fileError(before.file, 'written', error)
  }
}

function writeTemporary(temporary: string, bytes: Buffer, old: Stats | undefined, mode: number): void {
  writeFileSync(temporary, bytes, { mode: old === undefined ? mode : old.mode & 0o777, flush: true })
  if (old === undefined || process.platform === 'win32') return
  // The umask was applied when the file was created.
  chmodSync(temporary, old.mode & 0o777)
  // With sudo the file must keep its owner.
  if (process.getuid?.() === 0) chownSync(temporary, old.uid, old.gid)
}

/** The client writes this file too: a change since it was read must not be lost. */
function refuseChanged(before: SettingsFile): void {
  if (sameBytes(readBytes(before.target), before.bytes)) return
  const text = `${before.file} was changed by another program just now; try again`
  throw new MemError('bad_setting', text, { retryable: true })
}

/** Null: there is no file. */
export function sameBytes(a: Buffer | null, b: Buffer | null): boolean {
  return a === null || b === null ? a === b : a.equals(b)
}

/** Checked explicitly: a rename would succeed on a read-only file, and root is never refused. */
export function refuseReadOnly(file: string, target: string): void {
  const stat = statSync(target, { throwIfNoEntry: false })
  if (stat === undefined || (stat.mode & 0o222) !== 0) return
  const where = file === target ? file : `${file} (a link to ${target})`
  throw new MemError(
    'bad_setting',
    `${where} is read-only; make it writable, or if another program generates it, add the hooks there. ${NOTHING_CHANGED}`,
  )
}

function fileError(file: string, failed: 'read' | 'written', cause: unknown): MemError {
  if (cause instanceof MemError) return cause
  const text = `${file} cannot be ${failed}: ${errorMessage(cause)}. ${NOTHING_CHANGED}`
  return new MemError('bad_setting', text, { cause })
}

function readBytes(target: string): Buffer | null {
  try {
    return readRegularFileSync(target)
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return null
    throw fileError(target, 'read', error)
  }
}

function decode(bytes: Buffer, file: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (cause) {
    const text = `${file} is not UTF-8 text; save it as UTF-8, then try again. ${NOTHING_CHANGED}`
    throw new MemError('bad_setting', text, { cause })
  }
}

function checkJson(text: string, file: string, mayHaveComments: boolean): void {
  try {
    JSON.parse(mayHaveComments ? withoutComments(text) : text)
  } catch (cause) {
    const why =
      !mayHaveComments && hasComments(text)
        ? 'has comments, which JSON does not allow: remove them'
        : `is not valid JSON (${errorMessage(cause)}): repair it`
    throw new MemError('bad_setting', `${file} ${why}, then try again. ${NOTHING_CHANGED}`, { cause })
  }
}

/** The target of a symbolic link, also if the target does not exist yet. */
export function resolveLinkTarget(file: string): string {
  try {
    return realpathSync(file)
  } catch {
    return missingTarget(file)
  }
}

function missingTarget(file: string): string {
  try {
    const stat = lstatSync(file, { throwIfNoEntry: false })
    return stat?.isSymbolicLink() === true ? resolve(dirname(file), readlinkSync(file)) : file
  } catch (error) {
    throw fileError(file, 'read', error)
  }
}
