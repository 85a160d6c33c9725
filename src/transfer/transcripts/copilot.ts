/** The sessions of Copilot CLI: `~/.copilot/session-state/<session>/events.jsonl` (1.0), subagents inline. */
import { basename, dirname, join } from 'node:path'
import {
  fieldsOrEmpty,
  nonEmptyString,
  type TranscriptEntry,
  type TranscriptEntryHead,
} from '../../domain/transcript-entry.ts'
import { copilotHome, copilotToolFailure, copilotToolUses } from '../../hook/clients/copilot.ts'
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

const EVENTS_FILE = 'events.jsonl'

export const copilotTranscripts: TranscriptReader = {
  client: 'copilot',
  find: ({ env, home }) => {
    const found: FoundTranscripts = { files: [], problems: [] }
    for (const directory of directoriesIn(join(copilotHome(env, home), 'session-state'), found)) {
      if (namesIn(directory, found).includes(EVENTS_FILE)) {
        addTranscript(copilotTranscripts.client, join(directory, EVENTS_FILE), found)
      }
    }
    return found
  },
  recognises: (firstLine) => /^\{"type":"session\.start".*"producer":"copilot-agent"/.test(firstLine),
  entries: readEvents,
}

async function* readEvents(file: string, onLine: OnLine): AsyncGenerator<TranscriptEntry> {
  const reader = new EventReader(basename(dirname(file)))
  for await (const line of readLines(readFileChunks(file))) {
    const event = parseLine(line, onLine)
    if (event !== null) yield* reader.entries(event)
  }
}

interface OpenTool {
  tool: string
  input: Record<string, unknown>
}

/** Calls without an end, as after a crash. */
const MAX_OPEN = 256

class EventReader {
  #session: string
  #cwd: string | null = null
  readonly #open = new Map<string, OpenTool>()

  constructor(session: string) {
    this.#session = session
  }

  *entries(event: Record<string, unknown>): Generator<TranscriptEntry> {
    const data = fieldsOrEmpty(event.data)
    const at = Date.parse(nonEmptyString(event.timestamp) ?? '')
    const agentId = nonEmptyString(event.agentId)
    this.#learn(event.type, data)
    const head: TranscriptEntryHead = {
      session: this.#session,
      uuid: nonEmptyString(event.id),
      parent: null,
      at: at >= 0 ? at : null,
      cwd: this.#cwd,
      promptId: null,
      sidechain: agentId !== null,
      agentId,
    }
    const text = nonEmptyString(data.content)
    switch (event.type) {
      case 'user.message':
        // With a source it is not of the user: the task of a subagent, a notice of the client.
        if (text !== null && (head.sidechain || nonEmptyString(data.source) === null))
          yield { ...head, kind: 'prompt', text }
        return
      case 'assistant.message':
        if (text === null) return
        yield { ...head, kind: 'assistant', message: head.uuid, text, calls: [], usage: null, failed: false }
        return
      case 'abort':
        yield { ...head, kind: 'interrupt' }
        return
      case 'session.compaction_start':
        yield { ...head, kind: 'compact', trigger: nonEmptyString(data.trigger) }
        return
      case 'tool.execution_start':
        yield* this.#toolStarts(head, data)
        return
      case 'tool.execution_complete':
        yield* this.#toolEnds(head, data)
    }
  }

  #learn(type: unknown, data: Record<string, unknown>): void {
    if (type === 'session.start' || type === 'session.resume') {
      this.#session = nonEmptyString(data.sessionId) ?? this.#session
      this.#cwd = nonEmptyString(fieldsOrEmpty(data.context).cwd) ?? this.#cwd
    }
  }

  /** The call of a subagent comes before the entries of the subagent; every other call comes with its end. */
  *#toolStarts(head: TranscriptEntryHead, data: Record<string, unknown>): Generator<TranscriptEntry> {
    const id = nonEmptyString(data.toolCallId)
    const tool = nonEmptyString(data.toolName)
    if (id === null || tool === null) return
    const input = fieldsOrEmpty(data.arguments)
    this.#open.set(id, { tool, input })
    for (const oldest of this.#open.keys()) if (this.#open.size > MAX_OPEN) this.#open.delete(oldest)
    if (tool !== 'task') return
    const [use] = copilotToolUses(tool, input, { text: '' }, this.#cwd ?? '/')
    const [call] = use === undefined ? [] : toolEntries(head, id, use)
    if (call !== undefined) yield call
  }

  *#toolEnds(head: TranscriptEntryHead, data: Record<string, unknown>): Generator<TranscriptEntry> {
    const id = nonEmptyString(data.toolCallId) ?? ''
    const open = this.#open.get(id)
    if (open === undefined) return
    this.#open.delete(id)
    const result = fieldsOrEmpty(data.result)
    const text = toolText(nonEmptyString(result.content) ?? '')
    if (data.success !== true) {
      const error = nonEmptyString(fieldsOrEmpty(data.error).message) ?? (text || 'failed')
      yield* toolEntries(head, id, copilotToolFailure(open.tool, open.input, error))
      return
    }
    const exitCode = fieldsOrEmpty(data.shellExecution).exitCode
    const uses = copilotToolUses(
      open.tool,
      open.input,
      {
        text,
        diff: nonEmptyString(result.detailedContent) ?? '',
        ...(typeof exitCode === 'number' ? { exitCode } : {}),
      },
      this.#cwd ?? '/',
    )
    for (const [index, use] of uses.entries()) {
      const entries = [...toolEntries(head, index === 0 ? id : `${id}#${index}`, use)]
      yield* open.tool === 'task' ? entries.slice(1) : entries
    }
  }
}

/** Hooks may add to what the model gets. */
function toolText(content: string): string {
  return content.replace(/\n\nTool "[^"\n]*" succeeded\. Additional guidance from postToolUse hooks:\n[\s\S]*$/, '')
}
