/**
 * Leaves out what adds nothing before a model is called: the same file read again unchanged, the same command with the
 * same result, listings, status. Only the last result of a subject counts: tests that fail, pass and fail again are news
 * each time. In doubt an event is sent, because a folded fact is lost.
 */
import type { InboxEvent, ToolFailureEvent, ToolUseEvent } from '../../domain/event.ts'
import { asFields, type JsonFields, stringField } from '../../reading/fields.ts'
import { gitVerb, onlyShows, readCommandLine, type ShellCommand } from '../../reading/shell.ts'
import { unique } from '../../reading/text.ts'
import type { LeftOutMessage, SeenResult } from '../port.ts'
import {
  comparable,
  editedContent,
  fileSubject,
  fingerprint,
  normalizeCheckOutput,
  normalizeOutput,
  readContent,
  stableText,
  subjectKey,
} from './fingerprint.ts'

interface NoveltyResult {
  /** In their order. */
  fresh: InboxEvent[]
  folded: LeftOutMessage[]
  /** The digests that changed. */
  seen: SeenResult[]
}

/**
 * The subject of the last action (an edit, or a command with an effect). A failure's digest includes it, so that the same
 * failure after another action is news. The value is stored in databases.
 */
const LAST_ACTION = 'deed'

/** For a batch that no model was sent: it may contain the fix of an earlier failure. */
export function unobservedActionMark(effectId: string): SeenResult {
  return { subject: LAST_ACTION, digest: fingerprint(effectId) }
}

type Classification =
  | { kind: 'fresh'; isAction: boolean }
  /** Always folded. */
  | { kind: 'routine'; reason: string }
  /** Folded if `result` equals the last one of its subject. `result` null: it cannot be compared. */
  | Repeatable
  /** Never folded. Afterwards the file has the content `after`, provided that it had `before` (null: in any case). */
  | { kind: 'edit'; subject: string; before: string | null; after: string | null }

interface Repeatable {
  kind: 'repeatable'
  subject: string
  result: string | null
  reason: string
  failed: boolean
  isAction: boolean
}

interface ClassifiedMessage {
  event: InboxEvent
  classification: Classification
}

interface NoveltyBatch {
  /** The subjects whose last digests `fold` needs. */
  subjects: string[]
  /** `stored`: the last digest of each subject. */
  fold(stored: ReadonlyMap<string, string>): NoveltyResult
}

export function prepareNovelty(messages: readonly InboxEvent[]): NoveltyBatch {
  const reported = new Set(messages.flatMap((event) => (event.kind === 'tool_use' ? (reportSubject(event) ?? []) : [])))
  const batch = messages.map((event) => ({ event, classification: classify(event, reported) }))
  const subjects = unique(batch.flatMap(({ classification }) => comparedSubjects(classification)))
  return { subjects, fold: (stored) => foldRepeated(batch, stored) }
}

function comparedSubjects(event: Classification): string[] {
  if (event.kind === 'edit') return [event.subject]
  if (event.kind !== 'repeatable') return []
  return event.failed ? [event.subject, LAST_ACTION] : [event.subject]
}

type LastDigest = (subject: string) => string | undefined

function foldRepeated(batch: readonly ClassifiedMessage[], stored: ReadonlyMap<string, string>): NoveltyResult {
  const fresh: InboxEvent[] = []
  const folded: LeftOutMessage[] = []
  const changed = new Map<string, string>()
  const last: LastDigest = (subject) => changed.get(subject) ?? stored.get(subject)
  for (const { event, classification } of batch) {
    const reason = reasonToFold(classification, last)
    if (reason === null) fresh.push(event)
    else folded.push({ eventId: event.id, reason })
    for (const { subject, digest } of newDigests(classification, event, reason === null, last)) {
      changed.set(subject, digest)
    }
  }
  const seen = [...changed].flatMap(([subject, digest]) =>
    stored.get(subject) === digest ? [] : [{ subject, digest }],
  )
  return { fresh, folded, seen }
}

