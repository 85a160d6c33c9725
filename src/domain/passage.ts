/**
 * A passage is a short piece of what was said or done in a session, in the words of the session: the evidence behind
 * observations. Passages are made when an event is accepted, without an observer, and are found by a search.
 */
import type { MemoryOrigin } from './observation.ts'

/**
 * `prompt`: what the user wrote. `answer`: the user's answer to a question, or the reason of a refusal. `closing`: the agent's
 * last message of a turn. `words`: what it wrote between tool uses. `report`: the last message of a subagent. `commit`: a
 * commit and its message. `command`: a command with the telling lines of its output. `edit`: a hunk. `result`: telling
 * lines of what another tool returned.
 */
export const PASSAGE_KINDS = [
  'prompt',
  'answer',
  'closing',
  'words',
  'report',
  'commit',
  'command',
  'edit',
  'result',
] as const
export type PassageKind = (typeof PASSAGE_KINDS)[number]

/** A passage before it is stored: the store adds id, session and project. */
export interface PassageDraft {
  kind: PassageKind
  /** What it is about: the command, the file, the hash of a commit. Null for what was said. */
  subject: string | null
  /** Of a command or a tool; null where it is not known. */
  outcome: 'ok' | 'failed' | null
  /** Masked, without private parts; several lines. */
  text: string
  /** The event it is made of. */
  eventId: string
  /** Its place among the passages of the event, from 0: neighbours continue each other. */
  position: number
  promptNumber: number
  /** Time of the event, epoch ms. */
  at: number
}

export interface Passage extends PassageDraft, MemoryOrigin {
  id: number
  session: string
  project: string
}

/** Most characters of a passage. Larger ones answered fewer questions for the same number of tokens. */
export const MAX_PASSAGE_CHARS = 600
