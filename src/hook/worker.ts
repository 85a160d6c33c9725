/**
 * Entry point of the thread on which the daemon reads the payloads that hooks post, and cleans large events of other programs.
 * Parsing and cleaning a large one takes tens of milliseconds, and its project, transcript and private turns are in files that
 * may lie on a slow disk: nothing of it may delay the daemon's main thread. Payloads are read in the order in which they
 * arrived, so a session's events keep theirs.
 */
import { existsSync, lstatSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { workerData } from 'node:worker_threads'
import { type CleanedEvent, type CleaningRules, cleanEvent, pickRules } from '../domain/clean-event.ts'
import type { MemoryEvent } from '../domain/event.ts'
import { errorMessage, MemError } from '../lib/errors.ts'
import { serveWorker } from '../lib/worker-rpc.ts'
import { type PostedPayload, type PostedReading, readPosted } from './posted.ts'
import { loadHookSettings } from './reading.ts'
import { SHARED_MEMORY } from './shared-memory.ts'

interface GivenEvent {
  event: MemoryEvent
  /** Epoch milliseconds at which it arrived. */
  at: number
}

export interface HookThread {
  read(posted: PostedPayload): PostedReading
  clean(given: GivenEvent): { cleaned: CleanedEvent; rules: CleaningRules }
  close(): void
}

function threadFor(dataDir: string): HookThread {
  return {
    read: (posted) => readPosted(posted, dataDir),
    clean: ({ event, at }) => {
      const rules = pickRules(loadHookSettings(dataDir, {}))
      return { cleaned: cleanEvent(event, rules, at), rules }
    },
    close: () => undefined,
  }
}

/** The script removes its name at once: an older one is of a script that was killed, in ms. */
const STALE_NAME_MS = 60_000

/** Removes what killed scripts left: names of files without a payload. Payloads are read without it, too. */
function removeStaleNames(): void {
  try {
    removeOldNames()
  } catch {
    // The directory cannot be read: there is nothing to remove for us.
  }
}

function removeOldNames(): void {
  const user = process.getuid?.()
  if (user === undefined || !existsSync(SHARED_MEMORY)) return
  for (const name of readdirSync(SHARED_MEMORY).filter((one) => /^claude-mem-[\d-]+$/.test(one))) {
    const file = join(SHARED_MEMORY, name)
    const stat = lstatSync(file, { throwIfNoEntry: false })
    const isLeft = stat?.isFile() === true && stat.uid === user
    if (isLeft && Date.now() - stat.mtimeMs > STALE_NAME_MS) rmSync(file, { force: true })
  }
}

await serveWorker(
  () => {
    removeStaleNames()
    return threadFor(workerData.dataDir)
  },
  (error) => (error instanceof MemError ? error : new MemError('internal', errorMessage(error), { cause: error })),
)
