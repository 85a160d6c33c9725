/** A daemon's end of the channel with a memory that the test makes: a real socket, the real framing and schema. */
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type WebSocket, WebSocketServer } from 'ws'
import type { Memory, ObservationView } from '../../src/channel/memory.ts'
import { memoryAnswer } from '../../src/channel/memory-requests.ts'
import { NamedMemory } from '../../src/channel/named-memory.ts'
import { PROTOCOL_VERSION, type Request } from '../../src/channel/protocol.ts'
import { errorAnswer } from '../../src/channel/requests.ts'
import { parseJson, parseRequest, requestId } from '../../src/channel/schema.ts'
import { nothingKnown } from '../../src/context/load.ts'
import { chosenProject } from '../../src/context/project.ts'
import { MemError } from '../../src/errors.ts'
import { estimateTokens } from '../../src/memory/observation.ts'
import { type Paths, pathsOf } from '../../src/paths.ts'
import type { SearchHit } from '../../src/search/query.ts'
import type { ProjectRow } from '../../src/store/port.ts'
import { VERSION } from '../../src/version.ts'

/** What a request gets besides its answer: `drop` ends the connection instead. */
export type Fault = (request: Request) => 'drop' | MemError | null

export interface StandIn {
  memory: Partial<Memory>
  projects?: ProjectRow[]
  sessions?: string[]
  context?: string
  version?: string
}

export class StandInDaemon {
  /** In the order in which they came; `hello` left out. */
  readonly asked: Request[] = []
  fault: Fault = () => null
  readonly #server: Server
  readonly #sockets = new WebSocketServer({ noServer: true })
  readonly #standIn: StandIn

  private constructor(standIn: StandIn) {
    this.#standIn = standIn
    this.#server = createServer()
    this.#server.on('upgrade', (request, socket, head) => {
      this.#sockets.handleUpgrade(request, socket, head, (client) => {
        client.on('message', (data) => void this.#take(client, String(data)))
      })
    })
  }

  static async listen(paths: Paths, standIn: StandIn): Promise<StandInDaemon> {
    const daemon = new StandInDaemon(standIn)
    daemon.#server.listen(paths.socket)
    await once(daemon.#server, 'listening')
    return daemon
  }

  get connections(): number {
    return this.#sockets.clients.size
  }

  async stop(): Promise<void> {
    for (const client of this.#sockets.clients) client.terminate()
    const closed = once(this.#server, 'close')
    this.#server.close()
    await closed
  }

  async #take(client: WebSocket, text: string): Promise<void> {
    const json = parseJson(text)
    const id = requestId(json)
    try {
      const request = parseRequest(json)
      if (request.type !== 'hello') this.asked.push(request)
      const fault = this.fault(request)
      if (fault === 'drop') return client.terminate()
      if (fault !== null) throw fault
      client.send(JSON.stringify({ v: PROTOCOL_VERSION, id, ...(await this.#body(request)) }))
    } catch (error) {
      client.send(JSON.stringify(errorAnswer(id, error)))
    }
  }

  async #body(request: Request): Promise<object> {
    const { projects = [], sessions = [], context = '', version = VERSION } = this.#standIn
    const names = {
      projects: async ({ key, name }: { key?: string; name?: string }) =>
        projects.filter((project) => project.key === key || project.name === name),
      observations: async () => [],
      summaries: async () => [],
      findSessions: async (prefix: string) => sessions.filter((session) => session.startsWith(prefix)),
    }
    switch (request.type) {
      case 'hello':
        return { type: 'hello', version, pid: process.pid, dataDir: '' }
      case 'context':
        return {
          type: 'context',
          ...nothingKnown(await chosenProject(names, request.project)),
          context,
          tokens: estimateTokens(context),
        }
      case 'search':
      case 'observations':
      case 'timeline':
      case 'summaries':
      case 'remember':
      case 'forget':
        return await memoryAnswer(request, new NamedMemory({ ...nothing, ...this.#standIn.memory }, names))
      default:
        throw new MemError('internal', `the stand-in knows no ${request.type}`)
    }
  }
}

const unasked = async (): Promise<never> => {
  throw new MemError('internal', 'the test did not expect that')
}
const nothing: Memory = {
  search: unasked,
  observations: unasked,
  timeline: unasked,
  summaries: unasked,
  stats: unasked,
  remember: unasked,
  correct: unasked,
  forget: unasked,
  pin: unasked,
  link: unasked,
  reindex: unasked,
  indexing: () => null,
}

/** A data directory of its own. */
export function makePlace(): { paths: Paths; remove: () => void } {
  const directory = mkdtempSync(join(tmpdir(), 'claude-mem-mcp-'))
  const paths = pathsOf(directory)
  // On Windows a client brings it.
  writeFileSync(paths.token, 'token')
  return { paths, remove: () => rmSync(directory, { recursive: true, force: true }) }
}

export const AT = new Date(2026, 10, 16, 14, 30).getTime()
export const SESSION = '5f1c0a1e-0000-4000-8000-00000000abcd'

export function hit(fields: Partial<SearchHit> = {}): SearchHit {
  return {
    kind: 'observation',
    id: 123,
    session: SESSION,
    project: 'git:/home/me/shop/.git',
    projectName: 'shop',
    type: 'bugfix',
    title: 'Fix JWT expiry',
    snippet: 'tokens expired an hour early because the clock was read in local time',
    files: ['src/auth/jwt.ts'],
    createdAt: AT,
    promptNumber: 2,
    pinned: false,
    supersededBy: null,
    similar: [],
    tokens: 45,
    explanation: { lexical: 1, semantic: 0, session: 0, recency: 0, type: 0, score: 1, matched: [], fragment: null },
    completes: false,
    ...fields,
  }
}

export function observation(fields: Partial<ObservationView> = {}): ObservationView {
  return {
    id: 123,
    session: SESSION,
    project: 'git:/home/me/shop/.git',
    projectName: 'shop',
    promptNumber: 2,
    type: 'bugfix',
    title: 'Fix JWT expiry',
    subtitle: null,
    narrative: 'The clock was read in local time.',
    facts: ['exp is in seconds'],
    concepts: ['jwt'],
    filesRead: [],
    filesModified: ['src/auth/jwt.ts'],
    functionsChanged: [{ name: 'verify', file: 'src/auth/jwt.ts', action: 'modified' }],
    agent: null,
    discoveryTokens: 0,
    discoveryEstimated: true,
    sources: [],
    contentHash: 'hash',
    promptVersion: null,
    model: null,
    createdAt: AT,
    pinned: false,
    supersededBy: null,
    supersedes: [],
    repeats: [],
    tokens: 45,
    ...fields,
  }
}
