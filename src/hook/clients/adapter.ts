/**
 * What an adapter provides for one client (a program that runs the hook): a name, the translation of its payload into
 * Claude Code's format, and the answer in the client's own format. To add a client, write a file beside this one, add it
 * to `CLIENT_ADAPTERS` in index.ts, and add an install adapter in src/setup/install/clients.
 */
import { EMPTY_CONTEXT, type RenderedContext } from '../../domain/rendered-context.ts'

/** A payload as the client sent it, or translated into Claude Code's format. */
export type HookPayload = Record<string, unknown>

/** The result of one run of the hook. */
export interface HookOutcome extends RenderedContext {
  /** Claude Code's name of the event; empty if the payload could not be read. */
  event: string
}

export const EMPTY_OUTCOME: HookOutcome = { event: '', ...EMPTY_CONTEXT }

export interface ClientAdapter {
  /** The value of `--client`; stored with each session. */
  name: string
  /** The payload in Claude Code's format; null if the event is not reported. */
  translate(payload: HookPayload): HookPayload | null
  /** The object that is written to standard output. It must never make the client block or cancel its work. */
  answer(outcome: HookOutcome): Record<string, unknown>
}

export const stringOrEmpty = (value: unknown): string => (typeof value === 'string' ? value : '')
