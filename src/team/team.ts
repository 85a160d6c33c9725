/**
 * A team as the daemon sees it: the connection file, the shared projects and the sync service. Everything here is about this
 * machine's own configuration; what is done with the server is in `server.ts`.
 */

import type { Project } from '../domain/project.ts'
import { isTravellingKey, type ReceivedRecord, type RecordOrigin } from '../domain/team-record.ts'
import { errorMessage, MemError } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import type { Paths } from '../lib/paths.ts'
import type {
  AppliedRecords,
  LogCursor,
  SharedCounts,
  SharedMemories,
  SharedProject,
  SharePreview,
  TeamStore,
} from '../store/team-port.ts'
import { checkServer, type LogServer, type ServerFinding, withLog } from './server.ts'
import type { LogAdministration, LogGrant, LogMember, SharedLog } from './shared-log.ts'
import { TeamSync } from './sync.ts'
import { type SyncStatus, syncStatusText } from './sync-status.ts'
import { machineName, readTeamFile, removeTeamFile, type TeamFile, writeTeamFile } from './team-file.ts'

export interface TeamOptions {
  paths: Paths
  store: TeamStore
  settings: () => TeamSettings
  serverOf: (url: string, insecure: boolean) => Promise<LogServer>
  /** `author`: the name of this machine's user in the log. */
  receive: (
    records: readonly ReceivedRecord[],
    cursors: readonly LogCursor[],
    author: string,
  ) => Promise<AppliedRecords>
  /** The project that the user named, with the key under which its memory is kept. */
  findProject: (given: string) => Promise<Project>
  listProjects: () => Promise<Project[]>
  /** Whether this machine has memories of a project. */
  hasMemories: (project: string) => Promise<boolean>
  notice: (level: 'info' | 'warn', text: string) => void
  log: Log
  now?: () => number
}

export interface TeamSettings {
  author: string
  machine: string
  passages: boolean
  startWaitMs: number
}

export interface TeamView {
  /** Null: no team is connected. */
  connection: TeamConnectionView | null
  /** Why the connection file cannot be used. */
  problem: string | null
  sync: SyncStatus | null
  /** One line for status pages. */
  line: { state: 'ok' | 'working' | 'problem'; text: string } | null
  projects: (SharedProject & { name: string })[]
}

export interface TeamConnectionView extends RecordOrigin {
  server: string
  database: string
  role: string
  tls: string
  allProjects: boolean
}

export interface ShareRequest {
  /** Null: every project that can be shared, also later ones. */
  project: string | null
  since: number
  /** Null: as the setting says. */
  passages: boolean | null
  dryRun: boolean
}

export interface PreviewRequest extends Pick<ShareRequest, 'since' | 'passages'> {
  project: string
  /** Number of the first record. */
  after: number
  limit: number
}

export interface ShareResult {
  project: string
  name: string
  counts: SharedCounts
}

export interface ShareReport {
  dryRun: boolean
  shared: ShareResult[]
  /** Projects of this machine that stay on it, where all were asked for. */
  local: Project[]
}

/** The daemon's stop waits so long for what is left to be sent, in ms: a part of the 8 s after which it is killed. */
const FINAL_PUSH_MS = 2_500

interface Connected {
  file: TeamFile
  server: LogServer
  origin: RecordOrigin
  sync: TeamSync
}

export class Team {
  readonly #options: TeamOptions
  readonly #now: () => number
  #connected: Connected | null = null
  #problem: string | null = null
  /** Keys of shared projects, to know without reading whether a session concerns the team. */
  #shared: ReadonlySet<string> = new Set()
  /** Projects whose sharing is under way because all projects are shared. */
  readonly #sharing = new Map<string, Promise<void>>()

  constructor(options: TeamOptions) {
    this.#options = options
    this.#now = options.now ?? Date.now
  }

