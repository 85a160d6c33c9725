/**
 * What the hook and the daemon agree on: protocol version, spool format and a timeout. The hook
 * bundles this file, so it may not import a package.
 */
import type { MemoryEvent } from './event.ts'

/** Raised when a message of an older program could be misunderstood. */
export const PROTOCOL_VERSION = 1

/** The file format of a spooled event. */
export interface SpoolEnvelope {
  v: number
  event: MemoryEvent
}

/** The user waits for the tool call meanwhile, so it is kept short. */
export const FILE_CONTEXT_TIMEOUT_MS = 400
