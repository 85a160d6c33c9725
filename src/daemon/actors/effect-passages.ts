/**
 * Stores the passages of what an effect reads, before its observer is called: so they are there while the provider is down,
 * and no hook waits for them. The effect is in the snapshot, so a daemon that was killed in between stores them again, and
 * the store has each passage of an event once.
 */
import { setImmediate as nextTask } from 'node:timers/promises'
import type { MemoryEvent } from '../../domain/event.ts'
import type { PassageDraft } from '../../domain/passage.ts'
import { faultPoint } from '../../lib/faults.ts'
import { passagesOfEvent } from '../../reading/passages.ts'
import type { EventOfTurn, Store } from '../../store/port.ts'

/** How long the daemon's thread may be blocked, in ms: hooks wait for their acks meanwhile. */
const MAX_BLOCKED_MS = 8
/** Passages in one transaction: some five milliseconds, because commits wait behind it. */
const MAX_PER_TRANSACTION = 50

export interface PassageHost {
  store: Store
  now(): number
  /** Whether passages may be made of an event. */
  mayBePassage(event: MemoryEvent): boolean
  /** False: they are deleted when the summary of their turn is settled. */
  keepsPassages(): boolean
  /** Called once they are durable. `project`: the key of the session's project. */
  passagesStored(project: string): void
}

/** Throws once the effect is aborted: what is being forgotten must not be stored again. */
export async function storePassages(
  host: PassageHost,
  session: string,
  project: string,
  sources: readonly EventOfTurn[],
  signal: AbortSignal,
): Promise<void> {
  let stored = 0
  for await (const drafts of draftsOf(host, sources)) {
    signal.throwIfAborted()
    stored += (await host.store.addPassages(session, drafts, !host.keepsPassages())).stored
    faultPoint('passages.stored')
  }
  if (stored > 0) host.passagesStored(project)
}

async function* draftsOf(host: PassageHost, sources: readonly EventOfTurn[]): AsyncGenerator<PassageDraft[]> {
  let drafts: PassageDraft[] = []
  let began = performance.now()
  for (const { event, prompt } of sources) {
    if (!host.mayBePassage(event)) continue
    // When it happened; a client's clock may be ahead.
    const at = Math.min(event.at, host.now())
    for (const passage of passagesOfEvent(event, prompt)) drafts.push({ ...passage, at })
    if (drafts.length >= MAX_PER_TRANSACTION) {
      yield drafts
      drafts = []
    } else if (performance.now() - began > MAX_BLOCKED_MS) await nextTask()
    else continue
    began = performance.now()
  }
  if (drafts.length > 0) yield drafts
}
