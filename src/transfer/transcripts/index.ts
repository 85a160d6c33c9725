/**
 * Makes the events of a transcript (`reader.ts`), the same that the hooks report. Each event is made by the hook's `readPayload`, so that masking, bounds and exclusions are the
 * same. A line that is truncated, unknown or too long is skipped and reported to `skipped`; a file may contain several
 * sessions; subagents may be inline or in separate files.
 *
 * - A tool use becomes an event when its result is read; one without a result was never reported.
 * - A turn ends if the main agent's last entry is text and a prompt, a message of the client or the end of the file follows.
 *   After an interrupt no Stop was reported.
 * - Sidechains are subagents: their prompts are not the user's, and their tool uses carry the agent.
 */
import { statSync } from 'node:fs'
import { basename } from 'node:path'
import { cleanEvent } from '../../domain/clean-event.ts'
import { type Agent, type MemoryEvent, transcriptEndId, transcriptId, transcriptStartId } from '../../domain/event.ts'
import { withBoundedNames } from '../../domain/event-names.ts'
import type { Usage } from '../../domain/observation.ts'
import { isExcludedDirectory, type Project } from '../../domain/project.ts'
import {
  type AssistantEntry,
  fieldsOrEmpty,
  nonEmptyString,
  type ToolCall,
  type ToolResult,
  type TranscriptEntry,
  type TranscriptEntryHead,
} from '../../domain/transcript-entry.ts'
import { TurnWords } from '../../domain/turn-words.ts'
import { type PayloadOptions, readPayload } from '../../hook/payload.ts'
import { type OnLine, readEntries } from './lines.ts'
import { transcriptReader } from './readers.ts'

const CLAUDE_CODE = 'claude-code'

/** Tokens of the request that made a tool use. */
export interface ToolUsage {
  session: string
  toolUse: string
  usage: Usage
  /** Tool uses of one message share its usage. */
  message: string | null
}

export interface TranscriptOptions {
  settings: PayloadOptions['settings']
  /** Whose transcript it is; Claude Code's by default. Text in chunks is always read as one of Claude Code. */
  client?: string
  /** The transcript's path, if it is not given as a file. */
  transcriptPath?: string | null
  /**
   * The project to which the session belongs wherever its events happened, and its main directory, where it counts as
   * started. Without it each event has the project of its directory.
   */
  filed?: { project: Project; cwd: string }
  /** Called for each tool use with the tokens of the request that made it, if the transcript has them. */
  usage?: (usage: ToolUsage) => void
  skipped?: (line: number, reason: string) => void
}

/** `source`: a file path, or the text of a transcript in chunks; then separate files of subagents are not read. */
export async function* readTranscriptEvents(
  source: string | AsyncIterable<string>,
  options: TranscriptOptions,
): AsyncGenerator<MemoryEvent> {
  const transcriptPath = typeof source === 'string' ? source : (options.transcriptPath ?? null)
  const readers = new Map<string, SessionReader>()
  const undated = typeof source === 'string' ? modifiedAt(source) : Date.now()
  let session = transcriptPath === null ? null : basename(transcriptPath, '.jsonl')
  const onLine: OnLine = ({ number }, problem) => {
    if (problem !== null) options.skipped?.(number, problem)
  }
  const reader = transcriptReader(options.client ?? CLAUDE_CODE)
  const entries = typeof source === 'string' ? reader.entries(source, onLine) : readEntries(source, onLine)
  for await (const entry of entries) {
    session = entry.session ?? session
    if (session === null) continue
    const made = readers.get(session) ?? new SessionReader(session, entry.at ?? undated, { ...options, transcriptPath })
    readers.set(session, made)
    yield* made.events(entry)
  }
  for (const made of readers.values()) yield* made.end()
}

/** Time of lines without one at the beginning of a file: the session is not newer than its file. */
function modifiedAt(file: string): number {
  return Math.floor(statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? Date.now())
}

