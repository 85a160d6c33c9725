/**
 * Changes to memories that people and agents make: remember, correct, pin, link, import, reindex; forgetting.ts
 * forgets. Each change is durable first; then it is published on the live stream and everything derived from it (rendered context, files,
 * indexes) is invalidated. A memory written by hand is an ordinary observation in a closed session of its project.
 */

import { createHash } from 'node:crypto'
import type { FileSections } from '../context/files/file-sections.ts'
import { authorName, isOwn } from '../domain/authorship.ts'
import {
  estimateTokens,
  HAND_WRITTEN_SESSION_PREFIX,
  type Observation,
  type ObservationDraft,
  type ObservationType,
  observationNotFound,
} from '../domain/observation.ts'
import { plainText, truncateAtWord } from '../domain/plain-text.ts'
import { isEntirelyPrivate } from '../domain/private-parts.ts'
import type { Project } from '../domain/project.ts'
import { sanitizeText } from '../domain/sanitize.ts'
import type { ReceivedRecord } from '../domain/team-record.ts'
import { MemError } from '../lib/errors.ts'
import type { Indexer, IndexerProgress } from '../search/indexer.ts'
import type { SearchCalls } from '../search/search-thread.ts'
import {
  type Commit,
  type CommitResult,
  closedSessionState,
  contentHash,
  emptyCommit,
  type NewObservation,
} from '../store/commit.ts'
import type { ImportBatch, ImportResult } from '../store/exchange-records.ts'
import type { Store } from '../store/port.ts'
import type { AppliedRecords, LogCursor } from '../store/team-port.ts'
import { commitItem, type StreamedChange, type StreamItem } from './actors/stream.ts'
import type { RenderedContextCache } from './rendered-context-cache.ts'

interface Note {
  kind: ObservationType
  title: string | null
  text: string
  concepts: readonly string[]
  files: readonly string[]
  by: 'person' | 'agent'
  /** The program that writes it. */
  client: string
  /** The session of the agent; null: not known. */
  session: string | null
}

/** Without a title, the first sentence of the text becomes the title. */
function noteDraft({ kind, title, text: given, concepts, files, by, client, session }: Note): ObservationDraft {
  const text = cleanMemoryText(given)
  return {
    type: kind,
    title: cleanTitle(title ?? '') || titleFromText(text),
    subtitle: null,
    narrative: text,
    facts: [],
    concepts: cleanList(concepts),
    filesRead: cleanList(files),
    filesModified: [],
    functionsChanged: [],
    agent: null,
    discoveryTokens: estimateTokens(text),
    discoveryEstimated: true,
    sources: [],
    saidBy: by,
    saidIn: session === null ? client : `${client}, session ${session}`,
  }
}

/** Fields that are not given stay as they were. */
type Correction = Partial<Pick<Note, 'kind' | 'text' | 'concepts'> & { title: string; facts: readonly string[] }>

/** One's own, also where the old one is somebody else's. It keeps the files, functions and discovery cost of the old one. */
function correctedDraft(old: Observation, correction: Correction, me: string | null): ObservationDraft {
  const { kind, title, text, facts, concepts } = correction
  const isOthers = !isOwn(old, me)
  const { id, subtitle, filesRead, filesModified, functionsChanged, agent, discoveryTokens, discoveryEstimated } = old
  const draft: ObservationDraft = {
    type: kind ?? old.type,
    title: title === undefined ? old.title : correctedTitle(title),
    subtitle,
    narrative: text === undefined ? old.narrative : cleanMemoryText(text),
    facts: facts === undefined ? old.facts : cleanList(facts),
    concepts: concepts === undefined ? old.concepts : cleanList(concepts),
    filesRead,
    filesModified,
    functionsChanged,
    agent,
    discoveryTokens,
    discoveryEstimated,
    sources: [],
    // Words that were kept are not the user's.
    saidBy: text !== undefined ? 'person' : isOthers ? 'agent' : (old.saidBy ?? 'agent'),
    saidIn: isOthers ? `in place of a memory by ${authorName(old.author ?? '')}` : null,
    supersedes: [id],
  }
  if (contentKey(draft) === contentKey(old)) {
    throw new MemError('bad_request', `observation ${id} already has this content`)
  }
  return draft
}

function contentKey({ type, title, narrative, facts, concepts }: ObservationDraft): string {
  return JSON.stringify([type, title, narrative, facts, concepts])
}

/** Attempts when another writer changes the session at the same time. */
const MAX_ATTEMPTS = 10

