/** A TCP proxy in front of a server: records what passes, delays it, cuts it, or lets nothing through. */
import { createServer, connect as dial, type Server, type Socket } from 'node:net'

export class TcpProxy {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  readonly #sent: Buffer[] = []
  readonly #target: { host: string; port: number }
  #delayMs = 0
  #bytesUntilCut: number | null = null
  #isSilent = false

  private constructor(target: { host: string; port: number }) {
    this.#target = target
    this.#server = createServer((client) => this.#accept(client))
  }

  static async start(host: string, port: number): Promise<TcpProxy> {
    const proxy = new TcpProxy({ host, port })
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve))
    return proxy
  }

  get port(): number {
    const address = this.#server.address()
    return typeof address === 'object' && address !== null ? address.port : 0
  }

  /** Everything that clients have sent. */
  get sent(): Buffer {
    return Buffer.concat(this.#sent)
  }

  /** Each piece in either direction waits so long. */
  delay(ms: number): void {
    this.#delayMs = ms
  }

  /** Accepts connections and bytes, and answers nothing. */
  silence(on: boolean): void {
    this.#isSilent = on
  }

  /** Cuts the connection after so many more bytes of a client; later ones pass. */
  cutAfter(bytes: number): void {
    this.#bytesUntilCut = bytes
  }

  cutAll(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  async close(): Promise<void> {
    this.cutAll()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #accept(client: Socket): void {
    const upstream = dial(this.#target.port, this.#target.host)
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      this.#sockets.add(from)
      from.on('error', () => undefined)
      from.on('close', () => {
        this.#sockets.delete(from)
        to.destroy()
      })
      from.on('data', (piece: Buffer) => this.#pass(piece, from, to, from === client))
    }
  }

  #pass(piece: Buffer, from: Socket, to: Socket, isFromClient: boolean): void {
    if (isFromClient) this.#sent.push(piece)
    if (this.#isSilent) return
    if (isFromClient && this.#bytesUntilCut !== null) {
      this.#bytesUntilCut -= piece.length
      if (this.#bytesUntilCut <= 0) {
        this.#bytesUntilCut = null
        from.destroy()
        return
      }
    }
    if (this.#delayMs === 0) to.write(piece)
    else setTimeout(() => to.destroyed || to.write(piece), this.#delayMs)
  }
}
