/**
 * Reads Claude Code's transcripts (`~/.claude/projects/<cwd>/<session>.jsonl`, clients 1.0 to 2.1) as the same events
 * that the hooks report. A line that is truncated, unknown or too long is skipped and reported to `skipped`; a file may
 * contain several sessions; subagents may be inline or in separate files.
 */
import { basename } from 'node:path'
import type { MemoryEvent } from '../../domain/event.ts'
import { readEntries } from './lines.ts'
import { SessionReader, type SessionReaderOptions } from './session.ts'

export type { ToolUsage } from './session.ts'

export interface TranscriptOptions extends Omit<SessionReaderOptions, 'transcriptPath'> {
  /** The transcript's path, if it is not given as a file. */
  transcriptPath?: string
  skipped?: (line: number, reason: string) => void
}

/** `source`: a file path, or the text of a transcript in chunks; then separate files of subagents are not read. */
export async function* readTranscriptEvents(
  source: string | AsyncIterable<string>,
  options: TranscriptOptions,
): AsyncGenerator<MemoryEvent> {
  const transcriptPath = typeof source === 'string' ? source : (options.transcriptPath ?? null)
  const readers = new Map<string, SessionReader>()
  let session = transcriptPath === null ? null : basename(transcriptPath, '.jsonl')
  const entries = readEntries(source, ({ number }, problem) => {
    if (problem !== null) options.skipped?.(number, problem)
  })
  for await (const entry of entries) {
    session = entry.session ?? session
    if (session === null) continue
    const reader = readers.get(session) ?? new SessionReader(session, entry.at, { ...options, transcriptPath })
    readers.set(session, reader)
    yield* reader.events(entry)
  }
  for (const reader of readers.values()) yield* reader.end()
}
