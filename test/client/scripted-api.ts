/**
 * A model's API on loopback that plays scripts: the newest prompt of a conversation names one (`[[script:main]] …`), and
 * what the conversation holds since says which turn is next. What differs between the protocols of models is a
 * `ScriptedProtocol`, one file each.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { IssuedTool, RecordedRequest, Scripts, Turn } from './messages-api.ts'

/** A tool call as it is sent to the client. */
export interface SentCall {
  id: string
  name: string
  input: Record<string, unknown>
}

export type ScriptedAnswer = { text: string } | { calls: SentCall[] }

export interface ScriptedProtocol {
  /** Whether a request asks the model; anything else is answered by `other`. */
  asksModel(path: string): boolean
  /** The script of the conversation and the number of its turns so far; null: a request of the client's own. */
  place(body: Record<string, unknown>): { script: string; turn: number } | null
  reply(response: ServerResponse, path: string, body: Record<string, unknown>, answer: ScriptedAnswer, id: string): void
  other(response: ServerResponse, path: string): void
}

/** The id of a call says where in its script it is. */
export const callId = (script: string, turn: number, n: number): string => `call_${script}_${turn}_${n}`

/** The number of turns of a script that these ids are of. */
export function turnsOf(script: string, ids: readonly string[]): number {
  const turns = ids.flatMap((id) => new RegExp(`call_${script}_(\\d+)_\\d+`).exec(id)?.[1] ?? []).map(Number)
  return turns.length === 0 ? 0 : Math.max(...turns) + 1
}

const SCRIPT = /\[\[script:(\w+)\]\]/

export function scriptIn(text: string): string | null {
  return SCRIPT.exec(text)?.[1] ?? null
}

export class ScriptedApi {
  readonly requests: RecordedRequest[] = []
  readonly issued: IssuedTool[] = []
  readonly scripts: Record<string, readonly Turn[]> = {}
  readonly #server: Server
  readonly #protocol: ScriptedProtocol
  #answers = 0

  private constructor(protocol: ScriptedProtocol) {
    this.#protocol = protocol
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch((error: unknown) => {
        response.destroy(error instanceof Error ? error : new Error(String(error)))
      })
    })
  }

  static async listen(protocol: ScriptedProtocol): Promise<ScriptedApi> {
    const api = new ScriptedApi(protocol)
    await new Promise<void>((resolve) => api.#server.listen(0, '127.0.0.1', resolve))
    return api
  }

  get url(): string {
    const address = this.#server.address() as AddressInfo
    return `http://127.0.0.1:${address.port}`
  }

  play(scripts: Scripts): void {
    Object.assign(this.scripts, scripts)
  }

  /** A run of the client starts: what earlier ones asked is forgotten. */
  clear(): void {
    this.requests.length = 0
    this.issued.length = 0
  }

  /** What the model saw first of a script. */
  firstRequest(script: string): RecordedRequest {
    const found = this.requests.findLast((request) => request.script === script && request.turn === 0)
    if (found === undefined) throw new Error(`the client never asked for script ${script}`)
    return found
  }

  lastRequest(script: string): RecordedRequest {
    const found = this.requests.findLast((request) => request.script === script)
    if (found === undefined) throw new Error(`the client never asked for script ${script}`)
    return found
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = new URL(request.url ?? '/', 'http://localhost').pathname
    const body = parse(await readAll(request))
    if (!this.#protocol.asksModel(path)) {
      this.requests.push({ path, script: null, turn: 0, body })
      this.#protocol.other(response, path)
      return
    }
    const place = this.#protocol.place(body)
    const { script = null, turn = 0 } = place ?? {}
    this.requests.push({ path, script, turn, body })
    const next = script === null ? undefined : this.scripts[script]?.[turn]
    await next?.before?.()
    this.#protocol.reply(response, path, body, this.#played(script, turn, next), `resp_${++this.#answers}`)
  }

  #played(script: string | null, turn: number, next: Turn | undefined): ScriptedAnswer {
    if (script === null) return { text: 'ok' }
    if (next === undefined) return { text: `script ${script} has no turn ${turn}` }
    if ('text' in next) return { text: next.text }
    const calls = next.tools.map((tool, n) => ({ id: callId(script, turn, n), ...tool }))
    this.issued.push(...calls.map((call) => ({ ...call, script })))
    return { calls }
  }
}

export function sendJson(response: ServerResponse, status: number, value: object): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(value))
}

/** Server-sent events; `type` null: without an event name. */
export function sendEvents(response: ServerResponse, events: readonly [type: string | null, data: object][]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
  for (const [type, data] of events) {
    response.write(`${type === null ? '' : `event: ${type}\n`}data: ${JSON.stringify(data)}\n\n`)
  }
  response.end()
}

/** All texts in a value of any shape. */
export function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
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
