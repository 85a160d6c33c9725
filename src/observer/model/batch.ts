/**
 * A batch as a model reads it: one block a tool use, numbered in the order of the messages. The whole has a bound
 * that the blocks share: short ones keep all, long ones give way alike, and each keeps at least a line.
 */
import { cutText } from '../../memory/bound.ts'
import type { MessageEvent } from '../../memory/event.ts'
import { plural } from '../offline/text.ts'
import { clockOf, dateOf } from './clock.ts'
import { placeIn } from './file-change.ts'
import { attribute, framed, framedLine } from './frame.ts'
import { shares } from './share.ts'
import { shorten } from './shorten.ts'
import { type Part, type ToolUse, toolUseOf } from './tool-use.ts'

export interface BatchOptions {
  /** Paths below it are told relative to it. */
  projectDir: string
  /** Most characters of one input or output. */
  fieldChars: number
  /** Most characters of the whole. */
  totalChars: number
  /** Messages that are not among these because they add nothing to what was told before. */
  folded: number
  /** Messages that are not among these because they must not be sent to a model. */
  withheld: number
}

export function renderBatch(messages: readonly MessageEvent[], options: BatchOptions): string {
  const blocks = messages.map((message, i) => blockOf(message, i + 1, options))
  const top = heading(messages)
  const notes = notesOf(options)
  const around = [...top, ...notes].reduce((sum, line) => sum + line.length + 1, 0)
  const room = shares(
    blocks.map((block) => sizeOf(block)),
    options.totalChars - around - blocks.length,
  )
  const whole = [...top, ...blocks.map((block, i) => renderBlock(block, room[i] ?? 0)), ...notes].join('\n')
  return cutText(whole, options.totalChars)
}

function heading(messages: readonly MessageEvent[]): string[] {
  const [first] = messages
  return first === undefined ? [] : [`${plural(messages.length, 'tool use')} of ${dateOf(first.at)}:`]
}

function notesOf({ folded, withheld }: BatchOptions): string[] {
  return [
    ...(folded > 0 ? [`${plural(folded, 'more tool use')} left out: they only repeat what was shown before.`] : []),
    ...(withheld > 0 ? [`${plural(withheld, 'more tool use')} withheld: the user keeps them private.`] : []),
  ]
}

interface Block {
  /** The one line that always stays, where the block itself has no room. */
  brief: string
  opening: string
  input: Piece[]
  outcome: Piece[]
  outcomeOpening: string
}

/** A part, ready to be cut. */
interface Piece extends Part {
  lead: string
  /** Characters that it would take, its lead aside. */
  wants: number
}

const CLOSING = '</tool_use>'
const OUTCOME_CLOSING = '</outcome>'
const MAX_BRIEF_CHARS = 120

function blockOf(message: MessageEvent, n: number, options: BatchOptions): Block {
  const use = toolUseOf(message, options.projectDir)
  const dir = placeIn(message.cwd, options.projectDir)
  const attributes = [
    attribute('tool', use.tool),
    attribute('time', clockOf(message.at)),
    attribute('dir', dir === '.' ? '' : dir),
    attribute('agent', message.agent?.type ?? ''),
  ].join('')
  const input = use.input.map((part) => pieceOf(part, options.fieldChars))
  const subject = input[0]?.text ?? ''
  return {
    brief: framedLine(`${n}. ${use.tool} ${use.ended ?? ''} ${subject}`, MAX_BRIEF_CHARS),
    opening: `<tool_use n="${n}"${attributes}>`,
    input,
    outcome: use.outcome.map((part) => pieceOf(part, options.fieldChars)),
    outcomeOpening: outcomeOpening(use),
  }
}

function outcomeOpening({ ended, outcome }: ToolUse): string {
  if (ended !== null) return `<outcome ${ended}="yes">`
  return outcome.length > 0 ? '<outcome>' : ''
}

function pieceOf(part: Part, fieldChars: number): Piece {
  const text = framed(part.text)
  const lead = part.label === null ? '' : `${part.label}:${text.includes('\n') ? '\n' : ' '}`
  return { ...part, text, lead, wants: Math.min(text.length, Math.floor(fieldChars * part.worth)) }
}

function sizeOf(block: Block): number {
  return fixedSize(block) + wants(block).reduce((sum, one) => sum + one, 0)
}

/** All but the texts themselves, line ends included. */
function fixedSize({ opening, input, outcome, outcomeOpening }: Block): number {
  const around = outcomeOpening === '' ? 0 : outcomeOpening.length + OUTCOME_CLOSING.length + 2
  const leads = [...input, ...outcome].reduce((sum, piece) => sum + piece.lead.length + 1, 0)
  return opening.length + 1 + leads + around + CLOSING.length
}

function wants({ input, outcome }: Block): number[] {
  return [...input, ...outcome].map((piece) => piece.wants)
}

function renderBlock(block: Block, room: number): string {
  const inner = room - fixedSize(block)
  if (inner < 0) return cutText(block.brief, Math.max(0, room))
  const given = shares(wants(block), inner)
  const line = (piece: Piece, i: number) => piece.lead + shorten(piece.text, given[i] ?? 0, piece.texture)
  const lines = [block.opening, ...block.input.map(line)]
  if (block.outcomeOpening !== '') {
    const outcome = block.outcome.map((piece, i) => line(piece, block.input.length + i))
    lines.push(block.outcomeOpening, ...outcome, OUTCOME_CLOSING)
  }
  return [...lines, CLOSING].join('\n')
}
