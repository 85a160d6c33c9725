/**
 * Leaves out what adds nothing before a model is called: the same tool use with the same result, listings, a report that was
 * told before. Only the last result of a subject counts: tests that pass, fail and pass again are news each time, and a failure
 * always is. In doubt an event is sent, because a folded fact is lost.
 */
import { createHash } from 'node:crypto'
import type { InboxEvent, ToolFailureEvent, ToolUseEvent } from '../../domain/event.ts'
import { asFields, stringField } from '../../reading/fields.ts'
import { gitVerb, readCommandLine, type ShellCommand } from '../../reading/shell.ts'
import { unique, wordList } from '../../reading/text.ts'
import type { LeftOutMessage, SeenResult } from '../port.ts'

interface NoveltyResult {
  /** In their order. */
  fresh: InboxEvent[]
  folded: LeftOutMessage[]
  /** The digests that changed. */
  seen: SeenResult[]
}

interface NoveltyBatch {
  /** The subjects whose last digests `fold` needs. */
  subjects: string[]
  /** `stored`: the last digest of each subject. */
  fold(stored: ReadonlyMap<string, string>): NoveltyResult
}

/** Folded if it has a reason, and its result, if it has a subject, equals the last one. */
interface Classification {
  reason: string | null
  subject: string | null
  /** Null: it cannot be compared. */
  result: string | null
}

export function prepareNovelty(messages: readonly InboxEvent[]): NoveltyBatch {
  const reported = new Set(messages.flatMap((event) => (event.kind === 'tool_use' ? (reportSubject(event) ?? []) : [])))
  const batch = messages.map((event) => ({ event, ...classify(event, reported) }))
  return {
    subjects: unique(batch.flatMap(({ subject }) => subject ?? [])),
    fold: (stored) => foldRepeated(batch, stored),
  }
}

function foldRepeated(
  batch: readonly ({ event: InboxEvent } & Classification)[],
  stored: ReadonlyMap<string, string>,
): NoveltyResult {
  const fresh: InboxEvent[] = []
  const folded: LeftOutMessage[] = []
  const changed = new Map<string, string>()
  for (const { event, reason, subject, result } of batch) {
    // No other result has the digest of one that cannot be compared: the next one is new.
    const digest = fingerprint(result ?? `unknown ${event.id}`)
    const isSame = subject === null || (changed.get(subject) ?? stored.get(subject)) === digest
    if (reason !== null && isSame) folded.push({ eventId: event.id, reason })
    else fresh.push(event)
    if (subject !== null) changed.set(subject, digest)
  }
  const isNew = ([subject, digest]: [string, string]) => stored.get(subject) !== digest
  return { fresh, folded, seen: [...changed].filter(isNew).map(([subject, digest]) => ({ subject, digest })) }
}

const FRESH: Classification = { reason: null, subject: null, result: null }
const routine = (reason: string): Classification => ({ ...FRESH, reason })

/** Results of other agents and plans are never repetitions. */
const AGENT_TOOLS = new Set(['Agent', 'Task'])
const ALWAYS_FRESH_TOOLS = new Set([...AGENT_TOOLS, 'ExitPlanMode', 'Write', 'Edit', 'MultiEdit', 'NotebookEdit'])
const LISTING_TOOLS = new Set(['LS', 'Glob'])
const READING_TOOLS = new Set(['Read', 'NotebookRead'])
const ONLY_LISTED = 'only listed files'
const READ_AGAIN = 'read again, unchanged'
const REPORTED_TWICE = 'the report of the subagent was told before'

/** `reported`: the reports in the results of the batch. The result of an agent has its task too, so its end is left out. */
function classify(event: InboxEvent, reported: ReadonlySet<string>): Classification {
  const report = reportSubject(event)
  if (event.kind === 'subagent_end' && report !== null && reported.has(report)) return routine(REPORTED_TWICE)
  if (report !== null) return { subject: report, result: report, reason: REPORTED_TWICE }
  if (event.kind === 'subagent_end' || ALWAYS_FRESH_TOOLS.has(event.tool)) return FRESH
  const subject = toolSubject(event)
  if (event.kind === 'tool_failure') return { subject, result: null, reason: null }
  if (LISTING_TOOLS.has(event.tool)) return routine(ONLY_LISTED)
  const response = asFields(event.response)
  // Sent by the client in place of the content of a file.
  if (response.type === 'file_unchanged') return routine(READ_AGAIN)
  if (event.tool === 'Bash') {
    // A command in the background has no result yet.
    const isRunning = asFields(event.input).run_in_background === true || response.backgroundTaskId !== undefined
    if (isRunning || response.interrupted === true) return { ...FRESH, subject }
    if (onlyLists(stringField(asFields(event.input), 'command'), stringField(response, 'stderr'))) {
      return routine(ONLY_LISTED)
    }
  }
  const what = READING_TOOLS.has(event.tool) ? READ_AGAIN : `the same ${toolWord(event.tool)} with the same result`
  return { subject, result: stableText(event.response), reason: subject === null ? null : what }
}

