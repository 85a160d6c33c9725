/**
 * The store port in front of something that answers calls by name: a core on this thread, or one on a worker. What
 * a core answers directly, the facade answers with a promise.
 */
import type { Effect } from '../../../machines/session/types.ts'
import type { MemoryEvent } from '../../memory/event.ts'
import type { Commit, CommitResult, ObserverTurn } from '../commit.ts'
import type { ImportBatch, ImportResult } from '../import-port.ts'
import type { BackupInfo, ClaimedMessage, MessageStatus, Retention, Store, TurnMaterial } from '../port.ts'
import type { ProjectChange } from '../project-port.ts'
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
} from '../search-port.ts'
import { ReaderFacade } from './reader-facade.ts'

export interface SqliteStore extends Store {
  /** What is wrong with the file, for databases too large to be checked at the start; empty when it is sound. */
  quickCheck(): Promise<string[]>
}

export type Method = keyof SqliteStore
export type Arguments<M extends Method> = Parameters<SqliteStore[M]>
export type Answer<M extends Method> = Awaited<ReturnType<SqliteStore[M]>>

/** What a core looks like: the port's methods, answered at once or later. */
export type Answers<M extends Method = Method> = {
  [K in M]: (...args: Arguments<K>) => Answer<K> | Promise<Answer<K>>
}

export type Call<Methods extends Method = Method> = <M extends Methods>(
  method: M,
  ...args: Arguments<M>
) => Promise<Answer<M>>

export class StoreFacade extends ReaderFacade implements SqliteStore {
  readonly #call: Call

  constructor(call: Call) {
    super(call)
    this.#call = call
  }

  commit(group: readonly Commit[]): Promise<CommitResult[]> {
    return this.#call('commit', group)
  }
  unfinishedEffects(): Promise<{ session: string; effect: Effect }[]> {
    return this.#call('unfinishedEffects')
  }
  strandedSessions(): Promise<string[]> {
    return this.#call('strandedSessions')
  }
  dueSessions(now: number, horizonMs: number, limit: number): Promise<string[]> {
    return this.#call('dueSessions', now, horizonMs, limit)
  }
  nextWakeAt(): Promise<number | null> {
    return this.#call('nextWakeAt')
  }
  claimed(session: string, effectId: string): Promise<ClaimedMessage[]> {
    return this.#call('claimed', session, effectId)
  }
  turnMaterial(session: string, prompt: number): Promise<TurnMaterial> {
    return this.#call('turnMaterial', session, prompt)
  }
  conversation(session: string, generation: number): Promise<ObserverTurn[]> {
    return this.#call('conversation', session, generation)
  }
  seen(session: string, subjects: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return this.#call('seen', session, subjects)
  }
  countByPrompt(session: string, status: MessageStatus): Promise<{ prompt: number; count: number }[]> {
    return this.#call('countByPrompt', session, status)
  }
  eraseSession(session: string): Promise<{ seq: number } | null> {
    return this.#call('eraseSession', session)
  }
  quarantine(session: string, reason: string, at: number): Promise<{ seq: number }> {
    return this.#call('quarantine', session, reason, at)
  }
  acceptQuarantined(session: string, event: MemoryEvent, at: number): Promise<'accepted' | 'duplicate'> {
    return this.#call('acceptQuarantined', session, event, at)
  }
  retain(rules: Retention, now: number): Promise<number> {
    return this.#call('retain', rules, now)
  }
  backup(reason: string, keep: number): Promise<BackupInfo> {
    return this.#call('backup', reason, keep)
  }
  backups(): Promise<BackupInfo[]> {
    return this.#call('backups')
  }
  startNotes(): Promise<string[]> {
    return this.#call('startNotes')
  }
  quickCheck(): Promise<string[]> {
    return this.#call('quickCheck')
  }
  putEmbeddings(vectors: readonly NewVector[]): Promise<number> {
    return this.#call('putEmbeddings', vectors)
  }
  missingEmbeddings(embedder: string, afterId: number, limit: number): Promise<UnembeddedPage> {
    return this.#call('missingEmbeddings', embedder, afterId, limit)
  }
  dropEmbeddings(embedder: string | null): Promise<number> {
    return this.#call('dropEmbeddings', embedder)
  }
  link(link: Link): Promise<Changed> {
    return this.#call('link', link)
  }
  unlink(from: number, to: number, kind: LinkKind): Promise<Changed> {
    return this.#call('unlink', from, to, kind)
  }
  pin(ids: readonly number[], on: boolean, at: number): Promise<Pinned> {
    return this.#call('pin', ids, on, at)
  }
  forget(request: ForgetRequest): Promise<Forgotten> {
    return this.#call('forget', request)
  }
  indexNext(limit: number): Promise<IndexState> {
    return this.#call('indexNext', limit)
  }
  indexState(): Promise<IndexState> {
    return this.#call('indexState')
  }
  rebuildSearch(): Promise<IndexState> {
    return this.#call('rebuildSearch')
  }
  shown(session: string): Promise<number[]> {
    return this.#call('shown', session)
  }
  markShown(session: string, observations: readonly number[], at: number): Promise<number[]> {
    return this.#call('markShown', session, observations, at)
  }
  clearShown(session: string): Promise<void> {
    return this.#call('clearShown', session)
  }
  decideProjects(changes: readonly ProjectChange[], at: number): Promise<{ seq: number | null }> {
    return this.#call('decideProjects', changes, at)
  }
  refileNext(limit: number): Promise<number> {
    return this.#call('refileNext', limit)
  }
  takeSeq(): Promise<number> {
    return this.#call('takeSeq')
  }
  sampleQueue(at: number): Promise<void> {
    return this.#call('sampleQueue', at)
  }
  importBatch(batch: ImportBatch, at: number): Promise<ImportResult> {
    return this.#call('importBatch', batch, at)
  }
}
