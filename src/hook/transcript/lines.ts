/** Lines of a transcript of any size, one at a time. A line past the bound is passed over, never held. */
import { createReadStream } from 'node:fs'

/** The client inlines images: the longest line worth reading, as much as a hook would take from stdin. */
const MAX_LINE_CHARS = 64 * 1024 * 1024

export interface TranscriptLine {
  /** From 1. */
  number: number
  /** Null where it was too long. */
  text: string | null
}

export function chunksOf(file: string): AsyncIterable<string> {
  return createReadStream(file, { encoding: 'utf8', highWaterMark: 1 << 20 })
}

export async function* linesOf(
  chunks: AsyncIterable<string>,
  maxChars = MAX_LINE_CHARS,
): AsyncGenerator<TranscriptLine> {
  const splitter = new Splitter(maxChars)
  for await (const chunk of chunks) yield* splitter.take(chunk)
  yield* splitter.end()
}

export function* linesOfText(text: string, maxChars = MAX_LINE_CHARS): Generator<TranscriptLine> {
  const splitter = new Splitter(maxChars)
  yield* splitter.take(text)
  yield* splitter.end()
}

class Splitter {
  readonly #max: number
  #parts: string[] = []
  #length = 0
  #number = 1

  constructor(max: number) {
    this.#max = max
  }

  *take(chunk: string): Generator<TranscriptLine> {
    let from = 0
    for (let at = chunk.indexOf('\n'); at >= 0; at = chunk.indexOf('\n', from)) {
      this.#add(chunk.slice(from, at))
      yield this.#line()
      from = at + 1
    }
    this.#add(chunk.slice(from))
  }

  *end(): Generator<TranscriptLine> {
    if (this.#length > 0) yield this.#line()
  }

  #add(part: string): void {
    this.#length += part.length
    if (this.#length > this.#max) this.#parts = []
    else if (part !== '') this.#parts.push(part)
  }

  #line(): TranscriptLine {
    const text = this.#length > this.#max ? null : this.#parts.join('')
    this.#parts = []
    this.#length = 0
    return { number: this.#number++, text }
  }
}
