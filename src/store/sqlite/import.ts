/** Takes in memories that another store gave away. What is known stays as it is; the rest gets ids of its own. */
import { MemError, messageOf } from '../../errors.ts'
import { contentHash } from '../../memory/content-hash.ts'
import type {
  ImportBatch,
  ImportedObservation,
  ImportedSession,
  ImportOutcome,
  ImportResult,
  LinkRecord,
  PromptRecord,
  SummaryRecord,
} from '../import-port.ts'
import { failsTheGroup } from './errors.ts'
import { type Home, homeOf } from './import-session.ts'
import { insertObservation, insertPrompt, insertSummary } from './memories.ts'
import { nextSeq } from './meta.ts'
import { filedUnder } from './projects.ts'
import { type Added, indexAddedSafely } from './search/indexing.ts'
import { addLink, projectOf, setPins } from './search/links.ts'
import { type Connection, get, run } from './statement.ts'

export function importBatch(db: Connection, batch: ImportBatch, at: number): ImportResult {
  run(db, 'BEGIN IMMEDIATE')
  try {
    const result = new Import(db, batch, at).run()
    run(db, result.seq === null ? 'ROLLBACK' : 'COMMIT')
    return result
  } catch (error) {
    // SQLite has often rolled back by itself when the disk failed.
    if (db.inTransaction) run(db, 'ROLLBACK')
    throw error
  }
}

const KNOWN: ImportOutcome = { is: 'known', id: null }
const ADDED: ImportOutcome = { is: 'added', id: null }

/** Ids of what was added to one session, in the order in which they were given out. */
type AddedHere = { -readonly [K in 'observations' | 'summaries' | 'prompts']: number[] }

class Import {
  readonly #db: Connection
  readonly #batch: ImportBatch
  readonly #at: number
  readonly #seq: number
  readonly #sessions: ReadonlyMap<string, ImportedSession>
  readonly #added = new Map<string, AddedHere>()
  readonly #projects = new Set<string>()

  constructor(db: Connection, batch: ImportBatch, at: number) {
    this.#db = db
    this.#batch = batch
    this.#at = at
    this.#seq = nextSeq(db)
    this.#sessions = new Map(batch.sessions.map((session) => [session.id, session]))
  }

