/**
 * What adds nothing is not told to a model: the same file read again unchanged, the same command with the same
 * result, listings, status. The last result of a subject is what counts: tests that go red, green and red again are
 * news each time. In doubt an event is fresh, because a fact that is folded is lost.
 */
import type { MessageEvent, ToolFailureEvent, ToolUseEvent } from '../../memory/event.ts'
import { readLine } from '../offline/commands/shell/runs.ts'
import { type Fields, recordOf, textIn } from '../offline/fields.ts'
import type { CommandKind } from '../offline/types.ts'
import type { Seen } from '../port.ts'
import { contentAfter, contentRead, fileSubject } from './novelty/files.ts'
import { checkOutput, comparable, plainOutput, printOf, stableText, subjectOf } from './novelty/print.ts'
import { FOUND_NOTHING, ONLY_LISTED, routineCommand } from './novelty/routine.ts'

export interface Novelty {
  /** In their order. */
  fresh: MessageEvent[]
  folded: { eventId: string; reason: string }[]
  /** The newest digest of each subject whose digest is another now. */
  seen: Seen[]
}

/** Under it stands the last thing that was done, so that a failure after it is news even if it is the same. */
const LAST_DEED = 'deed'

/** For a batch that a model was not told: whatever failed before it may have been mended in it. */
export function untoldDeed(id: string): Seen {
  return { subject: LAST_DEED, digest: printOf(id) }
}

type Look =
  | { is: 'fresh'; deed: boolean }
  /** Folded at once. */
  | { is: 'routine'; reason: string }
  /** Folded if it shows what it showed last; `shown` null: that cannot be known. */
  | { is: 'repeatable'; subject: string; shown: string | null; again: string; failed: boolean; deed: boolean }
  /** Always told; afterwards the file holds `after`, if it held `before` (null: whatever it held). */
  | { is: 'edit'; subject: string; before: string | null; after: string | null }

/** Reading an output takes time: a look that was taken for its subject is the one that is compared. */
const taken = new WeakMap<MessageEvent, Look>()

function lookAt(event: MessageEvent): Look {
  const known = taken.get(event)
  if (known !== undefined) return known
  const look = freshLook(event)
  taken.set(event, look)
  return look
}

/** The subjects to look up before `noveltyOf`. */
export function subjectsOf(messages: readonly MessageEvent[]): string[] {
  const subjects = messages.map(lookAt).flatMap((look) => {
    if (look.is === 'edit') return [look.subject]
    if (look.is !== 'repeatable') return []
    return look.failed ? [look.subject, LAST_DEED] : [look.subject]
  })
  return [...new Set(subjects)]
}

export function noveltyOf(messages: readonly MessageEvent[], known: ReadonlyMap<string, string>): Novelty {
  const fresh: MessageEvent[] = []
  const folded: Novelty['folded'] = []
  const changed = new Map<string, string>()
  const last = (subject: string) => changed.get(subject) ?? known.get(subject)
  for (const event of messages) {
    const look = lookAt(event)
    const reason = reasonToFold(look, last)
    if (reason === null) fresh.push(event)
    else folded.push({ eventId: event.id, reason })
    for (const { subject, digest } of seenIn(look, event, reason === null, last)) changed.set(subject, digest)
  }
  const seen = [...changed].flatMap(([subject, digest]) => (known.get(subject) === digest ? [] : [{ subject, digest }]))
  return { fresh, folded, seen }
}

type Last = (subject: string) => string | undefined

function reasonToFold(look: Look, last: Last): string | null {
  if (look.is === 'routine') return look.reason
  if (look.is !== 'repeatable') return null
  const digest = digestShown(look, last)
  return digest !== null && last(look.subject) === digest ? look.again : null
}

function digestShown(look: Extract<Look, { is: 'repeatable' }>, last: Last): string | null {
  if (look.shown === null) return null
  return look.failed ? printOf(`failed ${last(LAST_DEED) ?? ''} ${look.shown}`) : printOf(look.shown)
}

/** A digest that nothing has: whatever comes next is news. */
const unknownDigest = (event: MessageEvent) => printOf(`unknown ${event.id}`)

function seenIn(look: Look, event: MessageEvent, isFresh: boolean, last: Last): Seen[] {
  const deed: Seen[] =
    look.is !== 'routine' && (look.is === 'edit' || look.deed) && isFresh
      ? [{ subject: LAST_DEED, digest: printOf(event.id) }]
      : []
  if (look.is === 'repeatable') {
    return [{ subject: look.subject, digest: digestShown(look, last) ?? unknownDigest(event) }, ...deed]
  }
  if (look.is !== 'edit') return deed
  const knew = look.before === null || last(look.subject) === printOf(look.before)
  const digest = look.after !== null && knew ? printOf(look.after) : unknownDigest(event)
  return [{ subject: look.subject, digest }, ...deed]
}

const READ_AGAIN = 'read again, unchanged'
const NEWS: Look = { is: 'fresh', deed: false }
/** What another agent or a plan says is never a repetition. */
const ALWAYS_FRESH = new Set(['Agent', 'Task', 'ExitPlanMode'])
const EDITS = new Set(['Write', 'Edit', 'MultiEdit', 'NotebookEdit'])
const LISTINGS = new Set(['LS', 'Glob'])

