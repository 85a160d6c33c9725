/** `embeddings`: vectors of observations, by embedder. Vectors of different embedders are never compared. */
import { MemError } from '../../lib/errors.ts'
import type { NewVector, StoredVector, UnembeddedObservation, UnembeddedPage } from '../search-port.ts'
import { type Database, EMPTY_SQL, type Sql, type Stored, sql } from './database.ts'

/** Vectors per page, a few MB at most. */
const PAGE_VECTORS = 2_000
/** Observations read in one call, with or without vectors. */
const MAX_SCANNED = 5_000
/** Vectors deleted in one call: commits wait for it, a few milliseconds at most. */
const MAX_DROPPED = 2_000

/** Returns the number of stored vectors. Vectors of deleted observations are not stored. */
export function putVectors(db: Database, vectors: readonly NewVector[]): number {
  return db.write(() => vectors.reduce((stored, vector) => stored + putVector(db, vector), 0))
}

function putVector(db: Database, { observationId, fragment, embedder, vector }: NewVector): number {
  if (vector?.some((value) => !Number.isFinite(value)) === true) {
    throw new MemError(
      'bad_request',
      `The vector of observation ${observationId} by ${embedder} contains a value that is not a number.`,
    )
  }
  const bytes = vector === null ? Buffer.alloc(0) : Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength)
  return db.run`
    INSERT INTO embeddings (fragment, observation_id, embedder, dimensions, vector)
    SELECT ${`obs_${observationId}_${fragment}`}, id, ${embedder}, ${vector?.length ?? 0}, ${bytes}
    FROM observations WHERE id = ${observationId}
    ON CONFLICT (embedder, fragment) DO UPDATE SET dimensions = excluded.dimensions, vector = excluded.vector`.changes
}

/** Observations without any vector of this embedder. */
export function selectUnembedded(db: Database, embedder: string, afterId: number, limit: number): UnembeddedPage {
  const observations: UnembeddedObservation[] = []
  const scanned = db.all<Stored<UnembeddedObservation> & { missing: number }>`
    SELECT id, project, title, subtitle, narrative, facts, NOT EXISTS (SELECT 1 FROM embeddings e
      WHERE e.observation_id = observations.id AND e.embedder = ${embedder}) AS missing
    FROM observations WHERE id > ${afterId} ORDER BY id LIMIT ${MAX_SCANNED}`
  for (const { missing, facts, ...rest } of scanned) {
    if (missing === 0) continue
    if (observations.length === limit) return { observations, next: observations.at(-1)?.id ?? afterId }
    observations.push({ ...rest, facts: JSON.parse(facts) })
  }
  return { observations, next: scanned.length < MAX_SCANNED ? null : (scanned.at(-1)?.id ?? null) }
}

/** Of one embedder, or of all. Returns the number of deleted vectors; 0 when none is left. */
export function deleteVectors(db: Database, embedder: string | null): number {
  const ofEmbedder = embedder === null ? EMPTY_SQL : sql`WHERE embedder = ${embedder}`
  return db.run`
    DELETE FROM embeddings
    WHERE id IN (SELECT id FROM embeddings ${ofEmbedder} ORDER BY id LIMIT ${MAX_DROPPED})`.changes
}

/** `embeddings e`, restricted to a project if one is given. */
function embeddingsOf(project: string | null, embedder: string): Sql {
  return project === null
    ? sql`embeddings e WHERE e.embedder = ${embedder} AND e.dimensions > 0`
    : sql`embeddings e CROSS JOIN observations o ON o.id = e.observation_id
        WHERE e.embedder = ${embedder} AND e.dimensions > 0 AND o.project = ${project}`
}

export function* pagesOfVectors(
  db: Database,
  project: string | null,
  embedder: string,
  afterId: number,
): Generator<StoredVector[]> {
  for (let last = afterId; ; ) {
    const page = db.all<Omit<StoredVector, 'vector'> & { vector: Buffer }>`
      SELECT e.id, e.observation_id AS observationId, e.fragment, e.vector FROM ${embeddingsOf(project, embedder)}
        AND e.id > ${last} ORDER BY e.id LIMIT ${PAGE_VECTORS}`
    if (page.length > 0)
      yield page.map(({ id, observationId, fragment, vector }) => ({
        id,
        observationId,
        fragment: fragment.slice(`obs_${observationId}_`.length),
        vector: toFloats(vector),
      }))
    const end = page.at(-1)
    if (end === undefined || page.length < PAGE_VECTORS) return
    last = end.id
  }
}

/** Copied, because the bytes of a row need not be aligned for floats. */
function toFloats(bytes: Buffer): Float32Array {
  const floats = new Float32Array(bytes.length / Float32Array.BYTES_PER_ELEMENT)
  Buffer.from(floats.buffer).set(bytes)
  return floats
}

/** The id of the newest vector; 0 without vectors. */
export function selectLastVector(db: Database, embedder: string): number {
  return db.number`SELECT max(id) AS n FROM embeddings WHERE embedder = ${embedder}`
}

/** Projects with vectors of this embedder. Skips from key to key in the index instead of reading all rows. */
export function selectProjectsWithVectors(db: Database, embedder: string): string[] {
  return db.ids<string>`
    WITH RECURSIVE keys (project) AS (
      SELECT min(project) FROM search_rows
      UNION ALL SELECT (SELECT min(project) FROM search_rows WHERE project > keys.project) FROM keys
        WHERE project IS NOT NULL)
    SELECT project AS id FROM keys WHERE project IS NOT NULL AND EXISTS (
      SELECT 1 FROM search_rows s CROSS JOIN embeddings e ON e.observation_id = s.id >> 2
      WHERE s.project = keys.project AND s.id & 3 = 0 AND e.embedder = ${embedder} AND e.dimensions > 0)
    ORDER BY project`
}

export function countVectors(db: Database, project: string | null, embedder: string): number {
  return db.number`SELECT count(*) AS n FROM ${embeddingsOf(project, embedder)}`
}
