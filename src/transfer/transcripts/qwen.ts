/** The sessions of Qwen Code: `~/.qwen/projects/<directory>/chats/<session>.jsonl` (0.24), with Gemini's messages. */
import { join } from 'node:path'
import {
  fieldsOrEmpty,
  nonEmptyString,
  type TranscriptEntry,
  type TranscriptEntryHead,
} from '../../domain/transcript-entry.ts'
import { qwenToolFailure, qwenToolUse } from '../../hook/clients/qwen.ts'
import { readFileChunks } from '../../lib/files.ts'
import { type OnLine, readLines } from './lines.ts'
import {
  addTranscript,
  directoriesIn,
  type FoundTranscripts,
  namesIn,
  parseLine,
  type TranscriptReader,
  toolEntries,
} from './reader.ts'

export const qwenTranscripts: TranscriptReader = {
  client: 'qwen',
  find: ({ home }) => {
    const found: FoundTranscripts = { files: [], problems: [] }
    for (const project of directoriesIn(join(home, '.qwen', 'projects'), found)) {
      const chats = join(project, 'chats')
      for (const name of namesIn(chats, found)) {
        if (name.endsWith('.jsonl')) addTranscript(qwenTranscripts.client, join(chats, name), found)
      }
    }
    return found
  },
  recognises: (firstLine) => /"provenance":"[a-z_]+"/.test(firstLine) && /"parts":\[/.test(firstLine),
  entries: readChat,
}

/** Calls without a result, as after a crash. */
const MAX_OPEN = 256

async function* readChat(file: string, onLine: OnLine): AsyncGenerator<TranscriptEntry> {
  const open = new Map<string, Record<string, unknown>>()
  for await (const line of readLines(readFileChunks(file))) {
    const entry = parseLine(line, onLine)
    if (entry !== null) yield* chatEntries(entry, open)
  }
}

function* chatEntries(
  line: Record<string, unknown>,
  open: Map<string, Record<string, unknown>>,
): Generator<TranscriptEntry> {
  const at = Date.parse(nonEmptyString(line.timestamp) ?? '')
  const head: TranscriptEntryHead = {
    session: nonEmptyString(line.sessionId),
    uuid: nonEmptyString(line.uuid),
    parent: nonEmptyString(line.parentUuid),
    at: at >= 0 ? at : null,
    cwd: nonEmptyString(line.cwd),
    promptId: null,
    sidechain: false,
    agentId: null,
  }
  const { parts } = fieldsOrEmpty(line.message)
  const all = Array.isArray(parts) ? parts.map(fieldsOrEmpty) : []
  if (line.type === 'user' && line.provenance === 'real_user') {
    const shown = nonEmptyString(fieldsOrEmpty(line.systemPayload).displayText)
    const text =
      shown ??
      texts(all)
        .filter((part) => !INSERTED.test(part))
        .join('\n')
    if (text.trim() !== '') yield { ...head, kind: 'prompt', text }
  } else if (line.type === 'assistant') {
    const text = texts(all).join('\n')
    if (text !== '')
      yield { ...head, kind: 'assistant', message: head.uuid, text, calls: [], usage: null, failed: false }
    for (const { functionCall } of all) {
      const id = nonEmptyString(fieldsOrEmpty(functionCall).id)
      if (id !== null) open.set(id, fieldsOrEmpty(functionCall))
      for (const oldest of open.keys()) if (open.size > MAX_OPEN) open.delete(oldest)
    }
  } else if (line.type === 'tool_result') yield* toolResult(head, line, all, open)
}

/** What hooks and the client add to a prompt. */
const INSERTED = /^<(?:qwen:|system-reminder)/

/** Without thoughts. */
const texts = (parts: readonly Record<string, unknown>[]): string[] =>
  parts.flatMap(({ text, thought }) => (thought === true ? [] : (nonEmptyString(text) ?? [])))

function* toolResult(
  head: TranscriptEntryHead,
  line: Record<string, unknown>,
  parts: readonly Record<string, unknown>[],
  open: Map<string, Record<string, unknown>>,
): Generator<TranscriptEntry> {
  const result = fieldsOrEmpty(line.toolCallResult)
  const id = nonEmptyString(result.callId) ?? ''
  const call = open.get(id)
  if (call === undefined) return
  open.delete(id)
  const response = fieldsOrEmpty(
    fieldsOrEmpty(parts.find(({ functionResponse }) => functionResponse)?.functionResponse).response,
  )
  const text = nonEmptyString(response.output) ?? nonEmptyString(response.error) ?? ''
  const named = calledTool(call)
  const failed = result.status !== 'success'
  const tool_response = { llmContent: text, returnDisplay: result.resultDisplay }
  const use = failed ? qwenToolFailure({ ...named, error: text }) : qwenToolUse({ ...named, tool_response })
  if (use !== null) yield* toolEntries(head, id, use)
}

/** Tools that the client hides are called through `tool_call`; hooks name the tool itself. */
function calledTool({ name, args }: Record<string, unknown>): { tool_name: unknown; tool_input: unknown } {
  if (name !== 'tool_call') return { tool_name: name, tool_input: args }
  const hidden = fieldsOrEmpty(args)
  return { tool_name: hidden.name, tool_input: hidden.arguments }
}
