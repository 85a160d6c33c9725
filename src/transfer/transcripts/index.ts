/**
 * Reads Claude Code's transcripts (`~/.claude/projects/<cwd>/<session>.jsonl`, clients 1.0 to 2.1) as the same events
 * that the hooks report. A line that is truncated, unknown or too long is skipped and reported to `skipped`; a file may
 * contain several sessions; subagents may be inline or in separate files.
 */
import { existsSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { MemoryEvent } from '../../domain/event.ts'
import type { PayloadOptions } from '../../hook/payload.ts'
import {
  fieldsOrEmpty,
  type NumberedLine,
  nonEmptyString,
  parseEntry,
  readChunks,
  readLines,
  splitLines,
  type TranscriptEntry,
} from './lines.ts'
import { SessionReader, type ToolUsage } from './session.ts'

export type { ToolUsage } from './session.ts'

export interface TranscriptOptions {
  settings: PayloadOptions['settings']
  client?: string
  /** The transcript's path, if it is not given as a file. */
  transcriptPath?: string
  /** Called for each tool use with the tokens of the request that made it, if the transcript has them. */
  usage?: (usage: ToolUsage) => void
  skipped?: (line: number, reason: string) => void
  /** Epoch ms for lines before the first timestamp; default: now. */
  at?: number
}

/** `source`: a file path, or the text of a transcript in chunks. */
export async function* readTranscriptEvents(
  source: string | AsyncIterable<string>,
  options: TranscriptOptions,
): AsyncGenerator<MemoryEvent> {
  const file = typeof source === 'string' ? source : null
  const sessions = new TranscriptSessions(file, options)
  for await (const line of readLines(typeof source === 'string' ? readChunks(source) : source)) {
    const entry = sessions.parse(line)
    if (entry === null) continue
    for (const agentFile of file === null ? [] : findAgentFiles(file, entry)) {
      for await (const agentLine of readLines(readChunks(agentFile))) {
        const inner = sessions.parse(agentLine)
        if (inner !== null)
          yield* sessions.events({ ...inner, session: entry.session ?? inner.session, sidechain: true })
      }
    }
    yield* sessions.events(entry)
  }
  yield* sessions.end()
}

/** For a transcript that is already in memory; separate files of subagents are not read. */
export function* parseTranscriptEvents(content: string, options: TranscriptOptions): Generator<MemoryEvent> {
  const sessions = new TranscriptSessions(null, options)
  for (const line of splitLines(content)) {
    const entry = sessions.parse(line)
    if (entry !== null) yield* sessions.events(entry)
  }
  yield* sessions.end()
}

class TranscriptSessions {
  readonly #options: TranscriptOptions
  readonly #path: string | null
  readonly #readers = new Map<string, SessionReader>()
  #last: string | null

  constructor(file: string | null, options: TranscriptOptions) {
    this.#options = options
    this.#path = file ?? options.transcriptPath ?? null
    this.#last = this.#path === null ? null : basename(this.#path, '.jsonl')
  }

  parse(line: NumberedLine): TranscriptEntry | null {
    if (line.text === null) this.#skip(line, 'the line is too long')
    if (line.text === null || line.text.trim() === '') return null
    const entry = parseEntry(line.text)
    if (entry === undefined) this.#skip(line, 'the line is not JSON or is truncated')
    return entry ?? null
  }

  *events(entry: TranscriptEntry): Generator<MemoryEvent> {
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
    yield* reader.events(entry)
  }

  *end(): Generator<MemoryEvent> {
    for (const reader of this.#readers.values()) yield* reader.end()
  }

  #skip(line: NumberedLine, reason: string): void {
    this.#options.skipped?.(line.number, reason)
  }
}

/** Newer clients write each subagent's lines to a separate file, named in the subagent's result. */
export function findAgentFiles(file: string, entry: TranscriptEntry): string[] {
  if (entry.kind !== 'results' || entry.sidechain) return []
  const directory = dirname(file)
  return entry.results.flatMap((result) => {
    const id = nonEmptyString(fieldsOrEmpty(result.response).agentId)
    if (id === null || !/^[\w-]{1,64}$/.test(id)) return []
    const name = `agent-${id}.jsonl`
    const candidates = [join(directory, basename(file, '.jsonl'), 'subagents', name), join(directory, name)]
    return candidates.filter((path) => path !== file && existsSync(path)).slice(0, 1)
  })
}
