/** A proxy on loopback in front of a server: a network that can be cut, slow, or lose the answers of the server. */
import { createServer, type Server, type Socket, connect as tcpConnect } from 'node:net'

export class TcpProxy {
  readonly #server: Server
  readonly #pairs = new Set<{ client: Socket; upstream: Socket }>()
  /** Every byte that clients sent, if it is recorded. */
  readonly #sent: Buffer[] = []
  readonly #records: boolean
  /** Delay of each chunk in both directions, in ms. */
  delayMs = 0
  /** While true, new connections are refused. */
  isDown = false
  /** While true, requests reach the server, but its answers are dropped and the connection is closed. */
  losesAnswers = false

  private constructor(server: Server, records: boolean) {
    this.#server = server
    this.#records = records
  }

  static async listen(targetPort: number, { records = false } = {}): Promise<TcpProxy> {
    const server = createServer()
    const proxy = new TcpProxy(server, records)
    server.on('connection', (client) => proxy.#forward(client, targetPort))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return proxy
  }

  get port(): number {
    const address = this.#server.address()
    return typeof address === 'object' && address !== null ? address.port : 0
  }

  get sent(): Buffer {
    return Buffer.concat(this.#sent)
  }

  /** Ends all connections at once. */
  cut(): void {
    for (const { client, upstream } of this.#pairs) {
      client.destroy()
      upstream.destroy()
    }
  }

  async close(): Promise<void> {
    this.cut()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #forward(client: Socket, port: number): void {
    if (this.isDown) {
      client.destroy()
      return
    }
    const upstream = tcpConnect(port, '127.0.0.1')
    const pair = { client, upstream }
    this.#pairs.add(pair)
    const end = () => {
      this.#pairs.delete(pair)
      client.destroy()
      upstream.destroy()
    }
    for (const socket of [client, upstream]) socket.on('error', end).on('close', end)
    client.on('data', (chunk) => {
      if (this.#records) this.#sent.push(chunk)
      this.#later(() => upstream.write(chunk))
    })
    upstream.on('data', (chunk) => {
      if (this.losesAnswers) end()
      else this.#later(() => client.write(chunk))
    })
  }

  #later(send: () => void): void {
    if (this.delayMs === 0) send()
    else setTimeout(send, this.delayMs)
  }
}
