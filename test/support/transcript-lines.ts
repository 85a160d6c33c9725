/** Lines of a transcript as Claude Code 2.1 writes them, one after the other, a second apart. */

interface LineOptions {
  session?: string
  cwd?: string
  /** Time of the first line, epoch ms. */
  at?: number
}

/** 2 March 2026, 10:00 UTC. */
const FIRST_AT = Date.UTC(2026, 2, 2, 10)

export class TranscriptLines {
  readonly lines: string[] = []
  readonly #options: Required<LineOptions>

  constructor(options: LineOptions = {}) {
    this.#options = { session: 's-1', cwd: '/w/shop', at: FIRST_AT, ...options }
  }

  prompt(text: string, fields: object = {}): this {
    return this.#line('user', text, fields)
  }

  /** What the agent writes, before a tool use or at the end of a turn. */
  says(text: string, fields: object = {}): this {
    return this.#line('assistant', [{ type: 'text', text }], fields)
  }

  tool(name: string, input: unknown, output: string, fields: object = {}): this {
    const id = `toolu_${this.lines.length}`
    this.#line('assistant', [{ type: 'tool_use', id, name, input }], fields)
    return this.#line('user', [{ type: 'tool_result', tool_use_id: id, content: output }], fields)
  }

  get text(): string {
    return this.lines.map((line) => `${line}\n`).join('')
  }

  #line(type: 'user' | 'assistant', content: unknown, fields: object): this {
    const { session, cwd, at } = this.#options
    const n = this.lines.length
    const message = type === 'user' ? { role: 'user', content } : { id: `msg_${n}`, role: 'assistant', content }
    const timestamp = new Date(at + n * 1_000).toISOString()
    const head = { sessionId: session, cwd, version: '2.1.197', uuid: `${session}-${n}`, timestamp, isSidechain: false }
    this.lines.push(JSON.stringify({ ...head, type, message, ...fields }))
    return this
  }
}
