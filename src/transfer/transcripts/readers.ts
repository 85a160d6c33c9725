/** The readers of all clients. */
import { closeSync, readSync } from 'node:fs'
import { openRegularFileSync } from '../../lib/files.ts'
import { claudeCodeTranscripts } from './claude-code.ts'
import { codexTranscripts } from './codex.ts'
import { copilotTranscripts } from './copilot.ts'
import { geminiTranscripts } from './gemini.ts'
import { openCodeTranscripts } from './opencode.ts'
import { qwenTranscripts } from './qwen.ts'
import { addTranscript, type FoundTranscripts, type TranscriptHome, type TranscriptReader } from './reader.ts'

/** Claude Code is the last: it takes every file that no other recognises. */
export const TRANSCRIPT_READERS: readonly TranscriptReader[] = [
  codexTranscripts,
  geminiTranscripts,
  openCodeTranscripts,
  copilotTranscripts,
  qwenTranscripts,
  claudeCodeTranscripts,
]

export function transcriptReader(client: string): TranscriptReader {
  return TRANSCRIPT_READERS.find((reader) => reader.client === client) ?? claudeCodeTranscripts
}

/** The transcripts of these clients; null: of all. */
export function findAllTranscripts(where: TranscriptHome, clients: readonly string[] | null): FoundTranscripts {
  const found = TRANSCRIPT_READERS.filter(({ client }) => clients === null || clients.includes(client)).map((reader) =>
    reader.find(where),
  )
  return { files: found.flatMap(({ files }) => files), problems: found.flatMap(({ problems }) => problems) }
}

/** Files that the user named: whose they are is in their first line. */
export function namedTranscripts(files: readonly string[]): FoundTranscripts {
  const found: FoundTranscripts = { files: [], problems: [] }
  for (const file of new Set(files)) {
    const firstLine = readFirstLine(file)
    const reader = TRANSCRIPT_READERS.find((one) => one.recognises(firstLine)) ?? claudeCodeTranscripts
    addTranscript(reader.client, file, found)
  }
  return found
}

/** The first line of a transcript may hold the client's instructions to its model. */
const FIRST_LINE_BYTES = 65_536

/** As much of it as tells whose it is; empty if it cannot be read, which is reported when it is opened as a transcript. */
function readFirstLine(file: string): string {
  let handle: number | null = null
  try {
    handle = openRegularFileSync(file)
    const bytes = Buffer.alloc(FIRST_LINE_BYTES)
    const length = readSync(handle, bytes, 0, FIRST_LINE_BYTES, 0)
    return bytes.toString('utf8', 0, length).split('\n', 1)[0] ?? ''
  } catch {
    return ''
  } finally {
    if (handle !== null) closeSync(handle)
  }
}