/** Superseded observations must be of the same project. */
export async function commitByHand(
  store: Pick<Store, 'session' | 'commit'>,
  draft: ObservationDraft,
  project: Project,
  cwd: string,
  at: number,
): Promise<{ id: number; commit: Commit; result: CommitResult & { ok: true } }> {
  const session = rememberedSession(project)
  const state = closedSessionState({ project, client: 'claude-mem', cwd, heardAt: at })
  for (let attempt = 1; ; attempt += 1) {
    const revision = ((await store.session(session))?.revision ?? 0) + 1
    const commit = { ...emptyCommit(session, revision, at), state, ...handWrittenRows(draft, at) }
    const [result] = await store.commit([commit])
    if (result?.ok === true) {
      const [id] = result.observationIds
      if (id !== undefined) return { id, commit, result }
    }
    const stale = result?.ok === false && result.why === 'stale'
    if (stale && attempt < MAX_ATTEMPTS) continue
    const why = result?.ok === false && 'message' in result ? result.message : 'the store returned no reason'
    throw new MemError('storage', `the memory could not be stored (${why}); try again`, { retryable: stale })
  }
}

/** One session per project, closed from the start: no observer reads it. */
export function rememberedSession(project: Project): string {
  return HAND_WRITTEN_SESSION_PREFIX + createHash('sha256').update(project.key).digest('hex').slice(0, 16)
}

function handWrittenRows(draft: ObservationDraft, at: number): Pick<Commit, 'observations' | 'trace'> {
  const replaced = draft.supersedes ?? []
  const reason = replaced.length === 0 ? 'written by hand' : `written by hand, in place of ${replaced.join(', ')}`
  const observation: NewObservation = {
    ...draft,
    promptNumber: 0,
    contentHash: contentHash(draft),
    promptVersion: null,
    model: null,
    createdAt: at,
    links: replaced.map((to) => ({ to, kind: 'supersedes', by: 'person' })),
  }
  return {
    observations: [observation],
    trace: [{ at, event: 'REMEMBER', eventId: null, from: 'closed', to: 'closed', reason, effectId: null }],
  }
}

/** As long as titles of observations are, in characters. */
const TITLE_CHARS = 90

export const REINDEX_PARTS = ['all', 'lexical', 'vectors'] as const
export type ReindexPart = (typeof REINDEX_PARTS)[number]

interface MemoryChangesOptions {
  store: Store
  search: () => Promise<Pick<SearchCalls, 'observations' | 'reset'>>
  indexer: Pick<Indexer, 'wake' | 'startOver' | 'progress'>
  contextCache: Pick<RenderedContextCache, 'changed'>
  files?: Pick<FileSections, 'changed'>
  /** The key under which a project's memory is kept, after merges. */
  keyOf?: (project: string) => string
  publish?: (item: StreamItem) => void
  /** The name of this machine's user in a team; null: there is none. */
  me?: () => string | null
  now?: () => number
}

export class MemoryChanges {
  readonly #options: MemoryChangesOptions
  readonly #now: () => number

  constructor(options: MemoryChangesOptions) {
    this.#options = options
    this.#now = options.now ?? Date.now
  }

