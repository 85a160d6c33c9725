/**
 * The user messages of the observer's conversation: what opens it, batches of tool uses, the end of a turn, and the digest
 * after compaction.
 *
 * A batch has one numbered block per tool use. Its size limit is shared between the blocks: short ones are kept whole,
 * long ones are cut alike, and each keeps at least one line.
 */

import { formatDate, formatDateTime, formatTimeWithSeconds, utcOffset } from '../../domain/dates.ts'
import type { InboxEvent, TurnEndEvent } from '../../domain/event.ts'
import type { Observation, Summary } from '../../domain/observation.ts'
import { cutOutput, cutText } from '../../domain/sanitize.ts'
import { pluralize } from '../../lib/format.ts'
import { clipAtWord, singleLine } from '../../reading/text.ts'
import { fairShares, promptAttribute, promptLine, promptText } from './prompt-text.ts'
import { fillPrompt, type Prompts } from './prompts.ts'
import { describeToolUse, projectPath, type ToolUsePart } from './tool-use.ts'

/** A request is short; a longer one contains a pasted log or file. */
const MAX_REQUEST_CHARS = 3_000
/** Of a request that the conversation already has whole: enough to recognise it. */
const MAX_KNOWN_REQUEST_CHARS = 160
const MAX_LINE_CHARS = 300
/** One turn, and all turns, in the request for a summary of the whole session. */
const MAX_TURN_CHARS = 1_000
const MAX_SESSION_CHARS = 16_000

interface Opening {
  /** The project's display name. */
  project: string
  cwd: string
  /** Epoch ms. */
  at: number
  /** Lines with the numbers of open problems from earlier sessions; '' if there is none. */
  open: string
  /** Null if no prompt was seen. */
  request: TurnRequest | null
}

/** What the user asked for. */
export interface TurnRequest {
  text: string
  /** The end of the agent's report that a short request answers; null where the request says enough by itself. */
  answers: string | null
}

export function renderOpening(prompts: Prompts, opening: Opening): string {
  return fillPrompt(prompts.opening, {
    project: promptLine(opening.project, MAX_LINE_CHARS) || 'unknown',
    directory: promptLine(opening.cwd, MAX_LINE_CHARS) || 'unknown',
    date: `${formatDate(opening.at)} ${formatTimeWithSeconds(opening.at)} UTC${utcOffset(opening.at)}`,
    open: opening.open,
    request: renderRequest(prompts, opening.request),
  })
}

interface ObservedBatch {
  /** Lines with the numbers of what was stored since the last request; '' if there is none. */
  stored: string
  /** Lines with what checks say about earlier notes; '' if there is none. */
  checks: string
  /** Null if the conversation already contains it. */
  request: TurnRequest | null
  batch: string
}

export function renderObservation(prompts: Prompts, { stored, checks, request, batch }: ObservedBatch): string {
  const notes = [stored, checks].filter((lines) => lines !== '').join('\n')
  return fillPrompt(prompts.observation, { stored: notes, request: renderRequest(prompts, request), batch })
}

interface EndedTurn {
  /** As for a batch. */
  stored: string
  request: TurnRequest | null
  /** The conversation already contains the request. */
  isKnown: boolean
  turnEnd: Pick<TurnEndEvent, 'lastMessage' | 'words' | 'error'> | null
  /** Limit of the last message, in characters. */
  maxMessageChars: number
}

export function renderSummary(prompts: Prompts, turn: EndedTurn): string {
  const { stored, request, isKnown } = turn
  return fillPrompt(prompts.summary, {
    stored,
    request: requestText(request?.text ?? '', isKnown ? MAX_KNOWN_REQUEST_CHARS : MAX_REQUEST_CHARS) || '(not known)',
    last_message: lastMessageText(turn),
  })
}

interface WholeSession {
  /** Oldest first. */
  turns: readonly Summary[]
  observations: readonly Observation[]
}

export function renderSessionSummary(prompts: Prompts, { turns, observations }: WholeSession): string {
  const decisions = observations.filter(({ type }) => type === 'decision').map(({ title }) => title)
  return fillPrompt(prompts['session-summary'], {
    turns: promptLines(turns.map(turnText)),
    decisions: promptLines(decisions.map((title) => title ?? '')),
  })
}

