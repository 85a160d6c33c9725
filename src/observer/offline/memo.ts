/** What the offline observer knows from the batches before: its whole conversation is the newest of these. */
import type { ObserverTurn } from '../../store/commit.ts'
import type { OpenFailure } from './episodes.ts'

export interface Memo {
  /** Commands that failed and have not succeeded since. */
  open: OpenFailure[]
  /** Number of the prompt whose decisions are already noted. */
  decidedIn: number
}

const NOTHING: Memo = { open: [], decidedIn: 0 }

export function memoTurn(memo: Memo): Omit<ObserverTurn, 'generation' | 'at'> {
  return { role: 'assistant', content: JSON.stringify(memo), model: null, usage: null }
}

/** What a model said in between says nothing to us. */
export function memoOf(conversation: readonly ObserverTurn[]): Memo {
  const last = conversation.findLast((turn) => turn.model === null)
  if (last === undefined) return NOTHING
  try {
    const memo: unknown = JSON.parse(last.content)
    return isMemo(memo) ? memo : NOTHING
  } catch {
    return NOTHING
  }
}

function isMemo(value: unknown): value is Memo {
  return (
    typeof value === 'object' &&
    value !== null &&
    'open' in value &&
    Array.isArray(value.open) &&
    'decidedIn' in value &&
    typeof value.decidedIn === 'number'
  )
}
