/**
 * Memories on their way out of one store and into another. Ids are those of the store they left; the store they come
 * into gives its own. docs/exchange.md describes the same records as lines of a file.
 */
import type { ObservationDraft, SummaryDraft } from '../memory/observation.ts'
import type { Project } from '../memory/project.ts'
import type { LinkKind, LinkMaker } from './search-port.ts'

export interface ProjectRecord extends Project {
  kind: 'project'
}

export interface SessionRecord {
  kind: 'session'
  id: string
  /** The project's key. */
  project: string
  client: string
  cwd: string
  /** Number of its last prompt. */
  prompts: number
  /** Epoch ms, as all times here. */
  startedAt: number
  heardAt: number
}

export interface PromptRecord {
  kind: 'prompt'
  session: string
  number: number
  text: string
  at: number
}

export interface ObservationRecord extends Omit<ObservationDraft, 'supersedes'> {
  kind: 'observation'
  id: number
  session: string
  project: string
  promptNumber: number
  promptVersion: string | null
  model: string | null
  createdAt: number
}

export interface SummaryRecord extends SummaryDraft {
  kind: 'summary'
  session: string
  project: string
  promptNumber: number
  model: string | null
  createdAt: number
}

export interface LinkRecord {
  kind: 'link'
  /** The newer observation. */
  from: number
  to: number
  link: LinkKind
  by: LinkMaker
  at: number
}

export interface PinRecord {
  kind: 'pin'
  observation: number
  at: number
}

export type MemoryRecord = PromptRecord | ObservationRecord | SummaryRecord
export type ExportRecord = ProjectRecord | SessionRecord | MemoryRecord | LinkRecord | PinRecord

/** A session that something in the batch belongs to. One that is there already stays as it is. */
export interface ImportedSession extends Omit<SessionRecord, 'kind' | 'project'> {
  project: Project
}

/** An observation, with the content hashes by which it is known beside its own: masking may have changed its words. */
export type ImportedObservation = ObservationRecord & { knownAs?: readonly string[] }

/** Links and pins name observations by the ids that they have in the store they come into. */
export type ImportedRecord = PromptRecord | ImportedObservation | SummaryRecord | LinkRecord | PinRecord

export interface ImportBatch {
  sessions: readonly ImportedSession[]
  records: readonly ImportedRecord[]
  /** Nothing is kept; the outcomes are what they would be. */
  dryRun: boolean
}

/** What became of one record. `id`: of an observation; null of anything else, and of what a dry run would add. */
export type ImportOutcome =
  | { is: 'added' | 'known'; id: number | null }
  /** It cannot be taken in as it is; the rest of its batch can. */
  | { is: 'refused'; reason: string }

export interface ImportResult {
  /** In the records' order. */
  outcomes: ImportOutcome[]
  /** Keys of the projects that have changed. */
  projects: string[]
  /** Null where nothing changed. */
  seq: number | null
}

export interface ImportStore {
  /**
   * Applies a batch in one transaction. What is known already is left as it is: an
   * observation by session, time and content, a summary by session, prompt number and time, a prompt by its number.
   */
  importBatch(batch: ImportBatch, at: number): Promise<ImportResult>
}
