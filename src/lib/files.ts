/**
 * Reading and writing files. The hook bundles this file, so it may not import a package.
 *
 * Files that others write (of a repository, a client, the user) are opened here only: a path in an unpacked archive may
 * lead to a pipe, on which a read waits for ever, to a device without an end, or to a file larger than memory.
 */
import {
  closeSync,
  constants,
  createReadStream,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  type ReadStream,
  readSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs'
import { type FileHandle, open, rename, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { errorMessage, MemError, systemCode } from './errors.ts'

/** ENOTDIR: a part of the path is a file. */
export function isMissingFile(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '')
}

/** A pipe without a writer is opened at once and then refused. Windows has neither flag. */
const READ_FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0)

/**
 * Opens a regular file for reading, also through a symbolic link. It is looked at before, because opening a device can
 * have effects, and after: it may have been replaced.
 */
export function openRegularFileSync(file: string): number {
  refuseSpecial(file, statSync(file))
  const descriptor = openSync(file, READ_FLAGS)
  try {
    refuseSpecial(file, fstatSync(descriptor))
    return descriptor
  } catch (error) {
    closeSync(descriptor)
    throw error
  }
}

export async function openRegularFile(file: string): Promise<FileHandle> {
  refuseSpecial(file, await stat(file))
  const handle = await open(file, READ_FLAGS)
  try {
    refuseSpecial(file, await handle.stat())
    return handle
  } catch (error) {
    await handle.close()
    throw error
  }
}

function refuseSpecial(file: string, stats: Stats): void {
  if (!stats.isFile()) throw new MemError('bad_request', `${file} cannot be read: it is not a regular file`)
}

/** Larger than any file of settings, notes or a repository that is read as a whole. */
const MAX_WHOLE_FILE_BYTES = 64 * 1024 * 1024

/** All bytes of a regular file; a larger one is refused, also one that grows while it is read. */
export function readRegularFileSync(file: string, maxBytes = MAX_WHOLE_FILE_BYTES): Buffer {
  const descriptor = openRegularFileSync(file)
  try {
    const buffer = wholeFileBuffer(file, fstatSync(descriptor).size, maxBytes)
    let length = 0
    while (length < buffer.length) {
      const read = readSync(descriptor, buffer, length, buffer.length - length, length)
      if (read === 0) break
      length += read
    }
    return buffer.subarray(0, length)
  } finally {
    closeSync(descriptor)
  }
}

/** As `readRegularFileSync`. */
export async function readRegularFile(file: string, maxBytes = MAX_WHOLE_FILE_BYTES): Promise<Buffer> {
  const handle = await openRegularFile(file)
  try {
    const buffer = wholeFileBuffer(file, (await handle.stat()).size, maxBytes)
    let length = 0
    while (length < buffer.length) {
      const { bytesRead } = await handle.read(buffer, length, buffer.length - length, length)
      if (bytesRead === 0) break
      length += bytesRead
    }
    return buffer.subarray(0, length)
  } finally {
    await handle.close()
  }
}

function wholeFileBuffer(file: string, size: number, maxBytes: number): Buffer {
  if (size <= maxBytes) return Buffer.alloc(size)
  throw new MemError('too_large', `${file} cannot be read: it is larger than ${maxBytes} bytes`)
}

/** The first `bytes` of a regular file; less if it is shorter. */
export async function readFileStart(file: string, bytes: number): Promise<Buffer> {
  const handle = await openRegularFile(file)
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(bytes), 0, bytes, 0)
    return buffer.subarray(0, bytesRead)
  } finally {
    await handle.close()
  }
}

/** The last `bytes` of a regular file; all of it if it is shorter. */
export async function readRegularFileEnd(file: string, bytes: number): Promise<Buffer> {
  const handle = await openRegularFile(file)
  try {
    const { size } = await handle.stat()
    const length = Math.min(size, bytes)
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, size - length)
    return buffer.subarray(0, bytesRead)
  } finally {
    await handle.close()
  }
}

/** A regular file of any size as text in chunks, up to the size it had when it was opened. */
export async function* readFileChunks(file: string): AsyncGenerator<string> {
  const handle = await openRegularFile(file)
  const { size } = await handle.stat()
  if (size === 0) return await handle.close()
  // The stream closes the handle.
  const stream: ReadStream = createReadStream(file, {
    fd: handle,
    encoding: 'utf8',
    highWaterMark: CHUNK_BYTES,
    end: size - 1,
  })
  for await (const chunk of stream) yield String(chunk)
}

