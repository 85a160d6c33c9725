/** A memory as an agent searches it: with the MCP tool `search_memory`, in this process, over index and vectors. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import { readOnlyCall } from '../../src/api/index.ts'
import type { Project } from '../../src/domain/project.ts'
import { connectServer, createServer } from '../../src/mcp/server.ts'
import { DryRuns } from '../../src/mcp/tool.ts'
import { IndexedSearch } from '../search/searched-memory.ts'
import type { GrowingMemory } from './observed.ts'

const MOST_HITS = 20

export class AgentSearch {
  readonly #client: Client
  readonly #search: IndexedSearch

  private constructor(client: Client, search: IndexedSearch) {
    this.#client = client
    this.#search = search
  }

  static async open({ store, paths }: GrowingMemory, project: Project, cwd: string): Promise<AgentSearch> {
    const search = await IndexedSearch.open(store, paths)
    const call = readOnlyCall({
      reader: store,
      search: async () => search.calls,
      previewContext: () => Promise.reject(new Error('only searches are asked here')),
      now: Date.now,
      me: () => null,
    })
    const here = { cwd, project, isExcluded: () => false }
    const client = new Client({ name: 'bench', version: '1' })
    const [ours, theirs] = InMemoryTransport.createLinkedPair()
    const server = createServer({ call, callOnce: call, here, dryRuns: new DryRuns() })
    await Promise.all([connectServer(server, theirs), client.connect(ours)])
    return new AgentSearch(client, search)
  }

  /** Waits until everything that was stored is found. */
  async index(): Promise<void> {
    await this.#search.index()
  }

  /** What the agent reads. */
  async ask(query: string, tokens: number): Promise<string> {
    const answer = await this.#client.callTool({
      name: 'search_memory',
      arguments: { query, tokens, limit: MOST_HITS },
    })
    const blocks = Array.isArray(answer.content) ? answer.content : []
    const text = blocks.map((block: { text?: unknown }) => String(block.text ?? '')).join('\n')
    if (answer.isError === true) throw new Error(text)
    return text
  }

  async close(): Promise<void> {
    await this.#client.close()
    await this.#search.close()
  }
}
