/** What was decided about projects: by people, or because a repository moved. */
import type { Project } from '../memory/project.ts'

export interface ProjectDecision {
  /** As hooks report it. */
  key: string
  /** By hand; it wins over what sessions say. */
  name: string | null
  /** Everything of it is filed under this key, which is itself merged into no other. */
  mergedInto: string | null
  /** Its working tree. Null before it was seen, and where it moved away from. */
  root: string | null
  /** Tells a repository apart from all others, wherever it lies; null where it was never read or has none. */
  fingerprint: string | null
  /** Which files are written into the working tree. */
  files: readonly string[]
}

/** What is not given stays as it was. */
export type ProjectChange = Pick<ProjectDecision, 'key'> & Partial<Omit<ProjectDecision, 'key'>>

/** How much is filed under a key. */
export interface ProjectContents {
  sessions: number
  observations: number
  summaries: number
  prompts: number
}

/** A project as far as it is remembered, with what was decided about it. */
export interface ListedProject extends Project {
  /** The name was given by hand. */
  named: boolean
  observations: number
  sessions: number
  /** When a session of it was last heard of. */
  updatedAt: number
  root: string | null
  /** Keys that were merged into it. */
  merged: string[]
}

export interface ProjectReader {
  projectDecisions(): Promise<ProjectDecision[]>
  /** The one that was last heard of first. */
  listProjects(): Promise<ListedProject[]>
  projectContents(key: string): Promise<ProjectContents>
}

export interface ProjectStore extends ProjectReader {
  /**
   * All of them or none. From then on commits of a merged key are filed under the other. `seq`: null where none was
   * renamed, merged or moved.
   */
  decideProjects(changes: readonly ProjectChange[], at: number): Promise<{ seq: number | null }>
  /**
   * Moves some of what is still filed under merged keys to where it belongs; how many rows it were. Called again and
   * again until none is left. A process that dies in between leaves the rest to the next one.
   */
  refileNext(limit: number): Promise<number>
  /** A number for those who follow, for what took several pieces and is done now. */
  takeSeq(): Promise<number>
}
