/**
 * The transcripts of Codex: `$CODEX_HOME/sessions/YYYY/MM/DD/rollout-<time>-<session>.jsonl`, lines with `timestamp`, `type`
 * and `payload`. What happened is in `item_completed` events, with exit codes and diffs; versions before them have messages
 * as events, and tool calls with their outputs as `response_item`. A subagent has a file of its own, of which only the first
 * line is read: its parent's has the task and the result.
 */
import { join } from 'node:path'
import {
  fieldsOrEmpty,
  nonEmptyString,
  type TranscriptEntry,
  type TranscriptEntryHead,
} from '../../domain/transcript-entry.ts'
import { codexShellUse, codexSubagentUse, codexToolUses } from '../../hook/clients/codex.ts'
import {
  deleteUse,
  editUse,
  mcpToolName,
  toolFailure,
  toolUse,
  unifiedDiffHunks,
  writeUse,
} from '../../hook/clients/tool-shapes.ts'
import { parseJsonObject } from '../../hook/payload.ts'
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

type Fields = Record<string, unknown>

export const codexTranscripts: TranscriptReader = {
  client: 'codex',
  find: ({ env, home }) => {
    const found: FoundTranscripts = { files: [], problems: [] }
    const sessions = join(env.CODEX_HOME || join(home, '.codex'), 'sessions')
    for (const year of directoriesIn(sessions, found)) {
      for (const month of directoriesIn(year, found)) {
        for (const day of directoriesIn(month, found)) {
          for (const name of namesIn(day, found)) {
            if (/^rollout-.*\.jsonl$/.test(name)) addTranscript('codex', join(day, name), found)
          }
        }
      }
    }
    return found
  },
  recognises: (firstLine) => /^\{[^{]*"type":"session_meta"/.test(firstLine),
  entries: readCodexEntries,
}

async function* readCodexEntries(file: string, onLine: OnLine): AsyncGenerator<TranscriptEntry> {
  const reader = new CodexLines()
  for await (const line of readLines(readFileChunks(file))) {
    const value = parseLine(line, onLine)
    if (value !== null) yield* reader.entries(value, line.number)
  }
  yield* reader.unfinished()
}

/** Most calls without an output that are remembered. */
const MAX_OPEN = 256

class CodexLines {
  #session: string | null = null
  #cwd: string | null = null
  #turn: string | null = null
  #isSubagent = false
  readonly #calls = new Map<string, { name: string; input: unknown }>()
  /** Subagents that work, by their ids: the call that started each. */
  readonly #agents = new Map<string, { head: TranscriptEntryHead; call: string; input: Fields }>()
  /** Calls and messages that an `item_completed` has told. */
  readonly #told = new Set<string>()

  /** A resumed session repeats its first line, and a subagent that knows what its parent knows has a copy of its parent's. */
  #readMeta(meta: Fields, headOf: (session: string) => TranscriptEntryHead): TranscriptEntry | null {
    const id = nonEmptyString(meta.id)
    const session = nonEmptyString(meta.session_id) ?? id
    if (this.#session !== null || session === null) return null
    const thread = nonEmptyString(meta.thread_source) ?? 'user'
    this.#isSubagent =
      (id !== null && session !== id) || thread !== 'user' || fieldsOrEmpty(meta.source).subagent !== undefined
    this.#session = session
    this.#cwd = nonEmptyString(meta.cwd)
    const git = fieldsOrEmpty(meta.git)
    return {
      ...headOf(session),
      kind: 'session_meta',
      remote: nonEmptyString(git.repository_url),
      subagentOf: this.#isSubagent ? (nonEmptyString(meta.parent_thread_id) ?? session) : null,
    }
  }

  *entries({ timestamp, type, payload }: Fields, line: number): Generator<TranscriptEntry> {
    const fields = fieldsOrEmpty(payload)
    const at = Date.parse(nonEmptyString(timestamp) ?? '')
    const headOf = (session: string): TranscriptEntryHead => ({
      session,
      uuid: `${session}:${line}`,
      parent: null,
      at: at >= 0 ? at : null,
      cwd: this.#cwd,
      promptId: this.#turn,
      sidechain: false,
      agentId: null,
    })
    const meta = type === 'session_meta' ? this.#readMeta(fields, headOf) : null
    if (meta !== null) yield meta
    if (type === 'turn_context') this.#cwd = nonEmptyString(fields.cwd) ?? this.#cwd
    if (this.#isSubagent || this.#session === null) return
    this.#turn = nonEmptyString(fields.turn_id) ?? this.#turn
    const head = headOf(this.#session)
    if (type === 'event_msg') yield* this.#event(head, fields)
    else if (type === 'response_item') yield* this.#responseItem(head, fields)
    else if (type === 'compacted') yield { ...head, kind: 'compact', trigger: 'auto' }
  }

  *#event(head: TranscriptEntryHead, event: Fields): Generator<TranscriptEntry> {
    switch (event.type) {
      case 'item_completed':
        yield* this.#item(head, fieldsOrEmpty(event.item))
        return
      case 'user_message':
        yield* this.#prompt(head, stringValue(event.message))
        return
      case 'agent_message':
        yield* this.#answer(head, stringValue(event.message), null)
        return
      case 'turn_aborted':
        yield { ...head, kind: 'interrupt' }
    }
  }

  *#item(head: TranscriptEntryHead, item: Fields): Generator<TranscriptEntry> {
    const id = nonEmptyString(item.id) ?? String(head.uuid)
    switch (item.type) {
      case 'UserMessage':
        yield* this.#prompt(head, contentText(item.content))
        return
      case 'AgentMessage':
        yield* this.#answer(head, contentText(item.content), id)
        return
      case 'CommandExecution': {
        const code = typeof item.exit_code === 'number' ? item.exit_code : null
        const use = codexShellUse(commandLine(item.command), stringValue(item.aggregated_output), code)
        yield* this.#use(head, id, [use])
        return
      }
      case 'FileChange':
        yield* this.#use(head, id, fileChangeUses(item))
        return
      case 'McpToolCall':
        yield* this.#use(head, id, [mcpUse(item)])
    }
  }

  *#prompt(head: TranscriptEntryHead, text: string): Generator<TranscriptEntry> {
    if (text.trim() !== '' && !CLIENT_TEXT.test(text)) yield { ...head, kind: 'prompt', text }
  }

  *#answer(head: TranscriptEntryHead, text: string, id: string | null): Generator<TranscriptEntry> {
    if (text === '' || (id !== null && this.#told.has(id))) return
    if (id !== null) this.#told.add(id)
    yield { ...head, kind: 'assistant', message: id, text, calls: [], usage: null, failed: false }
  }

  *#use(head: TranscriptEntryHead, id: string, uses: readonly Fields[]): Generator<TranscriptEntry> {
    if (this.#told.has(id)) return
    this.#told.add(id)
    for (const [index, use] of uses.entries()) yield* toolEntries(head, index === 0 ? id : `${id}:${index + 1}`, use)
  }

  *#agentEnd(head: TranscriptEntryHead, agent: string, report: string): Generator<TranscriptEntry> {
    const started = this.#agents.get(agent)
    if (started === undefined) return
    this.#agents.delete(agent)
    yield* this.#use(head, started.call, [codexSubagentUse(started.input, report)])
  }

  /** Subagents whose results nothing waited for. */
  *unfinished(): Generator<TranscriptEntry> {
    for (const [agent, { head }] of this.#agents) yield* this.#agentEnd(head, agent, '')
  }

  /** What no `item_completed` told: older versions, and tools that have no item. */
  *#responseItem(head: TranscriptEntryHead, item: Fields): Generator<TranscriptEntry> {
    if (item.type === 'agent_message') {
      const text = contentText(item.content)
      const heading = FINAL_ANSWER.exec(text)?.[0]
      if (heading !== undefined) yield* this.#agentEnd(head, stringValue(item.author), text.slice(heading.length))
    }
    const call = nonEmptyString(item.call_id)
    if (call === null) return
    if (item.type === 'function_call' || item.type === 'custom_tool_call' || item.type === 'local_shell_call') {
      // A model that counts its calls uses an id again.
      this.#told.delete(call)
      this.#calls.set(call, { name: stringValue(item.name) || 'shell', input: callInput(item) })
      if (this.#calls.size > MAX_OPEN) this.#calls.delete([...this.#calls.keys()][0] ?? '')
      return
    }
    const open = this.#calls.get(call)
    if (open === undefined || !String(item.type).endsWith('_output')) return
    this.#calls.delete(call)
    const response = outputValue(item.output)
    if (open.name === 'spawn_agent') {
      const { agent_id, task_name } = jsonFields(response)
      const agent = nonEmptyString(agent_id) ?? nonEmptyString(task_name) ?? call
      this.#agents.set(agent, { head, call, input: fieldsOrEmpty(open.input) })
      return
    }
    if (/wait_agent$/.test(open.name)) {
      for (const [agent, state] of Object.entries(fieldsOrEmpty(jsonFields(response).status))) {
        const { completed } = fieldsOrEmpty(state)
        if (typeof completed === 'string') yield* this.#agentEnd(head, agent, completed)
      }
      return
    }
    const payload = { tool_name: open.name, tool_input: open.input, tool_response: response, cwd: this.#cwd }
    yield* this.#use(head, call, codexToolUses(payload))
  }
}

/** What the client itself puts in as the user. */
const CLIENT_TEXT = /^\s*<(?:environment_context|user_instructions|permissions instructions|turn_aborted)>/

/** Before the report of a subagent that is addressed by its task (seen with 0.147). */
const FINAL_ANSWER = /^Message Type: FINAL_ANSWER\n(?:[^\n]*\n){0,4}?Payload:\n/

const stringValue = (value: unknown): string => (typeof value === 'string' ? value : '')

function contentText(content: unknown): string {
  if (!Array.isArray(content)) return stringValue(content)
  return content
    .map((part) => stringValue(fieldsOrEmpty(part).text))
    .filter((text) => text !== '')
    .join('\n')
}

/** `["/bin/bash", "-lc", "npm test"]` is the command of a shell. */
function commandLine(command: unknown): string {
  if (!Array.isArray(command)) return stringValue(command)
  const words = command.map(String)
  return words.length === 3 && /^-\w*c$/.test(words[1] ?? '') ? (words[2] ?? '') : words.join(' ')
}

function callInput(item: Fields): unknown {
  if (item.type === 'custom_tool_call') return { command: item.input }
  if (item.type === 'local_shell_call') return item.action
  try {
    return JSON.parse(stringValue(item.arguments))
  } catch {
    return { input: item.arguments }
  }
}

function jsonFields(text: unknown): Fields {
  return parseJsonObject(stringValue(text)) ?? {}
}

/** Text, or JSON with an `output` in older versions. */
function outputValue(output: unknown): unknown {
  if (Array.isArray(output)) return contentText(output)
  const text = stringValue(output)
  if (!text.startsWith('{')) return text
  try {
    const { output: inner, metadata } = fieldsOrEmpty(JSON.parse(text))
    const code = fieldsOrEmpty(metadata).exit_code
    return typeof code === 'number' ? `Exit code: ${code}\nOutput:\n${stringValue(inner)}` : text
  } catch {
    return text
  }
}

function fileChangeUses({ changes, status, stderr, stdout }: Fields): Fields[] {
  const files = Object.entries(fieldsOrEmpty(changes))
  if (status === 'failed' || status === 'declined') {
    const [path = ''] = files[0] ?? []
    return [toolFailure('Edit', { file_path: path }, stringValue(stderr) || stringValue(stdout) || String(status))]
  }
  return files.map(([path, change]) => {
    const { type, content, unified_diff, move_path } = fieldsOrEmpty(change)
    if (type === 'add') return writeUse({ filePath: path, content: stringValue(content), originalFile: null })
    if (type === 'delete') return deleteUse(path)
    return editUse({
      filePath: nonEmptyString(move_path) ?? path,
      hunks: unifiedDiffHunks(stringValue(unified_diff)),
    })
  })
}

function mcpUse({ server, tool, arguments: input, result, status, error }: Fields): Fields {
  const name = mcpToolName(stringValue(server), stringValue(tool))
  if (status !== 'failed') return toolUse(name, input, result)
  return toolFailure(name, input, stringValue(error) || stringValue(fieldsOrEmpty(error).message) || 'failed')
}
