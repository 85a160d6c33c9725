/** Standard input and output as an MCP transport that knows when all requests have been answered. */
import type { Readable, Writable } from 'node:stream'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'

/** How long to wait for outstanding answers after the input has ended, in ms: a client may pipe its requests in. */
const LAST_ANSWERS_MS = 5_000

export class StdioTransport extends StdioServerTransport {
  readonly #input: Readable
  readonly #output: Writable
  readonly #open = new Set<string | number>()
  #allAnswered: () => void = () => undefined

  constructor(input: Readable, output: Writable) {
    super(input, output)
    this.#input = input
    this.#output = output
    // The protocol keeps a listener that is there before it connects.
    this.onmessage = (message: JSONRPCMessage) => this.#received(message)
  }

  override async send(message: JSONRPCMessage): Promise<void> {
    await super.send(message)
    if (!('method' in message) && message.id !== undefined) this.#settle(message.id)
  }

  /** Resolves when the client has closed its end and all answers are sent. */
  async ended(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#input.once('end', resolve)
      this.#input.once('close', resolve)
      this.#input.once('error', () => resolve())
    })
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, LAST_ANSWERS_MS)
      this.#allAnswered = () => {
        clearTimeout(timer)
        resolve()
      }
      if (this.#open.size === 0) this.#allAnswered()
    })
    await new Promise<void>((resolve) => this.#output.write('', () => resolve()))
  }

  #received(message: JSONRPCMessage): void {
    if (!('method' in message)) return
    if ('id' in message) this.#open.add(message.id)
    else if (message.method === 'notifications/cancelled') {
      const id = message.params?.requestId
      if (typeof id === 'string' || typeof id === 'number') this.#settle(id)
    }
  }

  #settle(id: string | number): void {
    this.#open.delete(id)
    if (this.#open.size === 0) this.#allAnswered()
  }
}
