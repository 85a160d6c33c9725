/**
 * A transcript as a user would search it: its prompts, the agent's words, tool inputs and tool outputs in pieces of 1,000
 * characters, found by plain FTS5. It is the baseline of the answers benchmark, and finds evidence for judged lines.
 */
import { readFileSync } from 'node:fs'
import { PlainFts5 } from '../search/searched-memory.ts'

const PIECE_CHARS = 1_000

export class RawTranscript {
  readonly #pieces: readonly string[]
  readonly #index: PlainFts5

  private constructor(pieces: readonly string[]) {
    this.#pieces = pieces
    this.#index = new PlainFts5(pieces.map((text, i) => ({ id: String(i), text })))
  }

  /** Reads the file itself, not through our transcript reader: the baseline has all text, also what we leave out. */
  static read(file: string): RawTranscript {
    return RawTranscript.of(readFileSync(file, 'utf8').split('\n').flatMap(lineTexts))
  }

  static of(texts: readonly string[]): RawTranscript {
    return new RawTranscript(texts.flatMap(cut))
  }

  /** The best pieces first. */
  search(query: string, limit: number): string[] {
    return this.#index.search(query, limit).map((id) => this.#pieces[Number(id)] ?? '')
  }

  close(): void {
    this.#index.close()
  }
}

/** Half a line at the end of a file has none. */
function lineTexts(line: string): string[] {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    return []
  }
  const content = fieldOf(fieldOf(value, 'message'), 'content')
  return Array.isArray(content) ? content.map(blockText) : [contentText(content)]
}

function blockText(block: unknown): string {
  switch (fieldOf(block, 'type')) {
    case 'tool_use':
      return JSON.stringify(fieldOf(block, 'input')) ?? ''
    case 'tool_result':
      return contentText(fieldOf(block, 'content'))
    default:
      return contentText(fieldOf(block, 'text'))
  }
}

function contentText(content: unknown): string {
  if (Array.isArray(content)) return content.map((part) => contentText(fieldOf(part, 'text'))).join('\n')
  return typeof content === 'string' ? content : ''
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined
}

function cut(text: string): string[] {
  const count = Math.ceil(text.length / PIECE_CHARS)
  return Array.from({ length: count }, (_, i) => text.slice(i * PIECE_CHARS, (i + 1) * PIECE_CHARS))
}
