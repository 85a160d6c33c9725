/** Importing in its plainest form, over the rows of the store in memory. */
import { contentHash } from '../../src/memory/content-hash.ts'
import type { Observation, Summary } from '../../src/memory/observation.ts'
import { closedState } from '../../src/store/closed-session.ts'
import type { ImportBatch, ImportedRecord, ImportOutcome, ImportResult } from '../../src/store/import-port.ts'
import type { PromptRow, SessionRow } from '../../src/store/port.ts'
import type { Link } from '../../src/store/search-port.ts'

/** What of the store's data takes part. */
export interface ImportData {
  seq: number
  sessions: Map<string, SessionRow>
  prompts: (PromptRow & { id: number; session: string; project: string })[]
  observations: Observation[]
  summaries: Summary[]
  pins: Set<number>
}

export interface ImportTools {
  nextId(): number
  /** False where it was there; throws where it cannot be. */
  link(link: Link): boolean
}

const ADDED: ImportOutcome = { is: 'added', id: null }
const KNOWN: ImportOutcome = { is: 'known', id: null }
const refused = (reason: string): ImportOutcome => ({ is: 'refused', reason })

export function importInto(data: ImportData, { sessions, records }: ImportBatch, tools: ImportTools): ImportResult {
  data.seq += 1
  /** Null where there is none and none was given. */
  const homeOf = (id: string): SessionRow | null => {
    const given = sessions.find((session) => session.id === id)
    const row = data.sessions.get(id)
    if (row === undefined) {
      if (given === undefined) return null
      const made = { session: id, revision: 1, memorySession: `${id}:1`, quarantine: null, seq: data.seq }
      data.sessions.set(id, { ...closedState(given), ...made, createdAt: Math.min(given.startedAt, given.heardAt) })
    } else if (given !== undefined && row.snapshot === closedState(row).snapshot && row.quarantine === null) {
      const prompts = Math.max(row.prompts, given.prompts)
      const heardAt = Math.max(row.heardAt, given.heardAt)
      if (prompts > row.prompts || heardAt > row.heardAt) {
        const grown = closedState({ ...row, prompts, heardAt })
        data.sessions.set(id, { ...row, ...grown, revision: row.revision + 1, seq: data.seq })
      }
    }
    return data.sessions.get(id) ?? null
  }
  const projectOf = (home: SessionRow, project: string): string => {
    const given = sessions.find((session) => session.id === home.session)?.project.key
    return given === undefined || given === project ? home.project.key : project
  }
  const take = (record: ImportedRecord): ImportOutcome => {
    switch (record.kind) {
      case 'prompt': {
        const { session, number, text, at } = record
        if (data.prompts.some((row) => row.session === session && row.number === number)) return KNOWN
        const home = homeOf(session)
        if (home === null) return refused('no session')
        if (number > home.prompts) return refused('too new')
        const project = home.project.key
        data.prompts.push({ id: tools.nextId(), session, project, number, text, private: false, at })
        return ADDED
      }
      case 'observation': {
        const { kind: _, knownAs = [], ...row } = record
        const hashes = [contentHash(row), ...knownAs]
        const isIt = (one: Observation) =>
          one.session === row.session && one.createdAt === row.createdAt && hashes.includes(one.contentHash)
        const known = data.observations.find(isIt)
        if (known !== undefined) return { is: 'known', id: known.id }
        const home = homeOf(row.session)
        if (home === null) return refused('no session')
        const id = tools.nextId()
        const project = projectOf(home, row.project)
        data.observations.push({ ...structuredClone(row), id, project, contentHash: contentHash(row) })
        return { is: 'added', id }
      }
      case 'summary': {
        const { kind: _, ...row } = record
        const isIt = (one: Summary) =>
          one.session === row.session && one.createdAt === row.createdAt && one.promptNumber === row.promptNumber
        if (data.summaries.some(isIt)) return KNOWN
        const home = homeOf(row.session)
        if (home === null) return refused('no session')
        data.summaries.push({ ...structuredClone(row), id: tools.nextId(), project: projectOf(home, row.project) })
        return ADDED
      }
      case 'link': {
        const { from, to, link: kind, by, at } = record
        if (from === to) return KNOWN
        try {
          return tools.link({ from, to, kind, by, at }) ? ADDED : KNOWN
        } catch {
          return refused('no such link')
        }
      }
      case 'pin': {
        if (!data.observations.some(({ id }) => id === record.observation)) return refused('no observation')
        if (data.pins.has(record.observation)) return KNOWN
        data.pins.add(record.observation)
        return ADDED
      }
    }
  }
  const projects = new Set<string>()
  const outcomes = records.map((record) => {
    const before = new Map(data.sessions)
    const outcome = take(record)
    // What is refused leaves no session behind.
    if (outcome.is === 'refused') data.sessions = before
    if (outcome.is === 'added') projects.add(projectChanged(data, record))
    return outcome
  })
  const keeps = outcomes.some(({ is }) => is === 'added')
  if (!keeps) data.seq -= 1
  return { outcomes, projects: [...projects], seq: keeps ? data.seq : null }
}

function projectChanged(data: ImportData, record: ImportedRecord): string {
  const own = (id: number) => data.observations.find((row) => row.id === id)?.project ?? ''
  if (record.kind === 'link') return own(record.from)
  if (record.kind === 'pin') return own(record.observation)
  const home = data.sessions.get(record.session)?.project.key ?? ''
  if (record.kind === 'prompt') return home
  const rows = record.kind === 'observation' ? data.observations : data.summaries
  return rows.at(-1)?.project ?? home
}
