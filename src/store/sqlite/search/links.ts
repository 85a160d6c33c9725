/** What people, models and search say about observations: pins, and links from a newer one to an older. */
import { MemError } from '../../../errors.ts'
import type { NewLink } from '../../commit.ts'
import type { Changed, Link, LinkKind, Pinned } from '../../search-port.ts'
import { nextSeq } from '../meta.ts'
import { all, type Connection, get, run } from '../statement.ts'

/** What a search says is derived and comes by the thousand: nobody follows it, and it takes no number. */
export function linkObservations(db: Connection, link: Link): Changed {
  if (link.by === 'search') return { changed: addLink(db, link), seq: null }
  return numbered(db, () => addLink(db, link))
}

export function unlinkObservations(db: Connection, from: number, to: number, kind: LinkKind): Changed {
  return numbered(db, () => removeLink(db, from, to, kind))
}

export function pinObservations(db: Connection, ids: readonly number[], on: boolean, at: number): Pinned {
  return db
    .transaction(() => {
      const pins = setPins(db, ids, on, at)
      return { ...pins, seq: pins.changed > 0 ? nextSeq(db) : null }
    })
    .immediate()
}

function numbered(db: Connection, change: () => boolean): Changed {
  return db
    .transaction((): Changed => {
      const changed = change()
      return { changed, seq: changed ? nextSeq(db) : null }
    })
    .immediate()
}

/** Without a number of its own: it is part of something that has one. */
export function addLink(db: Connection, link: Link): boolean {
  const { from, to, kind } = link
  if (from === to) throw new MemError('bad_request', `Observation ${from} cannot be linked to itself.`)
  return db
    .transaction(() => {
      if (projectOf(db, from) !== projectOf(db, to)) {
        throw new MemError('bad_request', `Observations ${from} and ${to} are of different projects.`)
      }
      if (kind === 'supersedes' && leadsTo(db, to, from)) {
        throw new MemError('bad_request', `Observation ${to} replaces ${from} already; take that back first.`)
      }
      return insertLink(db, link)
    })
    .immediate()
}

/** Of a new observation: what a model or a search says of one that is gone, or of another project, is left out. */
export function addLinks(db: Connection, from: number, links: readonly NewLink[], at: number): void {
  for (const { to, kind, by } of links) {
    if (to !== from) insertLink(db, { from, to, kind, by, at })
  }
}

function removeLink(db: Connection, from: number, to: number, kind: LinkKind): boolean {
  return run(db, 'DELETE FROM links WHERE from_id = ? AND to_id = ? AND kind = ?', [from, to, kind]).changes > 0
}

export function setPins(
  db: Connection,
  ids: readonly number[],
  on: boolean,
  at: number,
): { changed: number; missing: number[] } {
  return db
    .transaction(() => {
      const there = new Set(existing(db, ids))
      let changed = 0
      for (const id of there) changed += on ? insertPin(db, id, at) : deletePin(db, id)
      return { changed, missing: ids.filter((id) => !there.has(id)) }
    })
    .immediate()
}

export function existing(db: Connection, ids: readonly number[]): number[] {
  return all<{ id: number }>(
    db,
    'SELECT o.id FROM json_each(?) wanted CROSS JOIN observations o ON o.id = wanted.value',
    [JSON.stringify(ids)],
  ).map(({ id }) => id)
}

function insertLink(db: Connection, { from, to, kind, by, at }: Link): boolean {
  return (
    run(
      db,
      `INSERT INTO links (from_id, to_id, kind, made_by, at)
       SELECT newer.id, older.id, @kind, @by, @at FROM observations newer JOIN observations older USING (project)
       WHERE newer.id = @from AND older.id = @to
       ON CONFLICT DO NOTHING`,
      { from, to, kind, by, at },
    ).changes > 0
  )
}

/** Over others too: of observations that replace each other in a circle none would be current. */
function leadsTo(db: Connection, from: number, to: number): boolean {
  const found = get(
    db,
    `WITH RECURSIVE replaced (id) AS (
       SELECT to_id FROM links WHERE from_id = @from AND kind = 'supersedes'
       UNION SELECT l.to_id FROM replaced r CROSS JOIN links l ON l.from_id = r.id AND l.kind = 'supersedes')
     SELECT 1 AS n FROM replaced WHERE id = @to`,
    { from, to },
  )
  return found !== undefined
}

export function projectOf(db: Connection, id: number): string {
  const row = get<{ project: string }>(db, 'SELECT project FROM observations WHERE id = ?', [id])
  if (row === undefined) throw new MemError('not_found', `There is no observation ${id}.`)
  return row.project
}

function insertPin(db: Connection, id: number, at: number): number {
  return run(db, 'INSERT INTO pins (id, at) VALUES (?, ?) ON CONFLICT DO NOTHING', [id, at]).changes
}

function deletePin(db: Connection, id: number): number {
  return run(db, 'DELETE FROM pins WHERE id = ?', [id]).changes
}