function toolWord(tool: string): string {
  return tool === 'Bash' ? 'command' : tool === 'Grep' ? 'search' : 'tool use'
}

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
  return report.length < MIN_REPORT_CHARS ? null : `report:${fingerprint(report)}`
}

function agentReport(response: unknown): string {
  const { content } = asFields(response)
  if (typeof content === 'string') return content
  return Array.isArray(content) ? stringField(asFields(content[0]), 'text') : ''
}

/** A failure and a success of the same tool use have the same subject. What a command is for says nothing about its result. */
function toolSubject({ tool, cwd, input }: ToolUseEvent | ToolFailureEvent): string | null {
  const command = tool === 'Bash' ? stringField(asFields(input), 'command').trim() : null
  if (command === '') return null
  const given = stableText(command ?? input)
  return given === null ? null : `${tool.length > 60 ? 'tool' : tool}:${fingerprint(`${tool}\0${cwd}\0${given}`)}`
}

/** A longer result is not compared and counts as new. */
const MAX_COMPARED_CHARS = 262_144
/** Deeper than any tool's payload, and safe for the stack. */
const MAX_DEPTH = 64
/** 128 bits of SHA-256, as hex. */
const FINGERPRINT_CHARS = 32

/** The marker of a cut by the hook: the text that was cut may have changed. */
const CUT_MARKER = /\[… [\d,]+ (?:characters|items|keys) left out …\]|\[… nested too deep …\]/

function fingerprint(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, FINGERPRINT_CHARS)
}

/** Fields that describe the call, not its result; in lower case, without underscores. */
const CALL_FIELDS = new Set([
  ...['duration', 'durationms', 'durationseconds', 'totalduration', 'totaldurationms', 'totaldurationseconds'],
  ...['elapsed', 'elapsedms', 'took', 'tooluseid', 'requestid', 'timestamp', 'usage'],
])
const isCallField = (name: string) => CALL_FIELDS.has(name.toLowerCase().replaceAll('_', ''))

/** The same text for the same JSON value, whatever the order of its keys. Null for a value that cannot be compared. */
export function stableText(value: unknown): string | null {
  const parts: string[] = []
  let left = MAX_COMPARED_CHARS
  const put = (text: string): boolean => {
    left -= text.length
    parts.push(text)
    return left >= 0
  }
  const write = (part: unknown, depth: number): boolean => {
    if (depth > MAX_DEPTH) return false
    if (typeof part === 'string') return part.length <= left && put(JSON.stringify(part))
    if (typeof part !== 'object' || part === null) return put(String(part))
    const isList = Array.isArray(part)
    const names = Object.keys(part)
    if (names.length > left) return false
    if (!isList) names.sort()
    return (
      put(isList ? '[' : '{') &&
      names.every((name) => {
        if (!isList && isCallField(name)) return true
        return put(`${JSON.stringify(name)}:`) && write(Reflect.get(part, name), depth + 1) && put(',')
      }) &&
      put('}')
    )
  }
  const text = write(value, 0) ? parts.join('') : null
  return text === null || CUT_MARKER.test(text) ? null : text
}

// A line only lists files if every command in it does, and in doubt it does not.

/** A longer line does more than list files. */
const MAX_LINE_CHARS = 300
const LISTING = new Set('ls tree dir exa eza find fd pwd which where whereis basename dirname realpath'.split(' '))
const LISTING_VERBS = new Set(['status', 'ls-files', 'rev-parse'])
const FILTERS = new Set('grep egrep fgrep rg ag ack head tail wc sort cut column nl less uniq'.split(' '))
/** What may write, run something else or say a note: redirections, substitutions, other programs of the same name. */
const DOES_MORE = /[<>`{}$\\]|&\s*$|[^&]&[^&]|(?:^|[;&|])\s*\.{1,2}\/|\b(?:echo|printf|sudo)\b/
const HARMLESS_REDIRECTION = /(?:&|\d)?>>?\s*\/dev\/null\b|\d>&\d/g
/** Arguments that make a listing or a filter do something. */
const ACTING_ARGUMENTS = new Set(
  wordList('-exec -execdir -ok -okdir -delete -fprint -fprint0 -fprintf -fls -x -X --exec --exec-batch'),
)
const WRITING_ARGUMENT = /^(?:-[a-zA-Z]*[oO]|--output(?:=.*)?|--log-file.*)$/
const isActing = (arg: string) => ACTING_ARGUMENTS.has(arg) || WRITING_ARGUMENT.test(arg)

function onlyLists(whole: string, stderr: string): boolean {
  const line = whole.trim().replace(HARMLESS_REDIRECTION, ' ')
  if (stderr.trim() !== '' || line.length > MAX_LINE_CHARS || DOES_MORE.test(line)) return false
  const { commands } = readCommandLine(line)
  const isListing = ({ program, args }: ShellCommand) =>
    LISTING.has(program) || (program === 'git' && LISTING_VERBS.has(gitVerb(args)) && !args.includes('-v'))
  const isHarmless = (command: ShellCommand) =>
    (isListing(command) || FILTERS.has(command.program)) && !command.args.some(isActing)
  return commands.slice(0, 1).some(isListing) && commands.every(isHarmless)
}
