/** The store itself, synchronous, on the thread that calls it. Only a backup takes turns with other calls. */
import type { Effect } from '../../../machines/session/types.ts'
import { messageOf } from '../../errors.ts'
import type { MemoryEvent } from '../../memory/event.ts'
import type { Commit, CommitResult, ObserverTurn } from '../commit.ts'
import type { ImportBatch, ImportResult } from '../import-port.ts'
import type { BackupInfo, ClaimedMessage, MessageStatus, Retention, TurnMaterial } from '../port.ts'
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
import { answer } from './answer.ts'
import { type CopyTo, copyDatabase, listBackups, listSetAside, writeBackup } from './backup.ts'
import { commitGroup } from './commit.ts'
import { isCorruption } from './errors.ts'
import type { Answer, Answers, Arguments, Method } from './facade.ts'
import { markSuspect } from './files.ts'
import { importBatch } from './import.ts'
import { quickCheck } from './inspect.ts'
import { selectObservationsOfPrompt, selectPrompt } from './memories.ts'
import { nextSeq } from './meta.ts'
import { type OpenOptions, openDatabase } from './open.ts'
import { decideProjects, refileNext } from './project-decisions.ts'
import { acceptForQuarantined, quarantineSession } from './quarantine.ts'
import { SqliteQueries } from './queries.ts'
import { countMessagesByPrompt, selectClaimed } from './queue.ts'
import { sampleQueue } from './queue-depth.ts'
import { retainWithin } from './retention.ts'
import { forgetMemories } from './search/forget.ts'
import { distrustIndex } from './search/index-version.ts'
import { linkObservations, pinObservations, unlinkObservations } from './search/links.ts'
import { indexNext, indexState } from './search/progress.ts'
import { resetIndex } from './search/reset.ts'
import { deleteVectors, putVectors, selectUnembedded } from './search/vectors.ts'
import { selectSeen } from './seen.ts'
import { eraseSession } from './sessions.ts'
import { deleteShown, insertShown, selectShown } from './shown.ts'
import type { Connection } from './statement.ts'
import { selectConversation } from './turns.ts'
import { selectDueSessions, selectNextWakeAt, selectStrandedSessions, selectUnfinishedEffects } from './wakeups.ts'

export interface CoreOptions extends OpenOptions {
  /** Makes the copies for backups; by default on the thread that asks for them. */
  copyTo?: CopyTo
}

export class SqliteCore extends SqliteQueries implements Answers {
  readonly #options: CoreOptions
  readonly #notes: readonly string[]
  /** One backup at a time: each begins by clearing away what a dead one left. */
  #backups: Promise<unknown> = Promise.resolve()

  constructor(db: Connection, notes: readonly string[], options: CoreOptions) {
    super(db)
    this.#notes = notes
    this.#options = options
  }

  static async open(options: CoreOptions): Promise<SqliteCore> {
    const { db, notes } = await openDatabase(options)
    return new SqliteCore(db, notes, options)
  }