/** Until a line has a `cwd`. */
const UNKNOWN_DIRECTORY = '/'
const REJECTED = /\[Request interrupted by user|The user doesn't want to (?:proceed|take this action)/

/** Turns the entries of one session, in file order, into events. */
class SessionReader {
  readonly #session: string
  readonly #options: TranscriptOptions
  readonly #open: OpenCalls = new Map()
  readonly #threads = new AgentThreads(this.#open)
  readonly #reported = new Set<string>()
  #at: number
  #cwd = UNKNOWN_DIRECTORY
  #promptId: string | null = null
  #started = false
  #private = false
  /** Agents that were started or seen in private turns: they may report in a later turn. */
  readonly #privateAgents = new Set<string>()
  /** The main agent's last message, with all of its text; null if a prompt, a call, a result or an interrupt came later. */
  #lastMessage: AssistantEntry | null = null
  /** What the main agent wrote in this turn. */
  readonly #words = new TurnWords()
  #lastLine: string | number = 'unknown'
  #boundary = false

  /** `at`: time of the first entry. */
  constructor(session: string, at: number, options: TranscriptOptions) {
    this.#session = session
    this.#at = at
    this.#options = options
  }

  *events(entry: TranscriptEntry): Generator<MemoryEvent> {
    if (entry.kind === 'session_meta') return
    if (!entry.sidechain) {
      // A prompt first ends the turn before it: that Stop has the time of the last entry.
      if (entry.kind !== 'prompt' || !this.#started) this.#at = entry.at ?? this.#at
      this.#cwd = entry.cwd ?? this.#cwd
      this.#lastLine = entryLineId(entry)
    }
    if (!this.#started) {
      this.#started = true
      const cwd = this.#options.filed?.cwd ?? this.#cwd
      yield* this.#event('SessionStart', { source: 'startup', cwd }, transcriptStartId(this.#session))
    }
    if (entry.sidechain) {
      yield* this.#sidechain(entry)
      return
    }
    switch (entry.kind) {
      case 'prompt':
        yield* this.#endTurn()
        // Words of a turn that was interrupted.
        if (entry.duringTurn !== true) this.#words.take(false)
        this.#promptId = entry.promptId
        this.#at = entry.at ?? this.#at
        yield* this.#event('UserPromptSubmit', { prompt: entry.text }, entryEventId('prompt', entry))
        return
      case 'interrupt':
        this.#lastMessage = null
        return
      case 'client_message':
        yield* this.#endTurn()
        return
      case 'assistant':
        this.#recordMessage(entry)
        this.#recordCalls(entry, null)
        return
      case 'results':
        this.#lastMessage = null
        for (const result of entry.results) yield* this.#toolResult(result)
        return
      case 'compact':
        this.#boundary = true
        yield* this.#event('PreCompact', { trigger: entry.trigger ?? 'unknown' }, entryEventId('compact', entry))
        return
      case 'compact_summary':
        // Clients before about 1.0.60 wrote no boundary.
        if (!this.#boundary) yield* this.#event('PreCompact', { trigger: 'unknown' }, entryEventId('compact', entry))
        this.#boundary = false
    }
  }

  *end(): Generator<MemoryEvent> {
    yield* this.#endTurn()
    yield* this.#cutTurn()
    if (this.#started)
      yield* this.#event('SessionEnd', { reason: 'other' }, transcriptEndId(this.#session, this.#lastLine))
  }

  #recordMessage(entry: AssistantEntry): void {
    const before = this.#lastMessage
    const continues = before !== null && before.message !== null && before.message === entry.message
    const text = continues ? `${before.text}\n${entry.text}` : entry.text
    // The turn may end in another directory.
    this.#words.add(entry, !isExcludedDirectory(this.#cwd, this.#options.settings.CLAUDE_MEM_EXCLUDED_PROJECTS))
    this.#lastMessage = entry.calls.length > 0 ? null : { ...entry, text }
  }

  *#endTurn(): Generator<MemoryEvent> {
    const message = this.#lastMessage
    this.#lastMessage = null
    if (message === null) return
    const { text, uuid, failed } = message
    const id = transcriptId('stop', uuid ?? this.#at)
    const words = this.#words.take(true)
    // When it was said: commands of the client may come later.
    const last = this.#at
    this.#at = message.at ?? last
    if (failed) yield* this.#event('StopFailure', { error: text }, id, words)
    else yield* this.#event('Stop', { last_assistant_message: text }, id, words)
    this.#at = last
  }

  /** A turn that was cut off has no closing message, but the words before it. */
  *#cutTurn(): Generator<MemoryEvent> {
    const words = this.#words.take(false)
    if (words.length === 0) return
    for (const event of this.#event('Stop', {}, transcriptId('cut', this.#lastLine), words)) {
      yield event.kind === 'turn_end' ? { ...event, lastMessage: null } : event
    }
  }

  #recordCalls(entry: AssistantEntry, agent: Agent | null): void {
    for (const call of entry.calls) {
      if (call.id === null) continue
      // Clients without agent ids: an agent is known by the call that started it.
      if (this.#private) this.#addPrivateAgent(call.id)
      this.#open.set(call.id, { ...call, agent })
      dropOldest(this.#open, MAX_OPEN_CALLS)
      if (entry.usage === null) continue
      this.#options.usage?.({ session: this.#session, toolUse: call.id, usage: entry.usage, message: entry.message })
    }
  }

  *#toolResult(result: ToolResult): Generator<MemoryEvent> {
    const call = this.#open.get(result.id)
    if (call === undefined) return
    this.#open.delete(result.id)
    if (this.#private && isAgentTool(call.tool)) {
      this.#addPrivateAgent(nonEmptyString(fieldsOrEmpty(result.response).agentId))
    }
    const fields = { tool_name: call.tool, tool_input: call.input, tool_use_id: result.id, ...agentFields(call.agent) }
    if (result.error) {
      const error = result.text.replace(/^<tool_use_error>([\s\S]*)<\/tool_use_error>$/, '$1')
      yield* this.#event('PostToolUseFailure', { ...fields, error, is_interrupt: REJECTED.test(error) }, null)
      return
    }
    if (isAgentTool(call.tool)) yield* this.#agentEnd(call, result)
    const duration = fieldsOrEmpty(result.response)
    const durationMs = duration.totalDurationMs ?? duration.durationMs ?? null
    yield* this.#event('PostToolUse', { ...fields, tool_response: result.response, duration_ms: durationMs }, null)
  }

  *#agentEnd(call: OpenCall, result: ToolResult): Generator<MemoryEvent> {
    const response = fieldsOrEmpty(result.response)
    // An agent in the background has only been started, not ended.
    if (response.status === 'async_launched') return
    const key = nonEmptyString(response.agentId) ?? result.id
    const thread = this.#threads.take(key)
    const agent = thread?.agent ?? {
      id: key,
      type: requestedAgentType(call) ?? nonEmptyString(response.agentType) ?? UNKNOWN_AGENT,
    }
    const last = thread?.lastText || result.text
    if (last === '') return
    const fields = { ...agentFields(agent), last_assistant_message: last }
    yield* this.#event('SubagentStop', fields, transcriptId('agent', result.id))
  }

  *#sidechain(entry: TranscriptEntry): Generator<MemoryEvent> {
    const thread = this.#threads.threadOf(entry)
    this.#at = Math.max(this.#at, entry.at ?? 0)
    if (entry.kind === 'assistant') {
      if (entry.text !== '') thread.lastText = entry.text
      this.#recordCalls(entry, thread.agent)
    } else if (entry.kind === 'results') {
      for (const result of entry.results) yield* this.#toolResult(result)
    }
  }

  /** `ofTranscript`: its id; null for a tool use, which has the id that a hook gives it. `words`: of a turn that ends. No payload of a client has them. */
  *#event(
    hook: string,
    fields: Record<string, unknown>,
    ofTranscript: string | null,
    words: readonly string[] = [],
  ): Generator<MemoryEvent> {
    const payload = {
      session_id: this.#session,
      transcript_path: this.#options.transcriptPath,
      cwd: this.#cwd,
      prompt_id: this.#promptId,
      hook_event_name: hook,
      ...fields,
    }
    const { settings, client = CLAUDE_CODE } = this.#options
    const reading = readPayload(JSON.stringify(payload), { settings, at: this.#at, client })
    if (reading.type === 'ignored') return
    const id = ofTranscript ?? reading.event.id
    if (this.#reported.has(id) || !this.#mayReport(reading.event)) return
    this.#reported.add(id)
    const event = withoutLaterWords(this.#withWords(reading.event, words), hook)
    yield withBoundedNames({ ...event, project: this.#options.filed?.project ?? event.project, id })
  }

  #withWords(event: MemoryEvent, words: readonly string[]): MemoryEvent {
    if (event.kind !== 'turn_end' || words.length === 0) return event
    const cleaned = cleanEvent({ ...event, words: [...words] }, this.#options.settings, this.#at)
    return cleaned.type === 'event' ? cleaned.event : event
  }

  /** Like the hook: a turn whose whole prompt is private is not observed, nor are its agents later. */
  #mayReport(event: MemoryEvent): boolean {
    if (event.kind === 'session_start' || event.kind === 'session_end') return true
    if (event.kind === 'prompt') {
      this.#private = event.private
      return true
    }
    const agent = event.agent?.id ?? null
    if (!this.#private && (agent === null || !this.#privateAgents.has(agent))) return true
    this.#addPrivateAgent(agent)
    return false
  }

  #addPrivateAgent(agent: string | null): void {
    if (agent !== null) this.#privateAgents.add(agent)
  }
}

const agentFields = (agent: Agent | null) => (agent === null ? {} : { agent_id: agent.id, agent_type: agent.type })
/**
 * Tool uses have the client's id, as in the hook. The hook's id of a prompt or a Stop is a hash of its payload, which a
 * transcript does not contain: these get a different id, the same every time the file is read.
 */
const entryEventId = (what: string, entry: TranscriptEntryHead): string => transcriptId(what, entryLineId(entry))

/** Identifies a line within its session. */
export const entryLineId = (entry: TranscriptEntryHead): string | number => entry.uuid ?? entry.at ?? 'unknown'

interface OpenCall extends ToolCall {
  agent: Agent | null
}

interface AgentThread {
  agent: Agent
  lastText: string
}

const UNKNOWN_AGENT = 'subagent'
const AGENT_TOOLS = new Set(['Agent', 'Task'])
/** A client runs a few calls at a time; the rest never got a result. */
export const MAX_OPEN_CALLS = 256
/** A line's parent is one of the lines shortly before it. */
const MAX_KNOWN_LINES = 4_096

const isAgentTool = (tool: string): boolean => AGENT_TOOLS.has(tool)
const requestedAgentType = (call: ToolCall): string | null => nonEmptyString(fieldsOrEmpty(call.input).subagent_type)

/** Calls without a result yet, by id. */
type OpenCalls = Map<string, OpenCall>

/** A sidechain begins with the prompt that the main agent passed to its tool. */
function callWithPrompt(calls: OpenCalls, prompt: string): OpenCall | undefined {
  return [...calls.values()].find(
    ({ tool, input }) => isAgentTool(tool) && nonEmptyString(fieldsOrEmpty(input).prompt)?.trim() === prompt.trim(),
  )
}

class AgentThreads {
  readonly #open: OpenCalls
  readonly #threads = new Map<string, AgentThread>()
  /** Thread of each sidechain line, for clients that did not write an agent id yet. */
  readonly #threadByLine = new Map<string, string>()

  constructor(open: OpenCalls) {
    this.#open = open
  }

  threadOf(entry: TranscriptEntry): AgentThread {
    const key = this.#keyOf(entry)
    if (entry.agentId === null && entry.uuid !== null) {
      this.#threadByLine.set(entry.uuid, key)
      dropOldest(this.#threadByLine, MAX_KNOWN_LINES)
    }
    const known = this.#threads.get(key)
    if (known !== undefined) return known
    const call = entry.kind === 'prompt' ? callWithPrompt(this.#open, entry.text) : this.#open.get(key)
    const thread = { agent: { id: key, type: (call && requestedAgentType(call)) ?? UNKNOWN_AGENT }, lastText: '' }
    this.#threads.set(key, thread)
    dropOldest(this.#threads, MAX_KNOWN_LINES)
    return thread
  }

  take(key: string): AgentThread | undefined {
    const thread = this.#threads.get(key)
    this.#threads.delete(key)
    return thread
  }

  #keyOf(entry: TranscriptEntry): string {
    if (entry.agentId !== null) return entry.agentId
    const parent = entry.parent === null ? undefined : this.#threadByLine.get(entry.parent)
    if (parent !== undefined) return parent
    const call = entry.kind === 'prompt' ? callWithPrompt(this.#open, entry.text) : undefined
    return call?.id ?? entry.uuid ?? 'sidechain'
  }
}

export function dropOldest(map: Map<string, unknown>, most: number): void {
  if (map.size <= most) return
  for (const key of map.keys()) {
    map.delete(key)
    return
  }
}

/** A turn that failed has no closing words: those at the end of the transcript, which a hook would read, are of a later turn. */
function withoutLaterWords(event: MemoryEvent, hook: string): MemoryEvent {
  return event.kind === 'turn_end' && hook === 'StopFailure' ? { ...event, lastMessage: null } : event
}
