/** The tools as a client of the official SDK sees them, with a stand-in for the daemon behind them. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import { Connection, callsOver } from '../../src/mcp/connection.ts'
import { serverLocation } from '../../src/mcp/inputs.ts'
import { connectServer, createServer } from '../../src/mcp/server.ts'
import { DryRuns } from '../../src/mcp/tool.ts'
import { makePlace, type StandIn, StandInDaemon } from './stand-in-daemon.ts'

export interface Called {
  isError: boolean
  text: string
  data: Record<string, unknown>
}

export class TestDesk {
  readonly #dispose: (() => unknown)[] = []

  private constructor(
    readonly client: Client,
    readonly daemon: StandInDaemon,
    readonly project: string,
  ) {}

  static async open(standIn: StandIn, env: NodeJS.ProcessEnv = {}): Promise<TestDesk> {
    const { paths, remove } = makePlace()
    const daemon = await StandInDaemon.listen(paths, standIn)
    const connection = new Connection({
      paths,
      project: 'dir:/test',
      start: () => Promise.reject(new Error('it runs already')),
    })
    const here = serverLocation(paths.dataDir, paths.dataDir, env)
    const server = createServer({ ...callsOver(connection), here, dryRuns: new DryRuns() })
    const client = new Client({ name: 'test', version: '1' })
    const [ours, theirs] = InMemoryTransport.createLinkedPair()
    await Promise.all([connectServer(server, theirs), client.connect(ours)])
    // From now on the client checks what it gets against the output schemas.
    await client.listTools()
    const desk = new TestDesk(client, daemon, here.project.key)
    desk.#dispose.push(
      () => client.close(),
      () => connection.close(),
      () => daemon.stop(),
      remove,
    )
    return desk
  }

  async call(name: string, args: Record<string, unknown> = {}): Promise<Called> {
    return called(await this.client.callTool({ name, arguments: args }))
  }

  async close(): Promise<void> {
    for (const step of this.#dispose) await step()
  }
}

export function called(result: Awaited<ReturnType<Client['callTool']>>): Called {
  const content = Array.isArray(result.content) ? result.content : []
  const text = content.map((block: { text?: unknown }) => String(block.text ?? '')).join('\n')
  return { isError: result.isError === true, text, data: { ...Object(result.structuredContent) } }
}