  /** Answers by name. Damage that any call meets is remembered for the next start, which mends it. */
  async call<M extends Method>(method: M, args: Arguments<M>): Promise<Answer<M>> {
    try {
      return await answer<Method, M>(this, method, args)
    } catch (error) {
      if (isCorruption(error)) markSuspect(this.#options.databaseFile, messageOf(error))
      throw error
    }
  }

  commit(group: readonly Commit[]): CommitResult[] {
    return commitGroup(this.db, group)
  }
  unfinishedEffects(): { session: string; effect: Effect }[] {
    return selectUnfinishedEffects(this.db)
  }
  strandedSessions(): string[] {
    return selectStrandedSessions(this.db)
  }
  dueSessions(now: number, horizonMs: number, limit: number): string[] {
    return selectDueSessions(this.db, now, horizonMs, limit)
  }
  nextWakeAt(): number | null {
    return selectNextWakeAt(this.db)
  }
  claimed(session: string, effectId: string): ClaimedMessage[] {
    return selectClaimed(this.db, session, effectId)
  }
  turnMaterial(session: string, prompt: number): TurnMaterial {
    return {
      prompt: selectPrompt(this.db, session, prompt),
      observations: selectObservationsOfPrompt(this.db, session, prompt),
    }
  }
  conversation(session: string, generation: number): ObserverTurn[] {
    return selectConversation(this.db, session, generation)
  }
  seen(session: string, subjects: readonly string[]): Map<string, string> {
    return selectSeen(this.db, session, subjects)
  }
  countByPrompt(session: string, status: MessageStatus): { prompt: number; count: number }[] {
    return countMessagesByPrompt(this.db, session, status)
  }
  eraseSession(session: string): { seq: number } | null {
    return eraseSession(this.db, session)
  }
  quarantine(session: string, reason: string, at: number): { seq: number } {
    return quarantineSession(this.db, session, reason, at)
  }
  acceptQuarantined(session: string, event: MemoryEvent, at: number): 'accepted' | 'duplicate' {
    return acceptForQuarantined(this.db, session, event, at)
  }
  retain(rules: Retention, now: number): number {
    return retainWithin(this.db, rules, now)
  }
  putEmbeddings(vectors: readonly NewVector[]): number {
    return putVectors(this.db, vectors)
  }
  missingEmbeddings(embedder: string, afterId: number, limit: number): UnembeddedPage {
    return selectUnembedded(this.db, embedder, afterId, limit)
  }
  dropEmbeddings(embedder: string | null): number {
    return deleteVectors(this.db, embedder)
  }
  link(link: Link): Changed {
    return linkObservations(this.db, link)
  }
  unlink(from: number, to: number, kind: LinkKind): Changed {
    return unlinkObservations(this.db, from, to, kind)
  }
  pin(ids: readonly number[], on: boolean, at: number): Pinned {
    return pinObservations(this.db, ids, on, at)
  }
  forget(request: ForgetRequest): Forgotten {
    const aside = listSetAside(this.#options.databaseFile)
    return forgetMemories(this.db, request, [...this.backups(), ...aside])
  }
  indexNext(limit: number): IndexState {
    return indexNext(this.db, limit)
  }
  indexState(): IndexState {
    return indexState(this.db)
  }
  rebuildSearch(): IndexState {
    this.db.transaction(() => resetIndex(this.db)).immediate()
    return indexState(this.db)
  }
  shown(session: string): number[] {
    return selectShown(this.db, session)
  }
  markShown(session: string, observations: readonly number[], at: number): number[] {
    return insertShown(this.db, session, observations, at)
  }
  clearShown(session: string): undefined {
    deleteShown(this.db, session)
  }
  decideProjects(changes: readonly ProjectChange[], at: number): { seq: number | null } {
    return decideProjects(this.db, changes, at)
  }
  refileNext(limit: number): number {
    return refileNext(this.db, limit)
  }
  takeSeq(): number {
    return nextSeq(this.db)
  }
  sampleQueue(at: number): undefined {
    sampleQueue(this.db, at)
  }
  importBatch(batch: ImportBatch, at: number): ImportResult {
    return importBatch(this.db, batch, at)
  }
  backup(reason: string, keep: number): Promise<BackupInfo> {
    const { databaseFile, backupsDir, now = Date.now } = this.#options
    const { copyTo = (file: string) => copyDatabase(databaseFile, file) } = this.#options
    const written = this.#backups.then(() => writeBackup(copyTo, backupsDir, reason, keep, now()))
    this.#backups = written.catch(() => {})
    return written
  }
  backups(): BackupInfo[] {
    return listBackups(this.#options.backupsDir)
  }
  startNotes(): string[] {
    return [...this.#notes]
  }
  quickCheck(): string[] {
    const { problems, indexDamaged } = quickCheck(this.db)
    if (indexDamaged) distrustIndex(this.db)
    const [first] = problems
    if (first !== undefined) markSuspect(this.#options.databaseFile, first)
    return problems
  }
  override async close(): Promise<void> {
    await this.#backups
    this.db.close()
  }
}
