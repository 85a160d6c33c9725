/** Reads a payload that a hook posted to the daemon, as the hook itself would. */
import { isAscii } from 'node:buffer'
import { type CleaningRules, pickRules } from '../domain/clean-event.ts'
import { MemError } from '../lib/errors.ts'
import { dataPaths } from '../lib/paths.ts'
import { adapterOfPayload, clientAdapterNamed } from './clients/index.ts'
import { parseJsonObject } from './payload.ts'
import { type HookReading, loadHookSettings, readHook } from './reading.ts'
import { hookVariables } from './variables.ts'

export interface PostedPayload {
  bytes: Uint8Array
  client: string
  seed: string
  /** Epoch milliseconds at which it arrived. */
  at: number
  /** The hook's own directory, for a payload without one; null: only the hook knows it. */
  cwd: string | null
  /** Event name for a payload without one. */
  event: string | null
  /** What the hook's environment says (variables.ts). */
  variables: Record<string, string>
}

export type PostedReading = Exclude<HookReading, { type: 'refused' }> & {
  /** By which the events were cleaned. */
  rules: CleaningRules
  /** The client that sent the payload. */
  client: string
}

export function readPosted(posted: PostedPayload, dataDir: string): PostedReading {
  const { bytes, client, seed, at, cwd, event, variables } = posted
  const paths = dataPaths(dataDir)
  const named = clientAdapterNamed(client)
  if (named === undefined) throw new MemError('bad_request', `the client "${client}" is not known`)
  const env = hookVariables(variables)
  const settings = loadHookSettings(paths.dataDir, env)
  const rules = pickRules(settings)
  const raw = decodeText(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
  const sent = parseJsonObject(raw)
  // It may be a part of one. The hook's own process has the last word.
  if (sent === null) throw new MemError('bad_request', 'the payload is not a JSON object')
  const adapter = adapterOfPayload(named, sent, env)
  if (adapter === null) return { type: 'events', deliveries: [], rules, client }
  const reading = readHook(sent, raw, {
    adapter,
    paths,
    settings,
    env,
    at,
    seed,
    ...(event === null ? {} : { event }),
    cwd: () => {
      if (cwd === null)
        throw new MemError('bad_request', 'the payload names no directory, and only the hook knows its own')
      return cwd
    },
  })
  if (reading.type === 'refused') throw new MemError('forbidden', reading.reason)
  return { ...reading, rules, client: adapter.name }
}

/** Most payloads are ASCII, which is decoded in a fifth of the time as such. */
function decodeText(bytes: Buffer): string {
  return isAscii(bytes) ? bytes.toString('latin1') : bytes.toString('utf8')
}
