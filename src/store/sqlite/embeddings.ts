/** `embeddings`: vectors of observations, by embedder. Vectors of different embedders are never compared. */
import { MemError } from '../../lib/errors.ts'
import type { NewVector, StoredVector, UnembeddedObservation, UnembeddedPage } from '../search-port.ts'
import { all, type Database, run, selectNumber } from './database.ts'

/** Vectors per page, a few MB at most. */
const PAGE_VECTORS = 2_000
/** Observations read in one call, with or without vectors. */
const MAX_SCANNED = 5_000
/** Vectors deleted in one call: commits wait for it, a few milliseconds at most. */
const MAX_DROPPED = 2_000

/** Returns the number of stored vectors. Vectors of deleted observations are not stored. */
export function putVectors(db: Database, vectors: readonly NewVector[]): number {
  return db.transaction(() => vectors.reduce((stored, vector) => stored + putVector(db, vector), 0)).immediate()
}

function putVector(db: Database, { observationId, fragment, embedder, vector }: NewVector): number {
  if (vector?.some((value) => !Number.isFinite(value)) === true) {
    throw new MemError(
      'bad_request',
      `The vector of observation ${observationId} by ${embedder} contains a value that is not a number.`,
    )
  }
  const bytes = vector === null ? Buffer.alloc(0) : Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength)
  return run(
    db,
    `INSERT INTO embeddings (fragment, observation_id, embedder, dimensions, vector)
     SELECT @fragment, id, @embedder, @dimensions, @vector FROM observations WHERE id = @observationId
     ON CONFLICT (embedder, fragment) DO UPDATE SET dimensions = excluded.dimensions, vector = excluded.vector`,
    {
      fragment: `obs_${observationId}_${fragment}`,
      observationId,
      embedder,
      dimensions: vector?.length ?? 0,
      vector: bytes,
    },
  ).changes
}

interface StoredUnembedded {
  id: number
  project: string
  title: string | null
  subtitle: string | null
  narrative: string | null
  facts: string
  missing: number
}

/** Observations without any vector of this embedder. */
export function selectUnembedded(db: Database, embedder: string, afterId: number, limit: number): UnembeddedPage {
  const observations: UnembeddedObservation[] = []
  const scanned = all<StoredUnembedded>(
    db,
    `SELECT id, project, title, subtitle, narrative, facts, NOT EXISTS (SELECT 1 FROM embeddings e
       WHERE e.observation_id = observations.id AND e.embedder = @embedder) AS missing
     FROM observations WHERE id > @afterId ORDER BY id LIMIT @most`,
    { embedder, afterId, most: MAX_SCANNED },
  )
  for (const { missing, facts, ...rest } of scanned) {
    if (missing === 0) continue
    if (observations.length === limit) return { observations, next: observations.at(-1)?.id ?? afterId }
    observations.push({ ...rest, facts: JSON.parse(facts) })
  }
  return { observations, next: scanned.length < MAX_SCANNED ? null : (scanned.at(-1)?.id ?? null) }
}

/** Of one embedder, or of all. Returns the number of deleted vectors; 0 when none is left. */
export function deleteVectors(db: Database, embedder: string | null): number {
  return run(
    db,
    `DELETE FROM embeddings WHERE id IN (SELECT id FROM embeddings
       ${embedder === null ? '' : 'WHERE embedder = @embedder'} ORDER BY id LIMIT ${MAX_DROPPED})`,
    embedder === null ? [] : { embedder },
  ).changes
}

interface VectorRow {
  id: number
  observation_id: number
  fragment: string
  vector: Buffer
}

export function* pagesOfVectors(
  db: Database,
  project: string | null,
  embedder: string,
  afterId: number,
): Generator<StoredVector[]> {
  for (let last = afterId; ; ) {
    const page = selectVectors(db, project, embedder, last)
    if (page.length > 0) yield page.map(toVector)
    const end = page.at(-1)
    if (end === undefined || page.length < PAGE_VECTORS) return
    last = end.id
  }
}

function selectVectors(db: Database, project: string | null, embedder: string, afterId: number): VectorRow[] {
  return all(
    db,
    project === null
      ? `SELECT id, observation_id, fragment, vector FROM embeddings
         WHERE embedder = @embedder AND id > @afterId AND dimensions > 0 ORDER BY id LIMIT ${PAGE_VECTORS}`
      : `SELECT e.id, e.observation_id, e.fragment, e.vector FROM embeddings e
           CROSS JOIN observations o ON o.id = e.observation_id
         WHERE e.embedder = @embedder AND e.id > @afterId AND e.dimensions > 0 AND o.project = @project
         ORDER BY e.id LIMIT ${PAGE_VECTORS}`,
    project === null ? { embedder, afterId } : { embedder, afterId, project },
  )
}

function toVector({ id, observation_id, fragment, vector }: VectorRow): StoredVector {
  // Copied, because the bytes of a row need not be aligned for floats.
  const floats = new Float32Array(vector.length / Float32Array.BYTES_PER_ELEMENT)
  Buffer.from(floats.buffer).set(vector)
  return {
    id,
    observationId: observation_id,
    fragment: fragment.slice(`obs_${observation_id}_`.length),
    vector: floats,
  }
}

/** The id of the newest vector; 0 without vectors. */
export function selectLastVector(db: Database, embedder: string): number {
  return selectNumber(db, 'SELECT max(id) AS n FROM embeddings WHERE embedder = ?', [embedder])
}

/** Projects with vectors of this embedder. Skips from key to key in the index instead of reading all rows. */
export function selectProjectsWithVectors(db: Database, embedder: string): string[] {
  return all<{ project: string }>(
    db,
    `WITH RECURSIVE keys (project) AS (
       SELECT min(project) FROM search_rows
       UNION ALL SELECT (SELECT min(project) FROM search_rows WHERE project > keys.project) FROM keys
         WHERE project IS NOT NULL)
     SELECT project FROM keys WHERE project IS NOT NULL AND EXISTS (
       SELECT 1 FROM search_rows s CROSS JOIN embeddings e ON e.observation_id = s.id >> 2
       WHERE s.project = keys.project AND s.id & 3 = 0 AND e.embedder = ? AND e.dimensions > 0)
     ORDER BY project`,
    [embedder],
  ).map(({ project }) => project)
}

export function countVectors(db: Database, project: string | null, embedder: string): number {
  return project === null
    ? selectNumber(db, 'SELECT count(*) AS n FROM embeddings WHERE embedder = ? AND dimensions > 0', [embedder])
    : selectNumber(
        db,
        `SELECT count(*) AS n FROM embeddings e CROSS JOIN observations o ON o.id = e.observation_id
         WHERE e.embedder = ? AND e.dimensions > 0 AND o.project = ?`,
        [embedder, project],
      )
}
