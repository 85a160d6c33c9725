/** Where the server runs, and which project a call means. */
import { isAbsolute, resolve } from 'node:path'
import { isExcluded } from '../hook/excluded.ts'
import { type Project, projectOf } from '../memory/project.ts'
import { loadSettings } from '../settings.ts'

export interface Place {
  cwd: string
  project: Project
  /** Asked anew each time: people change their settings while a session runs. */
  isExcluded(): boolean
}

export function placeOf(cwd: string, dataDir: string, env: NodeJS.ProcessEnv): Place {
  const project = projectOf(cwd)
  return {
    cwd,
    project,
    isExcluded: () => isExcluded(cwd, project, loadSettings(dataDir, env).values.CLAUDE_MEM_EXCLUDED_PROJECTS),
  }
}

/** The client says where its project is; else it is where it started us. */
export function directoryOf(env: NodeJS.ProcessEnv): string {
  const told = env.CLAUDE_PROJECT_DIR
  if (told !== undefined && isAbsolute(told)) return told
  try {
    return process.cwd()
  } catch {
    // The directory was deleted under us.
    return '/'
  }
}

export const ALL_PROJECTS = 'all'
const KEY = /^(?:git|dir):/

/** What the daemon is asked for: a key or a name, null for all. */
export function projectAsked(given: string | undefined, here: Place): string | null {
  const asked = given?.trim()
  if (asked === undefined || asked === '') return here.project.key
  if (asked === ALL_PROJECTS) return null
  // A key holds a path, a name no slash.
  const isPath = !KEY.test(asked) && (isAbsolute(asked) || /^\.{1,2}$|[/\\]/.test(asked))
  return isPath ? projectOf(resolve(here.cwd, asked)).key : asked
}
