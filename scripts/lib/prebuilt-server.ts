/** Serves the database driver that is compiled here as the prebuilt binary that its installer downloads. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export class PrebuiltServer {
  /** Names of the files that were asked for. */
  readonly requested: string[] = []
  readonly #server: Server

  private constructor(archive: Buffer) {
    this.#server = createServer((request, response) => {
      this.requested.push(request.url ?? '')
      response.end(archive)
    })
  }

  /** `root`: the project, with its packages installed. */
  static async listen(root: string): Promise<PrebuiltServer> {
    const directory = mkdtempSync(join(tmpdir(), 'claude-mem-prebuilt-'))
    const file = join(directory, 'driver.tar.gz')
    const driver = join(root, 'node_modules', 'better-sqlite3')
    execFileSync('tar', ['czf', file, '-C', driver, 'build/Release/better_sqlite3.node'])
    const server = new PrebuiltServer(readFileSync(file))
    rmSync(directory, { recursive: true })
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve))
    return server
  }

  /** A line of .npmrc. */
  get npmSetting(): string {
    const { port } = this.#server.address() as AddressInfo
    return `better_sqlite3_binary_host=http://127.0.0.1:${port}\n`
  }

  close(): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }
}
