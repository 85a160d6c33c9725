/** The index of words is derived: damage to it is no damage to the memory. */
import { MemError, systemCode } from '../../../errors.ts'

/** Also of an error that was put into words. */
export function isIndexDamage(error: unknown): boolean {
  if (error instanceof MemError && error.cause !== undefined) return isIndexDamage(error.cause)
  return systemCode(error) === 'SQLITE_CORRUPT_VTAB'
}

export function indexDamageError(cause: unknown): MemError {
  return new MemError('storage', 'The index of words is damaged. Have it made anew: claude-mem reindex.', { cause })
}
