/**
 * A passage is a short piece of what was said or done in a session, in the words of the session: the evidence behind
 * observations. Passages are made before an observer reads their event, by no model, and are found by a search.
 */
import type { MemoryOrigin } from './observation.ts'

/**
 * What was said: `prompt` by the user, without what the client added; `answer`: an explicit choice of the user, from a field
 * of the client; `closing`: the agent's last message of a turn; `words`: what it wrote between tool uses, and its plans;
 * `report`: the last message of a subagent.
 *
 * What was done: `commit` with its message; `check`: a command that tests, lints, type-checks or builds; `status`: what git
 * itself said about branch and working tree; `link`: an address that a tool reported, such as that of a pull request;
 * `command`: any other command with the telling lines of its output; `file`: a new file; `edit`: a hunk; `result`: telling
 * lines of what another tool returned.
 */
export const PASSAGE_KINDS = [
  'prompt',
  'answer',
  'closing',
  'words',
  'report',
  'commit',
  'check',
  'status',
  'link',
  'command',
  'file',
  'edit',
  'result',
] as const
export type PassageKind = (typeof PASSAGE_KINDS)[number]

/** How a passage is labelled for a reader. */
export const PASSAGE_LABELS: Record<PassageKind, string> = {
  prompt: 'prompt',
  answer: 'answer',
  closing: 'closing words',
  words: 'said',
  report: 'report of a subagent',
  commit: 'commit',
  check: 'check',
  status: 'status',
  link: 'link',
  command: 'command',
  file: 'new file',
  edit: 'edit',
  result: 'result',
}

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
