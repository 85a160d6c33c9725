/** What the members of a team did, and whether every machine and the server have exactly that in the end. */
import Database from 'better-sqlite3'
import type { Sandbox } from '../lib/sandbox.ts'

/** A memory is known by a word that occurs in it alone. */
export interface Remembered {
  word: string
  /** Of the machine that made it. */
  machine: string
  /** `maybe`: the daemon died before it answered. */
  kept: 'yes' | 'maybe'
  forgotten: 'no' | 'maybe' | 'yes'
}

export interface TeamVerdict {
  lost: string[]
  duplicated: string[]
  /** Forgotten, but still somewhere. */
  back: string[]
  diverged: string[]
}

export const SHARED = { key: 'named:chaos', name: 'chaos' }
export const UNSHARED = { key: 'named:chaos-private', name: 'chaos-private' }

interface Row {
  title: string | null
  narrative: string | null
  pinned: number
  superseded: number
}

/** The shared memory of one machine, the same text for the same memory. */
function memoryOf(sandbox: Sandbox): string[] {
  const db = new Database(sandbox.paths.database, { readonly: true })
  try {
    return db
      .prepare<[string], Row>(
        `SELECT title, narrative, EXISTS (SELECT 1 FROM pins WHERE pins.id = o.id) AS pinned,
           EXISTS (SELECT 1 FROM links WHERE to_id = o.id AND kind = 'supersedes') AS superseded
         FROM observations o WHERE project = ?`,
      )
      .all(SHARED.key)
      .map((row) => JSON.stringify(row))
      .sort()
  } finally {
    db.close()
  }
}

export function judgeTeam(
  machines: readonly { name: string; sandbox: Sandbox }[],
  log: readonly Remembered[],
): TeamVerdict {
  const verdict: TeamVerdict = { lost: [], duplicated: [], back: [], diverged: [] }
  const memories = machines.map(({ name, sandbox }) => ({ name, rows: memoryOf(sandbox) }))
  for (const { name, rows } of memories) {
    for (const { word, kept, forgotten } of log) {
      const count = rows.filter((row) => row.includes(word)).length
      if (count > 1) verdict.duplicated.push(`${word} on ${name}`)
      if (count > 0 && forgotten === 'yes') verdict.back.push(`${word} on ${name}`)
      if (count === 0 && kept === 'yes' && forgotten === 'no') verdict.lost.push(`${word} on ${name}`)
    }
  }
  const [first, ...others] = memories
  for (const { name, rows } of others) {
    const here = new Set(rows)
    const there = new Set(first?.rows)
    const different = [...rows.filter((row) => !there.has(row)), ...(first?.rows ?? []).filter((row) => !here.has(row))]
    if (different.length > 0) verdict.diverged.push(`${name} and ${first?.name}: ${different.slice(0, 3).join(' ')}`)
  }
  return verdict
}
