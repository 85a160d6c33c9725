/**
 * Applies records of the shared log to this machine's memory. Records come at least once and, between machines, in any
 * order; the result is the same:
 *
 * 1. A record is known by its id. An observation or a summary that the same author has by session, time and content gets
 *    the id as an alias.
 * 2. A tombstone always wins: its target is erased with every copy, or never added if it comes later. One by another author
 *    erases nothing that this user never shared.
 * 3. Of the records about one subject (a pin, a link, a status, a name), the one with the highest version counts, and of
 *    equal versions the one with the greater id. One about a memory that has not arrived yet waits for it.
 * 4. Only its author changes a memory: pins it, sets its state, links it at either end. All machines of an author are the
 *    same person. A machine replaces only its own summary of a whole session. A name of a project counts only on the
 *    machines of whom it is from.
 * 5. A failing record is refused alone. Nothing that is applied here goes back to the log.
 */
import { DAY_MS } from '../../domain/dates.ts'
import { boundedName, MAX_PROJECT_NAME_CHARS } from '../../domain/event-names.ts'
import type { Project } from '../../domain/project.ts'
import type { ReceivedRecord, RecordBodies, RecordId, RecordOrigin, SharedSession } from '../../domain/team-record.ts'
import { errorMessage, MemError } from '../../lib/errors.ts'
import { contentHash } from '../commit.ts'
import type { AppliedRecords, LogCursor } from '../team-port.ts'
import { type Database, inSavepoint, isGroupFailure, nextSeq, raw, setMeta, sql } from './database.ts'
import { indexAddedMemories, purge, withIndexReset } from './full-text-index.ts'
import { ensureImportSession } from './import.ts'
import {
  insertLink,
  insertObservation,
  insertSummary,
  isFreeUid,
  type NewOrigin,
  selectExistingObservations,
  selectSupersedesPath,
  setPins,
} from './memories.ts'
import { insertPassage } from './passages.ts'
import { nameProject, resolveMergedProject } from './projects.ts'
import { eraseMemory, erasePassage } from './team-erase.ts'
import { MEMORY_TABLES } from './team-outbox.ts'
import { selectSessionErasedAt } from './tombstones.ts'

/**
 * How far the clock of another machine may be ahead, in ms. What is from further in the future is stored with this time,
 * so that it is not lost, and not the newest for ever.
 */
const MAX_AHEAD_MS = DAY_MS

/** Records of one repository that wait for others: more than people make while a machine is away. The oldest are dropped. */
const MAX_WAITING = 10_000

/** A version is counted, so that even a person who changes something every second stays below it for decades. */
const MAX_VERSION = 2 ** 31

/** Erased words leave a small index at once; the rest of a large one in the background. */
const PURGE_STEPS = 40

/** `ownAuthor`: the name of this machine's user in the log; null where it is not known. */
export function applyRecords(
  db: Database,
  records: readonly ReceivedRecord[],
  cursors: readonly LogCursor[],
  at: number,
  ownAuthor: string | null = null,
): AppliedRecords {
  const apply = () => {
    const run = new ReceivedRun(db, at, ownAuthor)
    return whileApplying(db, () => run.apply(records, cursors))
  }
  const applied = withIndexReset(db, () => db.write(apply))
  if (applied.erased > 0) purge(db, PURGE_STEPS)
  return applied
}

/** The triggers do not put the changes into the outbox. Inside one transaction: no other connection sees the mark. */
export function whileApplying<T>(db: Database, work: () => T): T {
  setMeta(db, 'team_applying', 1)
  const result = work()
  setMeta(db, 'team_applying', null)
  return result
}

type Memory = Extract<ReceivedRecord, { kind: 'observation' | 'summary' | 'passage' }>
type Versioned = Extract<ReceivedRecord, { kind: 'pin' | 'link' | 'status' }>

/** `waits`: for the memory with this id. */
type RecordOutcome =
  | { is: 'added' | 'known' | 'erased' }
  | { is: 'waits'; target: RecordId }
  | { is: 'refused'; reason: string }

const ADDED: RecordOutcome = { is: 'added' }
const KNOWN: RecordOutcome = { is: 'known' }

/** `same`: a memory of another id has the same content. `left_out`: a newer one took its place. */
type Inserted = { is: 'added' | 'left_out' } | { is: 'same'; uid: RecordId }

type ReceivedOrigin = NewOrigin & RecordOrigin

/** Ids of the memories added to one session, in increasing order. */
type AddedIds = Record<'observations' | 'summaries', number[]>

interface KnownMemory {
  kind: Memory['kind']
  id: number
  uid: RecordId
  author: string | null
  /** In whose log the id is; null: in none. */
  repository: string | null
}