  /** Returns the id of the new observation. */
  async remember({ project, cwd, ...note }: Note & { project: Project; cwd: string }): Promise<number> {
    const session = note.by === 'agent' ? (note.session ?? (await this.#openSession(project.key))) : null
    return await this.#store(noteDraft({ ...note, session }), project, cwd)
  }

  /** The session of a project that was heard of last, if it is open: the one in which its agent works. */
  async #openSession(project: string): Promise<string | null> {
    const key = this.#options.keyOf?.(project) ?? project
    const [newest] = await this.#options.store.sessions({ project: key, status: 'active', limit: 1 })
    return newest?.session ?? null
  }

  /** Returns the id of the new observation, which supersedes the old one. A pin moves to the new one. */
  async correct({ observation, ...correction }: Correction & { observation: number }): Promise<number> {
    const [old] = await (await this.#options.search()).observations([observation])
    if (old === undefined) throw observationNotFound(observation)
    const id = await this.#store(
      correctedDraft(old, correction, this.#options.me?.() ?? null),
      { key: old.project, name: old.projectName },
      '',
    )
    if (old.pinned) {
      await this.pin([id], true)
      await this.pin([old.id], false)
    }
    return id
  }

  async pin(ids: readonly number[], on: boolean): Promise<{ changed: number; missing: number[] }> {
    const projects = await this.#projectsOf(ids)
    const { changed, missing, seq } = await this.#options.store.pin(ids, on, this.#now())
    const unknown = new Set(missing)
    this.#publish(seq, { change: 'pinned', ids: ids.filter((id) => !unknown.has(id)), on })
    for (const project of projects) this.#invalidate(project)
    return { changed, missing }
  }

  /** `from` is the newer one. */
  async link(from: number, to: number, kind: 'supersedes', on: boolean): Promise<void> {
    const { store, search } = this.#options
    const observations = await (await search()).observations([from, to])
    const missing = [from, to].filter((id) => !observations.some((observation) => observation.id === id))
    if (missing.length > 0) throw observationNotFound(...missing)
    const { seq } = on
      ? await store.link({ from, to, kind, by: 'person', at: this.#now() })
      : await store.unlink(from, to, kind)
    this.#publish(seq, { change: 'linked', from, to, on })
    for (const { project } of observations) this.#invalidate(project)
  }

  /** Returns the outcome of each record, in their order, and the keys of the projects that were changed. */
  async import(batch: ImportBatch): Promise<Pick<ImportResult, 'outcomes' | 'projects'>> {
    const { outcomes, projects, seq } = await this.#options.store.importBatch(batch, this.#now())
    this.#publish(seq, { change: 'imported', projects })
    for (const project of projects) this.#invalidate(project)
    return { outcomes, projects }
  }

  /** Applies records of a team's log, which were checked and cleaned before. */
  async receive(
    records: readonly ReceivedRecord[],
    cursors: readonly LogCursor[],
    ownAuthor: string,
  ): Promise<AppliedRecords> {
    const applied = await this.#options.store.applyRecords(records, cursors, this.#now(), ownAuthor)
    const { seq, projects, added, erased, erasedObservations: ids } = applied
    const isOnlyErased = added === 0 && erased > 0
    this.#publish(
      seq,
      isOnlyErased
        ? { change: 'forgotten', ids, summaries: erased - ids.length, prompts: 0 }
        : { change: 'imported', projects },
    )
    for (const project of projects) this.#invalidate(project)
    return applied
  }

  /** Resolves once it has begun; `indexing` then says how far it is. */
  async reindex(what: ReindexPart): Promise<void> {
    const { store, indexer, search } = this.#options
    if (what !== 'vectors') await store.rebuildSearch()
    if (what !== 'lexical') {
      while ((await store.dropEmbeddings(null)) > 0);
      await (await search()).reset()
    }
    indexer.startOver()
  }

  /** Null while there is nothing to index. */
  indexing(): IndexerProgress | null {
    return this.#options.indexer.progress
  }

  /** `seq` null: nothing has changed. */
  #publish(seq: number | null, change: StreamedChange): void {
    if (seq !== null) this.#options.publish?.({ type: 'change', seq, at: this.#now(), ...change })
  }

  async #store(draft: ObservationDraft, project: Project, cwd: string): Promise<number> {
    const { store, publish } = this.#options
    const { id, commit, result } = await commitByHand(store, draft, project, cwd, this.#now())
    // The store files a merged project under the other one's key.
    const filed = { ...project, key: this.#options.keyOf?.(project.key) ?? project.key }
    publish?.(commitItem({ ...commit, state: { ...commit.state, project: filed } }, result, { pending: 0, failed: 0 }))
    this.#invalidate(filed.key)
    return id
  }

  #invalidate(project: string): void {
    this.#options.contextCache.changed(project)
    this.#options.files?.changed(project)
    this.#options.indexer.wake()
  }

  async #projectsOf(ids: readonly number[]): Promise<string[]> {
    if (ids.length === 0) return []
    const observations = await (await this.#options.search()).observations(ids)
    return [...new Set(observations.map(({ project }) => project))]
  }
}

function cleanMemoryText(given: string): string {
  if (isEntirelyPrivate(given)) throw new MemError('bad_request', 'the whole text is private: nothing was remembered')
  const text = sanitizeText(given).trim()
  if (text === '') throw new MemError('bad_request', 'there is nothing to remember: the text is empty')
  return text
}

function cleanTitle(given: string): string {
  return truncateAtWord(plainText(sanitizeText(given)), TITLE_CHARS)
}

function correctedTitle(given: string): string {
  const title = cleanTitle(given)
  if (title === '') throw new MemError('bad_request', 'the title is empty')
  return title
}

/** Without empty entries and duplicates. */
function cleanList(words: readonly string[]): string[] {
  return [...new Set(words.map((word) => sanitizeText(word).trim()))].filter(Boolean)
}

/** The first sentence, cut to the length of a title. */
function titleFromText(text: string): string {
  const words = plainText(text)
  const sentence = /^.*?[.!?。！？](?=\s|$)/u.exec(words)?.[0] ?? words
  return truncateAtWord(sentence.replace(/\.$/, ''), TITLE_CHARS)
}
