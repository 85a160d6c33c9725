/**
 * What the hook and the daemon agree on: protocol version, requests of a hook, spool format and timeouts. The hook
 * bundles this file, so it may not import a package.
 */
import type { FileContextQuery, MemoryEvent } from './event.ts'

/** Raised when a message of an older program could be misunderstood. */
export const PROTOCOL_VERSION = 1

/** `token` is only sent on Windows, where any user may open a named pipe. */
export type HookRequest = {
  v: number
  id: string
  token?: string
} /** `startContext`: of a prompt, for a client that takes the context of a session's start only with one. */ & (
  | { type: 'event'; event: MemoryEvent; version: string; startContext?: boolean }
  | ({ type: 'file_context' } & FileContextQuery)
)

/** The file format of a spooled event. */
export interface SpoolEnvelope {
  v: number
  event: MemoryEvent
}

/** How long a hook waits (ms) before it writes its event to the spool instead. */
export const CONNECT_TIMEOUT_MS = 200
export const ACK_TIMEOUT_MS = 1_000
/** The context is rendered before this acknowledgement. */
export const SESSION_START_TIMEOUT_MS = 2_000
/** The user waits for the tool call meanwhile, so it is kept short. */
export const FILE_CONTEXT_TIMEOUT_MS = 400
