/**
 * An agent may be limited to the project it works in (CLAUDE_MEM_AGENT_SCOPE). Every operation that the `mcp` door may call
 * applies the limit with these functions; all other operations are closed to that door.
 */
import { MemError } from '../lib/errors.ts'
import type { Caller } from './operation.ts'

const ONLY_THE_USER = '(CLAUDE_MEM_AGENT_SCOPE, which only the user changes)'

/** Whether the caller may see what belongs to this project. */
export function isInScope(project: string, { scope }: Caller): boolean {
  return scope === null || scope.includes(project)
}

/** The key that the caller asked for, or its own where it asked for all projects. Throws for another project. */
export function limitToScope(project: string, caller: Caller): string
export function limitToScope(project: string | null, caller: Caller): string | null
export function limitToScope(project: string | null, caller: Caller): string | null {
  const { scope } = caller
  if (scope === null) return project
  if (project !== null && !isInScope(project, caller)) {
    throw new MemError('forbidden', `this agent may only use the memory of its own project ${ONLY_THE_USER}`)
  }
  return scope[0] ?? project
}

/** Said where the caller asked for all projects and may only use its own. */
export function limitNotes(asked: string | null, { scope }: Caller): string[] {
  return asked === null && scope !== null ? [`only the project of this agent was searched ${ONLY_THE_USER}`] : []
}
