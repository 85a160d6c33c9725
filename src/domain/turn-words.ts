/**
 * What the agent wrote between the tool uses of a turn: plans, findings and reasons that its closing message often leaves
 * out. Clients report only the closing message; the rest is in the transcript. A backfill reads it with everything else, and
 * the daemon reads the end of the file when a turn ends.
 */
import type { TurnEndEvent } from './event.ts'
import { isEntirelyPrivate } from './private-parts.ts'
import { isExcludedDirectory } from './project.ts'
import { type AssistantEntry, parseTranscriptLine, type TranscriptEntry } from './transcript-entry.ts'

/** Long turns of real sessions have up to 20 pieces and 6,300 characters in all; twice that is kept of any turn. */
const MAX_PIECES = 40
export const MAX_TURN_WORDS_CHARS = 12 * 1024

/** The newest that fit, oldest first: what was found out later counts more. */
export function boundTurnWords(words: readonly string[]): string[] {
  const kept: string[] = []
  let chars = 0
  for (const text of newestTurnWords(words).reverse()) {
    chars += text.length
    if (chars > MAX_TURN_WORDS_CHARS) break
    kept.unshift(text)
  }
  return kept
}

export const newestTurnWords = (words: readonly string[]): string[] => words.slice(-MAX_PIECES)

/** Collects the words of one turn after the other from entries of the main agent, in the order of the file. */
export class TurnWords {
  #messages: { id: string | null; text: string; isKept: boolean }[] = []

  /** `isKept`: false for what was written in an excluded project. */
  add({ message, text }: Pick<AssistantEntry, 'message' | 'text'>, isKept = true): void {
    if (text.trim() === '') return
    const last = this.#messages.at(-1)
    // A client writes each block of a message as a line.
    if (last !== undefined && last.id !== null && last.id === message) {
      last.text = `${last.text}\n${text}`
      last.isKept &&= isKept
    } else this.#messages.push({ id: message, text, isKept })
    // One more than is kept: the last one may be the closing message.
    if (this.#messages.length > MAX_PIECES + 1) this.#messages.shift()
  }

  /** Ends the turn. `hasClosing`: the last message is the closing one, which is not part of the words. */
  take(hasClosing: boolean): string[] {
    const messages = hasClosing ? this.#messages.slice(0, -1) : this.#messages
    this.#messages = []
    return boundTurnWords(messages.filter(({ isKept }) => isKept).map(({ text }) => text))
  }
}

type EndedTurn = Pick<TurnEndEvent, 'session' | 'promptId' | 'at'>

/**
 * The words of a turn from the end of its transcript, whose first and last line may be cut off. Empty where the turn is not
 * found and where its prompt is private. Lines that are later than the end of the turn belong to the next one. `excluded`:
 * paths of projects; what the agent wrote in one of them is left out, though the turn may have ended elsewhere.
 */
export function wordsOfTurn(transcriptEnd: string, turn: EndedTurn, excluded: readonly string[] = []): string[] {
  let messages: AssistantEntry[] = []
  // Until a tool use is seen, from the end backwards, the agent's text is the closing message.
  let hasClosing = true
  let isFound = true
  for (const line of linesBackwards(transcriptEnd)) {
    const entry = entryOfTurn(line, turn)
    if (entry === null) continue
    if (entry === 'results') {
      if (messages.length === 0) hasClosing = false
    } else if (entry.kind === 'assistant') {
      if (messages.length === 0 && entry.calls.length > 0) hasClosing = false
      if (entry.text !== '') messages.push(entry)
    } else if (isLater(entry, turn)) {
      messages = []
      hasClosing = true
    } else {
      if (entry.kind === 'prompt' && isEntirelyPrivate(entry.text)) return []
      isFound = !isOfOtherTurn(entry, turn)
      break
    }
  }
  if (!isFound) return []
  const words = new TurnWords()
  // Each directory is looked up once: a turn has hundreds of messages, and few directories.
  const isExcludedIn = new Map<string | null, boolean>([[null, false]])
  for (const message of messages.reverse()) {
    const { cwd } = message
    const isLeftOut = isExcludedIn.get(cwd) ?? (cwd !== null && isExcludedDirectory(cwd, excluded))
    isExcludedIn.set(cwd, isLeftOut)
    words.add(message, !isLeftOut)
  }
  return words.take(hasClosing)
}

function* linesBackwards(text: string): Generator<string> {
  for (let end = text.length; end > 0; ) {
    const start = text.lastIndexOf('\n', end - 1)
    if (start + 1 < end) yield text.slice(start + 1, end)
    end = start
  }
}

type TurnEntry = AssistantEntry | Extract<TranscriptEntry, { kind: 'prompt' | 'interrupt' }>

/**
 * An assistant's entry, the start of a turn, or a tool result; null for everything else. Results can be large, so they are
 * recognised without being parsed: within a text the quotation marks would be escaped.
 */
function entryOfTurn(line: string, turn: EndedTurn): TurnEntry | 'results' | null {
  if (line.includes('"isSidechain":true')) return null
  if (line.includes('"tool_result"') && line.includes('"tool_use_id"')) return 'results'
  if (!line.includes('"assistant"') && !line.includes('"user"')) return null
  const entry = parseTranscriptLine(line) ?? null
  if (entry === null || entry.sidechain || entry.session !== turn.session) return null
  if (entry.kind === 'assistant') return isLater(entry, turn) ? null : entry
  return entry.kind === 'prompt' || entry.kind === 'interrupt' ? entry : null
}

/** The next turn has begun before the end of this one arrived. */
const isLater = (entry: TurnEntry, { at }: EndedTurn): boolean => entry.at !== null && entry.at > at

function isOfOtherTurn(entry: TurnEntry, { promptId }: EndedTurn): boolean {
  return entry.kind === 'prompt' && promptId !== null && entry.promptId !== null && entry.promptId !== promptId
}
