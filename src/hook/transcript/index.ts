/**
 * Claude Code's transcripts (`~/.claude/projects/<cwd>/<session>.jsonl`, clients 1.0 to 2.1) as a source of the same
 * events that the hooks report. Forgiving: a line that is cut off, unknown or too long is passed over and told to
 * `skipped`; a file may hold several sessions; subagents may be inline or in files of their own.
 */
import { existsSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { MemoryEvent } from '../../memory/event.ts'
import type { ReadOptions } from '../payload.ts'
import { type Entry, entryOf, fieldsOf, text } from './entry.ts'
import { chunksOf, linesOf, linesOfText, type TranscriptLine } from './lines.ts'
import { SessionReader, type ToolUsage } from './session.ts'

export type { ToolUsage } from './session.ts'

export interface TranscriptOptions {
  settings: ReadOptions['settings']
  client?: string
  /** Where the transcript is, if it is not given as a file. */
  transcriptPath?: string
  /** For each tool use of which the transcript has it: what the request cost that made it. */
  usage?: (usage: ToolUsage) => void
  skipped?: (line: number, reason: string) => void
  /** Epoch ms for lines before the first timestamp; now by default. */
  at?: number
}

/** `source`: a file, or the text of one in pieces. */
export async function* readTranscript(
  source: string | AsyncIterable<string>,
  options: TranscriptOptions,
): AsyncGenerator<MemoryEvent> {
  const file = typeof source === 'string' ? source : null
  const sessions = new Sessions(file, options)
  for await (const line of linesOf(typeof source === 'string' ? chunksOf(source) : source)) {
    const entry = sessions.entry(line)
    if (entry === null) continue
    for (const beside of file === null ? [] : agentFiles(file, entry)) {
      for await (const inner of linesOf(chunksOf(beside))) {
        const own = sessions.entry(inner)
        if (own !== null) yield* sessions.take({ ...own, session: entry.session ?? own.session, sidechain: true })
      }
    }
    yield* sessions.take(entry)
  }
  yield* sessions.end()
}

/** For a transcript that is in memory anyway; subagents in files of their own are not looked for. */
export function* readTranscriptText(content: string, options: TranscriptOptions): Generator<MemoryEvent> {
  const sessions = new Sessions(null, options)
  for (const line of linesOfText(content)) {
    const entry = sessions.entry(line)
    if (entry !== null) yield* sessions.take(entry)
  }
  yield* sessions.end()
}

class Sessions {
  readonly #options: TranscriptOptions
  readonly #path: string | null
  readonly #readers = new Map<string, SessionReader>()
  #last: string | null

  constructor(file: string | null, options: TranscriptOptions) {
    this.#options = options
    this.#path = file ?? options.transcriptPath ?? null
    this.#last = this.#path === null ? null : basename(this.#path, '.jsonl')
  }

  entry(line: TranscriptLine): Entry | null {
    if (line.text === null) this.#skip(line, 'the line is too long')
    if (line.text === null || line.text.trim() === '') return null
    const entry = entryOf(line.text)
    if (entry === undefined) this.#skip(line, 'the line is not JSON, or cut off')
    return entry ?? null
  }

  *take(entry: Entry): Generator<MemoryEvent> {
    const session = entry.session ?? this.#last
    if (session === null) return
    this.#last = session
    let reader = this.#readers.get(session)
    if (reader === undefined) {
      const { settings, client, usage, at } = this.#options
      reader = new SessionReader(session, entry.at ?? at ?? Date.now(), {
        settings,
        ...(client === undefined ? {} : { client }),
        transcriptPath: this.#path,
        usage: (found) => usage?.(found),
      })
      this.#readers.set(session, reader)
    }
    yield* reader.take(entry)
  }

  *end(): Generator<MemoryEvent> {
    for (const reader of this.#readers.values()) yield* reader.end()
  }

  #skip(line: TranscriptLine, reason: string): void {
    this.#options.skipped?.(line.number, reason)
  }
}

/** Newer clients keep each subagent's lines in a file beside the session's; its result names it. */
export function agentFiles(file: string, entry: Entry): string[] {
  if (entry.kind !== 'results' || entry.sidechain) return []
  const directory = dirname(file)
  return entry.results.flatMap((result) => {
    const id = text(fieldsOf(result.response).agentId)
    if (id === null || !/^[\w-]{1,64}$/.test(id)) return []
    const name = `agent-${id}.jsonl`
    const places = [join(directory, basename(file, '.jsonl'), 'subagents', name), join(directory, name)]
    return places.filter((place) => place !== file && existsSync(place)).slice(0, 1)
  })
}
