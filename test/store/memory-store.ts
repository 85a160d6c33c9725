/** The contract in its plainest form: maps and arrays, copied before each commit so that a failing one leaves no trace. */
import { createHash } from 'node:crypto'
import type { Effect } from '../../machines/session/types.ts'
import { MemError, messageOf } from '../../src/errors.ts'
import { isMessage, type MemoryEvent, toolOf } from '../../src/memory/event.ts'
import { NO_USAGE, type Observation, type Summary } from '../../src/memory/observation.ts'
import type { Project } from '../../src/memory/project.ts'
import type { AskedSession, ReportedSession } from '../../src/memory/reported.ts'
import { isTranscriptId, startId } from '../../src/memory/transcript-ids.ts'
import type { CallFilter, CallRow, Spending, Spent, UsageFilter, UsageRow } from '../../src/store/accounting.ts'
import type { Commit, CommitResult, InboxChange, ObserverTurn } from '../../src/store/commit.ts'
import type { Alias, ContextMaterial, ContextQuery } from '../../src/store/context-port.ts'
import type { ImportBatch, ImportResult } from '../../src/store/import-port.ts'
import type { Activity, EventView, KeptEvent, Origin, QueueSample, SessionStory } from '../../src/store/origin-port.ts'
import type {
  BackupInfo,
  ClaimedMessage,
  EventRow,
  Message,
  MessageStatus,
  ProjectFilter,
  ProjectRow,
  PromptRow,
  QueueFilter,
  QueueStats,
  Retention,
  SessionFilter,
  SessionListItem,
  SessionRow,
  SessionView,
  Store,
  StoreStats,
  TraceRow,
  TurnMaterial,
} from '../../src/store/port.ts'
import type { ListedProject, ProjectChange, ProjectContents, ProjectDecision } from '../../src/store/project-port.ts'
import type {
  Changed,
  ForgetRequest,
  Forgotten,
  IndexState,
  Link,
  LinkKind,
  NewVector,
  Pinned,
  UnembeddedPage,
} from '../../src/store/search-port.ts'
import { importInto } from './memory-import.ts'
import { activityOf, eventViewOf, type KeptPayload, type OriginData, originOf, storyOf } from './memory-origin.ts'
import { keptEventsOf } from './memory-payloads.ts'
import { type Filtered, passes } from './search-oracle.ts'

interface Data {
  seq: number
  lastId: number
  sessions: Map<string, SessionRow>
  events: EventRow[]
  prompts: (PromptRow & { id: number; session: string; project: string })[]
  messages: ClaimedMessage[]
  payloads: KeptPayload[]
  observations: Observation[]
  summaries: Summary[]
  turns: (ObserverTurn & { session: string })[]
  calls: CallRow[]
  /** By session and subject. */
  seen: Map<string, { session: string; subject: string; digest: string; at: number }>
  trace: (TraceRow & { session: string })[]
  traceDropped: Map<string, number>
  vectors: NewVector[]
  links: Link[]
  pins: Set<number>
  decisions: Map<string, ProjectDecision>
  shown: { session: string; observation: number }[]
  /** By the id of a prompt: the event that it was. */
  promptEvents: Map<number, string>
  /** By the id of an observation or summary: the effect that made it. */
  effects: Map<number, string>
  samples: QueueSample[]
}

type Filter = { session?: string; project?: string; limit?: number }

const DAY_MS = 86_400_000
const SEEN_PER_SESSION = 5_000

