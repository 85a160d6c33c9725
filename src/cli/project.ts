/** The project that somebody means on the command line. */
import { homedir } from 'node:os'
import { isAbsolute, join, resolve } from 'node:path'
import { projectOf } from '../memory/project.ts'

/** A key or a name; without one, where you are. What looks like a path is one: a name has no slash. */
export function projectAsked(given: string | undefined, env: NodeJS.ProcessEnv): string {
  if (given === undefined) return projectOf(process.cwd()).key
  if (/^(?:git|dir|import):/.test(given)) return given
  if (/^~(?:[/\\]|$)/.test(given)) return projectOf(join(env.HOME ?? homedir(), given.slice(1))).key
  return isAbsolute(given) || /^\.{1,2}$|[/\\]/.test(given) ? projectOf(resolve(given)).key : given
}

/** The same, with `all` for no project in particular. */
export function projectOrAll(given: string | undefined, env: NodeJS.ProcessEnv): string | null {
  return given === 'all' ? null : projectAsked(given, env)
}
