/**
 * Records: what travels between the machines of a team through the shared log. A record is immutable and has an id that was
 * made with the memory it is about. What can change (a pin, a link, a status, a name) is a series of records, of which the
 * one with the highest version counts; versions are counted, not timed, because clocks differ. A tombstone erases the
 * record it names, on every machine and for ever.
 */
import { isName, isRepositoryAddress } from './names.ts'
import type { MemoryOrigin, Observation, ObservationStatus, Summary } from './observation.ts'
import type { Passage } from './passage.ts'

export const RECORD_KINDS = [
  'observation',
  'summary',
  'passage',
  'link',
  'pin',
  'status',
  'project',
  'tombstone',
] as const
export type RecordKind = (typeof RECORD_KINDS)[number]

/** 32 hexadecimal digits, random. */
export type RecordId = string

/** Nothing of a session travels but what its memories need. */
export interface SharedSession {
  id: string
  client: string
  /** Number of its last prompt. */
  prompts: number
  /** Epoch ms, as all times here. */
  startedAt: number
}

type Local = 'id' | 'session' | 'project' | keyof MemoryOrigin

export interface SharedObservation
  extends Omit<Observation, Local | 'supersedes' | 'amends' | 'contentHash' | 'status'> {
  session: SharedSession
}

export interface SharedSummary extends Omit<Summary, Local> {
  session: SharedSession
}

export interface SharedPassage extends Omit<Passage, Local> {
  session: SharedSession
}

/** The highest version of a subject counts; of two equal ones, the record with the greater id. */
interface Versioned {
  version: number
}

export interface RecordBodies {
  observation: SharedObservation
  summary: SharedSummary
  passage: SharedPassage
  /** Between observations: `from` is the newer one. */
  link: Versioned & {
    from: RecordId
    to: RecordId
    link: 'repeats' | 'supersedes' | 'amends'
    by: 'search' | 'model' | 'person'
    on: boolean
  }
  pin: Versioned & { observation: RecordId; on: boolean }
  status: Versioned & { observation: RecordId; status: ObservationStatus }
  project: Versioned & { name: string }
  tombstone: { target: RecordId }
}

interface RecordHead<K extends RecordKind> {
  id: RecordId
  kind: K
  /** Key of the project, the same on every machine: `repo:host/path` or `named:NAME`. */
  repository: string
  /** When it was made, by the clock of its machine. */
  at: number
}

/** As a machine makes it. */
export type TeamRecord = {
  [K in RecordKind]: RecordHead<K> & { body: RecordBodies[K] }
}[RecordKind]

/** Who made a record, as the shared log says: the author is the name of a member, the machine a name its owner chose. */
export interface RecordOrigin {
  author: string
  machine: string
}

/** As a machine receives it. `body` null: it was erased. */
export type ReceivedRecord = RecordOrigin &
  {
    [K in RecordKind]: RecordHead<K> & { body: RecordBodies[K] | null }
  }[RecordKind]

/** Keys of projects that are the same on every machine. */
export function isTravellingKey(key: string): boolean {
  const [, prefix, rest = ''] = /^(repo|named):(.*)$/s.exec(key) ?? []
  return prefix === 'named' ? isName(rest) : prefix === 'repo' && isRepositoryAddress(rest)
}
