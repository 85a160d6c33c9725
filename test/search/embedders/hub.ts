/** A model hub on loopback: serves one model as the real one does, or misbehaves. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'

export type Misbehaviour = (request: IncomingMessage, response: ServerResponse) => void

export class Hub {
  readonly url: string
  /** Paths that were asked for, in order. */
  readonly asked: string[] = []
  readonly #server: Server

  private constructor(server: Server) {
    this.#server = server
    const address = server.address()
    if (address === null || typeof address === 'string') throw new Error('the hub does not listen')
    this.url = `http://127.0.0.1:${address.port}/`
  }

  /** `owner/name` with these files; everything else is not there. */
  static async serving(id: string, files: ReadonlyMap<string, Buffer>, revision = 'main'): Promise<Hub> {
    const base = `/${id}/resolve/${revision}/`
    return await Hub.listen((request, response) => {
      const file = (request.url ?? '').slice(base.length)
      const content = (request.url ?? '').startsWith(base) ? files.get(file) : undefined
      if (content === undefined) response.writeHead(404).end()
      else serve(request, response, content)
    })
  }

  static async listen(handle: Misbehaviour): Promise<Hub> {
    const server = createServer(handle)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const hub = new Hub(server)
    server.on('request', (request) => hub.asked.push(request.url ?? ''))
    return hub
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}

/** The first byte alone is asked for to learn the size. */
export function serve(request: IncomingMessage, response: ServerResponse, content: Buffer): void {
  if (request.headers.range === 'bytes=0-0') {
    response.writeHead(206, { 'content-range': `bytes 0-0/${content.length}`, 'content-length': 1 })
    response.end(content.subarray(0, 1))
    return
  }
  response.writeHead(200, { 'content-length': content.length })
  response.end(content)
}
