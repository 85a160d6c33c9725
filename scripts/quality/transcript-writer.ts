/**
 * Lines of a transcript as Claude Code writes them under `~/.claude/projects`: one content block a line, lines of one
 * API message share its id, request and usage. Time and ids come from a seed: recording twice gives the same ones.
 */
import { shortHash } from '../../src/paths.ts'
import { Random } from '../lib/random.ts'

export type Json = string | number | boolean | null | Json[] | { [key: string]: Json | undefined }
export type Fields = { [key: string]: Json | undefined }

export interface Agent {
  id: string
  type: string
}

/** The thread of one agent: the main one or a subagent's sidechain. */
interface Thread {
  agent: Agent | null
  parent: string | null
  message: { id: string; request: string; usage: Fields } | null
  lastAssistant: string | null
}

export interface WriterOptions {
  name: string
  client: string
  cwd: string
  branch: () => string
  model?: string
}

const CHARS_PER_TOKEN = 4

export class TranscriptWriter {
  readonly session: string
  readonly random: Random
  readonly #options: WriterOptions
  readonly #lines: Fields[] = []
  #now: number
  #thread: Thread = { agent: null, parent: null, message: null, lastAssistant: null }
  #promptId: string
  /** Characters since the last request, and all before: what the usage is estimated from. */
  #fresh = 0
  #cached = 48_000

  constructor(options: WriterOptions) {
    this.#options = options
    const hash = shortHash(options.name)
    this.random = new Random(Number.parseInt(hash.slice(0, 8), 16))
    this.session = this.uuid()
    this.#promptId = this.uuid()
    this.#now = Date.UTC(2026, 2, this.random.between(2, 27), this.random.between(8, 16), this.random.between(0, 59), 7)
  }

  get now(): number {
    return this.#now
  }
  get length(): number {
    return this.#lines.length
  }
  get agent(): Agent | null {
    return this.#thread.agent
  }

  text(): string {
    return this.#lines.map((line) => `${JSON.stringify(line)}\n`).join('')
  }

  uuid(): string {
    const hex = (length: number) => Array.from({ length }, () => this.random.between(0, 15).toString(16)).join('')
    return `${hex(8)}-${hex(4)}-4${hex(3)}-${this.random.pick(['8', '9', 'a', 'b'])}${hex(3)}-${hex(12)}`
  }

  /** As Anthropic's ids look: a prefix, `01`, 22 letters and digits. */
  id(prefix: string): string {
    const alphabet = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz123456789'
    const letters = Array.from({ length: 22 }, () => alphabet[this.random.between(0, alphabet.length - 1)])
    return `${prefix}_01${letters.join('')}`
  }

  wait(leastMs: number, mostMs: number): void {
    this.#now += this.random.between(leastMs, mostMs)
  }

  /** A line of another shape than a message: snapshots, summaries, titles. */
  raw(line: Fields): void {
    this.#lines.push(line)
  }

  prompt(text: string, fields: Fields = {}): void {
    this.#promptId = this.uuid()
    this.wait(15_000, 240_000)
    this.user(text, fields)
  }

  user(content: Json, fields: Fields = {}): void {
    this.#thread.message = null
    this.#fresh += JSON.stringify(content).length
    this.#push('user', { message: { role: 'user', content }, ...fields })
  }

  toolResult(id: string, content: Json, toolUseResult: Json, isError: boolean): void {
    const block = isError
      ? { type: 'tool_result', content, is_error: true, tool_use_id: id }
      : { tool_use_id: id, type: 'tool_result', content }
    const source = this.#thread.lastAssistant ?? undefined
    this.user([block], { toolUseResult, ...(source === undefined ? {} : { sourceToolAssistantUUID: source }) })
  }

  assistant(block: Fields, stopReason: 'tool_use' | 'end_turn' | null): void {
    const written = JSON.stringify(block).length
    if (this.#thread.message === null) {
      this.wait(1_800, 9_000)
      this.#thread.message = { id: this.id('msg'), request: this.id('req'), usage: this.#usage(written) }
    } else this.wait(300, 1_500)
    const { id, request, usage } = this.#thread.message
    this.#push('assistant', {
      message: {
        model: this.#options.model ?? 'claude-opus-5-5',
        id,
        type: 'message',
        role: 'assistant',
        content: [block],
        stop_reason: stopReason,
        stop_sequence: null,
        usage,
      },
      requestId: request,
    })
    this.#thread.lastAssistant = this.#thread.parent
  }

  system(subtype: string, fields: Fields): void {
    this.#push('system', { subtype, isMeta: false, level: 'info', ...fields })
  }

  /** Everything inside belongs to a subagent: lines of a sidechain with a thread of their own. */
  async sidechain<T>(agent: Agent, work: () => Promise<T>): Promise<T> {
    const outer = this.#thread
    this.#thread = { agent, parent: null, message: null, lastAssistant: null }
    try {
      return await work()
    } finally {
      this.#thread = outer
    }
  }

  #usage(written: number): Fields {
    const fresh = Math.ceil(this.#fresh / CHARS_PER_TOKEN)
    const read = Math.ceil(this.#cached / CHARS_PER_TOKEN)
    this.#cached += this.#fresh
    this.#fresh = 0
    return {
      input_tokens: this.random.between(2, 9),
      cache_creation_input_tokens: fresh,
      cache_read_input_tokens: read,
      cache_creation: { ephemeral_5m_input_tokens: fresh, ephemeral_1h_input_tokens: 0 },
      output_tokens: Math.ceil(written / CHARS_PER_TOKEN) + this.random.between(8, 60),
      service_tier: 'standard',
    }
  }

  #push(type: string, fields: Fields): void {
    const uuid = this.uuid()
    const { agent, parent } = this.#thread
    this.#lines.push({
      parentUuid: parent,
      isSidechain: agent !== null,
      ...(agent === null ? {} : { agentId: agent.id }),
      ...(type === 'user' && this.#options.client.startsWith('2.1') ? { promptId: this.#promptId } : {}),
      userType: 'external',
      cwd: this.#options.cwd,
      sessionId: this.session,
      version: this.#options.client,
      gitBranch: this.#options.branch(),
      type,
      ...fields,
      uuid,
      timestamp: new Date(this.#now).toISOString(),
    })
    this.#thread.parent = uuid
  }
}
