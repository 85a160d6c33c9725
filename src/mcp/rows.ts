/** Memories as rows of an index: enough to choose by, as few tokens as that takes. */
import { z } from 'zod'
import { OBSERVATION_TYPES, type ObservationType } from '../memory/observation.ts'
import { MEMORY_KINDS, type MemoryKind } from '../search/query.ts'
import { count, shortSession, when, words } from './text.ts'

const TITLE_CHARS = 120
/** A prompt is read nowhere else. */
const PROMPT_CHARS = 240
const PROJECT_CHARS = 80

export const rowSchema = z.object({
  // Ids of other kinds would be taken for those of observations.
  id: z.int().optional().describe('Of an observation'),
  kind: z.enum(MEMORY_KINDS).optional().describe('An observation where it is not said'),
  type: z.enum(OBSERVATION_TYPES).optional(),
  title: z.string(),
  at: z.string().describe("In the user's time zone"),
  tokens: z.int().describe('What reading it whole costs'),
  session: z.string().optional(),
  project: z.string().optional(),
})
export type Row = z.input<typeof rowSchema>

export interface Listed {
  kind: MemoryKind
  id: number
  session: string
  projectName: string
  type: ObservationType | null
  title: string
  createdAt: number
  tokens: number
}

/** `named`: what has to be said because it is not the same for all rows. */
export function rowOf(item: Listed, named: { project: boolean; session: boolean }): Row {
  const isObservation = item.kind === 'observation'
  return {
    id: isObservation ? item.id : undefined,
    kind: isObservation ? undefined : item.kind,
    type: item.type ?? undefined,
    title: words(item.title, item.kind === 'prompt' ? PROMPT_CHARS : TITLE_CHARS) || '(untitled)',
    at: when(item.createdAt),
    tokens: item.tokens,
    // A summary is asked for by its session.
    session: named.session || !isObservation ? shortSession(item.session) : undefined,
    project: named.project ? words(item.projectName, PROJECT_CHARS) : undefined,
  }
}

/** `#123 2026-11-16 14:30 bugfix ~45 Fix JWT expiry` */
export function rowText({ id, kind, type, title, at, tokens, session, project }: Row): string {
  const what = kind === undefined ? `#${id} ${at} ${type ?? 'observation'}` : `${at} ${kind} of session ${session}`
  return `${what} ~${count(tokens)} ${project === undefined ? '' : `[${project}] `}${title}`
}