  /** Never fails: a connection that cannot be used is a notice, and the memory stays on this machine. */
  async start(): Promise<void> {
    try {
      const file = readTeamFile(this.#options.paths)
      if (file !== null) await this.#begin(file)
    } catch (error) {
      this.#problem = errorMessage(error)
      this.#options.notice('warn', this.#problem)
    }
  }

  async stop(): Promise<void> {
    await this.#end(FINAL_PUSH_MS)
  }

  /** The name under which this machine's memories are in the log; null: no team is connected. */
  get author(): string | null {
    return this.#connected?.origin.author ?? null
  }

  /** Memories may have been added or changed. */
  changed(project: string | null): void {
    if (this.#connected === null) return
    const { sync, file } = this.#connected
    if (project !== null && file.allProjects) void this.#shareIfNew(project)
    if (this.#shared.size > 0) sync.changed()
  }

  sessionEnded(): void {
    this.#connected?.sync.pushNow()
  }

  /**
   * The first session of a project of which this machine has nothing waits for the team's newest memories, for a time that
   * the user set. Any other session does not wait.
   */
  async sessionStarts(project: string): Promise<void> {
    if (this.#connected === null) return
    const { sync, file } = this.#connected
    if (file.allProjects) await this.#shareIfNew(project)
    const { startWaitMs } = this.#options.settings()
    if (startWaitMs === 0 || !this.#shared.has(project) || sync.hasBegun(project)) return
    if (await this.#options.hasMemories(project)) return
    await sync.untilBegun(project, startWaitMs)
  }

  /** Tests the connection and saves it only if the log can be used. */
  async connect(url: string, insecure: boolean, init: boolean): Promise<TeamView> {
    const { paths, serverOf } = this.#options
    const server = await serverOf(url, insecure)
    if (init) await server.init()
    await withLog(server, (log) => log.setMember(this.#options.settings().author))
    const before = this.#connected?.file
    const file: TeamFile = { url, insecure, allProjects: before?.allProjects ?? false }
    writeTeamFile(paths, before?.machine === undefined ? file : { ...file, machine: before.machine })
    await this.#end(0)
    this.#problem = null
    await this.#begin(file)
    return await this.view()
  }

  /** With `url`, of a database that is not connected yet. */
  async init(url: string | null, insecure: boolean): Promise<{ applied: number[]; version: number }> {
    const server = url === null ? this.#required().server : await this.#options.serverOf(url, insecure)
    const result = await server.init()
    this.#connected?.sync.retryNow()
    return result
  }

  /** Memories stay, here and in the log. What was not sent is sent if the team is connected again. */
  async disconnect(): Promise<{ unsent: number }> {
    const { paths, store } = this.#options
    await this.#end(FINAL_PUSH_MS)
    const { waiting } = await store.outboxStats()
    const removed = removeTeamFile(paths)
    this.#problem = null
    if (!removed) throw new MemError('not_found', 'no team is connected')
    return { unsent: waiting }
  }

  async view(): Promise<TeamView> {
    const projects = await this.#sharedWithNames()
    if (this.#connected === null) {
      return { connection: null, problem: this.#problem, sync: null, line: this.#problemLine(), projects }
    }
    const { server, origin, sync, file } = this.#connected
    const status = await sync.status()
    const { server: address, database, role, tls } = server
    const connection = { server: address, database, role, tls, ...origin, allProjects: file.allProjects }
    return { connection, problem: null, sync: status, line: syncStatusText(status, this.#now()), projects }
  }

  async sharedMemories(): Promise<SharedMemories[]> {
    return await this.#options.store.sharedMemories()
  }

  /** Tries the connection now instead of at the next attempt, and exchanges what waits. */
  async retry(): Promise<TeamView> {
    this.#required().sync.syncNow()
    return await this.view()
  }

  /** Null: no team. Cheap enough for every status. */
  async line(): Promise<TeamView['line']> {
    if (this.#connected === null) return this.#problemLine()
    return syncStatusText(await this.#connected.sync.status(), this.#now())
  }

  async share(request: ShareRequest): Promise<ShareReport> {
    const { project: given, dryRun } = request
    if (!dryRun) this.#required()
    const candidates =
      given === null ? await this.#options.listProjects() : [travelling(await this.#options.findProject(given))]
    const shared: ShareResult[] = []
    for (const { key, name } of candidates.filter(({ key }) => isTravellingKey(key))) {
      shared.push({ project: key, name, counts: await this.#shareOne(key, request) })
    }
    if (!dryRun) {
      if (given === null) this.#saveAllProjects(true)
      await this.#sharedChanged()
    }
    return { dryRun, shared, local: candidates.filter(({ key }) => !isTravellingKey(key)) }
  }

  /** The records that sharing a project would send, without sending them. */
  async preview({ project: given, since, passages, after, limit }: PreviewRequest): Promise<SharePreview> {
    const { key } = travelling(await this.#options.findProject(given))
    const wanted = { project: key, since, passages: passages ?? this.#options.settings().passages }
    return await this.#options.store.previewShare(wanted, after, limit)
  }

  /** `withdraw`: also erases in the log what this machine has sent. `project` null: stops sharing every project. */
  async unshare(project: string | null, withdraw: boolean): Promise<{ project: string; counts: SharedCounts }[]> {
    const { store, findProject } = this.#options
    const shared = (await store.sharedProjects()).map(({ project: key }) => key)
    const wanted = project === null ? shared : [(await findProject(project)).key]
    const unknown = wanted.find((key) => !shared.includes(key))
    if (unknown !== undefined)
      throw new MemError('not_found', `${unknown} is not shared; claude-mem team status lists what is`)
    if (withdraw) this.#required()
    if (project === null) this.#saveAllProjects(false)
    const results: { project: string; counts: SharedCounts }[] = []
    for (const key of wanted)
      results.push({ project: key, counts: await store.unshareProject(key, this.#now(), withdraw) })
    await this.#sharedChanged()
    return results
  }

  /** Waits until everything is sent, for `timeoutMs` at most. */
  async flush(timeoutMs: number): Promise<{ done: boolean; waiting: number; line: TeamView['line'] }> {
    const { store } = this.#options
    const done = this.#connected === null ? true : await this.#connected.sync.untilPushed(timeoutMs)
    const { waiting } = await store.outboxStats()
    return { done, waiting, line: await this.line() }
  }

  /** Waits until everything in the log was received, for `timeoutMs` at most. */
  async untilReceived(timeoutMs: number): Promise<boolean> {
    return await this.#required().sync.untilCurrent(timeoutMs)
  }

  async check(): Promise<ServerFinding[]> {
    return await checkServer(this.#required().server, [...this.#shared])
  }

  async members(): Promise<LogMember[]> {
    return await withLog(this.#required().server, (log) => log.members())
  }

  /** `repository`: key, name or path of a project, or `*` for all. Returns its key. */
  async grant(role: string, grant: LogGrant): Promise<string> {
    const repository = await this.#repositoryOf(grant.repository)
    await withLog(this.#required().server, (log) => log.grant(role, { ...grant, repository }))
    return repository
  }

  /** False: there was no such grant. */
  async revoke(role: string, given: string): Promise<{ repository: string; revoked: boolean }> {
    const repository = await this.#repositoryOf(given)
    const revoked = await withLog(this.#required().server, (log) => log.revoke(role, repository))
    return { repository, revoked }
  }

  async #begin(file: TeamFile): Promise<void> {
    const { paths, store, settings, serverOf, receive, notice, log } = this.#options
    const server = await serverOf(file.url, file.insecure)
    const { author, machine } = settings()
    const origin = { author: author || server.role, machine: machineName(paths.dataDir, machine, file) }
    const open = async (): Promise<SharedLog & LogAdministration> => {
      const opened = await server.open()
      // The log knows the name under which this role writes, and may have another one than the setting.
      origin.author = await opened.setMember(author).catch(async (error: unknown) => {
        await opened.close()
        throw error
      })
      return opened
    }
    const sync = new TeamSync({
      store,
      open,
      origin: () => origin,
      receive: (records, cursors) => receive(records, cursors, origin.author),
      notice,
      log,
      now: this.#now,
    })
    this.#connected = { file, server, origin, sync }
    await this.#readShared()
    sync.start()
  }

  async #end(finalPushMs: number): Promise<void> {
    const connected = this.#connected
    this.#connected = null
    await connected?.sync.stop(finalPushMs)
  }

  async #shareOne(project: string, { since, passages, dryRun }: ShareRequest): Promise<SharedCounts> {
    const wanted = { project, since, passages: passages ?? this.#options.settings().passages }
    return await this.#options.store.shareProject(wanted, this.#now(), dryRun)
  }

  async #shareIfNew(project: string): Promise<void> {
    if (!isTravellingKey(project) || this.#shared.has(project)) return
    let sharing = this.#sharing.get(project)
    if (sharing === undefined) {
      sharing = this.#shareNew(project).finally(() => this.#sharing.delete(project))
      this.#sharing.set(project, sharing)
    }
    await sharing
  }

  async #shareNew(project: string): Promise<void> {
    try {
      await this.#shareOne(project, { project, since: 0, passages: null, dryRun: false })
      await this.#sharedChanged()
    } catch (error) {
      this.#options.log('error', `team: ${project} could not be shared: ${errorMessage(error)}`, { error })
    }
  }

  async #sharedChanged(): Promise<void> {
    await this.#readShared()
    this.#connected?.sync.projectsChanged()
  }

  async #readShared(): Promise<void> {
    this.#shared = new Set((await this.#options.store.sharedProjects()).map(({ project }) => project))
  }

  #saveAllProjects(allProjects: boolean): void {
    const connected = this.#connected
    if (connected === null || connected.file.allProjects === allProjects) return
    connected.file = { ...connected.file, allProjects }
    writeTeamFile(this.#options.paths, connected.file)
  }

  async #sharedWithNames(): Promise<TeamView['projects']> {
    const shared = await this.#options.store.sharedProjects()
    if (shared.length === 0) return []
    const names = new Map((await this.#options.listProjects()).map(({ key, name }) => [key, name]))
    return shared.map((one) => ({ ...one, name: names.get(one.project) ?? one.project }))
  }

  async #repositoryOf(given: string): Promise<string> {
    return given === '*' || isTravellingKey(given) ? given : travelling(await this.#options.findProject(given)).key
  }

  #problemLine(): TeamView['line'] {
    return this.#problem === null ? null : { state: 'problem', text: this.#problem }
  }

  #required(): Connected {
    if (this.#connected !== null) return this.#connected
    const next = 'connect one with: claude-mem team connect postgres://ROLE@HOST/DATABASE'
    throw new MemError('bad_request', this.#problem ?? `no team is connected; ${next}`)
  }
}

function travelling(project: Project): Project {
  if (isTravellingKey(project.key)) return project
  const why = 'its directory has no remote that other machines could recognise it by'
  const fix = `give it a name that is the same everywhere: claude-mem projects link PATH NAME`
  throw new MemError('bad_request', `${project.name} cannot be shared: ${why}; ${fix}`)
}
