/**
 * One session's entries, in the order of the file, become the events that its hooks would have reported. Each is made
 * by the hook's own `readPayload`, so masks, bounds and exclusions are the same.
 *
 * - A tool use is an event once its result is there; one that never ended was never reported.
 * - A turn ends where the last thing the main agent did was to speak, and a prompt or the end of the file follows. After
 *   an interrupt no Stop was reported.
 * - Sidechains are subagents: their prompts are no prompts, their tool uses carry the agent.
 */
import type { Agent, MemoryEvent } from '../../memory/event.ts'
import type { Usage } from '../../memory/observation.ts'
import { endId, startId, transcriptId } from '../../memory/transcript-ids.ts'
import { type ReadOptions, readPayload } from '../payload.ts'
import { type Entry, type EntryHead, fieldsOf, type ToolResult, text } from './entry.ts'
import { agentTypeOf, isAgentTool, type OpenCall, OpenCalls, Threads, UNKNOWN_AGENT } from './threads.ts'

/** What the main agent spent on the request that made a tool use. */
export interface ToolUsage {
  session: string
  toolUse: string
  usage: Usage
  /** Tool uses of one message share its usage. */
  message: string | null
}

export interface SessionOptions {
  settings: ReadOptions['settings']
  client?: string
  transcriptPath: string | null
  usage(usage: ToolUsage): void
}