export class MemoryStore implements Store {
  #data: Data = {
    seq: 0,
    lastId: 0,
    sessions: new Map(),
    events: [],
    prompts: [],
    messages: [],
    payloads: [],
    observations: [],
    summaries: [],
    turns: [],
    calls: [],
    seen: new Map(),
    trace: [],
    traceDropped: new Map(),
    vectors: [],
    links: [],
    pins: new Set(),
    decisions: new Map(),
    shown: [],
    promptEvents: new Map(),
    effects: new Map(),
    samples: [],
  }

  async commit(group: readonly Commit[]): Promise<CommitResult[]> {
    return group.map((commit) => {
      const before = structuredClone(this.#data)
      try {
        return this.#refusal(commit) ?? this.#apply(commit)
      } catch (error) {
        this.#data = before
        return { ok: false, why: 'failed', message: messageOf(error), retryable: false }
      }
    })
  }

  #refusal({ session, revision, events }: Commit): CommitResult | null {
    const current = this.#data.sessions.get(session)?.revision ?? 0
    if (current !== revision - 1) return { ok: false, why: 'stale', message: `it is at ${current}`, retryable: true }
    const known = events.map(({ event }) => event.id).filter((id) => this.#event(session, id) !== undefined)
    return known.length > 0 ? { ok: false, why: 'duplicate', eventIds: known } : null
  }

  #apply(decided: Commit): CommitResult {
    const data = this.#data
    const { session, at } = decided
    const state = { ...decided.state, project: this.#filedUnder(decided.state.project) }
    const commit = { ...decided, state }
    data.seq += 1
    data.sessions.set(session, {
      ...structuredClone(state),
      session,
      revision: commit.revision,
      memorySession: `${session}:${state.generation}`,
      createdAt: data.sessions.get(session)?.createdAt ?? state.heardAt,
      quarantine: null,
      seq: data.seq,
    })
    for (const { event, receivedAt, outcome } of commit.events) this.#addEvent(session, event, receivedAt, outcome)
    const promptIds: number[] = []
    for (const { eventId, number, text, private: isPrivate, at } of commit.prompts) {
      if (data.prompts.some((prompt) => prompt.session === session && prompt.number === number)) {
        throw new Error(`prompt ${number} is there`)
      }
      const id = this.#nextId()
      promptIds.push(id)
      data.promptEvents.set(id, eventId)
      data.prompts.push({
        id,
        session,
        project: state.project.key,
        number,
        text,
        private: isPrivate,
        at,
      })
    }
    const stored = commit.observations.map(({ draft, links: _, effectId, ...rest }): Observation => {
      const id = this.#nextId()
      if (effectId !== undefined) data.effects.set(id, effectId)
      return { ...structuredClone(draft), ...rest, id, session, project: state.project.key }
    })
    data.observations.push(...stored)
    for (const [index, { links = [] }] of commit.observations.entries()) {
      for (const link of links) this.#addLink({ ...link, from: stored[index]?.id ?? 0, at })
    }
    for (const change of commit.inbox) this.#change(session, change, stored)
    const summaries = commit.summaries.map(({ draft, effectId, ...rest }): Summary => {
      const id = this.#nextId()
      if (effectId !== undefined) data.effects.set(id, effectId)
      return { ...structuredClone(draft), ...rest, id, session, project: state.project.key }
    })
    data.summaries.push(...summaries)
    for (const turn of commit.turns) data.turns.push({ ...turn, session })
    this.#addCalls(commit)
    for (const { subject, digest } of commit.seen) {
      data.seen.set(seenKey(session, subject), { session, subject, digest, at })
    }
    for (const entry of commit.trace) data.trace.push({ ...entry, id: this.#nextId(), session })
    return {
      ok: true,
      seq: data.seq,
      observationIds: stored.map(({ id }) => id),
      summaryIds: summaries.map(({ id }) => id),
      promptIds,
    }
  }

  #addCalls({ session, state, calls, observations, inbox }: Commit): void {
    const settled = inbox.flatMap((change) => (change.do === 'settle' ? [change.effectId] : []))
    const answered = calls.findLast(({ error, effectId }) => error === null && settled.includes(effectId))
    const made = observations.filter(({ model }) => model !== null).length
    for (const call of calls) {
      this.#data.calls.push({
        ...structuredClone(call),
        id: this.#nextId(),
        session,
        project: state.project.key,
        projectName: state.project.name,
        observations: call === answered ? made : 0,
      })
    }
  }

  #change(session: string, change: InboxChange, stored: readonly Observation[]): void {
    const data = this.#data
    const ofStatus = (status: MessageStatus) =>
      data.messages.filter((message) => message.session === session && message.status === status)
    const ofEffect = (effectId: string) =>
      data.messages.filter((message) => message.session === session && message.effectId === effectId)
    const madeFrom = (eventId: string) => stored.filter(({ sources }) => sources.includes(eventId)).map(({ id }) => id)
    switch (change.do) {
      case 'add':
        this.#addMessage(session, change.event, change.prompt, change.at)
        break
      case 'claim': {
        const open = ofStatus('pending').filter(({ prompt }) => prompt <= change.prompt)
        const chosen =
          change.kind === 'observe'
            ? open.filter(({ kind }) => kind !== 'turn_end').slice(0, change.limit)
            : open.filter(({ kind }) => kind === 'turn_end')
        for (const message of chosen) {
          Object.assign(message, { status: 'processing', effectId: change.effectId, claimedAt: change.at })
        }
        break
      }
      case 'release':
      case 'set_aside': {
        const failed = change.do === 'set_aside'
        for (const message of ofEffect(change.effectId)) {
          Object.assign(message, { status: failed ? 'failed' : 'pending', effectId: null, claimedAt: null })
          if (!failed && !change.counted) continue
          message.attempts += 1
          message.error = change.error
          if (failed) {
            this.#setOutcome(session, message.eventId, 'failed', change.error, [], change.effectId, message.attempts)
          }
        }
        break
      }
      case 'settle': {
        const claimed = ofEffect(change.effectId)
        for (const { eventId, attempts } of claimed) {
          const ids = madeFrom(eventId)
          const kind = ids.length > 0 ? 'observed' : 'folded'
          this.#setOutcome(session, eventId, kind, null, ids, change.effectId, attempts)
        }
        for (const { eventId, kind, reason } of change.outcomes) {
          const attempts = data.messages.find((one) => one.session === session && one.eventId === eventId)?.attempts
          const ids = kind === 'observed' ? madeFrom(eventId) : []
          this.#setOutcome(session, eventId, kind, reason, ids, change.effectId, attempts)
        }
        for (const { event } of claimed) this.#keepPayload(session, event, change.at)
        data.messages = data.messages.filter((message) => !claimed.includes(message))
        break
      }
      case 'retry_failed':
        for (const message of ofStatus('failed')) {
          Object.assign(message, { status: 'pending', attempts: 0, error: null })
          this.#setOutcome(session, message.eventId, null, null, [], null, 0)
        }
        break
      case 'clear': {
        const gone = [...ofStatus('failed'), ...(change.pending ? ofStatus('pending') : [])]
        for (const { eventId } of gone) this.#setOutcome(session, eventId, 'dropped', null, [])
        data.messages = data.messages.filter((message) => !gone.includes(message))
      }
    }
  }

  #nextSeq(): number {
    this.#data.seq += 1
    return this.#data.seq
  }

  #nextId(): number {
    this.#data.lastId += 1
    return this.#data.lastId
  }

  #event(session: string, eventId: string): EventRow | undefined {
    return this.#data.events.find((row) => row.session === session && row.eventId === eventId)
  }

  #addEvent(
    session: string,
    event: MemoryEvent,
    receivedAt: number,
    outcome: { kind: string; reason: string | null } | null,
  ): void {
    if (this.#event(session, event.id) !== undefined) throw new Error(`event ${event.id} is there`)
    this.#data.events.push({
      eventId: event.id,
      session,
      kind: event.kind,
      tool: toolOf(event),
      at: event.at,
      receivedAt,
      payloadHash: createHash('sha256').update(JSON.stringify(event)).digest('hex'),
      outcome: outcome?.kind ?? null,
      reason: outcome?.reason ?? null,
      observationIds: [],
      effectId: null,
      attempts: 0,
    })
  }

  /** What is not given stays as it was. */
  #setOutcome(
    session: string,
    eventId: string,
    outcome: string | null,
    reason: string | null,
    ids: number[],
    effectId?: string | null,
    attempts?: number,
  ): void {
    const row = this.#event(session, eventId)
    if (row === undefined) return
    Object.assign(row, { outcome, reason, observationIds: ids })
    if (effectId !== undefined) row.effectId = effectId
    if (attempts !== undefined) row.attempts = attempts
  }

  #addMessage(session: string, event: MemoryEvent, prompt: number, at: number): void {
    const { messages } = this.#data
    if (this.#event(session, event.id) === undefined) throw new Error(`event ${event.id} was never accepted`)
    if (messages.some((message) => message.session === session && message.eventId === event.id)) {
      throw new Error(`message ${event.id} is there`)
    }
    messages.push({
      id: this.#nextId(),
      session,
      eventId: event.id,
      kind: event.kind,
      tool: toolOf(event),
      prompt,
      status: 'pending',
      claimedAt: null,
      effectId: null,
      attempts: 0,
      error: null,
      createdAt: at,
      event: structuredClone(event),
    })
  }

  #keepPayload(session: string, event: MemoryEvent, at: number): void {
    const bytes = Buffer.byteLength(JSON.stringify(event))
    this.#data.payloads.push({ session, eventId: event.id, at, bytes, event: structuredClone(event) })
  }

  #known(session: string): SessionRow {
    const row = this.#data.sessions.get(session)
    if (row === undefined) throw new MemError('not_found', `There is no session ${session}.`)
    return row
  }

  #awake(): SessionRow[] {
    return [...this.#data.sessions.values()].filter(({ quarantine }) => quarantine === null)
  }

  async session(id: string): Promise<SessionRow | null> {
    return structuredClone(this.#data.sessions.get(id) ?? null)
  }

  async findSessions(prefix: string): Promise<string[]> {
    return [...this.#data.sessions.keys()].filter((id) => id.startsWith(prefix)).sort()
  }

  async findEvents(prefix: string, session: string | null): Promise<string[]> {
    const found = this.#data.events
      .filter((event) => event.eventId.startsWith(prefix) && (session === null || event.session === session))
      .map(({ eventId }) => eventId)
    return [...new Set(found)].sort().slice(0, 10)
  }

  async sessions(filter: SessionFilter): Promise<SessionListItem[]> {
    const { messages, observations } = this.#data
    return [...this.#data.sessions.values()]
      .filter(({ status }) => filter.status === undefined || status === filter.status)
      .filter(({ project }) => filter.project === undefined || project.key === filter.project)
      .sort((a, b) => b.heardAt - a.heardAt)
      .slice(0, filter.limit)
      .map((row) => {
        const count = (status: MessageStatus) =>
          messages.filter((message) => message.session === row.session && message.status === status).length
        return {
          session: row.session,
          project: row.project.key,
          projectName: this.#shownName(row.project),
          status: row.status,
          state: row.state,
          prompts: row.prompts,
          pending: count('pending'),
          processing: count('processing'),
          failed: count('failed'),
          observations: observations.filter(({ session }) => session === row.session).length,
          waiting: row.waiting,
          quarantine: row.quarantine,
          wakeAt: row.wakeAt,
          createdAt: row.createdAt,
          updatedAt: row.heardAt,
        }
      })
  }

  async view(session: string, traceLimit: number): Promise<SessionView | null> {
    const row = await this.session(session)
    if (row === null) return null
    const ofSession = (item: { session: string }) => item.session === session
    return {
      row: { ...row, project: { ...row.project, name: this.#shownName(row.project) } },
      messages: await this.queue({ session }),
      trace: this.#data.trace
        .filter(ofSession)
        .slice(-traceLimit)
        .map(({ session: _, ...entry }) => entry),
      traceDropped: this.#data.traceDropped.get(session) ?? 0,
      observations: this.#data.observations.filter(ofSession).length,
      summaries: this.#data.summaries.filter(ofSession).length,
    }
  }

  async queue(filter: QueueFilter): Promise<Message[]> {
    return this.#data.messages
      .filter(({ session }) => filter.session === undefined || session === filter.session)
      .filter(({ status }) => filter.status === undefined || status === filter.status)
      .slice(0, filter.limit)
      .map(({ event: _, ...message }) => ({ ...message }))
  }

  async queueStats(): Promise<QueueStats> {
    const { messages } = this.#data
    const count = (status: MessageStatus) => messages.filter((message) => message.status === status).length
    const waiting = messages.filter(({ status }) => status !== 'failed').map(({ createdAt }) => createdAt)
    return {
      pending: count('pending'),
      processing: count('processing'),
      failed: count('failed'),
      sessions: new Set(messages.map(({ session }) => session)).size,
      oldestAt: waiting.length === 0 ? null : Math.min(...waiting),
    }
  }

  async stats(dayStart: number): Promise<StoreStats> {
    const { observations, sessions } = this.#data
    return {
      ...(await this.queueStats()),
      observationsToday: observations.filter(({ createdAt }) => createdAt >= dayStart).length,
      observations: observations.length,
      sessionsTotal: sessions.size,
      databaseBytes: 0,
    }
  }

  async observation(id: number): Promise<Observation | null> {
    return structuredClone(this.#data.observations.find((row) => row.id === id) ?? null)
  }

  async observations(filter: Filter): Promise<Observation[]> {
    return newestFirst(this.#data.observations, filter)
  }

  async summaries(filter: Filter): Promise<Summary[]> {
    return newestFirst(this.#data.summaries, filter)
  }

  async projects({ key, name, limit }: ProjectFilter): Promise<ProjectRow[]> {
    const asked = key === undefined ? undefined : (this.#data.decisions.get(key)?.mergedInto ?? key)
    const projects = new Map<string, ProjectRow>()
    for (const { project, heardAt: updatedAt } of this.#newestSessions()) {
      if (projects.has(project.key)) continue
      const times = this.#data.observations.filter((row) => row.project === project.key).map((row) => row.createdAt)
      const since = times.length === 0 ? null : Math.min(...times)
      const shown = { key: project.key, name: this.#shownName(project) }
      projects.set(project.key, { ...shown, observations: times.length, since, updatedAt })
    }
    const fits = (row: ProjectRow) =>
      (asked === undefined || row.key === asked) && (name === undefined || row.name === name)
    return [...projects.values()].filter(fits).slice(0, limit)
  }

  async contextMaterial(query: ContextQuery): Promise<ContextMaterial | null> {
    const { project: key, types } = query
    const [project] = await this.projects({ key })
    if (project === undefined) return null
    const { observations, links, pins } = this.#data
    const own = newestFirst(observations, { project: key })
    const pinned = [...pins]
      .reverse()
      .flatMap((id) => own.find((one) => one.id === id) ?? [])
      .slice(0, query.pinned)
    const isSuperseded = (one: Observation) => links.some(({ to, kind }) => to === one.id && kind === 'supersedes')
    const wanted = own.filter(({ type }) => types.includes(type))
    const ofEach = types.flatMap((type) => own.filter((one) => one.type === type).slice(0, query.ofEachType))
    const read = new Set([...wanted.slice(0, query.observations), ...ofEach])
    const seen = own.filter((one) => read.has(one) && !pinned.includes(one))
    const chosen = seen.filter((one) => !isSuperseded(one))
    return structuredClone({
      project: { key, name: project.name },
      totals: {
        observations: own.length,
        discoveryTokens: own.reduce((sum, { discoveryTokens }) => sum + discoveryTokens, 0),
        since: own.at(-1)?.createdAt ?? null,
      },
      observations: chosen,
      pinned,
      summaries: newestFirst(this.#data.summaries, { project: key, limit: query.summaries }),
      repeats: links
        .filter(({ kind, from }) => kind === 'repeats' && [...chosen, ...pinned].some(({ id }) => id === from))
        .map(({ from, to }) => ({ from, to }))
        .sort((a, b) => a.from - b.from || a.to - b.to),
      superseded: seen.length - chosen.length,
    })
  }

  async aliases(key: string): Promise<Alias[]> {
    const merged = [...this.#data.decisions.values()].filter(({ mergedInto }) => mergedInto === key)
    return merged
      .map((decision) => ({ key: decision.key, moved: decision.root === null }))
      .sort((a, b) => (a.key < b.key ? -1 : 1))
  }

  #shownName({ key, name }: Project): string {
    return this.#data.decisions.get(key)?.name ?? name
  }

  #filedUnder(project: Project): Project {
    const key = this.#data.decisions.get(project.key)?.mergedInto ?? null
    return key === null ? project : { key, name: this.#newestName(key) ?? project.name }
  }

  /** Of projects that are not merged. */
  #newestSessions(): SessionRow[] {
    const { sessions, decisions } = this.#data
    return [...sessions.values()]
      .filter(({ project }) => (decisions.get(project.key)?.mergedInto ?? null) === null)
      .sort((a, b) => b.heardAt - a.heardAt)
  }

  #newestName(key: string): string | null {
    return this.#newestSessions().find(({ project }) => project.key === key)?.project.name ?? null
  }

  async projectDecisions(): Promise<ProjectDecision[]> {
    return structuredClone([...this.#data.decisions.values()].sort((a, b) => (a.key < b.key ? -1 : 1)))
  }

  async listProjects(): Promise<ListedProject[]> {
    const { decisions } = this.#data
    const projects = await this.projects({})
    return await Promise.all(
      projects.map(async ({ key, name, observations, updatedAt }) => ({
        key,
        name,
        named: (decisions.get(key)?.name ?? null) !== null,
        observations,
        sessions: this.#newestSessions().filter(({ project }) => project.key === key).length,
        updatedAt,
        root: decisions.get(key)?.root ?? null,
        merged: (await this.aliases(key)).map((alias) => alias.key),
      })),
    )
  }

  async projectContents(key: string): Promise<ProjectContents> {
    const { sessions, observations, summaries, prompts } = this.#data
    const own = ({ project }: { project: string }) => project === key
    return {
      sessions: [...sessions.values()].filter(({ project }) => project.key === key).length,
      observations: observations.filter(own).length,
      summaries: summaries.filter(own).length,
      prompts: prompts.filter((prompt) => own(prompt) && !prompt.private).length,
    }
  }

  async decideProjects(changes: readonly ProjectChange[], _at: number): Promise<{ seq: number | null }> {
    const { decisions } = this.#data
    let seen = false
    for (const change of changes) {
      const undecided = { name: null, mergedInto: null, root: null, fingerprint: null, files: [] }
      const before = { ...undecided, ...decisions.get(change.key) }
      const after = { ...before, ...structuredClone(change) }
      decisions.set(change.key, after)
      seen ||= before.name !== after.name || before.mergedInto !== after.mergedInto || before.root !== after.root
    }
    return { seq: seen ? this.#nextSeq() : null }
  }

  async takeSeq(): Promise<number> {
    return this.#nextSeq()
  }
  async refileNext(limit: number): Promise<number> {
    const { sessions, observations, summaries, prompts, calls, decisions } = this.#data
    for (const { key: from, mergedInto: into } of decisions.values()) {
      if (into === null) continue
      const name = this.#newestName(into)
      const calling = calls.filter(({ project }) => project === from)
      const filed = [...observations, ...summaries, ...prompts].filter(({ project }) => project === from)
      const left = [...sessions.values()].filter(({ project }) => project.key === from)
      if (filed.length + left.length === 0) continue
      for (const call of calling) Object.assign(call, { project: into, projectName: name ?? call.projectName })
      const some = filed.slice(0, limit)
      for (const row of some) row.project = into
      const moved = left.slice(0, limit - some.length)
      for (const row of moved) row.project = { key: into, name: name ?? row.project.name }
      return some.length + moved.length
    }
    return 0
  }

  async events(session: string, limit: number): Promise<EventRow[]> {
    return structuredClone(this.#data.events.filter((row) => row.session === session).slice(-limit))
  }

  async reported(asked: readonly AskedSession[]): Promise<ReportedSession[]> {
    return asked.flatMap(({ session, end }) => {
      if (!this.#data.sessions.has(session)) return []
      const rows = this.#data.events.filter((row) => row.session === session)
      const transcript = rows.some(({ eventId }) => eventId === startId(session))
      const isTool = (kind: string) => kind === 'tool_use' || kind === 'tool_failure'
      const hooks = !transcript || rows.some(({ kind, eventId }) => !isTool(kind) && !isTranscriptId(eventId))
      return [{ session, hooks, transcript, finished: rows.some(({ eventId }) => eventId === end) }]
    })
  }

  async calls({ session, effectId, since, limit }: CallFilter): Promise<CallRow[]> {
    const asked = (row: CallRow) =>
      (session === undefined || row.session === session) &&
      (effectId === undefined || row.effectId === effectId) &&
      (since === undefined || row.at >= since)
    const found = structuredClone(this.#data.calls.filter(asked).slice(limit === undefined ? 0 : -limit))
    return found.map((row) => ({ ...row, projectName: this.#shownName({ key: row.project, name: row.projectName }) }))
  }

  async usage(filter: UsageFilter): Promise<UsageRow[]> {
    const within = (since: number, until = Number.POSITIVE_INFINITY) =>
      this.#data.calls.filter(({ at }) => at >= since && at < until)
    if (filter.by === 'day') {
      const { dayStarts } = filter
      return dayStarts
        .map((start, i) => ({ key: `${start}`, name: null, at: start, ...summed(within(start, dayStarts[i + 1])) }))
        .filter(({ calls }) => calls > 0)
    }
    const groups = new Map<string, CallRow[]>()
    for (const call of within(filter.since, filter.until)) {
      const group = { project: call.project, session: `${call.session}`, model: `${call.provider} ${call.model}` }
      const calls = groups.get(group[filter.by]) ?? []
      groups.set(group[filter.by], [...calls, call])
    }
    const rows = [...groups.values()].flatMap((calls) => {
      const newest = calls.reduce((a, b) => (b.at > a.at ? b : a))
      const { at, project, session, model, provider } = newest
      const projectName = this.#shownName({ key: project, name: newest.projectName })
      const named = {
        project: { key: project, name: projectName },
        session: { key: session ?? '', name: projectName },
        model: { key: model, name: provider },
      }
      return [{ ...named[filter.by], at, ...summed(calls) }]
    })
    const tokens = ({ usage }: Spending) => Object.values(usage).reduce((sum, n) => sum + n, 0)
    return rows.sort((a, b) => b.cost - a.cost || tokens(b) - tokens(a) || (a.key < b.key ? -1 : 1))
  }

  async spentSince(since: number): Promise<Spent> {
    const { cost, usage } = summed(this.#data.calls.filter(({ at }) => at >= since))
    return { cost, usage }
  }

  async seen(session: string, subjects: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const rows = subjects.flatMap((subject) => this.#data.seen.get(seenKey(session, subject)) ?? [])
    return new Map(rows.map(({ subject, digest }) => [subject, digest]))
  }

  async lastSeq(): Promise<number> {
    return this.#data.seq
  }

  async unfinishedEffects(): Promise<{ session: string; effect: Effect }[]> {
    return this.#awake().flatMap(({ session, effect }) => (effect === null ? [] : [{ session, effect }]))
  }

  async strandedSessions(): Promise<string[]> {
    const waiting = new Set(this.#data.messages.filter((m) => m.status === 'pending').map((m) => m.session))
    return this.#awake()
      .filter(({ session, effect, wakeAt }) => waiting.has(session) && effect === null && wakeAt === null)
      .map(({ session }) => session)
  }

  async dueSessions(now: number, horizonMs: number, limit: number): Promise<string[]> {
    return this.#wakeUps()
      .filter(({ wakeAt }) => wakeAt <= now || wakeAt > now + horizonMs)
      .slice(0, limit)
      .map(({ session }) => session)
  }

  async nextWakeAt(): Promise<number | null> {
    return this.#wakeUps()[0]?.wakeAt ?? null
  }

  #wakeUps(): { session: string; wakeAt: number }[] {
    return this.#awake()
      .flatMap(({ session, wakeAt }) => (wakeAt === null ? [] : [{ session, wakeAt }]))
      .sort((a, b) => a.wakeAt - b.wakeAt)
  }

  async claimed(session: string, effectId: string): Promise<ClaimedMessage[]> {
    return structuredClone(this.#data.messages.filter((m) => m.session === session && m.effectId === effectId))
  }

  async turnMaterial(session: string, prompt: number): Promise<TurnMaterial> {
    const found = this.#data.prompts.find((row) => row.session === session && row.number === prompt)
    return structuredClone({
      prompt: found === undefined ? null : { number: prompt, text: found.text, private: found.private, at: found.at },
      observations: this.#data.observations.filter((row) => row.session === session && row.promptNumber === prompt),
    })
  }

  async conversation(session: string, generation: number): Promise<ObserverTurn[]> {
    return this.#data.turns
      .filter((turn) => turn.session === session && turn.generation === generation)
      .map(({ session: _, ...turn }) => turn)
  }

  async countByPrompt(session: string, status: MessageStatus): Promise<{ prompt: number; count: number }[]> {
    const counts = new Map<number, number>()
    for (const message of this.#data.messages) {
      if (message.session !== session || message.status !== status || message.kind === 'turn_end') continue
      counts.set(message.prompt, (counts.get(message.prompt) ?? 0) + 1)
    }
    return [...counts].sort(([a], [b]) => a - b).map(([prompt, count]) => ({ prompt, count }))
  }

  async eraseSession(session: string): Promise<{ seq: number } | null> {
    const data = this.#data
    if (!data.sessions.delete(session)) return null
    const others = <T extends { session: string }>(rows: T[]) => rows.filter((row) => row.session !== session)
    const gone = new Set(data.observations.filter((one) => one.session === session).map(({ id }) => id))
    this.#data = {
      ...data,
      events: others(data.events),
      prompts: others(data.prompts),
      messages: others(data.messages),
      payloads: others(data.payloads),
      observations: others(data.observations),
      summaries: others(data.summaries),
      turns: others(data.turns),
      trace: others(data.trace),
      shown: others(data.shown),
      vectors: data.vectors.filter(({ observationId }) => !gone.has(observationId)),
      links: data.links.filter(({ from, to }) => !gone.has(from) && !gone.has(to)),
      calls: data.calls.map((call) =>
        call.session === session ? { ...call, session: null, sent: null, received: null } : call,
      ),
    }
    return { seq: this.#nextSeq() }
  }

  async quarantine(session: string, reason: string, at: number): Promise<{ seq: number }> {
    const row = this.#known(session)
    const seq = this.#nextSeq()
    const from = row.quarantine === null ? row.state : 'quarantine'
    const effectId = row.effect?.id ?? null
    const entry = { at, event: 'QUARANTINE', eventId: null, from, to: 'quarantine', reason, effectId }
    this.#data.trace.push({ ...entry, id: this.#nextId(), session })
    Object.assign(row, { status: 'failed', quarantine: reason, heardAt: at, seq })
    return { seq }
  }

  async acceptQuarantined(session: string, event: MemoryEvent, at: number): Promise<'accepted' | 'duplicate'> {
    const row = this.#known(session)
    if (this.#event(session, event.id) !== undefined) return 'duplicate'
    if (isMessage(event) || event.kind === 'turn_end') {
      this.#addEvent(session, event, at, null)
      this.#addMessage(session, event, row.prompts, at)
    } else {
      this.#addEvent(session, event, at, { kind: 'noted', reason: 'the session is quarantined' })
      this.#keepPayload(session, event, at)
    }
    return 'accepted'
  }

  async retain(rules: Retention, now: number): Promise<number> {
    const data = this.#data
    const size = () =>
      data.payloads.length +
      data.trace.length +
      data.turns.length +
      data.seen.size +
      data.samples.length +
      data.calls.filter(({ sent }) => sent !== null).length
    const before = size()
    const isOver = (session: string) => data.sessions.get(session)?.status !== 'active'
    data.payloads = data.payloads.filter(({ at }) => at > now - rules.payloadDays * DAY_MS).sort((a, b) => a.at - b.at)
    let bytes = data.payloads.reduce((sum, payload) => sum + payload.bytes, 0)
    while (bytes > rules.payloadBytes) bytes -= data.payloads.shift()?.bytes ?? bytes
    const young = data.trace.filter(({ at }) => at > now - rules.traceDays * DAY_MS)
    const kept = young.filter((entry) => {
      const newer = young.filter(({ session, id }) => session === entry.session && id > entry.id)
      return newer.length < rules.tracePerSession
    })
    for (const entry of data.trace.filter((item) => !kept.includes(item))) {
      data.traceDropped.set(entry.session, (data.traceDropped.get(entry.session) ?? 0) + 1)
    }
    data.trace = kept
    data.samples = data.samples.filter(({ at }) => at > now - rules.traceDays * DAY_MS)
    data.turns = data.turns.filter(({ at, session }) => at > now - rules.observerTurnDays * DAY_MS || !isOver(session))
    for (const call of data.calls) {
      if (call.at <= now - rules.observerTurnDays * DAY_MS) Object.assign(call, { sent: null, received: null })
    }
    for (const [session, { heardAt }] of data.sessions) {
      const oldest = [...data.seen.entries()].filter(([, row]) => row.session === session)
      const long = isOver(session) && heardAt <= now - rules.observerTurnDays * DAY_MS
      const kept = long ? 0 : SEEN_PER_SESSION
      oldest.sort(([, a], [, b]) => a.at - b.at)
      for (const [key] of oldest.slice(0, Math.max(0, oldest.length - kept))) data.seen.delete(key)
    }
    return before - size()
  }

  async putEmbeddings(vectors: readonly NewVector[]): Promise<number> {
    const known = vectors.filter(({ observationId }) => this.#observed(observationId) !== undefined)
    const keyOf = ({ observationId, fragment, embedder }: NewVector) => `${embedder} ${observationId} ${fragment}`
    const replaced = new Set(known.map(keyOf))
    this.#data.vectors = [...this.#data.vectors.filter((vector) => !replaced.has(keyOf(vector))), ...known]
    return known.length
  }

  async missingEmbeddings(embedder: string, afterId: number, limit: number): Promise<UnembeddedPage> {
    const { observations, vectors } = this.#data
    const hasOne = (id: number) => vectors.some((row) => row.observationId === id && row.embedder === embedder)
    const missing = observations.filter(({ id }) => id > afterId && !hasOne(id))
    const page = missing.slice(0, limit).map(({ id, project, title, subtitle, narrative, facts }) => {
      return { id, project, title, subtitle, narrative, facts }
    })
    return { observations: page, next: missing.length > limit ? (page.at(-1)?.id ?? afterId) : null }
  }

  async dropEmbeddings(embedder: string | null): Promise<number> {
    const before = this.#data.vectors.length
    this.#data.vectors = this.#data.vectors.filter((row) => embedder !== null && row.embedder !== embedder)
    return before - this.#data.vectors.length
  }

  async link(link: Link): Promise<Changed> {
    const changed = this.#checkedLink(link)
    return { changed, seq: changed && link.by !== 'search' ? this.#nextSeq() : null }
  }

  #checkedLink(link: Link): boolean {
    const { from, to, kind } = link
    if (from === to) throw new MemError('bad_request', 'it is the same one')
    for (const id of [from, to]) {
      if (this.#observed(id) === undefined) throw new MemError('not_found', `There is no observation ${id}.`)
    }
    if (this.#observed(from)?.project !== this.#observed(to)?.project) throw new MemError('bad_request', 'two projects')
    if (kind === 'supersedes' && this.#replaces(to, from)) throw new MemError('bad_request', 'a circle')
    return this.#addLink(link)
  }

  #addLink(link: Link): boolean {
    const [newer, older] = [this.#observed(link.from), this.#observed(link.to)]
    if (newer === undefined || newer === older || newer.project !== older?.project) return false
    if (this.#link(link.from, link.to, link.kind) !== undefined) return false
    this.#data.links.push(link)
    return true
  }

  #link(from: number, to: number, kind: LinkKind): Link | undefined {
    return this.#data.links.find((row) => row.from === from && row.to === to && row.kind === kind)
  }

  #replaces(from: number, to: number): boolean {
    return this.#data.links.some(
      (row) => row.kind === 'supersedes' && row.from === from && (row.to === to || this.#replaces(row.to, to)),
    )
  }

  #observed(id: number): Observation | undefined {
    return this.#data.observations.find((row) => row.id === id)
  }

  async unlink(from: number, to: number, kind: LinkKind): Promise<Changed> {
    const found = this.#link(from, to, kind)
    this.#data.links = this.#data.links.filter((row) => row !== found)
    return { changed: found !== undefined, seq: found === undefined ? null : this.#nextSeq() }
  }

  async pin(ids: readonly number[], on: boolean): Promise<Pinned> {
    const { pins } = this.#data
    const missing = ids.filter((id) => this.#observed(id) === undefined)
    const changed = ids.filter((id) => !missing.includes(id) && pins.has(id) !== on)
    for (const id of changed) on ? pins.add(id) : pins.delete(id)
    return { changed: changed.length, missing, seq: changed.length > 0 ? this.#nextSeq() : null }
  }

  async forget({ ids, filters, dryRun }: ForgetRequest): Promise<Forgotten> {
    const data = this.#data
    const gone = this.#memories().filter(
      (memory) =>
        (memory.kind === 'observation' && ids.includes(memory.id)) || (filters !== null && passes(filters, memory)),
    )
    const goneIds = (kind: Filtered['kind']) => gone.filter((memory) => memory.kind === kind).map(({ id }) => id)
    const [observations, summaries, prompts] = [goneIds('observation'), goneIds('summary'), goneIds('prompt')]
    const sessions = new Set(gone.map(({ session }) => session))
    const report: Forgotten = {
      dryRun,
      observations: observations.length,
      summaries: summaries.length,
      prompts: prompts.length,
      ids: observations,
      missing: ids.filter((id) => this.#observed(id) === undefined),
      summariesBeside: data.summaries
        .filter((row) => !summaries.includes(row.id))
        .filter((row) => observations.some((id) => sameTurn(this.#observed(id), row)))
        .map(({ id }) => id),
      embeddings: 0,
      links: 0,
      payloads: 0,
      observerTurns: 0,
      callTexts: 0,
      backups: [],
      cleared: true,
      seq: null,
    }
    if (dryRun || gone.length === 0) return report
    const before = { ...data }
    const kept =
      <T>(goes: (row: T) => boolean) =>
      (row: T) =>
        !goes(row)
    const isGone = (id: number) => observations.includes(id)
    data.observations = data.observations.filter(kept(({ id }) => isGone(id)))
    data.summaries = data.summaries.filter(kept(({ id }) => summaries.includes(id)))
    data.prompts = data.prompts.filter(kept(({ id }) => prompts.includes(id)))
    data.vectors = data.vectors.filter(kept(({ observationId }) => isGone(observationId)))
    data.links = data.links.filter(kept(({ from, to }) => isGone(from) || isGone(to)))
    data.turns = data.turns.filter(kept(({ session }) => sessions.has(session)))
    for (const id of observations) data.pins.delete(id)
    const orphaned = new Set<string>()
    for (const event of data.events) {
      if (!event.observationIds.some(isGone)) continue
      const observationIds = event.observationIds.filter((id) => !isGone(id))
      Object.assign(event, { reason: 'forgotten', observationIds })
      if (observationIds.length === 0) orphaned.add(JSON.stringify([event.session, event.eventId]))
    }
    const isQuarantined = (session: string) => data.sessions.get(session)?.quarantine !== null
    data.payloads = data.payloads.filter(({ session, eventId }) => {
      if (!sessions.has(session)) return true
      return isQuarantined(session) && !orphaned.has(JSON.stringify([session, eventId]))
    })
    for (const entry of data.trace) {
      if (entry.event !== 'FAILED' || !sessions.has(entry.session)) continue
      entry.reason = entry.reason.replace(/:.*/s, ': forgotten with what it was about')
    }
    for (const call of data.calls) {
      if (call.session === null || !sessions.has(call.session) || (call.sent ?? call.error) === null) continue
      report.callTexts += 1
      const error = call.error === null ? null : 'forgotten with what it was about'
      Object.assign(call, { sent: null, received: null, error })
    }
    return {
      ...report,
      embeddings: before.vectors.length - data.vectors.length,
      links: before.links.length - data.links.length,
      payloads: before.payloads.length - data.payloads.length,
      observerTurns: before.turns.length - data.turns.length,
      seq: this.#nextSeq(),
    }
  }

  #memories(): Filtered[] {
    const { observations, summaries, prompts, pins } = this.#data
    const none = { type: null, agent: null, concepts: [], files: [], pinned: false }
    return [
      ...observations.map((row): Filtered => {
        const files = [...row.filesRead, ...row.filesModified]
        return { ...row, kind: 'observation', files, pinned: pins.has(row.id) }
      }),
      ...summaries.map((row): Filtered => {
        return { ...none, ...row, kind: 'summary', files: [...row.filesRead, ...row.filesEdited] }
      }),
      ...prompts
        .filter((row) => !row.private)
        .map(({ at, ...row }): Filtered => ({ ...none, ...row, kind: 'prompt', createdAt: at })),
    ]
  }

  async importBatch(batch: ImportBatch): Promise<ImportResult> {
    const before = structuredClone(this.#data)
    const link = (asked: Link) => this.#checkedLink(asked)
    const result = importInto(this.#data, batch, { nextId: () => this.#nextId(), link })
    if (!batch.dryRun) return result
    this.#data = before
    const outcomes = result.outcomes.map((outcome) => (outcome.is === 'added' ? { ...outcome, id: null } : outcome))
    return { outcomes, projects: [], seq: null }
  }

  async origin(observation: number): Promise<Origin | null> {
    return originOf(this.#originData(), observation)
  }

  async eventView(eventId: string, session: string | null): Promise<EventView | null> {
    return eventViewOf(this.#originData(), eventId, session)
  }

  async story(session: string, { trace, rows }: { trace: number; rows: number }): Promise<SessionStory | null> {
    const view = await this.view(session, trace)
    return view === null ? null : storyOf(this.#originData(), view, rows)
  }

  async activity(dayStarts: readonly number[], until: number): Promise<Activity> {
    const nameOf = (key: string) => this.#shownName({ key, name: this.#newestName(key) ?? key })
    return activityOf(this.#originData(), dayStarts, until, nameOf)
  }

  async payloads(session: string, afterId: number, limit: number): Promise<KeptEvent[]> {
    return keptEventsOf(this.#data, session)
      .filter(({ id }) => id > afterId)
      .slice(0, limit)
  }

  #originData(): OriginData {
    const named = this.#data.calls.map((call) => {
      return { ...call, projectName: this.#shownName({ key: call.project, name: call.projectName }) }
    })
    return { ...this.#data, calls: named }
  }

  async sampleQueue(at: number): Promise<void> {
    const { pending, processing, failed } = await this.queueStats()
    const last = this.#data.samples.findLast((sample) => sample.at <= at) ?? { pending: 0, processing: 0, failed: 0 }
    if (last.pending === pending && last.processing === processing && last.failed === failed) return
    const others = this.#data.samples.filter((sample) => sample.at !== at)
    this.#data.samples = [...others, { at, pending, processing, failed }].sort((a, b) => a.at - b.at)
  }

  async indexNext(): Promise<IndexState> {
    return await this.indexState()
  }
  async indexState(): Promise<IndexState> {
    return { done: 0, total: 0 }
  }
  async rebuildSearch(): Promise<IndexState> {
    return await this.indexState()
  }

  async shown(session: string): Promise<number[]> {
    const there = new Set(this.#data.observations.map(({ id }) => id))
    return this.#data.shown.flatMap((one) =>
      one.session === session && there.has(one.observation) ? [one.observation] : [],
    )
  }

  async markShown(session: string, observations: readonly number[], _at: number): Promise<number[]> {
    const there = new Set(this.#data.observations.map(({ id }) => id))
    const isShown = (id: number) => this.#data.shown.some((one) => one.session === session && one.observation === id)
    const isNew = (id: number) => this.#data.sessions.has(session) && there.has(id) && !isShown(id)
    const marked = [...new Set(observations)].filter(isNew)
    this.#data.shown.push(...marked.map((observation) => ({ session, observation })))
    return marked
  }

  async clearShown(session: string): Promise<void> {
    this.#data.shown = this.#data.shown.filter((one) => one.session !== session)
  }

  async backup(): Promise<BackupInfo> {
    throw new MemError('storage', 'A store in memory has no backups.')
  }
  async backups(): Promise<BackupInfo[]> {
    return []
  }
  async startNotes(): Promise<string[]> {
    return []
  }
  async close(): Promise<void> {}
}

function newestFirst<T extends Observation | Summary>(rows: readonly T[], filter: Filter): T[] {
  return structuredClone(
    rows
      .filter(({ session }) => filter.session === undefined || session === filter.session)
      .filter(({ project }) => filter.project === undefined || project === filter.project)
      .sort((a, b) => b.createdAt - a.createdAt || b.id - a.id)
      .slice(0, filter.limit),
  )
}

function sameTurn(observation: Observation | undefined, summary: Summary): boolean {
  return observation?.session === summary.session && observation.promptNumber === summary.promptNumber
}

function summed(calls: readonly CallRow[]): Spending {
  const usage = { ...NO_USAGE }
  for (const call of calls) {
    usage.input += call.usage.input
    usage.output += call.usage.output
    usage.cacheRead += call.usage.cacheRead
    usage.cacheWrite += call.usage.cacheWrite
  }
  const isUnpriced = (call: CallRow) => call.cost === null && Object.values(call.usage).some((n) => n > 0)
  return {
    calls: calls.length,
    failed: calls.filter(({ error }) => error !== null).length,
    usage,
    cost: calls.reduce((sum, { cost }) => sum + (cost ?? 0), 0),
    unpriced: calls.filter(isUnpriced).length,
    observations: calls.reduce((sum, { observations }) => sum + observations, 0),
  }
}

function seenKey(session: string, subject: string): string {
  return JSON.stringify([session, subject])
}
