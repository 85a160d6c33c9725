/** What differs between the programs that run the hook: how they report an event, and what they expect to hear. */

/** As it came, or in the words of Claude Code. */
export type Payload = Record<string, unknown>

/** What came of one run. */
export interface Outcome {
  /** In the words of Claude Code; empty where the payload could not be read. */
  event: string
  /** For the model. */
  context: string | null
  /** For the person. */
  message: string | null
}

export const NOTHING: Outcome = { event: '', context: null, message: null }

export interface Client {
  /** Under which its sessions are kept. */
  name: string
  /** The payload as Claude Code would have sent it; null where there is nothing to report. */
  translate(payload: Payload): Payload | null
  /** What it reads on standard output: valid whatever happened, and never in the way of what it is doing. */
  answer(outcome: Outcome): Record<string, unknown>
}

export const text = (value: unknown): string => (typeof value === 'string' ? value : '')
