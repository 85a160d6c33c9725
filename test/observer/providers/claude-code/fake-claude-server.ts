/** Fake `claude` processes connect to this server, report their arguments, and are told what to do. */
import { readFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { isAlive } from '../../../support/programs.ts'

export const FAKE_CLAUDE = join(import.meta.dirname, 'fake-claude.mjs')

export type FakeBehaviour =
  | { do: 'print'; stdout?: string; stderr?: string; code?: number }
  /** `detached`: outside of the process group, where the guard cannot kill it. */
  | { do: 'leave-grandchild'; stdout: string; detached?: boolean }
  /** Ignores SIGTERM. */
  | { do: 'hang'; grandchild: boolean }
  | { do: 'die'; signal: NodeJS.Signals }
  | { do: 'flood' }

export interface FakeClaudeCall {
  call: number
  pid: number
  /** Pid of the guard. */
  parent: number
  cwd: string
  options: Record<string, string | true>
  stdin: string
  system: string
  env: Record<string, string>
}

type FakeClaudeMessage = (FakeClaudeCall & { role: 'claude' | 'grandchild' }) | { role: 'hanging'; call: number }

const END_TIMEOUT_MS = 20_000

export class FakeClaudeServer {
  readonly calls: FakeClaudeCall[] = []
  /** Pids of every process that reported, and of their guards. */
  readonly pids: number[] = []
  readonly #server: Server
  readonly #behaviour: (call: FakeClaudeCall) => FakeBehaviour
  readonly #watchers = new Set<() => void>()
  #grandchildren = 0
  readonly #hanging: number[] = []

  private constructor(behaviour: (call: FakeClaudeCall) => FakeBehaviour) {
    this.#behaviour = behaviour
    this.#server = createServer((socket) => this.#serve(socket))
  }

  static async listen(behaviour: (call: FakeClaudeCall) => FakeBehaviour): Promise<FakeClaudeServer> {
    const server = new FakeClaudeServer(behaviour)
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve))
    return server
  }

  /** Environment of the fake process. */
  get env(): Record<string, string> {
    const address = this.#server.address() as AddressInfo
    return { FAKE_CLAUDE_PORT: String(address.port) }
  }

  /** True once the process ignores SIGTERM, and its grandchild too if it has one. */
  hangs(call: number): boolean {
    return this.#hanging.includes(call)
  }

  get grandchildren(): number {
    return this.#grandchildren
  }

  /** Resolves when the condition holds; checked after each report, without a timer. */
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

  /** Processes that still run after the time in which all must end. */
  async survivors(): Promise<number[]> {
    const deadline = Date.now() + END_TIMEOUT_MS
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
    // The connection of a killed process is reset.
    socket.on('error', () => {})
    createInterface(socket)
      .on('error', () => {})
      .on('line', (line) => {
        const message: FakeClaudeMessage = JSON.parse(line)
        if (message.role === 'hanging') this.#hanging.push(message.call)
        else this.#addProcess(message, socket)
        for (const wake of this.#watchers) wake()
      })
  }

  #addProcess(report: FakeClaudeCall & { role: 'claude' | 'grandchild' }, socket: Socket): void {
    this.pids.push(report.pid)
    if (report.role === 'grandchild') {
      this.#grandchildren++
      socket.write(`${JSON.stringify({ do: 'hang', grandchild: false })}\n`)
      return
    }
    this.pids.push(report.parent)
    this.calls.push(report)
    socket.write(`${JSON.stringify(this.#behaviour(report))}\n`)
  }
}

/** A zombie does not count as running. */
export function isRunning(pid: number): boolean {
  if (!isAlive(pid)) return false
  if (process.platform !== 'linux') return true
  try {
    return !/^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}

/** The output of the real client for an answer, with fields that we read and some that we ignore. */
export function answerOutput(text: string, extra: object = {}): string {
  return jsonLines(
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

/** A failure, reported in the text of the client. */
export function failureOutput(text: string, extra: object = {}, error?: string): string {
  const result = {
    ...RESULT,
    is_error: true,
    result: text,
    stop_reason: 'stop_sequence',
    total_cost_usd: 0,
    modelUsage: {},
  }
  return jsonLines(assistant(text, '<synthetic>', error === undefined ? {} : { error }), { ...result, ...extra })
}

export function jsonLines(...rows: object[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join('')
}
