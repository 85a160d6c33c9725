/** Small file helpers. The hook bundles this file, so it may not import a package. */
import { closeSync, fstatSync, fsyncSync, openSync, readFileSync, readSync, rmSync, writeFileSync } from 'node:fs'
import { systemCode } from './errors.ts'

/** ENOTDIR: a part of the path is a file. */
export function isMissingFile(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '')
}

/** Undefined if the file does not exist or cannot be read. */
export function readTextFile(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}

/** Null if the file does not exist; other errors are thrown. */
export function readFileIfExists(file: string): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (isMissingFile(error)) return null
    throw error
  }
}

/** The last `bytes` of a file; empty if it cannot be opened. */
export function readFileEnd(file: string, bytes: number): string {
  let descriptor: number
  try {
    descriptor = openSync(file, 'r')
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

/** Makes the content of a file durable. */
export function syncFile(file: string): void {
  syncPath(file, 'r+')
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
