/** Where stand-ins of `claude` report: what they were given, what they shall do, and that they are gone. */
import { readFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { isAlive } from '../daemon-process.ts'

export const STAND_IN = join(import.meta.dirname, 'stand-in-claude.mjs')

export type Order =
  | { do: 'print'; stdout?: string; stderr?: string; code?: number }
  /** Detached: out of the group, where the guard cannot reach it. */
  | { do: 'leave-grandchild'; stdout: string; detached?: boolean }
  /** Ignores SIGTERM. */
  | { do: 'hang'; grandchild: boolean }
  | { do: 'die'; signal: NodeJS.Signals }
  | { do: 'flood' }

export interface Report {
  call: number
  pid: number
  /** The guard's. */
  parent: number
  cwd: string
  options: Record<string, string | true>
  stdin: string
  system: string
  env: Record<string, string>
}

type Said = (Report & { role: 'claude' | 'grandchild' }) | { role: 'hanging'; call: number }

const GONE_WITHIN_MS = 20_000

export class Desk {
  readonly reports: Report[] = []
  /** Of every process that reported, and of the guards that started them. */
  readonly pids: number[] = []
  readonly #server: Server
  readonly #order: (report: Report) => Order
  readonly #watchers = new Set<() => void>()
  #grandchildren = 0
  readonly #hanging: number[] = []

  private constructor(order: (report: Report) => Order) {
    this.#order = order
    this.#server = createServer((socket) => this.#serve(socket))
  }

  static async listen(order: (report: Report) => Order): Promise<Desk> {
    const desk = new Desk(order)
    await new Promise<void>((resolve) => desk.#server.listen(0, '127.0.0.1', resolve))
    return desk
  }

  /** What a stand-in must find in its environment. */
  get env(): Record<string, string> {
    const address = this.#server.address() as AddressInfo
    return { STAND_IN_PORT: String(address.port) }
  }

  /** It ignores SIGTERM by now, and so does its grandchild where it has one. */
  hangs(call: number): boolean {
    return this.#hanging.includes(call)
  }

  get grandchildren(): number {
    return this.#grandchildren
  }

  /** Settles with what the stand-ins report, not with time. */
  async until(holds: () => boolean): Promise<void> {
    while (!holds()) {
      await new Promise<void>((resolve) => {
        const wake = () => {
          this.#watchers.delete(wake)
          resolve()
        }
        this.#watchers.add(wake)
      })
    }
  }

  /** Those that still run, once all had the time to go. */
  async survivors(): Promise<number[]> {
    const deadline = Date.now() + GONE_WITHIN_MS
    let left = this.pids.filter(isRunning)
    while (left.length > 0 && Date.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, 20))
      left = left.filter(isRunning)
    }
    return left
  }

  async close(): Promise<void> {
    for (const pid of this.pids.filter(isRunning)) process.kill(pid, 'SIGKILL')
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #serve(socket: Socket): void {
    // A process that is killed resets it.
    socket.on('error', () => {})
    createInterface(socket)
      .on('error', () => {})
      .on('line', (line) => {
        const said: Said = JSON.parse(line)
        if (said.role === 'hanging') this.#hanging.push(said.call)
        else this.#welcome(said, socket)
        for (const wake of this.#watchers) wake()
      })
  }

  #welcome(report: Report & { role: 'claude' | 'grandchild' }, socket: Socket): void {
    this.pids.push(report.pid)
    if (report.role === 'grandchild') {
      this.#grandchildren++
      socket.write(`${JSON.stringify({ do: 'hang', grandchild: false })}\n`)
      return
    }
    this.pids.push(report.parent)
    this.reports.push(report)
    socket.write(`${JSON.stringify(this.#order(report))}\n`)
  }
}

/** Dead but not yet collected by its parent is not running. */
export function isRunning(pid: number): boolean {
  if (!isAlive(pid)) return false
  if (process.platform !== 'linux') return true
  try {
    return !/^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}

/** The lines that the real client prints for an answer, with the fields that we read and some that we do not. */
export function answered(text: string, extra: object = {}): string {
  return lines(
    { type: 'system', subtype: 'init', tools: [], mcp_servers: [], model: 'claude-haiku-4-5-20251001' },
    assistant(text),
    { ...RESULT, result: text, ...extra },
  )
}

export const assistant = (text: string, model = 'claude-haiku-4-5-20251001', extra: object = {}) => ({
  type: 'assistant',
  message: { id: 'msg_1', role: 'assistant', model, content: [{ type: 'text', text }], stop_reason: null },
  ...extra,
})

export const RESULT = {
  type: 'result',
  subtype: 'success',
  is_error: false,
  num_turns: 1,
  result: '',
  stop_reason: 'end_turn',
  total_cost_usd: 0.000209,
  usage: { input_tokens: 100, output_tokens: 20, cache_creation_input_tokens: 7, cache_read_input_tokens: 5 },
  modelUsage: {
    'claude-haiku-4-5-20251001': {
      inputTokens: 100,
      outputTokens: 20,
      cacheReadInputTokens: 5,
      cacheCreationInputTokens: 7,
    },
  },
}

/** The words come from the client itself. */
export function failed(words: string, extra: object = {}, error?: string): string {
  const result = {
    ...RESULT,
    is_error: true,
    result: words,
    stop_reason: 'stop_sequence',
    total_cost_usd: 0,
    modelUsage: {},
  }
  return lines(assistant(words, '<synthetic>', error === undefined ? {} : { error }), { ...result, ...extra })
}

export function lines(...rows: object[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join('')
}
