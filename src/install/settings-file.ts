/**
 * Somebody else's settings file: read whole, written whole or not at all. Settings kept under version control are
 * often a link: the link stays, its target changes.
 */
import {
  chmodSync,
  chownSync,
  closeSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, resolve } from 'node:path'
import { MemError, messageOf, systemCode } from '../errors.ts'
import { withoutStrings } from './json-text.ts'

const BOM = '\uFEFF'
const NOTHING_CHANGED = 'Nothing was changed.'

export interface SettingsFile {
  /** As people know it. */
  file: string
  /** Behind the link, where it is one. */
  target: string
  /** Null when there is no such file. */
  bytes: Buffer | null
  bom: string
  /** Without the byte order mark; an object for a file that is empty or not there. */
  text: string
}

export function readSettingsFile(file: string): SettingsFile {
  const target = targetOf(file)
  const bytes = readBytes(target)
  if (bytes === null) return { file, target, bytes, bom: '', text: '{}\n' }
  const decoded = decode(bytes, file)
  const bom = decoded.startsWith(BOM) ? BOM : ''
  const text = decoded.slice(bom.length)
  if (text.trim() === '') return { file, target, bytes, bom, text: '{}\n' }
  checkJson(text, file)
  return { file, target, bytes, bom, text }
}

/** `mode` is for a file that is not there yet. */
export function writeSettingsFile(before: SettingsFile, bytes: Buffer, mode: number): void {
  const { file, target } = before
  refuseReadOnly(file, target)
  const beside = `${target}.claude-mem-${process.pid}`
  try {
    mkdirSync(dirname(target), { recursive: true })
    writeBeside(beside, bytes, statSync(target, { throwIfNoEntry: false }), mode)
    refuseChanged(before)
    renameSync(beside, target)
  } catch (error) {
    try {
      rmSync(beside, { force: true })
    } catch {
      // What went wrong first is what people have to know.
    }
    throw cannotWrite(file, error)
  }
}

export function removeSettingsFile(before: SettingsFile): void {
  refuseReadOnly(before.file, before.target)
  try {
    refuseChanged(before)
    rmSync(before.target, { force: true })
  } catch (error) {
    throw cannotWrite(before.file, error)
  }
}

function writeBeside(beside: string, bytes: Buffer, old: Stats | undefined, mode: number): void {
  const fd = openSync(beside, 'w', old === undefined ? mode : old.mode & 0o777)
  try {
    writeFileSync(fd, bytes)
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
  if (old === undefined || process.platform === 'win32') return
  // The umask has had its say when the file was made.
  chmodSync(beside, old.mode & 0o777)
  // With sudo the file must stay its owner's.
  if (process.getuid?.() === 0) chownSync(beside, old.uid, old.gid)
}

/** The client writes its settings too; what it wrote since we read them must not be lost. */
function refuseChanged(before: SettingsFile): void {
  const now = readBytes(before.target)
  const same = now === null || before.bytes === null ? now === before.bytes : now.equals(before.bytes)
  if (same) return
  throw new MemError('bad_setting', `${before.file} was changed by another program just now; try again`, {
    retryable: true,
  })
}

/** A rename would get around it, and the superuser is never refused: the owner's mark is asked for by name. */
export function refuseReadOnly(file: string, target: string): void {
  const stat = statSync(target, { throwIfNoEntry: false })
  if (stat === undefined || (stat.mode & 0o222) !== 0) return
  const where = file === target ? file : `${file} (a link to ${target})`
  throw new MemError(
    'bad_setting',
    `${where} is read-only; make it writable, or where another program makes it, add the hooks there. ${NOTHING_CHANGED}`,
  )
}

function cannotWrite(file: string, error: unknown): MemError {
  if (error instanceof MemError) return error
  return new MemError('bad_setting', `${file} cannot be written: ${messageOf(error)}. ${NOTHING_CHANGED}`, {
    cause: error,
  })
}

function readBytes(target: string): Buffer | null {
  try {
    return readFileSync(target)
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return null
    throw cannotRead(target, error)
  }
}

function cannotRead(file: string, error: unknown): MemError {
  return new MemError('bad_setting', `${file} cannot be read: ${messageOf(error)}. ${NOTHING_CHANGED}`, {
    cause: error,
  })
}

function decode(bytes: Buffer, file: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (cause) {
    throw new MemError(
      'bad_setting',
      `${file} is not UTF-8 text; save it as UTF-8, then try again. ${NOTHING_CHANGED}`,
      {
        cause,
      },
    )
  }
}

function checkJson(text: string, file: string): void {
  try {
    JSON.parse(text)
  } catch (cause) {
    const why = hasComments(text)
      ? 'has comments, which JSON does not know: take them out'
      : `is not valid JSON (${messageOf(cause)}): repair it`
    throw new MemError('bad_setting', `${file} ${why}, then try again. ${NOTHING_CHANGED}`, { cause })
  }
}

function hasComments(text: string): boolean {
  return /\/\/|\/\*/.test(withoutStrings(text))
}

/** Where a link leads, also to a file that is yet to be made. */
export function targetOf(file: string): string {
  try {
    return realpathSync(file)
  } catch {
    return unmadeTarget(file)
  }
}

function unmadeTarget(file: string): string {
  try {
    const stat = lstatSync(file, { throwIfNoEntry: false })
    return stat?.isSymbolicLink() === true ? resolve(dirname(file), readlinkSync(file)) : file
  } catch (error) {
    throw cannotRead(file, error)
  }
}
