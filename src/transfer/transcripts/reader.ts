/**
 * The port of a client's transcripts: where its files are, and how they are read. A reader is one file beside this one,
 * listed in `readers.ts`. It yields the entries of Claude Code's transcripts (`TranscriptEntry`), with tools in the shapes
 * of `src/hook/clients/tool-shapes.ts`; `index.ts` makes the events of them, `../backfill` plans and sends them. Rules:
 *
 * 1. Session ids are those that the client's hooks report: a session that hooks reported is then not read again.
 * 2. `uuid` of an entry is the same every time the file is read, and differs within a session; null only where there is
 *    a time (`at`) that does the same.
 * 3. A line that cannot be read is reported to `onLine` and skipped. Nothing throws but file system errors.
 * 4. What the client or claude-mem inserted into a prompt is no part of it.
 */
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import {
  fieldsOrEmpty,
  type ToolCall,
  type ToolResult,
  type TranscriptEntry,
  type TranscriptEntryHead,
} from '../../domain/transcript-entry.ts'
import { errorMessage, systemCode } from '../../lib/errors.ts'
import type { NumberedLine, OnLine } from './lines.ts'

export interface TranscriptReader {
  /** As in `--client`. */
  client: string
  find(where: TranscriptHome): FoundTranscripts
  /** Whether a file that the user named is this client's, by its first line. */
  recognises(firstLine: string): boolean
  /** The entries of a file, in their order; a file may hold several sessions. */
  entries(file: string, onLine: OnLine): AsyncGenerator<TranscriptEntry>
}

export interface TranscriptHome {
  env: NodeJS.ProcessEnv
  home: string
}

export interface TranscriptFile {
  client: string
  file: string
  bytes: number
  /** Epoch ms. */
  changedAt: number
}

/** A transcript that could not be read, and why. */
export interface TranscriptProblem {
  file: string
  reason: string
}

export interface FoundTranscripts {
  files: TranscriptFile[]
  problems: TranscriptProblem[]
}

export function addTranscript(client: string, file: string, found: FoundTranscripts): void {
  try {
    const stat = statSync(file)
    if (stat.isFile()) found.files.push({ client, file, bytes: stat.size, changedAt: stat.mtimeMs })
    else if (stat.isDirectory()) found.problems.push({ file, reason: 'it is a directory; name the .jsonl files in it' })
    else found.problems.push({ file, reason: 'it is not a file' })
  } catch (error) {
    found.problems.push({ file, reason: unreadableReason(error) })
  }
}

/** A missing directory has no transcripts; one that cannot be read is a problem. */
export function namesIn(directory: string, found: FoundTranscripts): string[] {
  try {
    return readdirSync(directory).sort()
  } catch (error) {
    const code = systemCode(error)
    if (code !== 'ENOENT' && code !== 'ENOTDIR')
      found.problems.push({ file: directory, reason: unreadableReason(error) })
    return []
  }
}

/** The directories in one, with their paths. */
export function directoriesIn(directory: string, found: FoundTranscripts): string[] {
  return namesIn(directory, found)
    .map((name) => join(directory, name))
    .filter((path) => {
      try {
        return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
      } catch (error) {
        found.problems.push({ file: path, reason: unreadableReason(error) })
        return false
      }
    })
}

export function unreadableReason(error: unknown): string {
  switch (systemCode(error)) {
    case 'ENOENT':
      return 'it does not exist'
    case 'EACCES':
    case 'EPERM':
      return 'it cannot be read: check its permissions'
    case 'EISDIR':
      return 'it is a directory; name the .jsonl files in it'
    default:
      return `it cannot be read: ${errorMessage(error)}`
  }
}

/** The object of a line; null if there is none, which is reported unless the line is empty. */
export function parseLine(line: NumberedLine, onLine: OnLine): Record<string, unknown> | null {
  const { text } = line
  if (text === null || text.trim() === '') {
    onLine(line, text === null ? 'the line is too long' : null)
    return null
  }
  try {
    const value: unknown = JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text)
    onLine(line, null)
    return fieldsOrEmpty(value)
  } catch {
    onLine(line, 'the line is not JSON or is truncated')
    return null
  }
}

/** A tool use that a transcript tells in one place, as hooks of the client report it (`tool-shapes.ts`). */
export function* toolEntries(
  head: TranscriptEntryHead,
  id: string,
  payload: Record<string, unknown>,
): Generator<TranscriptEntry> {
  const call: ToolCall = { id, tool: String(payload.tool_name), input: payload.tool_input ?? null }
  yield { ...head, kind: 'assistant', message: null, text: '', calls: [call], usage: null, failed: false }
  const isFailure = payload.hook_event_name === 'PostToolUseFailure'
  const response = payload.tool_response ?? null
  const text = isFailure ? String(payload.error ?? '') : typeof response === 'string' ? response : ''
  const result: ToolResult = { id, error: isFailure, response, text }
  yield { ...head, kind: 'results', results: [result] }
}
