/** What the store's client and its worker say to each other. */
import { type ErrorCode, MemError, messageOf } from '../../errors.ts'
import type { Answer, Arguments, Method } from './facade.ts'
import type { OpenOptions } from './open.ts'

/** A clock cannot be handed to another thread. */
export type WorkerOptions = Omit<OpenOptions, 'now'>

export interface Request<M extends Method = Method> {
  id: number
  method: M
  args: Arguments<M>
}

export interface WireError {
  code: ErrorCode
  message: string
  retryable: boolean
  cause: string | null
}

export type Response =
  | { type: 'open' }
  | { type: 'refused'; error: WireError }
  | { type: 'answer'; id: number; value: Answer<Method> }
  | { type: 'error'; id: number; error: WireError }

export function toWire(error: MemError): WireError {
  const { code, message, retryable, cause } = error
  return { code, message, retryable, cause: cause === undefined ? null : messageOf(cause) }
}

export function fromWire(error: WireError): MemError {
  return new MemError(error.code, error.message, {
    retryable: error.retryable,
    ...(error.cause === null ? {} : { cause: new Error(error.cause) }),
  })
}
