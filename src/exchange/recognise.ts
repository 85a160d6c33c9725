/** What a file is that somebody wants to import. */
import { closeSync, openSync, readSync, statSync } from 'node:fs'
import { MemError, messageOf, systemCode } from '../errors.ts'

const SQLITE_MAGIC = 'SQLite format 3\0'

/** `text` may still turn out to be something else than an export: its first line says. */
export function recognise(file: string): { is: 'database' | 'text'; bytes: number } {
  try {
    const stat = statSync(file)
    if (!stat.isFile()) throw new MemError('bad_request', `${file} is no file`)
    if (stat.size === 0) throw new MemError('bad_request', `${file} is empty`)
    return { is: beginning(file) === SQLITE_MAGIC ? 'database' : 'text', bytes: stat.size }
  } catch (error) {
    if (error instanceof MemError) throw error
    if (systemCode(error) === 'ENOENT') throw new MemError('not_found', `there is no file ${file}`)
    throw new MemError('storage', `${file} cannot be read: ${messageOf(error)}`, { cause: error })
  }
}

function beginning(file: string): string {
  const descriptor = openSync(file, 'r')
  try {
    const buffer = Buffer.alloc(SQLITE_MAGIC.length)
    const length = readSync(descriptor, buffer, 0, buffer.length, 0)
    return buffer.toString('latin1', 0, length)
  } finally {
    closeSync(descriptor)
  }
}
