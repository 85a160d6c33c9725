/** The user's side of the memory session: what opens it, what each call adds to it. */
import type { TurnEndEvent } from '../../memory/event.ts'
import { clockOf, dateOf, offsetOf } from './clock.ts'
import { framed, framedLine } from './frame.ts'
import { fill, type Prompts } from './prompts.ts'
import { shorten } from './shorten.ts'

/** A request is short; what is longer holds a pasted log or file. */
const MAX_REQUEST_CHARS = 3_000
/** The closing words hold what was decided; long ones repeat the work. */
const MAX_LAST_MESSAGE_CHARS = 6_000
const MAX_LINE_CHARS = 300

export interface Opening {
  /** The project's name for people. */
  project: string
  technologies: readonly string[]
  cwd: string
  /** Epoch ms. */
  at: number
  /** Null where no prompt was seen. */
  request: string | null
}

export function renderOpening(prompts: Prompts, opening: Opening): string {
  return fill(prompts.opening, {
    project: framedLine(opening.project, MAX_LINE_CHARS) || 'unknown',
    technologies: framedLine(opening.technologies.join(', '), MAX_LINE_CHARS) || 'unknown',
    directory: framedLine(opening.cwd, MAX_LINE_CHARS) || 'unknown',
    date: `${dateOf(opening.at)} ${clockOf(opening.at)} UTC${offsetOf(opening.at)}`,
    request: renderRequest(prompts, opening.request),
  })
}

/** `request`: only where it is another one than the conversation was told last. */
export function renderObservation(prompts: Prompts, turn: { request: string | null; batch: string }): string {
  return fill(prompts.observation, { request: renderRequest(prompts, turn.request), batch: turn.batch })
}

export interface EndedTurn {
  request: string | null
  turnEnd: Pick<TurnEndEvent, 'lastMessage' | 'error'> | null
}

export function renderSummary(prompts: Prompts, { request, turnEnd }: EndedTurn): string {
  return fill(prompts.summary, { request: requestText(request) || NO_REQUEST, last_message: closingWords(turnEnd) })
}

/** What the next generation of the memory session begins with. */
export function renderCompaction(prompts: Prompts, { opening, digest }: { opening: string; digest: string }): string {
  return fill(prompts.compaction, { opening, digest: framed(digest) })
}

const NO_REQUEST = '(not known)'
const NO_WORDS = '(none were seen)'

function renderRequest(prompts: Prompts, request: string | null): string {
  const text = requestText(request)
  return text === '' ? '' : fill(prompts.request, { text })
}

function requestText(request: string | null): string {
  return shorten(framed(request ?? ''), MAX_REQUEST_CHARS, 'output').trim()
}

function closingWords(turnEnd: EndedTurn['turnEnd']): string {
  const words = shorten(framed(turnEnd?.lastMessage ?? ''), MAX_LAST_MESSAGE_CHARS, 'output').trim()
  const error = framedLine(turnEnd?.error ?? '', MAX_LINE_CHARS)
  const parts = [words, error === '' ? '' : `(The turn was ended by an error: ${error})`].filter((part) => part !== '')
  return parts.length === 0 ? NO_WORDS : parts.join('\n')
}

/** Whether the conversation holds this request already. */
export function isTold(prompts: Prompts, request: string | null, turns: readonly { content: string }[]): boolean {
  const text = renderRequest(prompts, request)
  return text === '' || turns.some((turn) => turn.content.includes(text))
}
