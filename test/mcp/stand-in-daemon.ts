/** A daemon's end of the channel with a memory that the test makes: a real socket, the real framing and schema. */
import { once } from 'node:events'
import { rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { type WebSocket, WebSocketServer } from 'ws'
import type { InputOf, OperationName, OutputOf } from '../../src/api/index.ts'
import { answerType, OPERATIONS } from '../../src/api/index.ts'
import type { Timeline } from '../../src/api/operations/memory.ts'
import { resolveFilters, resolveProjectKey, resolveSession } from '../../src/api/resolve.ts'
import { parseInput } from '../../src/api/schemas.ts'
import type { ForgetReport, ForgetRequest } from '../../src/daemon/forgetting.ts'
import { hitsWithinTokens } from '../../src/domain/hit-budget.ts'
import { estimateTokens, type Summary } from '../../src/domain/observation.ts'
import { findProject, type Project } from '../../src/domain/project.ts'
import { PROTOCOL_VERSION } from '../../src/domain/protocol.ts'
import type { SearchAnswer, SearchFilters, SearchHit, SearchRequest } from '../../src/domain/search-query.ts'
import { MemError } from '../../src/lib/errors.ts'
import { dataPaths, type Paths } from '../../src/lib/paths.ts'
import { VERSION } from '../../src/lib/version.ts'
import type { ProjectRow } from '../../src/store/port.ts'
import type { EvidencePassage, LinkedObservation } from '../../src/store/search-port.ts'
import { parseJson } from '../../src/transport/rest.ts'
import { parseRequest } from '../../src/transport/server.ts'
import { temporaryDirectory } from '../support/directories.ts'

type SearchInput = Omit<SearchRequest, 'filters'> & SearchFilters & { tokens: number | null }
export type Note = Omit<InputOf<'remember'>, 'project'> & { project: Project }

/** What a test answers for the operations that the tools use. */
export interface TestMemory {
  search(request: SearchRequest): Promise<SearchAnswer>
  observations(ids: readonly number[]): Promise<{
    observations: LinkedObservation[]
    passages?: EvidencePassage[]
    missing: number[]
  }>
  passages(ids: readonly number[]): Promise<OutputOf<'passages'>>
  timeline(request: object): Promise<Timeline>
  summaries(filter: object): Promise<Summary[]>
  remember(note: Note): Promise<{ id: number }>
  forget(request: ForgetRequest): Promise<ForgetReport>
}

/** A request as the daemon understood it. */
export type Asked = { type: OperationName } & Record<string, unknown>

/** What a request gets besides its answer: `drop` ends the connection instead. */
export type Fault = (request: Asked) => 'drop' | MemError | null

export interface StandIn {
  memory: Partial<TestMemory>
  projects?: ProjectRow[]
  sessions?: string[]
  context?: string
  version?: string
}

export class StandInDaemon {
  /** In the order in which they came; `hello` left out. */
  readonly asked: Asked[] = []
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
    const message = parseJson(text)
    const id = Reflect.get(Object(message), 'id')
    try {
      const { name, input } = parseRequest(message)
      const request: Asked = { ...parseInput(OPERATIONS[name].input, input), type: name }
      if (name !== 'hello') this.asked.push(request)
      const fault = this.fault(request)
      if (fault === 'drop') return client.terminate()
      if (fault !== null) throw fault
      const output = await this.#output(name, request)
      client.send(JSON.stringify({ ...output, v: PROTOCOL_VERSION, id, type: answerType(name) }))
    } catch (error) {
      const { code = 'internal', retryable = true } = error instanceof MemError ? error : {}
      const message = error instanceof Error ? error.message : String(error)
      client.send(JSON.stringify({ v: PROTOCOL_VERSION, id, type: 'error', code, message, retryable }))
    }
  }

  async #output(name: OperationName, { type: _type, ...input }: Asked): Promise<object> {
    const { projects = [], sessions = [], context = '', version = VERSION } = this.#standIn
    const memory = { ...unexpected, ...this.#standIn.memory }
    const reader = {
      projects: async ({ key, name }: { key?: string; name?: string }) =>
        projects.filter((project) => project.key === key || project.name === name),
      findSessions: async (prefix: string) => sessions.filter((session) => session.startsWith(prefix)),
    }
    switch (name) {
      case 'hello':
        return { version, pid: process.pid, dataDir: '' }
      case 'context': {
        const project = await findProject(reader, String(input.project))
        return { project, tokens: estimateTokens(context), context, message: '', totals: null, report: null }
      }
      case 'search': {
        const { query, mode, limit, offset, tokens, ...filters } = input as unknown as SearchInput
        const resolved = await resolveFilters(reader, filters, null)
        const answer = await memory.search({ query, mode, limit, offset, filters: resolved })
        return { answer: tokens === null ? answer : { ...answer, hits: hitsWithinTokens(answer.hits, tokens) } }
      }
      case 'observations':
        return { passages: [], ...(await memory.observations(input.ids as number[])) }
      case 'passages':
        return await memory.passages(input.ids as number[])
      case 'timeline':
        return await memory.timeline({
          ...input,
          project: await resolveProjectKey(reader, input.project as string | null),
        })
      case 'summaries': {
        const session = input.session === null ? null : await resolveSession(reader, String(input.session))
        const project = await resolveProjectKey(reader, input.project as string | null)
        return { summaries: await memory.summaries({ ...input, session, project }) }
      }
      case 'remember':
        return { observation: (await memory.remember(input as unknown as Note)).id }
      case 'forget': {
        const { ids, confirm, related, ...filters } = input as unknown as ForgetRequest & SearchFilters
        const resolved = ids.length > 0 ? null : await resolveFilters(reader, filters, null)
        return { report: await memory.forget({ ids, filters: resolved, related, confirm }) }
      }
      default:
        throw new MemError('internal', `the stand-in has no ${name}`)
    }
  }
}

const fail = async (): Promise<never> => {
  throw new MemError('internal', 'the test did not expect that')
}
const unexpected: TestMemory = {
  search: fail,
  observations: fail,
  passages: fail,
  timeline: fail,
  summaries: fail,
  remember: fail,
  forget: fail,
}

/** A data directory of its own. */
export function makePlace(): { paths: Paths; remove: () => void } {
  const directory = temporaryDirectory('mcp')
  const paths = dataPaths(directory)
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
    passage: null,
    files: ['src/auth/jwt.ts'],
    createdAt: AT,
    promptNumber: 2,
    pinned: false,
    supersededBy: null,
    amendedBy: [],
    similar: [],
    tokens: 45,
    matched: [],
    explanation: { words: 1, meaning: 0, around: 0, recency: 0, names: 0, kind: 1, score: 1, fragment: null },
    further: [],
    ...fields,
  }
}

export function observation(fields: Partial<LinkedObservation> = {}): LinkedObservation {
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
    amends: [],
    amendedBy: [],
    repeats: [],
    tokens: 45,
    ...fields,
  }
}