class ReceivedRun {
  readonly #db: Database
  readonly #at: number
  readonly #ownAuthor: string | null
  readonly #projects = new Set<string>()
  readonly #added = new Map<string, AddedIds>()
  readonly #waiting = new Map<string, number>()
  readonly #result: Omit<AppliedRecords, 'projects' | 'seq'> = {
    added: 0,
    known: 0,
    erased: 0,
    erasedObservations: [],
    refused: [],
    waiting: 0,
  }
  #seq: number | null = null

  constructor(db: Database, at: number, ownAuthor: string | null) {
    this.#db = db
    this.#at = at
    this.#ownAuthor = ownAuthor
  }

  apply(records: readonly ReceivedRecord[], cursors: readonly LogCursor[]): AppliedRecords {
    for (const record of records) this.#applyAlone(record)
    this.#index()
    for (const cursor of cursors) upsertCursor(this.#db, cursor)
    return { ...this.#result, projects: [...this.#projects], seq: this.#seq }
  }

  /** At the end, because each addition indexes its neighbours again. Some may have been erased, or refused, since. */
  #index(): void {
    const db = this.#db
    for (const [session, { observations, summaries }] of this.#added) {
      const left = {
        observations: selectExistingObservations(db, observations),
        summaries: existingSummaries(db, summaries),
      }
      indexAddedMemories(db, { session, ...left, prompts: [] })
    }
  }

  #addedTo(session: string): AddedIds {
    const ids = this.#added.get(session) ?? { observations: [], summaries: [] }
    this.#added.set(session, ids)
    return ids
  }

  #applyAlone(record: ReceivedRecord): void {
    const outcome = inSavepoint<RecordOutcome>(
      this.#db,
      'record',
      () => this.#apply(record),
      (error) => !isGroupFailure(error),
      (error) => ({ is: 'refused', reason: errorMessage(error) }),
    )
    switch (outcome.is) {
      case 'refused':
        this.#result.refused.push({ id: record.id, reason: outcome.reason })
        return
      case 'waits':
        this.#wait(record, outcome.target)
        return
      default:
        this.#result[outcome.is] += 1
        if (isMemory(record)) this.#applyWaiting(record.id)
    }
  }

  #apply(record: ReceivedRecord): RecordOutcome {
    if (record.body === null) return KNOWN
    requireUid(record.id)
    switch (record.kind) {
      case 'observation':
      case 'summary':
      case 'passage':
        return this.#memory(record)
      case 'pin':
      case 'status':
      case 'link':
        return this.#versioned(record)
      case 'project':
        return record.author === this.#ownAuthor ? this.#project(record.id, record.repository, record.body) : KNOWN
      case 'tombstone':
        return this.#tombstone(record.body.target, record)
    }
  }

  // Memories

  #memory(record: Memory): RecordOutcome {
    const db = this.#db
    const { body, id: uid, repository, author, machine } = record
    if (body === null || isErased(db, uid) || isExpired(db, uid)) return KNOWN
    const known = selectMemory(db, uid)
    if (known !== null) return this.#knownMemory(known, record)
    if (!isFreeUid(db, uid)) throw new MemError('bad_request', `another memory has the id ${uid}`)
    if (selectSessionErasedAt(db, body.session.id) !== null) {
      return { is: 'refused', reason: `the session ${body.session.id} was erased here` }
    }
    const origin = { uid, author, machine, repository }
    const inserted = this.#insert(record, origin)
    if (inserted.is === 'added') return ADDED
    if (inserted.is === 'same') {
      db.run`
        INSERT INTO team_aliases (uid, same_as, repository) VALUES (${uid}, ${inserted.uid}, ${repository})`
    }
    return KNOWN
  }

  /** One that was imported from a file before it came from the log is in the log from now on. */
  #knownMemory(known: KnownMemory, { kind, repository }: Memory): RecordOutcome {
    if (known.kind !== kind) throw new MemError('bad_request', `the id ${known.uid} belongs to another memory`)
    requireSameRepository(known, repository)
    if (known.author !== null) {
      this.#db.run`
        UPDATE ${tableOf(kind)} SET repository = ${repository} WHERE id = ${known.id} AND repository IS NULL`
    }
    return KNOWN
  }

  #insert(record: Memory, origin: ReceivedOrigin): Inserted {
    if (record.body === null) return { is: 'left_out' }
    switch (record.kind) {
      case 'observation':
        return this.#observation(record.repository, record.body, origin)
      case 'summary':
        return this.#summary(record.repository, record.body, origin)
      case 'passage':
        return this.#passage(record.repository, record.body, origin)
    }
  }

  #observation(repository: string, body: RecordBodies['observation'], origin: ReceivedOrigin): Inserted {
    const db = this.#db
    const { session, ...content } = body
    const createdAt = this.#notAfter(body.createdAt)
    const hash = contentHash(body)
    // The plus makes SQLite use the index of times: few observations have the same time.
    const known = db.get<{ uid: string }>`
      SELECT uid FROM observations WHERE created_at_epoch = ${createdAt} AND +content_session_id = ${session.id}
        AND content_hash = ${hash} AND coalesce(author, ${this.#ownAuthor}) = ${origin.author} ORDER BY id LIMIT 1`
    if (known !== undefined) return { is: 'same', uid: known.uid }
    const observation = { ...content, createdAt, contentHash: hash, status: null, ...origin }
    const id = insertObservation(db, this.#keys(session, repository, createdAt), observation)
    this.#addedTo(session.id).observations.push(id)
    return { is: 'added' }
  }

  /** An older summary of a whole session is not the same as the newer one: it is left out. */
  #summary(repository: string, body: RecordBodies['summary'], origin: ReceivedOrigin): Inserted {
    const db = this.#db
    const { session, ...content } = body
    const createdAt = this.#notAfter(body.createdAt)
    const whole = content.whole === true
    const isSame = whole
      ? sql`whole = 1 AND created_at_epoch >= ${createdAt} AND author = ${origin.author} AND machine = ${origin.machine}`
      : sql`whole = 0 AND created_at_epoch = ${createdAt} AND prompt_number = ${content.promptNumber}
          AND coalesce(author, ${this.#ownAuthor}) = ${origin.author}`
    const known = db.get<{ uid: string }>`
      SELECT uid FROM session_summaries WHERE content_session_id = ${session.id} AND ${isSame} ORDER BY id LIMIT 1`
    if (known !== undefined) return whole ? { is: 'left_out' } : { is: 'same', uid: known.uid }
    const id = insertSummary(db, this.#keys(session, repository, createdAt), { ...content, createdAt, ...origin })
    this.#addedTo(session.id).summaries.push(id)
    return { is: 'added' }
  }

  /** It is indexed in the background. */
  #passage(repository: string, body: RecordBodies['passage'], origin: ReceivedOrigin): Inserted {
    const { session, ...draft } = body
    if (draft.text === '') throw new MemError('bad_request', 'the passage has no text')
    const at = this.#notAfter(draft.at)
    const { id, is } = insertPassage(this.#db, this.#keys(session, repository, at), { ...draft, at, ...origin })
    if (is === 'added') return { is }
    return { is: 'same', uid: this.#db.one<{ uid: string }>`SELECT uid FROM passages WHERE id = ${id}`.uid }
  }

  #notAfter(time: number): number {
    return Math.min(time, this.#at + MAX_AHEAD_MS)
  }

  /** Creates the session, closed, if it is unknown here. */
  #keys({ id, client, prompts, startedAt }: SharedSession, repository: string, heardAt: number) {
    const seq = this.#changed(repository)
    const project: Project = { key: repository, name: projectName(repository) }
    const started = this.#notAfter(startedAt)
    const imported = { id, client, prompts, cwd: '', project, startedAt: started, heardAt: Math.max(started, heardAt) }
    ensureImportSession(this.#db, id, imported, seq, this.#at)
    return { session: id, project: resolveMergedProject(this.#db, project).key, seq }
  }

  /** The number of the change in the live stream. */
  #changed(repository: string): number {
    this.#projects.add(resolveMergedProject(this.#db, { key: repository, name: '' }).key)
    this.#seq ??= nextSeq(this.#db)
    return this.#seq
  }

  // What changes

  #versioned(record: Versioned): RecordOutcome {
    const { body, id, repository } = record
    if (body === null) return KNOWN
    const targets =
      record.kind === 'link' && 'from' in body ? [body.from, body.to] : 'observation' in body ? [body.observation] : []
    if (targets.some((uid) => isErased(this.#db, uid) && selectMemory(this.#db, uid) === null)) return KNOWN
    const found: KnownMemory[] = []
    for (const target of targets) {
      const memory = selectMemory(this.#db, target)
      requireUid(target)
      if (memory === null) return { is: 'waits', target }
      if (memory.kind !== 'observation') throw new MemError('bad_request', `${target} is no observation`)
      requireSameRepository(memory, repository)
      if ((memory.author ?? this.#ownAuthor) !== record.author) {
        throw new MemError('bad_request', `only its author changes the memory ${target}`)
      }
      found.push(memory)
    }
    const [first, second] = found
    if (first === undefined) return KNOWN
    const link = 'link' in body ? `${body.link}:` : ''
    const subject = `${record.kind}:${link}${found.map(({ uid }) => uid).join(':')}`
    if (!this.#isNewest(subject, body.version, id)) return KNOWN
    this.#changed(repository)
    if (record.kind === 'pin' && record.body !== null) {
      setPins(this.#db, [first.id], record.body.on, this.#notAfter(record.at))
    } else if (record.kind === 'status' && record.body !== null) {
      this.#db.run`UPDATE observations SET status = ${record.body.status} WHERE id = ${first.id}`
    } else if (record.kind === 'link' && record.body !== null && second !== undefined) {
      this.#link(first.id, second.id, record.body, this.#notAfter(record.at))
    }
    return ADDED
  }

  /**
   * Two machines may have made links that supersede each other in a circle: then none would be current. Every machine removes
   * those links of the circle that go from an older observation to a newer one.
   */
  #link(from: number, to: number, { link: kind, by, on }: RecordBodies['link'], at: number): void {
    const db = this.#db
    if (from === to) return
    if (!on) {
      db.run`DELETE FROM links WHERE from_id = ${from} AND to_id = ${to} AND kind = ${kind}`
      return
    }
    const circle = kind === 'supersedes' ? selectSupersedesPath(db, to, from) : []
    insertLink(db, { from, to, kind, by, at })
    for (const [newer, older] of circle.length === 0 ? [] : pairs([from, ...circle])) {
      if (isOlder(db, newer, older)) {
        db.run`DELETE FROM links WHERE from_id = ${newer} AND to_id = ${older} AND kind = 'supersedes'`
      }
    }
  }

  #project(id: RecordId, repository: string, { version, name }: RecordBodies['project']): RecordOutcome {
    if (!this.#isNewest(`project:${repository}`, version, id)) return KNOWN
    this.#changed(repository)
    const { key } = resolveMergedProject(this.#db, { key: repository, name: '' })
    const given = name === '' ? null : boundedName(name, MAX_PROJECT_NAME_CHARS)
    nameProject(this.#db, key, given, this.#at)
    return ADDED
  }

  #isNewest(subject: string, version: number, id: RecordId): boolean {
    if (!Number.isSafeInteger(version) || version < 1 || version > MAX_VERSION) {
      throw new MemError('bad_request', `${version} is no version`)
    }
    const { changes } = this.#db.run`
      INSERT INTO team_versions (subject, version, uid) VALUES (${subject}, ${version}, ${id})
      ON CONFLICT (subject) DO UPDATE SET version = excluded.version, uid = excluded.uid
      WHERE (excluded.version, excluded.uid) > (version, uid)`
    return changes > 0
  }

  // Waiting

  #wait(record: ReceivedRecord, target: RecordId): void {
    const db = this.#db
    const { id, repository } = record
    const { changes } = db.run`
      INSERT INTO team_waiting (uid, target, repository, record, at)
      VALUES (${id}, ${target}, ${repository}, ${JSON.stringify(record)}, ${this.#at})
      ON CONFLICT (uid) DO UPDATE SET target = excluded.target`
    if (changes > 0) this.#result.waiting += 1
    const count = (this.#waiting.get(repository) ?? countWaiting(db, repository) - 1) + 1
    this.#waiting.set(repository, count)
    if (count <= MAX_WAITING) return
    const dropped = db.ids<string>`
      DELETE FROM team_waiting WHERE id IN (SELECT id FROM team_waiting WHERE repository = ${repository} ORDER BY id LIMIT 1)
      RETURNING uid AS id`
    this.#waiting.set(repository, countWaiting(db, repository))
    const reason = `more than ${MAX_WAITING} records wait for memories that have not come`
    for (const uid of dropped) this.#result.refused.push({ id: uid, reason })
  }

  #applyWaiting(target: RecordId): void {
    const waiting = this.#db.all<{ record: string }>`
      DELETE FROM team_waiting WHERE target = ${target} RETURNING id, record`
    if (waiting.length > 0) this.#waiting.clear()
    for (const { record } of waiting) this.#applyAlone(JSON.parse(record) as ReceivedRecord)
  }

  // Tombstones

  #tombstone(target: RecordId, { repository, author }: ReceivedRecord): RecordOutcome {
    const db = this.#db
    requireUid(target)
    if (isErased(db, target)) return KNOWN
    const memory = selectMemory(db, target)
    requireSameRepository(memory, repository)
    if (memory !== null && author !== this.#ownAuthor && this.#neverLeft(memory)) {
      throw new MemError('bad_request', `the memory ${target} is of this machine and in no log`)
    }
    db.run`INSERT INTO team_tombstones (uid, at) VALUES (${target}, ${this.#at})`
    db.run`DELETE FROM team_waiting WHERE target = ${target}`
    if (memory === null) return KNOWN
    db.run`DELETE FROM team_aliases WHERE uid = ${target}`
    this.#erase(memory)
    return { is: 'erased' }
  }

  /** The log could not compare its author. Others may know its id from an export file. */
  #neverLeft({ author, repository }: KnownMemory): boolean {
    return repository === null && (author === null || author === this.#ownAuthor)
  }

  #erase({ kind, id }: KnownMemory): void {
    const db = this.#db
    const { project } = db.one<{ project: string }>`SELECT project FROM ${tableOf(kind)} WHERE id = ${id}`
    this.#changed(project)
    if (kind === 'observation') this.#result.erasedObservations.push(id)
    if (kind === 'passage') erasePassage(db, id, this.#at)
    else eraseMemory(db, kind, id, this.#at)
  }
}

/** Longer or other ids would fill tables that nobody empties. */
function requireUid(uid: RecordId): void {
  if (!/^[0-9a-f]{32}$/.test(uid)) throw new MemError('bad_request', 'an id must have 32 hexadecimal digits')
}

function isMemory(record: ReceivedRecord): record is Memory {
  return record.kind === 'observation' || record.kind === 'summary' || record.kind === 'passage'
}

/** The last part of the key, until the project has a session or a name of its own here. */
function projectName(repository: string): string {
  const [name = repository] = repository.split(/[/:]/).reverse()
  return boundedName(name === '' ? repository : name, MAX_PROJECT_NAME_CHARS)
}

function tableOf(kind: Memory['kind']) {
  return MEMORY_TABLES.find((table) => table.kind === kind)?.table ?? raw('observations')
}

function isErased(db: Database, uid: RecordId): boolean {
  return db.exists`SELECT 1 FROM team_tombstones WHERE uid = ${uid}`
}

/** An own passage that retention deleted. */
function isExpired(db: Database, uid: RecordId): boolean {
  return db.exists`SELECT 1 FROM team_expired WHERE uid = ${uid}`
}

/** By its uid or an alias; null: it is not here. */
function selectMemory(db: Database, uid: RecordId): KnownMemory | null {
  const alias = db.get<{ uid: string; repository: string }>`
    SELECT same_as AS uid, repository FROM team_aliases WHERE uid = ${uid}`
  for (const { kind, table } of MEMORY_TABLES) {
    const row = db.get<Omit<KnownMemory, 'kind'>>`
      SELECT id, uid, author, repository FROM ${table} WHERE uid = ${alias?.uid ?? uid}`
    if (row !== undefined) return { ...row, kind, repository: alias?.repository ?? row.repository }
  }
  return null
}

/** Who may write to one repository may not change or erase what is in another. The log checks the same. */
function requireSameRepository(memory: KnownMemory | null, repository: string): void {
  if (memory === null || memory.repository === null || memory.repository === repository) return
  throw new MemError('bad_request', `the memory ${memory.uid} is in the log of another repository`)
}

function existingSummaries(db: Database, ids: readonly number[]): number[] {
  return db.ids`SELECT m.id FROM json_each(${ids}) wanted CROSS JOIN session_summaries m ON m.id = wanted.value`
}

function countWaiting(db: Database, repository: string): number {
  return db.number`SELECT count(*) AS n FROM team_waiting WHERE repository = ${repository}`
}

function pairs(ids: readonly number[]): [number, number][] {
  return ids.slice(1).map((id, i) => [ids[i] ?? id, id])
}

/** By time; of equal times, by uid, which is the same on every machine. */
function isOlder(db: Database, a: number, b: number): boolean {
  return db.exists`
    SELECT 1 FROM observations x, observations y WHERE x.id = ${a} AND y.id = ${b}
      AND (x.created_at_epoch, x.uid) < (y.created_at_epoch, y.uid)`
}

function upsertCursor(db: Database, { repository, generation, transaction, sequence }: LogCursor): void {
  db.run`
    INSERT INTO team_cursors (repository, generation, position)
    VALUES (${repository}, ${generation}, ${JSON.stringify({ transaction, sequence })})
    ON CONFLICT (repository) DO UPDATE SET generation = excluded.generation, position = excluded.position`
}

export function selectLogCursors(db: Database): LogCursor[] {
  return db.all<LogCursor>`
    SELECT repository, generation, position ->> 'transaction' AS "transaction", position ->> 'sequence' AS sequence
    FROM team_cursors ORDER BY repository`
}