function turnText({ promptNumber, request, completed, learned, nextSteps }: Summary): string {
  const parts = [request, completed, learned, nextSteps === null ? null : `Next: ${nextSteps}`]
  return `turn ${promptNumber}: ${parts.filter((part) => part !== null).join(' | ')}`
}

/** The newest lines that fit, oldest first. */
function promptLines(lines: readonly string[]): string {
  let left = MAX_SESSION_CHARS
  const kept: string[] = []
  for (const text of lines.toReversed()) {
    const line = promptLine(text, MAX_TURN_CHARS)
    if (line.length > left) break
    left -= line.length + 1
    if (line !== '') kept.unshift(`- ${line}`)
  }
  return kept.join('\n') || '(none)'
}

interface NextGeneration {
  opening: string
  /** The line with the newest number in the digest; '' if there is none. */
  stored: string
  digest: string
}

/** The first message after compaction. */
export function renderCompaction(prompts: Prompts, { opening, stored, digest }: NextGeneration): string {
  const text = promptText(digest)
  return fillPrompt(prompts.compaction, { opening, digest: stored === '' ? text : `${stored}\n${text}` })
}

function renderRequest(prompts: Prompts, request: TurnRequest | null): string {
  const text = requestText(request?.text ?? '', MAX_REQUEST_CHARS)
  const answers = promptText(request?.answers ?? '').trim()
  const report = answers === '' ? '' : fillPrompt(prompts.report, { text: answers })
  return text === '' ? '' : fillPrompt(prompts.request, { report, text })
}

function requestText(request: string, maxChars: number): string {
  return cutOutput(promptText(request), maxChars).trim()
}

/** Of a turn without closing words: most of what the agent wrote before is about the next tool use. */
const MAX_WORDS_CHARS = 2_000

/** Says how the turn ended where it has no closing words. */
function lastMessageText({ turnEnd, maxMessageChars }: EndedTurn): string {
  const closing = cutOutput(promptText(turnEnd?.lastMessage ?? ''), maxMessageChars).trim()
  const words = closing === '' ? cutText(promptText(turnEnd?.words.at(-1) ?? ''), MAX_WORDS_CHARS).trim() : ''
  const error = promptLine(turnEnd?.error ?? '', MAX_LINE_CHARS)
  const ended =
    turnEnd === null
      ? '(None: the turn was cut off before the agent had finished.)'
      : error !== ''
        ? `(The turn was ended by an error: ${error})`
        : closing === ''
          ? '(None: the turn ended without closing words.)'
          : ''
  const before = words === '' ? '' : `Before that the agent wrote: ${words}`
  return [closing, ended, before].filter((part) => part !== '').join('\n')
}

export function conversationHasRequest(
  prompts: Prompts,
  request: TurnRequest | null,
  turns: readonly { content: string }[],
): boolean {
  const text = renderRequest(prompts, request)
  return text === '' || turns.some((turn) => turn.content.includes(text))
}

export interface BatchOptions {
  /** Paths inside it are shown relative to it. */
  projectDir: string
  /** Limit of one input or output, in characters. */
  fieldChars: number
  /** Limit of the whole batch, in characters. */
  totalChars: number
  /** Messages that were left out because they repeat earlier ones or say nothing. */
  folded: readonly InboxEvent[]
  /** Messages that must not be sent to a model. */
  withheld: readonly InboxEvent[]
}

export function renderBatch(messages: readonly InboxEvent[], options: BatchOptions): string {
  const blocks = messages.map((message, i) => makeBlock(message, i + 1, options))
  const [first] = messages
  const heading =
    first === undefined ? [] : [`${pluralize(messages.length, 'tool use')} of ${formatDateTime(first.at)}:`]
  const notes = batchNotes(options)
  const frameChars = [...heading, ...notes].reduce((sum, line) => sum + line.length + 1, 0)
  const room = fairShares(blocks.map(wantedChars), options.totalChars - frameChars - blocks.length)
  const rendered = blocks.map((block, i) => renderBlock(block, room[i] ?? 0))
  return cutText([...heading, ...rendered, ...notes].join('\n'), options.totalChars)
}

/** Names of tool uses that are not shown, each and in all. */
const MAX_NAME_CHARS = 48
const MAX_NAMED_CHARS = 180