function freshLook(event: MessageEvent): Look {
  if (event.kind === 'subagent_end' || ALWAYS_FRESH.has(event.tool)) return NEWS
  const input = recordOf(event.input)
  if (event.kind === 'tool_failure') return failure(event, input)
  if (EDITS.has(event.tool)) return edit(event, input)
  if (LISTINGS.has(event.tool)) return { is: 'routine', reason: ONLY_LISTED }
  if (event.tool === 'Read' || event.tool === 'NotebookRead') return reading(event, input)
  if (event.tool === 'Bash') return command(event, input)
  if (event.tool === 'Grep' && foundNothing(event.response)) return { is: 'routine', reason: FOUND_NOTHING }
  const again =
    event.tool === 'Grep' ? 'the same search with the same result' : 'the same tool use with the same result'
  return repeatable(usedOn(event, input), stableText(event.response), again)
}

function repeatable(subject: string | null, shown: string | null, again: string, deed = false): Look {
  return subject === null ? { is: 'fresh', deed } : { is: 'repeatable', subject, shown, again, failed: false, deed }
}

/** What a tool was used on; a failure and a success of the same use have the same subject. */
function usedOn(event: ToolUseEvent | ToolFailureEvent, input: Fields): string | null {
  if (event.tool === 'Read' || event.tool === 'NotebookRead') return fileSubject(input, event.cwd, rangeOf(input))
  if (event.tool === 'Bash') {
    const line = comparable(textIn(input, 'command').trim())
    return line === null || line === '' ? null : subjectOf('command', printOf(`${event.cwd}\0${line}`))
  }
  const given = stableText(event.input)
  return given === null ? null : subjectOf('tool', printOf(`${event.tool}\0${event.cwd}\0${given}`))
}

/** The part of a file that was asked for; the whole file where nothing is said. */
function rangeOf(input: Fields): string {
  const parts = ['offset', 'limit', 'pages'].map((name) => stableText(input[name] ?? null) ?? '…')
  return parts.every((part) => part === 'null') ? 'all' : parts.join('-')
}

function failure(event: ToolFailureEvent, input: Fields): Look {
  const subject = usedOn(event, input)
  if (subject === null) return NEWS
  const error = comparable(event.error)
  const said =
    error === null ? null : event.tool === 'Bash' ? saidBy(textIn(input, 'command'), error) : plainOutput(error)
  const shown = said === null ? null : `${event.interrupted} ${said}`
  return { is: 'repeatable', subject, shown, again: 'the same failure again', failed: true, deed: false }
}

function edit(event: ToolUseEvent, input: Fields): Look {
  const subject = fileSubject(input, event.cwd, rangeOf({}))
  if (subject === null) return { is: 'fresh', deed: true }
  return { is: 'edit', subject, ...contentAfter(event.tool, input, recordOf(event.response)) }
}

function reading(event: ToolUseEvent, input: Fields): Look {
  // The client's own word for it, in place of the content.
  if (recordOf(event.response).type === 'file_unchanged') return { is: 'routine', reason: READ_AGAIN }
  return repeatable(usedOn(event, input), contentRead(event.response), READ_AGAIN)
}

function command(event: ToolUseEvent, input: Fields): Look {
  const line = textIn(input, 'command')
  const response = recordOf(event.response)
  const stdout = typeof event.response === 'string' ? event.response : textIn(response, 'stdout')
  const stderr = textIn(response, 'stderr')
  // What goes on in the background has not shown its result yet.
  const open = input.run_in_background === true || response.backgroundTaskId !== undefined
  if (open || response.interrupted === true) return { is: 'fresh', deed: true }
  const routine = routineCommand(line, { stdout, stderr })
  if (routine !== null) return { is: 'routine', reason: routine }
  const output = comparable(`${stdout}\0${stderr}`)
  const known = typeof event.response === 'string' || typeof response.stdout === 'string'
  const shown = known ? (output === null ? null : saidBy(line, output)) : stableText(event.response)
  return repeatable(usedOn(event, input), shown, 'the same command with the same result', doesSomething(line))
}

/** Their timing is noise; of anything else an amount of time may be what it was run for. */
const CHECKS = new Set<CommandKind>(['test', 'build', 'lint', 'typecheck', 'install', 'look'])
const MEASURES = /bench|perf|profil|hyperfine|\btime\b|\bduration/i

function saidBy(line: string, output: string): string {
  const kinds = readLine(line).runs.map((run) => run.kind)
  const isCheck = kinds.every((kind) => CHECKS.has(kind)) && kinds.some((kind) => kind !== 'look')
  return isCheck && !MEASURES.test(line) ? checkOutput(output) : plainOutput(output)
}

function doesSomething(line: string): boolean {
  return readLine(line).runs.some(({ kind }) => !CHECKS.has(kind) || kind === 'install')
}

function foundNothing(response: unknown): boolean {
  if (typeof response === 'string') return /^\s*(?:no (?:files|matches) found\.?)?\s*$/i.test(response)
  const fields = recordOf(response)
  const counted = ['numFiles', 'numLines', 'numMatches'].some((name) => typeof fields[name] === 'number')
  const none = ['numFiles', 'numLines', 'numMatches'].every((name) => fields[name] === undefined || fields[name] === 0)
  const listed = Array.isArray(fields.filenames) ? fields.filenames.length : 0
  return counted && none && listed === 0 && textIn(fields, 'content').trim() === ''
}
