/**
 * Entry point of the thread on which the daemon reads payloads of the fast hook, and cleans large events of other programs.
 * Parsing and cleaning a large one takes tens of milliseconds, and its project, transcript and private turns are in files that
 * may lie on a slow disk: nothing of it may delay the daemon's main thread. Payloads are read in the order in which they
 * arrived, so a session's events keep theirs.
 */
import { isAscii } from 'node:buffer'
import { existsSync, lstatSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { workerData } from 'node:worker_threads'
import { type CleanedEvent, type CleaningRules, cleanEvent, pickRules } from '../domain/clean-event.ts'
import type { MemoryEvent } from '../domain/event.ts'
import { errorMessage, MemError } from '../lib/errors.ts'
import { dataPaths } from '../lib/paths.ts'
import { serveWorker } from '../lib/worker-rpc.ts'
import { clientAdapterNamed } from './clients/index.ts'
import { parseJsonObject } from './payload.ts'
import { type HookReading, loadHookSettings, readHook } from './reading.ts'
import { SHARED_MEMORY } from './shared-memory.ts'

export interface PostedPayload {
  bytes: Uint8Array
  client: string
  seed: string
  /** Epoch milliseconds at which it arrived. */
  at: number
}

/** `rules`: by which an event was cleaned. */
function readPosted({
  bytes,
  client,
  seed,
  at,
}: PostedPayload): Exclude<HookReading, { type: 'refused' }> & { rules: CleaningRules } {
  const paths = dataPaths(workerData.dataDir)
  const adapter = clientAdapterNamed(client)
  if (adapter === undefined) throw new MemError('bad_request', `the client "${client}" is not known`)
  const settings = loadHookSettings(paths.dataDir, {})
  const raw = decodeText(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
  const sent = parseJsonObject(raw)
  // It may be a part of one. The hook's own process has the last word.
  if (sent === null) throw new MemError('bad_request', 'the payload is not a JSON object')
  const reading = readHook(sent, raw, {
    adapter,
    paths,
    settings,
    // The script hands over what depends on its environment.
    env: {},
    at,
    seed,
    cwd: () => {
      throw new MemError('bad_request', 'the payload names no directory, and only the hook knows its own')
    },
  })
  if (reading.type === 'refused') throw new MemError('forbidden', reading.reason)
  return { ...reading, rules: pickRules(settings) }
}

/** Most payloads are ASCII, which is decoded in a fifth of the time as such. */
function decodeText(bytes: Buffer): string {
  return isAscii(bytes) ? bytes.toString('latin1') : bytes.toString('utf8')
}

function cleanGiven({ event, at }: { event: MemoryEvent; at: number }): {
  cleaned: CleanedEvent
  rules: CleaningRules
} {
  const rules = pickRules(loadHookSettings(workerData.dataDir, {}))
  return { cleaned: cleanEvent(event, rules, at), rules }
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

export type HookThread = { read: typeof readPosted; clean: typeof cleanGiven; close(): void }

await serveWorker(
  () => {
    removeStaleNames()
    return { read: readPosted, clean: cleanGiven, close: () => undefined } satisfies HookThread
  },
  (error) => (error instanceof MemError ? error : new MemError('internal', errorMessage(error), { cause: error })),
)
