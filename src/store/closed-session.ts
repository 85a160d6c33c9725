/** The row of a session that no client ever opens again: what people write down, what is imported. */
import { newContext } from '../../machines/session/context.ts'
import { SESSION_MACHINE_VERSION } from '../../machines/session/machine.ts'
import { stateName, writeSnapshot } from '../../machines/session/snapshot.ts'
import { NO_USAGE } from '../memory/observation.ts'
import type { Project } from '../memory/project.ts'
import type { SessionState } from './commit.ts'

export interface ClosedSession {
  project: Project
  client: string
  cwd: string
  heardAt: number
  /** Number of its last prompt; 0 where nobody asked. */
  prompts?: number
}

/** Closed from its first moment: no observer ever reads it. */
export function closedState({ project, client, cwd, heardAt, prompts = 0 }: ClosedSession): SessionState {
  const context = { ...newContext(heardAt), prompt: prompts, ended: true, outcome: 'completed' as const }
  return {
    project,
    client,
    cwd,
    transcriptPath: null,
    heardAt,
    status: 'completed',
    state: stateName('closed'),
    snapshot: writeSnapshot('closed', context),
    machineVersion: SESSION_MACHINE_VERSION,
    wakeAt: null,
    effect: null,
    waiting: null,
    prompts,
    generation: context.generation,
    contextTokens: 0,
    usage: NO_USAGE,
  }
}