/** What is withheld is named by its tool alone: the file may be what the user hides. */
function batchNotes({ folded, withheld, projectDir }: BatchOptions): string[] {
  const repeated = countedNames(folded.map((event) => briefUse(describeToolUse(event, projectDir))))
  const hidden = countedNames(withheld.map((event) => (event.kind === 'subagent_end' ? 'subagent' : event.tool)))
  return [
    ...(folded.length > 0 ? [`${pluralize(folded.length, 'more tool use')} with nothing new: ${repeated}`] : []),
    ...(withheld.length > 0
      ? [`${pluralize(withheld.length, 'more tool use')} withheld, the user keeps them private: ${hidden}`]
      : []),
  ]
}

/** `Read src/cart.ts`, without what failed or came back. */
function briefUse({ tool, input }: ReturnType<typeof describeToolUse>): string {
  return singleLine(`${tool} ${(input[0]?.text ?? '').slice(0, 4 * MAX_NAME_CHARS)}`, MAX_NAME_CHARS)
}

/** `Read a.ts, Bash ls (3)`: each once. */
function countedNames(names: readonly string[]): string {
  const counts = new Map<string, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  const listed = [...counts].map(([name, count]) => (count === 1 ? name : `${name} (${count})`))
  return promptText(clipAtWord(listed.join('; '), MAX_NAMED_CHARS))
}

interface Block {
  /** One line that replaces the block if there is no room for it. */
  brief: string
  /** Of the input, then of the outcome. */
  parts: SizedPart[]
  /** Everything but the texts of the parts. */
  fixedChars: number
  /** The block with these texts of its parts. */
  assemble(texts: readonly string[]): string
}

interface SizedPart {
  prefix: string
  text: string
  /** Wanted length of `text`, in characters. */
  wants: number
}

const MAX_BRIEF_CHARS = 120

function makeBlock(message: InboxEvent, n: number, options: BatchOptions): Block {
  const use = describeToolUse(message, options.projectDir)
  const dir = projectPath(message.cwd, options.projectDir)
  const attributes = [
    promptAttribute('tool', use.tool),
    promptAttribute('dir', dir === '.' ? '' : dir),
    promptAttribute('agent', message.agent?.type ?? ''),
  ].join('')
  const parts = [...use.input, ...use.outcome].map((part) => sizePart(part, options.fieldChars))
  const firstInput = use.input.length > 0 ? parts[0]?.text : undefined
  const hasOutcome = use.ended !== null || use.outcome.length > 0
  const outcomeOpening = use.ended === null ? '<outcome>' : `<outcome ${use.ended}="yes">`
  const assemble = (texts: readonly string[]) => {
    const lines = parts.map(({ prefix }, i) => prefix + (texts[i] ?? ''))
    return [
      `<tool_use n="${n}"${attributes}>`,
      ...lines.slice(0, use.input.length),
      ...(hasOutcome ? [outcomeOpening, ...lines.slice(use.input.length), '</outcome>'] : []),
      '</tool_use>',
    ].join('\n')
  }
  return {
    brief: promptLine(`${n}. ${use.tool} ${use.ended ?? ''} ${firstInput ?? ''}`, MAX_BRIEF_CHARS),
    parts,
    fixedChars: assemble([]).length,
    assemble,
  }
}

function sizePart(part: ToolUsePart, fieldChars: number): SizedPart {
  const text = promptText(part.text)
  const prefix = part.label === null ? '' : `${part.label}:${text.includes('\n') ? '\n' : ' '}`
  return { text, prefix, wants: Math.min(text.length, Math.floor(fieldChars * part.share)) }
}

function wantedChars({ parts, fixedChars }: Block): number {
  return parts.reduce((sum, part) => sum + part.wants, fixedChars)
}

/** With less than this for its texts, a block says less than its one line. */
const MIN_BLOCK_TEXT_CHARS = 80

function renderBlock(block: Block, room: number): string {
  const { brief, parts, fixedChars, assemble } = block
  if (room < Math.min(wantedChars(block), fixedChars + MIN_BLOCK_TEXT_CHARS)) return cutText(brief, Math.max(0, room))
  const shares = fairShares(
    parts.map((part) => part.wants),
    room - fixedChars,
  )
  return assemble(parts.map((part, i) => cutOutput(part.text, shares[i] ?? 0)))
}
