/** What SQLite's and the file system's error codes mean for people and for callers. */
import { MemError, messageOf, systemCode } from '../../errors.ts'

export function isCorruption(error: unknown): boolean {
  if (error instanceof MemError) return error.code === 'corrupt_database'
  const code = systemCode(error) ?? ''
  return code.startsWith('SQLITE_CORRUPT') || code === 'SQLITE_NOTADB'
}

/** Errors that are not about one commit: the disk, the file or the process is in trouble, so the group falls with it. */
const GROUP_FAILURES = [
  'SQLITE_FULL',
  'SQLITE_IOERR',
  'SQLITE_READONLY',
  'SQLITE_CORRUPT',
  'SQLITE_NOTADB',
  'SQLITE_BUSY',
  'SQLITE_LOCKED',
  'SQLITE_PROTOCOL',
  'SQLITE_NOMEM',
  'SQLITE_CANTOPEN',
  'SQLITE_INTERRUPT',
]

export function failsTheGroup(error: unknown): boolean {
  const code = systemCode(error) ?? ''
  return GROUP_FAILURES.some((prefix) => code.startsWith(prefix))
}

export function storageError(error: unknown): MemError {
  if (error instanceof MemError) return error
  const code = systemCode(error) ?? ''
  if (isCorruption(error)) {
    return new MemError(
      'corrupt_database',
      `The database is damaged (${messageOf(error)}). Start claude-mem again: it sets the file aside and restores the newest backup.`,
      { cause: error },
    )
  }
  if (code === 'SQLITE_FULL' || code === 'ENOSPC' || code === 'EDQUOT') {
    return new MemError('storage', 'The disk is full. Free some space; nothing that was acknowledged is lost.', {
      cause: error,
      retryable: true,
    })
  }
  if (code.startsWith('SQLITE_READONLY') || code === 'EACCES' || code === 'EPERM' || code === 'EROFS') {
    return new MemError(
      'storage',
      `The database cannot be written (${messageOf(error)}). Make the data directory and its files writable for you.`,
      { cause: error },
    )
  }
  if (code.startsWith('SQLITE_BUSY') || code.startsWith('SQLITE_LOCKED')) {
    return new MemError('storage', 'Another program holds the database. Close it, or try again in a moment.', {
      cause: error,
      retryable: true,
    })
  }
  if (code.startsWith('SQLITE_CANTOPEN')) {
    return new MemError(
      'storage',
      `The database cannot be opened (${messageOf(error)}). Check that its directory exists and is yours.`,
      { cause: error },
    )
  }
  if (code.startsWith('SQLITE_IOERR') || code.startsWith('SQLITE_NOMEM') || code.startsWith('SQLITE_PROTOCOL')) {
    return new MemError('storage', `The disk did not do what was asked (${code}: ${messageOf(error)}). Try again.`, {
      cause: error,
      retryable: true,
    })
  }
  if (code.startsWith('SQLITE') || code.startsWith('E')) {
    return new MemError('storage', `The store failed (${code}: ${messageOf(error)}).`, { cause: error })
  }
  return new MemError('internal', `The store failed unexpectedly: ${messageOf(error)}`, { cause: error })
}