function reasonToFold(event: Classification, last: LastDigest): string | null {
  if (event.kind === 'routine') return event.reason
  if (event.kind !== 'repeatable') return null
  const digest = resultDigest(event, last)
  return digest !== null && last(event.subject) === digest ? event.reason : null
}

function resultDigest({ result, failed }: Repeatable, last: LastDigest): string | null {
  if (result === null) return null
  return fingerprint(failed ? `failed ${last(LAST_ACTION) ?? ''} ${result}` : result)
}

/** A digest that no result has: the next one counts as new. */
const unknownDigest = (event: InboxEvent) => fingerprint(`unknown ${event.id}`)

function newDigests(
  classification: Classification,
  event: InboxEvent,
  isFresh: boolean,
  last: LastDigest,
): SeenResult[] {
  if (classification.kind === 'routine') return []
  const isAction = classification.kind === 'edit' || classification.isAction
  const action: SeenResult[] = isAction && isFresh ? [{ subject: LAST_ACTION, digest: fingerprint(event.id) }] : []
  if (classification.kind === 'repeatable') {
    const digest = resultDigest(classification, last) ?? unknownDigest(event)
    return [{ subject: classification.subject, digest }, ...action]
  }
  if (classification.kind !== 'edit') return action
  const { subject, before, after } = classification
  const isKnown = before === null || last(subject) === fingerprint(before)
  const digest = after !== null && isKnown ? fingerprint(after) : unknownDigest(event)
  return [{ subject, digest }, ...action]
}

const READ_AGAIN = 'read again, unchanged'
const FRESH: Classification = { kind: 'fresh', isAction: false }
/** Results of other agents and plans are never repetitions. */
const AGENT_TOOLS = new Set(['Agent', 'Task'])
const ALWAYS_FRESH_TOOLS = new Set([...AGENT_TOOLS, 'ExitPlanMode'])
const EDIT_TOOLS = new Set(['Write', 'Edit', 'MultiEdit', 'NotebookEdit'])
const LISTING_TOOLS = new Set(['LS', 'Glob'])

/** `reported`: the reports in the results of the batch. The result of an agent has its task too, so its end is left out. */
function classify(event: InboxEvent, reported: ReadonlySet<string>): Classification {
  const report = reportSubject(event)
  if (event.kind === 'subagent_end' && report !== null && reported.has(report)) {
    return { kind: 'routine', reason: REPORTED_TWICE }
  }
  if (report !== null) return repeatable(report, report, REPORTED_TWICE)
  if (event.kind === 'subagent_end' || ALWAYS_FRESH_TOOLS.has(event.tool)) return FRESH
  const input = asFields(event.input)
  if (event.kind === 'tool_failure') return classifyFailure(event, input)
  if (EDIT_TOOLS.has(event.tool)) return classifyEdit(event, input)
  if (LISTING_TOOLS.has(event.tool)) return { kind: 'routine', reason: ONLY_LISTED }
  if (isRead(event.tool)) return classifyRead(event, input)
  if (event.tool === 'Bash') return classifyCommand(event, input)
  if (event.tool === 'Grep' && foundNothing(event.response)) return { kind: 'routine', reason: FOUND_NOTHING }
  const what = event.tool === 'Grep' ? 'search' : 'tool use'
  return repeatable(toolSubject(event, input), stableText(event.response), `the same ${what} with the same result`)
}

const REPORTED_TWICE = 'the report of the subagent was told before'
/** A client adds lines of its own to the end of a report: the beginning identifies it. */
const REPORT_CHARS = 1_000
/** A shorter text is no report, and two agents may say the same. */
const MIN_REPORT_CHARS = 80

