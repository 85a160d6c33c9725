/**
 * The records of an export and an import. Ids are those of the exporting store; the importing store assigns new ones.
 * docs/exchange.md describes the same records as lines of a file.
 */
import type { Observation, Summary } from '../domain/observation.ts'
import type { Passage, PassageKind } from '../domain/passage.ts'
import type { Project } from '../domain/project.ts'
import type { PromptRow } from './port.ts'
import type { Link, LinkKind } from './search-port.ts'

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

export interface PromptRecord extends Omit<PromptRow, 'private'> {
  kind: 'prompt'
  session: string
}

export interface ObservationRecord extends Omit<Observation, 'supersedes' | 'amends' | 'contentHash'> {
  kind: 'observation'
}

export interface SummaryRecord extends Omit<Summary, 'id'> {
  kind: 'summary'
}

export interface PassageRecord extends Omit<Passage, 'id' | 'kind'> {
  kind: 'passage'
  passage: PassageKind
}

export interface LinkRecord extends Omit<Link, 'kind'> {
  kind: 'link'
  link: LinkKind
}

export interface PinRecord {
  kind: 'pin'
  observation: number
  at: number
}

export type MemoryRecord = PromptRecord | ObservationRecord | SummaryRecord
export type ExportRecord = ProjectRecord | SessionRecord | MemoryRecord | PassageRecord | LinkRecord | PinRecord

/** A session that a record of the batch belongs to. An existing session is not changed. */
export interface ImportedSession extends Omit<SessionRecord, 'kind' | 'project'> {
  project: Project
}

/** `knownAs`: further content hashes that identify it as already stored, because masking may have changed its text. */
export type ImportedObservation = ObservationRecord & { knownAs?: readonly string[] }

/** Links and pins use the ids of the importing store. */
export type ImportedRecord = PromptRecord | ImportedObservation | SummaryRecord | PassageRecord | LinkRecord | PinRecord

export interface ImportBatch {
  sessions: readonly ImportedSession[]
  records: readonly ImportedRecord[]
  /** Also records of sessions that the user erased here; their tombstones are removed. */
  forgotten?: boolean
  /** Nothing is stored; the outcomes are those that an import would have. */
  dryRun: boolean
}

/** The outcome of one record. `id`: of an observation; null for other records, and for what a dry run would add. */
export type ImportOutcome =
  | { is: 'added' | 'known'; id: number | null }
  /** The record is invalid; the rest of the batch is imported. */
  | { is: 'refused'; reason: string }
  /** `future`: its time is in the future. `forgotten`: the user erased its session here. */
  | { is: 'left_out'; because: 'future' | 'forgotten' }

export interface ImportResult {
  /** In the records' order. */
  outcomes: ImportOutcome[]
  /** Keys of the changed projects. */
  projects: string[]
  /** Null where nothing changed. */
  seq: number | null
}
