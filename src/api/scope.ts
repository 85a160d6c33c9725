/**
 * An agent may be limited to the project it works in (CLAUDE_MEM_AGENT_SCOPE). Every operation that the `mcp` door may call
 * applies the limit with these functions; all other operations are closed to that door.
 */
import { MemError } from '../lib/errors.ts'
import type { Caller } from './operation.ts'

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
    throw new MemError('forbidden', 'this agent may only use the memory of its own project (CLAUDE_MEM_AGENT_SCOPE)')
  }
  return scope[0] ?? project
}
