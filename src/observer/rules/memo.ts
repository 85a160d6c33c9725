/**
 * What the offline observer remembers between its calls: it is the observer's conversation, of which the newest turn counts.
 * The certain things are stored as observations at once; the rest is told at the end of the turn, when the agent has said
 * what came of it. A turn that never ends is told with the next one, or when the session closes.
 */
import { z } from 'zod'
import type { ObserverTurn } from '../../store/commit.ts'

/** A command that failed and has not succeeded since. */
const openFailure = z.object({
  key: z.string(),
  command: z.string(),
  errors: z.array(z.string()),
  at: z.number(),
  /** Id of the event. */
  id: z.string(),
})
export type OpenFailure = z.infer<typeof openFailure>

/** A file that was changed, and that no commit has told yet. */
const editedFile = z.object({
  file: z.string(),
  kind: z.enum(['created', 'edited', 'deleted']),
  functions: z.array(z.object({ name: z.string(), file: z.string(), action: z.enum(['new', 'modified', 'deleted']) })),
  /** Id and time of the last edit. */
  id: z.string(),
  at: z.number(),
  /** An observation has the change already. */
  told: z.boolean(),
  /** It is in a commit that is told at the end of the turn. */
  committed: z.boolean(),
})
export type EditedFile = z.infer<typeof editedFile>

/** The last result of a command, as a sentence. */
const commandOutcome = z.object({ key: z.string(), sentence: z.string(), ok: z.boolean(), id: z.string() })
export type CommandOutcome = z.infer<typeof commandOutcome>

/** The question with which the agent ended its turn, and the options it offered. */
const openQuestion = z.object({ question: z.string(), options: z.array(z.string()) })
export type OpenQuestion = z.infer<typeof openQuestion>

/** A commit that was stored, so that one that amends it can replace it. */
const toldCommit = z.object({ hash: z.string().nullable(), message: z.string(), files: z.array(z.string()) })
export type ToldCommit = z.infer<typeof toldCommit>

const memoSchema = z.object({
  version: z.literal(2),
  open: z.array(openFailure),
  edits: z.array(editedFile),
  outcomes: z.array(commandOutcome),
  asked: openQuestion.nullable(),
  /** Number of the turn that ended with the question: only the next prompt answers it. */
  askedIn: z.number(),
  commit: toldCommit.nullable(),
  /** Number of the last prompt whose words were read. */
  promptRead: z.number(),
  /** Fingerprints of statements that are stored, newest last. */
  said: z.array(z.string()),
  /** Characters of the tool events since the last summary. */
  chars: z.number(),
})
export type RulesMemo = z.infer<typeof memoSchema>

export const EMPTY_MEMO: RulesMemo = {
  version: 2,
  open: [],
  edits: [],
  outcomes: [],
  asked: null,
  askedIn: 0,
  commit: null,
  promptRead: 0,
  said: [],
  chars: 0,
}

/** With more open failures the machine is broken, not the task. */
const MAX_OPEN_FAILURES = 8
/** More files are a generated tree; the newest are kept. */
const MAX_EDITS = 24
const MAX_OUTCOMES = 12
/** The statements of about ten closing messages. */
const MAX_SAID = 150

/** The question that a prompt answers, if it answers one. */
export function questionBefore({ asked, askedIn }: RulesMemo, promptNumber: number): OpenQuestion | null {
  return askedIn === promptNumber - 1 ? asked : null
}

export function memoTurn(memo: RulesMemo): Omit<ObserverTurn, 'generation' | 'at'> {
  const bounded: RulesMemo = {
    ...memo,
    open: memo.open.slice(-MAX_OPEN_FAILURES),
    edits: memo.edits.slice(-MAX_EDITS),
    outcomes: memo.outcomes.slice(-MAX_OUTCOMES),
    said: memo.said.slice(-MAX_SAID),
  }
  return { role: 'assistant', content: JSON.stringify(bounded), model: null, usage: null }
}

/** The newest memo; turns of a model, and memos of an older version, are ignored. */
export function readMemo(conversation: readonly ObserverTurn[]): RulesMemo {
  const last = conversation.findLast((turn) => turn.model === null)
  if (last === undefined) return EMPTY_MEMO
  try {
    const { success, data } = memoSchema.safeParse(JSON.parse(last.content))
    return success ? data : EMPTY_MEMO
  } catch {
    return EMPTY_MEMO
  }
}
