/** Calls that wait for their results, and the subagents' threads that such calls began. Both bounded: a file may be huge. */
import type { Agent } from '../../memory/event.ts'
import { type Entry, fieldsOf, type ToolCall, text } from './entry.ts'

export interface OpenCall extends ToolCall {
  agent: Agent | null
}

export interface Thread {
  agent: Agent
  lastText: string
}

export const UNKNOWN_AGENT = 'subagent'
const AGENT_TOOLS = new Set(['Agent', 'Task'])
/** A client runs a few at a time; the rest were never answered. */
const MAX_OPEN_CALLS = 256
/** A line's parent is among the last ones. */
const MAX_KNOWN_LINES = 4_096

export const isAgentTool = (tool: string): boolean => AGENT_TOOLS.has(tool)
export const agentTypeOf = (call: ToolCall): string | null => text(fieldsOf(call.input).subagent_type)

export class OpenCalls {
  readonly #calls = new Map<string, OpenCall>()

  add(id: string, call: OpenCall): void {
    this.#calls.set(id, call)
    dropOldest(this.#calls, MAX_OPEN_CALLS)
  }

  get(id: string): OpenCall | null {
    return this.#calls.get(id) ?? null
  }

  /** Its result is there. */
  take(id: string): OpenCall | null {
    const call = this.get(id)
    this.#calls.delete(id)
    return call
  }

  /** A sidechain begins with the prompt that the main agent gave its tool. */
  withPrompt(prompt: string): OpenCall | null {
    for (const call of this.#calls.values()) {
      if (isAgentTool(call.tool) && text(fieldsOf(call.input).prompt)?.trim() === prompt.trim()) return call
    }
    return null
  }
}

export class Threads {
  readonly #open: OpenCalls
  readonly #threads = new Map<string, Thread>()
  /** Lines of sidechains written before they had an agent's id: which thread a line belongs to. */
  readonly #threadOf = new Map<string, string>()

  constructor(open: OpenCalls) {
    this.#open = open
  }

  of(entry: Entry): Thread {
    const key = this.#keyOf(entry)
    if (entry.agentId === null && entry.uuid !== null) {
      this.#threadOf.set(entry.uuid, key)
      dropOldest(this.#threadOf, MAX_KNOWN_LINES)
    }
    const known = this.#threads.get(key)
    if (known !== undefined) return known
    const call = entry.kind === 'prompt' ? this.#open.withPrompt(entry.text) : this.#open.get(key)
    const thread = { agent: { id: key, type: (call && agentTypeOf(call)) ?? UNKNOWN_AGENT }, lastText: '' }
    this.#threads.set(key, thread)
    dropOldest(this.#threads, MAX_KNOWN_LINES)
    return thread
  }

  /** The agent is done. */
  take(key: string): Thread | undefined {
    const thread = this.#threads.get(key)
    this.#threads.delete(key)
    return thread
  }

  #keyOf(entry: Entry): string {
    if (entry.agentId !== null) return entry.agentId
    const parent = entry.parent === null ? undefined : this.#threadOf.get(entry.parent)
    if (parent !== undefined) return parent
    const call = entry.kind === 'prompt' ? this.#open.withPrompt(entry.text) : null
    return call?.id ?? entry.uuid ?? 'sidechain'
  }
}

function dropOldest(map: Map<string, unknown>, most: number): void {
  if (map.size <= most) return
  for (const key of map.keys()) {
    map.delete(key)
    return
  }
}