/** A subagent reports when it ends, and again in the result of the tool that started it. Null: there is no report. */
function reportSubject(event: InboxEvent): string | null {
  if (event.kind === 'tool_failure' || (event.kind === 'tool_use' && !AGENT_TOOLS.has(event.tool))) return null
  const text = event.kind === 'subagent_end' ? event.lastMessage : agentReport(event.response)
  const report = text
    .slice(0, REPORT_CHARS * 2)
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, REPORT_CHARS)
  return report.length < MIN_REPORT_CHARS ? null : subjectKey('report', fingerprint(report))
}

function agentReport(response: unknown): string {
  const { content } = asFields(response)
  if (typeof content === 'string') return content
  return Array.isArray(content) ? stringField(asFields(content[0]), 'text') : ''
}

const isRead = (tool: string) => tool === 'Read' || tool === 'NotebookRead'

function repeatable(subject: string | null, result: string | null, reason: string, isAction = false): Classification {
  if (subject === null) return { kind: 'fresh', isAction }
  return { kind: 'repeatable', subject, result, reason, failed: false, isAction }
}

/** A failure and a success of the same tool use have the same subject. */
function toolSubject(event: ToolUseEvent | ToolFailureEvent, input: JsonFields): string | null {
  if (isRead(event.tool)) return fileSubject(input, event.cwd, readRange(input))
  if (event.tool === 'Bash') {
    const line = comparable(stringField(input, 'command').trim())
    return line === null || line === '' ? null : subjectKey('command', fingerprint(`${event.cwd}\0${line}`))
  }
  const given = stableText(event.input)
  return given === null ? null : subjectKey('tool', fingerprint(`${event.tool}\0${event.cwd}\0${given}`))
}

const WHOLE_FILE = 'all'

function readRange(input: JsonFields): string {
  const parts = ['offset', 'limit', 'pages'].map((name) => stableText(input[name] ?? null) ?? '…')
  return parts.every((part) => part === 'null') ? WHOLE_FILE : parts.join('-')
}

function classifyFailure(event: ToolFailureEvent, input: JsonFields): Classification {
  const subject = toolSubject(event, input)
  if (subject === null) return FRESH
  const error = comparable(event.error)
  const normalize = (text: string) =>
    event.tool === 'Bash' ? normalizeCommandOutput(stringField(input, 'command'), text) : normalizeOutput(text)
  const result = error === null ? null : `${event.interrupted} ${normalize(error)}`
  return { kind: 'repeatable', subject, result, reason: 'the same failure again', failed: true, isAction: false }
}

function classifyEdit(event: ToolUseEvent, input: JsonFields): Classification {
  const subject = fileSubject(input, event.cwd, WHOLE_FILE)
  if (subject === null) return { kind: 'fresh', isAction: true }
  return { kind: 'edit', subject, ...editedContent(event.tool, input, asFields(event.response)) }
}

function classifyRead(event: ToolUseEvent, input: JsonFields): Classification {
  // Sent by the client in place of the content.
  if (asFields(event.response).type === 'file_unchanged') return { kind: 'routine', reason: READ_AGAIN }
  return repeatable(toolSubject(event, input), readContent(event.response), READ_AGAIN)
}

function classifyCommand(event: ToolUseEvent, input: JsonFields): Classification {
  const line = stringField(input, 'command')
  const response = asFields(event.response)
  const stdout = typeof event.response === 'string' ? event.response : stringField(response, 'stdout')
  const stderr = stringField(response, 'stderr')
  // A command in the background has no result yet.
  const isRunning = input.run_in_background === true || response.backgroundTaskId !== undefined
  if (isRunning || response.interrupted === true) return { kind: 'fresh', isAction: true }
  const routine = routineReason(line, stdout, stderr)
  if (routine !== null) return { kind: 'routine', reason: routine }
  const output = comparable(`${stdout}\0${stderr}`)
  const hasOutput = typeof event.response === 'string' || typeof response.stdout === 'string'
  const normalized = output === null ? null : normalizeCommandOutput(line, output)
  const result = hasOutput ? normalized : stableText(event.response)
  return repeatable(toolSubject(event, input), result, 'the same command with the same result', hasEffect(line))
}

