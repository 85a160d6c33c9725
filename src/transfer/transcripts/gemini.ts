/**
 * The transcripts of Gemini CLI: `~/.gemini/tmp/<project>/chats/session-<minute>-<id>.jsonl`. The first line names the
 * session; a message is repeated under its id whenever it changes, and the last one counts; `{"$set": …}` replaces fields
 * of the whole. The directory of the project is in the file `.project_root` beside `chats`.
 */
import { dirname, join } from 'node:path'
import {
  fieldsOrEmpty,
  nonEmptyString,
  type TranscriptEntry,
  type TranscriptEntryHead,
} from '../../domain/transcript-entry.ts'
import { geminiToolUse, withoutHookContext } from '../../hook/clients/gemini.ts'
import { readFileChunks, readTextFile } from '../../lib/files.ts'
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

type Fields = Record<string, unknown>

export const geminiTranscripts: TranscriptReader = {
  client: 'gemini',
  find: ({ home }) => {
    const found: FoundTranscripts = { files: [], problems: [] }
    for (const project of directoriesIn(join(home, '.gemini', 'tmp'), found)) {
      const chats = join(project, 'chats')
      for (const name of namesIn(chats, found)) {
        if (/^session-.*\.jsonl$/.test(name)) addTranscript('gemini', join(chats, name), found)
      }
    }
    return found
  },
  recognises: (firstLine) => /^\{"sessionId":"[^"]*","projectHash":/.test(firstLine),
  entries: readGeminiEntries,
}

async function* readGeminiEntries(file: string, onLine: OnLine): AsyncGenerator<TranscriptEntry> {
  const messages = new Map<string, Fields>()
  let header: Fields = {}
  const addMessage = (message: Fields): void => {
    const id = nonEmptyString(message.id)
    if (id !== null && typeof message.type === 'string') messages.set(id, message)
  }
  for await (const line of readLines(readFileChunks(file))) {
    const value = parseLine(line, onLine)
    if (value === null) continue
    const set = fieldsOrEmpty(value.$set)
    if (Array.isArray(set.messages)) for (const message of set.messages) addMessage(fieldsOrEmpty(message))
    if (nonEmptyString(value.sessionId) !== null) header = { ...header, ...value }
    addMessage(value)
  }
  const session = nonEmptyString(header.sessionId)
  // A subagent's part of a session is in a file of its own; its result is in that of the session.
  if (session === null || (header.kind !== undefined && header.kind !== 'main')) return
  const cwd = readTextFile(join(dirname(dirname(file)), '.project_root'))?.trim() || null
  let promptId: string | null = null
  for (const [id, message] of messages) {
    const at = Date.parse(nonEmptyString(message.timestamp) ?? '')
    const time = at >= 0 ? at : null
    const head: TranscriptEntryHead = {
      session,
      uuid: id,
      parent: null,
      at: time,
      cwd,
      promptId,
      sidechain: false,
      agentId: null,
    }
    if (message.type === 'user') {
      const text = promptText(message)
      if (text !== '') {
        promptId = id
        yield { ...head, promptId, kind: 'prompt', text }
      }
    } else if (message.type === 'gemini') yield* answerEntries(head, message)
  }
}

/** Results of tools and what the client tells its model are no prompts. */
function promptText({ content, displayContent }: Fields): string {
  const texts = partTexts(displayContent ?? content)
    .map(withoutHookContext)
    .filter((text) => text.trim() !== '' && !/^\s*<session_context>/.test(text))
  return texts.join('\n')
}

function partTexts(content: unknown): string[] {
  if (typeof content === 'string') return [content]
  return Array.isArray(content) ? content.flatMap((part) => nonEmptyString(fieldsOrEmpty(part).text) ?? []) : []
}

function* answerEntries(head: TranscriptEntryHead, { content, toolCalls }: Fields): Generator<TranscriptEntry> {
  const text = partTexts(content).join('\n')
  if (text !== '') {
    yield { ...head, kind: 'assistant', message: head.uuid, text, calls: [], usage: null, failed: false }
  }
  const calls = Array.isArray(toolCalls) ? toolCalls.map(fieldsOrEmpty) : []
  for (const [index, call] of calls.entries()) {
    const use = geminiToolUse(asPayload(call))
    const id = nonEmptyString(call.id) ?? `${head.uuid}:${index}`
    if (use !== null) yield* toolEntries(head, id, use)
  }
}

/** A call as the hook AfterTool reports it. */
function asPayload({ name, args, result, resultDisplay, status }: Fields): Fields {
  const [part] = Array.isArray(result) ? result.map(fieldsOrEmpty) : []
  const response = fieldsOrEmpty(fieldsOrEmpty(part?.functionResponse).response)
  const error = nonEmptyString(response.error)
  const isFailure = status === 'error' || status === 'cancelled'
  const llmContent = withoutTrailingContext(nonEmptyString(response.output) ?? '')
  return {
    tool_name: name,
    tool_input: args,
    tool_response: {
      llmContent,
      returnDisplay: resultDisplay,
      ...(isFailure ? { error: { message: error ?? String(status) } } : {}),
    },
    ...mcpContext(String(name)),
  }
}

/** `mcp_<server>_<tool>`: a server with an underscore in its name is cut there. */
function mcpContext(name: string): Fields {
  const [, server, tool] = /^mcp_([^_]+)_(.+)$/.exec(name) ?? []
  return server === undefined ? {} : { mcp_context: { server_name: server, tool_name: tool } }
}

/** Not a pattern: it would try the end of the text for every blank. */
function withoutTrailingContext(text: string): string {
  const at = text.indexOf('<hook_context>')
  return at !== -1 && text.trimEnd().endsWith('</hook_context>') ? text.slice(0, at).trimEnd() : text
}