  run(): ImportResult {
    const outcomes = this.#batch.records.map((record) => this.#take(record))
    if (this.#batch.dryRun) {
      const shown = outcomes.map((outcome) => (outcome.is === 'added' ? ADDED : outcome))
      return { outcomes: shown, projects: [], seq: null }
    }
    for (const [session, ids] of this.#added) {
      const added: Added = { session, ...ids }
      indexAddedSafely(this.#db, added)
    }
    const keeps = outcomes.some(({ is }) => is === 'added')
    return { outcomes, projects: [...this.#projects], seq: keeps ? this.#seq : null }
  }

  /** One that cannot be taken in leaves no trace and keeps no other out. */
  #take(record: ImportBatch['records'][number]): ImportOutcome {
    const db = this.#db
    run(db, 'SAVEPOINT record')
    try {
      const outcome = this.#apply(record)
      run(db, 'RELEASE record')
      return outcome
    } catch (error) {
      if (failsTheGroup(error) || !db.inTransaction) throw error
      run(db, 'ROLLBACK TO record')
      run(db, 'RELEASE record')
      return { is: 'refused', reason: messageOf(error) }
    }
  }

  #apply(record: ImportBatch['records'][number]): ImportOutcome {
    switch (record.kind) {
      case 'prompt':
        return this.#prompt(record)
      case 'observation':
        return this.#observation(record)
      case 'summary':
        return this.#summary(record)
      case 'link':
        return this.#link(record)
      case 'pin': {
        const { changed, missing } = setPins(this.#db, [record.observation], true, record.at)
        if (missing.length > 0) throw new MemError('not_found', `there is no observation ${record.observation}`)
        return changed > 0 ? this.#marked(record.observation) : KNOWN
      }
    }
  }

  #prompt({ session, number, text, at }: PromptRecord): ImportOutcome {
    const db = this.#db
    if (promptKnown(db, session, number)) return KNOWN
    const home = this.#home(session)
    // Its next prompt will have the next number: that must be free.
    if (number > home.prompts)
      throw new MemError('bad_request', `session ${session} has only ${home.prompts} prompts here, this is ${number}`)
    const prompt = { eventId: `import:${number}`, number, text, private: false, at }
    const id = insertPrompt(db, { session, project: home.project, seq: this.#seq }, prompt)
    this.#projects.add(home.project)
    this.#addedTo(session).prompts.push(id)
    return ADDED
  }

  #observation(record: ImportedObservation): ImportOutcome {
    const db = this.#db
    const { session, promptNumber, promptVersion, model, createdAt, sources } = record
    const hash = contentHash(record)
    const known = observationKnown(db, session, createdAt, [hash, ...(record.knownAs ?? [])])
    if (known !== undefined) return { is: 'known', id: known }
    const origin = { session, project: this.#projectOf(record), seq: this.#seq }
    const about = { sources, promptNumber, contentHash: hash, promptVersion, model, createdAt }
    const id = insertObservation(db, origin, { draft: record, ...about })
    this.#addedTo(session).observations.push(id)
    return { is: 'added', id }
  }

  #summary(record: SummaryRecord): ImportOutcome {
    const db = this.#db
    const { session, promptNumber, model, createdAt } = record
    if (summaryKnown(db, session, promptNumber, createdAt)) return KNOWN
    const origin = { session, project: this.#projectOf(record), seq: this.#seq }
    const id = insertSummary(db, origin, { draft: record, promptNumber, model, createdAt })
    this.#addedTo(session).summaries.push(id)
    return ADDED
  }

  /** Two that were one here have nothing to say about each other. */
  #link({ from, to, link, by, at }: LinkRecord): ImportOutcome {
    if (from === to) return KNOWN
    return addLink(this.#db, { from, to, kind: link, by, at }) ? this.#marked(from) : KNOWN
  }

  #marked(observation: number): ImportOutcome {
    this.#projects.add(projectOf(this.#db, observation))
    return ADDED
  }

  /** What was learned in its session's own project is filed where that session is filed here. */
  #projectOf({ session, project }: { session: string; project: string }): string {
    const home = this.#home(session)
    const own = this.#sessions.get(session)?.project.key
    const key =
      own === undefined || own === project ? home.project : filedUnder(this.#db, { key: project, name: '' }).key
    this.#projects.add(key)
    return key
  }

  #home(session: string): Home {
    return homeOf(this.#db, session, this.#sessions.get(session), this.#seq, this.#at)
  }

  #addedTo(session: string): AddedHere {
    const here = this.#added.get(session) ?? { observations: [], summaries: [], prompts: [] }
    this.#added.set(session, here)
    return here
  }
}

function promptKnown(db: Connection, session: string, number: number): boolean {
  const found = get(db, 'SELECT 1 FROM user_prompts WHERE content_session_id = ? AND prompt_number = ?', [
    session,
    number,
  ])
  return found !== undefined
}

/** By its time first: of one moment there are few, of one session there may be very many. */
function observationKnown(
  db: Connection,
  session: string,
  createdAt: number,
  hashes: readonly string[],
): number | undefined {
  return get<{ id: number }>(
    db,
    `SELECT id FROM observations WHERE created_at_epoch = @createdAt AND +content_session_id = @session
       AND content_hash IN (SELECT value FROM json_each(@hashes)) ORDER BY id LIMIT 1`,
    { session, createdAt, hashes: JSON.stringify(hashes) },
  )?.id
}

function summaryKnown(db: Connection, session: string, promptNumber: number, createdAt: number): boolean {
  const found = get(
    db,
    `SELECT 1 FROM session_summaries
     WHERE content_session_id = ? AND created_at_epoch = ? AND prompt_number = ? LIMIT 1`,
    [session, createdAt, promptNumber],
  )
  return found !== undefined
}
