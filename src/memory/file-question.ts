import type { Project } from './project.ts'

/** Asked before a file is read. */
export interface FileQuestion {
  /** content_session_id: the user's own session. */
  session: string
  project: Project
  cwd: string
  /** Its whole path. */
  file: string
  /** When the file last changed, epoch ms: what was learned before that may not hold any more. */
  changedAt: number
}