const MEASURING = /bench|perf|profil|hyperfine|\btime\b|\bduration/i

/** Of tests, builds and linters durations are noise. In the output of other commands a duration may be the result. */
function normalizeCommandOutput(line: string, output: string): string {
  const isCheck = readCommandLine(line).kind === 'check' && !hasEffect(line)
  return isCheck && !MEASURING.test(line) ? normalizeCheckOutput(output) : normalizeOutput(output)
}

function hasEffect(line: string): boolean {
  return readCommandLine(line).commands.some((command) => command.kind !== 'check' && !onlyShows(command))
}

function foundNothing(response: unknown): boolean {
  if (typeof response === 'string') return /^(?:no (?:files|matches) found\.?)?$/i.test(response.trim())
  const fields = asFields(response)
  const counts = ['numFiles', 'numLines', 'numMatches'].map((name) => fields[name])
  const isCounted = counts.some((count) => typeof count === 'number')
  const isZero = counts.every((count) => count === undefined || count === 0)
  const listed = Array.isArray(fields.filenames) ? fields.filenames.length : 0
  return isCounted && isZero && listed === 0 && stringField(fields, 'content').trim() === ''
}

// Routine commands list files or find nothing. A line is routine only if every command in it is, and in doubt it is not.

const ONLY_LISTED = 'only listed files'
const FOUND_NOTHING = 'a search that found nothing'

/** A longer line does more than list files. */
const MAX_LINE_CHARS = 300
const LISTING = new Set('ls tree dir exa eza find fd pwd which where whereis basename dirname realpath'.split(' '))
const LISTING_VERBS = new Set(['status', 'ls-files', 'rev-parse'])
const SEARCHING = new Set(['grep', 'egrep', 'fgrep', 'rg', 'ag', 'ack'])
const FILTERS = new Set([...SEARCHING, ...'head tail wc sort cut column nl less uniq'.split(' ')])
/** What may write, run something else or say a note: redirections, substitutions, other programs of the same name. */
const DOES_MORE = /[<>`{}$\\]|&\s*$|[^&]&[^&]|(?:^|[;&|])\s*\.{1,2}\/|\b(?:echo|printf|sudo)\b/
const HARMLESS_REDIRECTION = /(?:&|\d)?>>?\s*\/dev\/null\b|\d>&\d/g
/** Arguments that make a listing or a filter do something, or a search say nothing. */
const ACTING_ARGUMENTS = new Set(
  '-exec -execdir -ok -okdir -delete -fprint -fprint0 -fprintf -fls -x -X -q --exec --exec-batch --quiet --silent'.split(
    ' ',
  ),
)
const WRITING_ARGUMENT = /^(?:-[a-zA-Z]*[oO]|--output(?:=.*)?|--log-file.*)$/
const isActing = (arg: string) => ACTING_ARGUMENTS.has(arg) || WRITING_ARGUMENT.test(arg)

/** Why a successful command adds nothing, or null. */
function routineReason(whole: string, stdout: string, stderr: string): string | null {
  const line = whole.trim().replace(HARMLESS_REDIRECTION, ' ')
  if (stderr.trim() !== '' || line.length > MAX_LINE_CHARS || DOES_MORE.test(line)) return null
  const { commands } = readCommandLine(line)
  if (commands.length === 0 || commands.some(({ args }) => args.some(isActing))) return null
  if (stdout.trim() === '') return commands.every(({ program }) => FILTERS.has(program)) ? FOUND_NOTHING : null
  const isListing = ({ program, args }: ShellCommand) =>
    LISTING.has(program) || (program === 'git' && LISTING_VERBS.has(gitVerb(args)) && !args.includes('-v'))
  const isRoutine = (command: ShellCommand) => isListing(command) || FILTERS.has(command.program)
  return commands.every(isRoutine) && commands.slice(0, 1).every(isListing) ? ONLY_LISTED : null
}
