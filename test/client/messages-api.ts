/**
 * The Messages API on loopback, as far as the real client needs it. It plays a script: the newest prompt of a
 * conversation names it (`[[script:main]] …`), the number of assistant messages since says which turn is next.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface ToolCall {
  name: string
  input: Record<string, unknown>
}

/** One answer of the model: tools to run, or the last words. `before`: what happens while the client waits for it. */
export type Turn = ({ tools: ToolCall[] } | { text: string }) & { before?: () => Promise<void> }
export type Scripts = Record<string, readonly Turn[]>

/** A tool that a script had the client run. */
export interface IssuedTool extends ToolCall {
  id: string
  script: string
}

export interface RecordedRequest {
  path: string
  /** The script of its conversation; null for whatever else the client asks. */
  script: string | null
  turn: number
  body: Record<string, unknown>
}

type Block = { type: 'text'; text: string } | { type: 'tool_use'; id: string; name: string; input: object }

const SCRIPT = /^\s*\[\[script:(\w+)\]\]/

export class MessagesApi {
  readonly requests: RecordedRequest[] = []
  readonly issued: IssuedTool[] = []
  readonly #server: Server
  readonly #scripts: Scripts
  #next = 0

  private constructor(scripts: Scripts) {
    this.#scripts = scripts
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch((error: unknown) => {
        response.destroy(error instanceof Error ? error : new Error(String(error)))
      })
    })
  }

  static async listen(scripts: Scripts): Promise<MessagesApi> {
    const api = new MessagesApi(scripts)
    await new Promise<void>((resolve) => api.#server.listen(0, '127.0.0.1', resolve))
    return api
  }

  get url(): string {
    const address = this.#server.address() as AddressInfo
    return `http://127.0.0.1:${address.port}`
  }

  /** A run of the client starts: what earlier ones asked is forgotten. */
  clear(): void {
    this.requests.length = 0
    this.issued.length = 0
  }

  /** What the model saw first of a script, the newest time that it was played. */
  firstRequest(script: string): RecordedRequest {
    const found = this.requestsOf(script).findLast(({ turn }) => turn === 0)
    if (found === undefined) throw new Error(`the client never asked for script ${script}`)
    return found
  }

  lastRequest(script: string): RecordedRequest {
    const found = this.requestsOf(script).at(-1)
    if (found === undefined) throw new Error(`the client never asked for script ${script}`)
    return found
  }

  requestsOf(script: string): RecordedRequest[] {
    return this.requests.filter((request) => request.script === script)
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = new URL(request.url ?? '/', 'http://localhost').pathname
    const body = parse(await readAll(request))
    const { script, turn } = placeIn(body)
    this.requests.push({ path, script, turn, body })
    if (path.endsWith('/count_tokens')) return json(response, 200, { input_tokens: 100 })
    if (!path.endsWith('/messages')) return json(response, 404, notFound(path))
    if (script !== null) await this.#scripts[script]?.[turn]?.before?.()
    const blocks = this.#blocks(script, turn, toolsOf(body))
    const message = messageOf(`msg_${++this.#next}`, String(body.model ?? 'scripted'), blocks)
    if (body.stream === true) stream(response, message)
    else json(response, 200, message)
  }

  #blocks(script: string | null, turn: number, offered: readonly OfferedTool[]): Block[] {
    if (script === null) return [{ type: 'text', text: 'ok' }]
    const next = this.#scripts[script]?.[turn]
    if (next === undefined) return [{ type: 'text', text: `script ${script} has no turn ${turn}` }]
    if ('text' in next) return [{ type: 'text', text: next.text }]
    return next.tools.map((tool) => {
      const id = `toolu_scripted_${process.pid}_${String(++this.#next).padStart(6, '0')}`
      const call = asOffered(tool, offered)
      this.issued.push({ ...call, id, script })
      return { type: 'tool_use', id, ...call }
    })
  }
}

/**
 * Requests without tools are the client's own (a title, a topic) and may quote the prompt; a memory of an earlier
 * session quotes its prompt too. The prompt itself is a text that starts with the name of its script.
 */
function placeIn(body: Record<string, unknown>): { script: string | null; turn: number } {
  const messages = toolsOf(body).length === 0 ? [] : messagesOf(body)
  const names = messages.map(({ role, content }) => (role === 'user' ? scriptNamed(content) : null))
  const at = names.findLastIndex((name) => name !== null)
  const since = messages.slice(at + 1).filter(({ role }) => role === 'assistant')
  return { script: names[at] ?? null, turn: since.length }
}

function scriptNamed(content: unknown): string | null {
  const named = textsOf(content).flatMap((text) => SCRIPT.exec(text)?.[1] ?? [])
  return named.at(-1) ?? null
}

function messagesOf(body: Record<string, unknown>): { role?: unknown; content?: unknown }[] {
  return Array.isArray(body.messages) ? body.messages : []
}

function textsOf(content: unknown): string[] {
  if (typeof content === 'string') return [content]
  return Array.isArray(content) ? content.map((block: { text?: unknown }) => String(block.text ?? '')) : []
}

interface OfferedTool {
  name?: unknown
  input_schema?: { properties?: Record<string, unknown> }
}

function toolsOf(body: Record<string, unknown>): OfferedTool[] {
  return Array.isArray(body.tools) ? body.tools : []
}

/** Before 2.1 the tool that starts a subagent was called Task; older clients refuse parameters that they do not know. */
function asOffered({ name: wanted, input }: ToolCall, offered: readonly OfferedTool[]): ToolCall {
  const isOffered = (name: string) => offered.some((tool) => tool.name === name)
  const name = wanted === 'Agent' && !isOffered('Agent') ? 'Task' : wanted
  const known = offered.find((tool) => tool.name === name)?.input_schema?.properties ?? input
  return { name, input: Object.fromEntries(Object.entries(input).filter(([key]) => Object.hasOwn(known, key))) }
}

function messageOf(id: string, model: string, content: Block[]) {
  const stop_reason = content.some((block) => block.type === 'tool_use') ? 'tool_use' : 'end_turn'
  const usage = { input_tokens: 100, output_tokens: 20, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 }
  return { id, type: 'message', role: 'assistant', model, content, stop_reason, stop_sequence: null, usage }
}

function stream(response: ServerResponse, message: ReturnType<typeof messageOf>): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
  const send = (type: string, data: object) =>
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`)
  const { content, stop_reason, stop_sequence, usage } = message
  send('message_start', {
    message: { ...message, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } },
  })
  content.forEach((block, index) => {
    const empty = block.type === 'text' ? { type: 'text', text: '' } : { ...block, input: {} }
    send('content_block_start', { index, content_block: empty })
    const delta =
      block.type === 'text'
        ? { type: 'text_delta', text: block.text }
        : { type: 'input_json_delta', partial_json: JSON.stringify(block.input) }
    send('content_block_delta', { index, delta })
    send('content_block_stop', { index })
  })
  send('message_delta', { delta: { stop_reason, stop_sequence }, usage: { output_tokens: usage.output_tokens } })
  send('message_stop', {})
  response.end()
}

function json(response: ServerResponse, status: number, value: object): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(value))
}

function notFound(path: string): object {
  return { type: 'error', error: { type: 'not_found_error', message: `${path} is not part of the script` } }
}

async function readAll(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks).toString('utf8')
}

function parse(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch {
    return {}
  }
}