const CHUNK_BYTES = 1 << 20

/** Undefined if the file does not exist, cannot be read, is not a regular file or is too large. */
export function readTextFile(file: string, maxBytes?: number): string | undefined {
  try {
    return readRegularFileSync(file, maxBytes).toString('utf8')
  } catch {
    return undefined
  }
}

/** Null if the file does not exist; other errors are thrown. */
export function readFileIfExists(file: string): string | null {
  try {
    return readRegularFileSync(file).toString('utf8')
  } catch (error) {
    if (isMissingFile(error)) return null
    throw error
  }
}

/** The last `bytes` of a file; empty if it cannot be opened. */
export function readFileEnd(file: string, bytes: number): string {
  let descriptor: number
  try {
    descriptor = openRegularFileSync(file)
  } catch {
    return ''
  }
  try {
    const { size } = fstatSync(descriptor)
    const buffer = Buffer.alloc(Math.min(size, bytes))
    const length = readSync(descriptor, buffer, 0, buffer.length, size - buffer.length)
    return buffer.toString('utf8', 0, length)
  } finally {
    closeSync(descriptor)
  }
}

/** Writes and syncs a private file; removes it if that fails. `wx`: it must not exist. */
export function writeFileDurably(file: string, text: string, flag: 'w' | 'wx'): void {
  const descriptor = openSync(file, flag, 0o600)
  try {
    writeFileSync(descriptor, text)
    fsyncSync(descriptor)
  } catch (error) {
    rmSync(file, { force: true })
    throw error
  } finally {
    closeSync(descriptor)
  }
}

/** Makes a directory with its parents, durably: the name of a new one is in its parent. */
export function makeDirectoryDurably(directory: string): void {
  const first = mkdirSync(directory, { recursive: true, mode: 0o700 })
  if (first === undefined) return
  for (let made = directory; made.length >= first.length; made = dirname(made)) syncDirectory(dirname(made))
}

/** Makes the content of a file durable. */
export function syncFile(file: string): void {
  syncPath(file, 'r+')
}

/** On Windows a rename fails while another program, such as a virus scanner, has one of the two files open. */
const BUSY_RENAME_CODES = ['EPERM', 'EACCES', 'EBUSY']
/** Pauses before further attempts, in ms: scanners are done within these, and a hook still ends in time. */
const RENAME_PAUSES_MS = [1, 5, 10, 20, 50, 100, 200]

export function isBusyRename(error: unknown, platform: NodeJS.Platform): boolean {
  return platform === 'win32' && BUSY_RENAME_CODES.includes(systemCode(error) ?? '')
}

/** Renames a file, over an existing one too. `attempt` and `platform` are given by tests. */
export function moveFileSync(
  from: string,
  to: string,
  attempt: (from: string, to: string) => void = renameSync,
  platform: NodeJS.Platform = process.platform,
): void {
  for (const pauseMs of RENAME_PAUSES_MS) {
    try {
      attempt(from, to)
      return
    } catch (error) {
      if (!isBusyRename(error, platform)) throw error
      // Blocks the thread, as the rename does: what follows needs the file.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs)
    }
  }
  attempt(from, to)
}

export async function moveFile(
  from: string,
  to: string,
  attempt: (from: string, to: string) => Promise<void> = rename,
  platform: NodeJS.Platform = process.platform,
): Promise<void> {
  for (const pauseMs of RENAME_PAUSES_MS) {
    try {
      return await attempt(from, to)
    } catch (error) {
      if (!isBusyRename(error, platform)) throw error
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
  }
  await attempt(from, to)
}

/** Makes a rename in this directory durable. Windows has no such call and needs none. */
export function syncDirectory(directory: string): void {
  if (process.platform !== 'win32') syncPath(directory, 'r')
}

function syncPath(path: string, flag: 'r' | 'r+'): void {
  const descriptor = openSync(path, flag)
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** Makes a directory in one that exists: what the daemon writes late must not make a removed data directory again. */
/** For commands: says what to do if it cannot be made. */
export function makeDataDirectory(dataDir: string): void {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  } catch (cause) {
    const fix = 'make that place writable, or set CLAUDE_MEM_DATA_DIR to another directory'
    throw new MemError('storage', `${dataDir} cannot be made (${errorMessage(cause)}); ${fix}`, { cause })
  }
}

export function makeSubdirectory(directory: string): void {
  try {
    mkdirSync(directory, { mode: 0o700 })
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw error
  }
}