/** Before the first line that knows better. */
const UNKNOWN_DIRECTORY = '/'
const REJECTED = /\[Request interrupted by user|The user doesn't want to (?:proceed|take this action)/

export class SessionReader {
  readonly #session: string
  readonly #options: SessionOptions
  readonly #open = new OpenCalls()
  readonly #threads = new Threads(this.#open)
  readonly #reported = new Set<string>()
  #at: number
  #cwd = UNKNOWN_DIRECTORY
  #promptId: string | null = null
  #started = false
  #private = false
  #inTurn = false
  #lastText = ''
  #lastMessage: string | null = null
  #lastUuid: string | null = null
  #lastFailed = false
  #lastLine: string | number = 'unknown'
  #boundary = false

  constructor(session: string, at: number, options: SessionOptions) {
    this.#session = session
    this.#at = at
    this.#options = options
  }

  *take(entry: Entry): Generator<MemoryEvent> {
    if (!entry.sidechain) {
      // A prompt closes the turn before it: that Stop has the time of what was said last.
      if (entry.kind !== 'prompt' || !this.#started) this.#at = entry.at ?? this.#at
      this.#cwd = entry.cwd ?? this.#cwd
      this.#lastLine = lineOf(entry)
    }
    if (!this.#started) {
      this.#started = true
      yield* this.#event('SessionStart', { source: 'startup' }, startId(this.#session))
    }
    if (entry.sidechain) {
      yield* this.#sidechain(entry)
      return
    }
    switch (entry.kind) {
      case 'prompt':
        yield* this.#endTurn()
        this.#promptId = entry.promptId
        this.#at = entry.at ?? this.#at
        this.#inTurn = true
        yield* this.#event('UserPromptSubmit', { prompt: entry.text }, idOf('prompt', entry))
        return
      case 'interrupt':
        this.#inTurn = false
        this.#lastText = ''
        return
      case 'assistant':
        this.#speak(entry)
        this.#call(entry, null)
        return
      case 'results':
        this.#lastText = ''
        for (const result of entry.results) yield* this.#finish(result)
        return
      case 'compact':
        this.#boundary = true
        yield* this.#event('PreCompact', { trigger: entry.trigger ?? 'unknown' }, idOf('compact', entry))
        return
      case 'compact_summary':
        // Clients before 1.0.60 or so wrote no boundary.
        if (!this.#boundary) yield* this.#event('PreCompact', { trigger: 'unknown' }, idOf('compact', entry))
        this.#boundary = false
    }
  }

  *end(): Generator<MemoryEvent> {
    yield* this.#endTurn()
    if (this.#started) yield* this.#event('SessionEnd', { reason: 'other' }, endId(this.#session, this.#lastLine))
  }

  #speak(entry: Extract<Entry, { kind: 'assistant' }>): void {
    const same = entry.message !== null && entry.message === this.#lastMessage
    if (entry.calls.length > 0) this.#lastText = ''
    else this.#lastText = same && this.#lastText !== '' ? `${this.#lastText}\n${entry.text}` : entry.text
    this.#inTurn = true
    this.#lastMessage = entry.message
    this.#lastUuid = entry.uuid
    this.#lastFailed = entry.failed
  }

  *#endTurn(): Generator<MemoryEvent> {
    const said = this.#lastText
    const open = this.#inTurn
    this.#inTurn = false
    this.#lastText = ''
    if (!open || said === '') return
    const id = transcriptId('stop', this.#lastUuid ?? this.#at)
    if (this.#lastFailed) yield* this.#event('StopFailure', { error: said }, id)
    else yield* this.#event('Stop', { last_assistant_message: said }, id)
  }

  #call(entry: Extract<Entry, { kind: 'assistant' }>, agent: Agent | null): void {
    for (const call of entry.calls) {
      if (call.id === null) continue
      this.#open.add(call.id, { ...call, agent })
      if (entry.usage === null) continue
      this.#options.usage({ session: this.#session, toolUse: call.id, usage: entry.usage, message: entry.message })
    }
  }

  *#finish(result: ToolResult): Generator<MemoryEvent> {
    const call = this.#open.take(result.id)
    if (call === null) return
    const fields = { tool_name: call.tool, tool_input: call.input, tool_use_id: result.id, ...agentFields(call.agent) }
    if (result.error) {
      const error = result.text.replace(/^<tool_use_error>([\s\S]*)<\/tool_use_error>$/, '$1')
      yield* this.#event('PostToolUseFailure', { ...fields, error, is_interrupt: REJECTED.test(error) }, result.id)
      return
    }
    if (isAgentTool(call.tool)) yield* this.#agentDone(call, result)
    const duration = fieldsOf(result.response)
    const durationMs = duration.totalDurationMs ?? duration.durationMs ?? null
    yield* this.#event('PostToolUse', { ...fields, tool_response: result.response, duration_ms: durationMs }, result.id)
  }

  *#agentDone(call: OpenCall, result: ToolResult): Generator<MemoryEvent> {
    const response = fieldsOf(result.response)
    // An agent in the background has only been started.
    if (response.status === 'async_launched') return
    const key = text(response.agentId) ?? result.id
    const thread = this.#threads.take(key)
    const agent = thread?.agent ?? { id: key, type: agentTypeOf(call) ?? text(response.agentType) ?? UNKNOWN_AGENT }
    const last = thread?.lastText || result.text
    if (last === '') return
    const fields = { ...agentFields(agent), last_assistant_message: last }
    yield* this.#event('SubagentStop', fields, transcriptId('agent', result.id))
  }

  *#sidechain(entry: Entry): Generator<MemoryEvent> {
    const thread = this.#threads.of(entry)
    this.#at = Math.max(this.#at, entry.at ?? 0)
    if (entry.kind === 'assistant') {
      if (entry.text !== '') thread.lastText = entry.text
      this.#call(entry, thread.agent)
    } else if (entry.kind === 'results') {
      for (const result of entry.results) yield* this.#finish(result)
    }
  }

  *#event(hook: string, fields: Record<string, unknown>, id: string): Generator<MemoryEvent> {
    const payload = {
      session_id: this.#session,
      transcript_path: this.#options.transcriptPath,
      cwd: this.#cwd,
      prompt_id: this.#promptId,
      hook_event_name: hook,
      ...fields,
    }
    const { settings, client = 'claude-code' } = this.#options
    const reading = readPayload(JSON.stringify(payload), { settings, client, at: this.#at })
    if (reading.type === 'ignored' || this.#reported.has(id) || !this.#mayLeave(reading.event)) return
    this.#reported.add(id)
    yield { ...reading.event, id }
  }

  /** As the hook does: a turn whose whole prompt is private is not observed. */
  #mayLeave(event: MemoryEvent): boolean {
    if (event.kind === 'prompt') this.#private = event.private
    return event.kind === 'prompt' || event.kind === 'session_start' || event.kind === 'session_end' || !this.#private
  }
}

const agentFields = (agent: Agent | null) => (agent === null ? {} : { agent_id: agent.id, agent_type: agent.type })
/**
 * Tool uses have the client's id, as in the hook. The hook's id of a prompt or a Stop is made of its whole payload, which
 * no transcript has: these have ids of their own, the same every time the file is read.
 */
const idOf = (what: string, entry: EntryHead): string => transcriptId(what, lineOf(entry))

/** What tells a line from the others of its session. */
export const lineOf = (entry: EntryHead): string | number => entry.uuid ?? entry.at ?? 'unknown'
