/**
 * Which events belong to a turn whose whole prompt is private. Most arrive before the next prompt, but a background agent
 * reports its tool uses and its last words later, with the prompt id of its own turn. So the ids of private prompts and
 * of agents that were seen in private turns are remembered. In doubt an event counts as private.
 *
 * Used by the hook, where the list is in a file, and by the session machine, where it is in the snapshot.
 */

export interface PrivateTurns {
  /** Prompt ids of private turns, newest last; at most MAX_IDS. */
  promptIds: string[]
  /** Agents that reported an event in a private turn, newest last; at most MAX_IDS. */
  agentIds: string[]
  /** There was a private turn whose id is not in the list: the client sent none, or the list was full. */
  unknownIds: boolean
}

/** Few turns of a session are private, and the list is part of its snapshot. */
const MAX_IDS = 20

export const NO_PRIVATE_TURNS: PrivateTurns = { promptIds: [], agentIds: [], unknownIds: false }

/** Whose event it is, as far as the client says. */
export interface EventOwner {
  promptId: string | null
  agentId: string | null
}

/** The newest turn, and the prompt ids that are known to be of turns that are not private. */
export interface NewestTurn {
  isPrivate: boolean
  publicPromptIds: readonly (string | null)[]
}

export function belongsToPrivateTurn(
  turns: PrivateTurns,
  newest: NewestTurn,
  { promptId, agentId }: EventOwner,
): boolean {
  if (agentId !== null && turns.agentIds.includes(agentId)) return true
  if (promptId !== null) {
    if (turns.promptIds.includes(promptId)) return true
    if (newest.publicPromptIds.includes(promptId)) return false
    return newest.isPrivate || turns.unknownIds
  }
  // Without a prompt id, an event of the main agent belongs to the newest turn, one of another agent to any turn.
  return newest.isPrivate || (agentId !== null && hasPrivateTurns(turns))
}

export function withPrivatePrompt(turns: PrivateTurns, promptId: string | null): PrivateTurns {
  if (promptId === null) return { ...turns, unknownIds: true }
  const promptIds = [...turns.promptIds.filter((id) => id !== promptId), promptId]
  const dropped = promptIds.length > MAX_IDS
  return { ...turns, promptIds: promptIds.slice(-MAX_IDS), unknownIds: turns.unknownIds || dropped }
}

export function withPrivateAgent(turns: PrivateTurns, agentId: string | null): PrivateTurns {
  if (agentId === null || turns.agentIds.includes(agentId)) return turns
  return { ...turns, agentIds: [...turns.agentIds, agentId].slice(-MAX_IDS) }
}

function hasPrivateTurns({ promptIds, unknownIds }: PrivateTurns): boolean {
  return unknownIds || promptIds.length > 0
}
