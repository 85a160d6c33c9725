/**
 * The one family of errors. `message` is a sentence for people that says what to do; `code` is for programs;
 * `retryable` says whether the same request may succeed later.
 */
export type ErrorCode =
  | 'malformed'
  | 'bad_request'
  | 'conflict'
  | 'method_not_allowed'
  | 'unauthorized'
  | 'forbidden'
  | 'not_found'
  | 'too_large'
  | 'unsupported_version'
  | 'draining'
  | 'busy'
  | 'already_running'
  | 'not_running'
  | 'unresponsive'
  | 'bad_setting'
  | 'stale_revision'
  | 'duplicate_event'
  | 'newer_database'
  | 'corrupt_database'
  | 'quarantined'
  | 'storage'
  | 'internal'

export class MemError extends Error {
  readonly code: ErrorCode
  readonly retryable: boolean

  constructor(code: ErrorCode, message: string, options: { cause?: unknown; retryable?: boolean } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'MemError'
    this.code = code
    this.retryable = options.retryable ?? false
  }
}

/** Something listens on the daemon's socket and does not answer. */
export function isUnresponsive(error: unknown): boolean {
  return error instanceof MemError && error.code === 'unresponsive'
}

export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** The error code of the system or of SQLite (`ENOENT`, `SQLITE_BUSY`); undefined if there is none. */
export function systemCode(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}
