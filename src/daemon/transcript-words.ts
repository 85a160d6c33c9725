/**
 * What the agent wrote between the tool uses of a turn, read from the client's transcript when the turn ends. The file belongs
 * to the client: it may be gone, be written at this moment, lie on a slow disk or be something else altogether. Then there
 * are no words, and the event is accepted as it is.
 */
import { isAbsolute } from 'node:path'
import type { MemoryEvent, TurnEndEvent } from '../domain/event.ts'
import { isTranscriptId } from '../domain/event.ts'
import { wordsOfTurn } from '../domain/turn-words.ts'
import { readRegularFileEnd } from '../lib/files.ts'
import { withTimeout } from '../lib/timeout.ts'

/** The longest turn of six real sessions takes 1.2 MB of its transcript. Of a longer one the last words are read. */
const TAIL_BYTES = 2 * 1024 * 1024
/** Reading takes a few ms. A hook waits for its ack, at most this much longer. */
const TIMEOUT_MS = 250
/** A read from a disk that does not answer takes one of the four threads that Node has for files. */
const MAX_READS = 2

export class TranscriptWords {
  readonly #timeoutMs: number
  #reads = 0

  constructor(timeoutMs = TIMEOUT_MS) {
    this.#timeoutMs = timeoutMs
  }

  /** Whether the words of this event have to be read: the end of the main agent's turn in a live session. */
  isNeededFor(event: MemoryEvent): event is TurnEndEvent & { transcriptPath: string } {
    return (
      event.kind === 'turn_end' &&
      event.words.length === 0 &&
      event.agent === null &&
      event.transcriptPath !== null &&
      // A path of another system is no path here, and would be looked for in the daemon's directory.
      isAbsolute(event.transcriptPath) &&
      !isTranscriptId(event.id) &&
      this.#reads < MAX_READS
    )
  }

  /** A spooled event, with its words if they are needed and `mayBeKept` of the event is true. */
  async complete(
    event: MemoryEvent,
    mayBeKept: (event: MemoryEvent) => boolean,
    excluded: readonly string[] = [],
  ): Promise<MemoryEvent> {
    if (!this.isNeededFor(event) || !mayBeKept(event)) return event
    return { ...event, words: await this.read(event, excluded) }
  }

  /** Not cleaned, but without what was written in `excluded` projects. Never throws. */
  async read(event: TurnEndEvent & { transcriptPath: string }, excluded: readonly string[] = []): Promise<string[]> {
    this.#reads += 1
    const reading = readRegularFileEnd(event.transcriptPath, TAIL_BYTES)
      .then((tail) => wordsOfTurn(tail.toString('utf8'), event, excluded))
      // Not readable: the turn has no words.
      .catch(() => [])
      .finally(() => {
        this.#reads -= 1
      })
    return await withTimeout(this.#timeoutMs, reading, [])
  }
}
