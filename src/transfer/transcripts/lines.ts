/**
 * Reads a transcript of any size line by line and parses each line into an entry. A line that is too long is skipped
 * without being held in memory.
 */
import { statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import {
  fieldsOrEmpty,
  nonEmptyString,
  parseTranscriptLine,
  type QueueLine,
  type TranscriptEntry,
  typedText,
} from '../../domain/transcript-entry.ts'
import { readFileChunks } from '../../lib/files.ts'

/** The client inlines images. The same limit as for a hook's payload. */
const MAX_LINE_CHARS = 64 * 1024 * 1024

export interface NumberedLine {
  /** Starts at 1. */
  number: number
  /** Null if it was too long. */
  text: string | null
}

export async function* readLines(
  chunks: AsyncIterable<string>,
  maxChars = MAX_LINE_CHARS,
): AsyncGenerator<NumberedLine> {
  let parts: string[] = []
  let length = 0
  let number = 0
  const add = (part: string) => {
    length += part.length
    if (length > maxChars) parts = []
    else if (part !== '') parts.push(part)
  }
  const takeLine = (): NumberedLine => {
    const text = length > maxChars ? null : parts.join('')
    parts = []
    length = 0
    number += 1
    return { number, text }
  }
  for await (const chunk of chunks) {
    let from = 0
    for (let end = chunk.indexOf('\n'); end >= 0; end = chunk.indexOf('\n', from)) {
      add(chunk.slice(from, end))
      yield takeLine()
      from = end + 1
    }
    add(chunk.slice(from))
  }
  if (length > 0) yield takeLine()
}

/** Called for each line; `problem` says why it is skipped. */
export type OnLine = (line: NumberedLine, problem: string | null) => void

/**
 * The entries of a transcript: of a file, or of text in chunks. Newer clients write each subagent's lines to a separate
 * file, named in the subagent's result; these entries come before the result.
 */
export async function* readEntries(
  source: string | AsyncIterable<string>,
  onLine: OnLine,
): AsyncGenerator<TranscriptEntry> {
  if (typeof source !== 'string') return yield* parseLines(source, onLine)
  for await (const entry of parseLines(readFileChunks(source), onLine)) {
    for (const agentFile of findAgentFiles(source, entry)) {
      for await (const inner of parseLines(readFileChunks(agentFile), onLine)) {
        yield { ...inner, session: entry.session ?? inner.session, sidechain: true }
      }
    }
    yield entry
  }
}

async function* parseLines(chunks: AsyncIterable<string>, onLine: OnLine): AsyncGenerator<TranscriptEntry> {
  const queue = new PromptQueue()
  for await (const line of readLines(chunks)) {
    const { text } = line
    const entry = text === null || text.trim() === '' ? null : parseTranscriptLine(text)
    if (text === null) onLine(line, 'the line is too long')
    else onLine(line, entry === undefined ? 'the line is not JSON or is truncated' : null)
    if (entry === null || entry === undefined) continue
    if (entry.kind === 'queue') yield* queue.change(entry)
    else if (!queue.isRepeated(entry)) yield entry
  }
  yield* queue.rest()
}

/** More messages than a person types while an agent works; the oldest of a damaged file are dropped. */
const MAX_QUEUED = 1_000

/**
 * Messages that the user typed while the agent worked. The client queues them. It either sends one later as a prompt of
 * its own (`dequeue`), which is a line like any other, or hands it to the working agent (`remove`), of which older versions
 * write nothing else. Each message counts once.
 */
class PromptQueue {
  readonly #waiting: QueueLine[] = []
  /** Texts handed over since the last prompt: a prompt with the same text is the same message. */
  readonly #handedOver = new Set<string>()

  /** Whether this is a prompt that was handed over already. */
  isRepeated(entry: TranscriptEntry): boolean {
    if (entry.kind !== 'prompt' || entry.sidechain) return false
    const queued = this.#waiting.findIndex(({ text }) => text?.trim() === entry.text.trim())
    if (queued >= 0) this.#waiting.splice(queued, 1)
    const isSame = this.#handedOver.has(entry.text.trim())
    this.#handedOver.clear()
    return isSame
  }

  *change(line: QueueLine): Generator<TranscriptEntry> {
    if (line.operation === 'enqueue') {
      this.#waiting.push(line)
      if (this.#waiting.length > MAX_QUEUED) this.#waiting.shift()
    } else if (line.operation === 'remove' || line.operation === 'dequeue') {
      const at = line.text === null ? 0 : this.#waiting.findIndex(({ text }) => text === line.text)
      const [taken] = at < 0 ? [] : this.#waiting.splice(at, 1)
      if (taken !== undefined && line.operation === 'remove') yield* this.#prompt(taken, line.at)
    } else if (line.operation === 'popAll') {
      // The user took all of them back to change them.
      this.#waiting.length = 0
    }
  }

  /** Those that were still waiting when the session ended. */
  *rest(): Generator<TranscriptEntry> {
    for (const line of this.#waiting) yield* this.#prompt(line, null)
  }

  *#prompt(line: QueueLine, at: number | null): Generator<TranscriptEntry> {
    const text = typedText(line.text ?? '')
    if (text === '') return
    this.#handedOver.add(text)
    const uuid = line.at === null ? null : `queued:${line.at}`
    yield { ...line, kind: 'prompt', uuid, at, text, duringTurn: true }
  }
}

function findAgentFiles(file: string, entry: TranscriptEntry): string[] {
  if (entry.kind !== 'results' || entry.sidechain) return []
  const directory = dirname(file)
  return entry.results.flatMap((result) => {
    const id = nonEmptyString(fieldsOrEmpty(result.response).agentId)
    if (id === null || !/^[\w-]{1,64}$/.test(id)) return []
    const name = `agent-${id}.jsonl`
    const candidates = [join(directory, basename(file, '.jsonl'), 'subagents', name), join(directory, name)]
    return candidates.filter((path) => path !== file && isRegularFile(path)).slice(0, 1)
  })
}

function isRegularFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true
}
