/**
 * From the bytes of a client's payload to what the daemon is asked, and from its answer to the line that the client reads. The
 * hook's process uses it, and the daemon for payloads that the fast hook (fast-hook.sh) posts to it: one definition, so that
 * both have the same events, the same ids and the same answers.
 */
import type { FileContextQuery, MemoryEvent } from '../domain/event.ts'
import { workingTreeRoot } from '../domain/project.ts'
import { stripColors } from '../lib/format.ts'
import { sessionDirectoryReason } from '../lib/own-directory.ts'
import type { Paths } from '../lib/paths.ts'
import { loadSettings, type Settings } from '../settings/settings.ts'
import { deferStartContext, takeStartContext, withDerivedTurn } from './client-session.ts'
import {
  type ClientAdapter,
  EMPTY_OUTCOME,
  fitContext,
  type HookOutcome,
  type HookPayload,
  stringOrEmpty,
} from './clients/adapter.ts'
import {
  eventOwner,
  type PayloadOptions,
  payloadHash,
  readFileContextQuery,
  readPayloadFields,
  workingDirectory,
} from './payload.ts'
import { isPrivateTurn, mayReport } from './private-turn.ts'
import type { HOOK_SETTINGS } from './variables.ts'

export type HookSettings = Pick<Settings, (typeof HOOK_SETTINGS)[number]>

/** An event to deliver. */
export interface HookDelivery {
  /** Claude Code's name of the event. */
  name: string
  event: MemoryEvent
  /** The answer carries the context of the session's start. */
  startContext: boolean
}

export type HookReading =
  /** In their order. None: the payload is ignored, excluded or private. */
  | { type: 'events'; deliveries: HookDelivery[] }
  | { type: 'file'; question: FileContextQuery }
  /** The data directory is not one for a session in this directory. `event`: Claude Code's name. */
  | { type: 'refused'; event: string; reason: string }

interface ReadingOptions extends Pick<PayloadOptions, 'at' | 'seed' | 'cwd'> {
  adapter: ClientAdapter
  paths: Paths
  settings: HookSettings
  /** The environment of the hook. */
  env: NodeJS.ProcessEnv
  /** Event name for a payload without `hook_event_name`. */
  event?: string | undefined
}

/** `raw`: the payload as sent. Records private turns (P3), and turns of clients that do not name theirs, in the data directory. */
export function readHook(sent: HookPayload, raw: string, options: ReadingOptions): HookReading {
  const { adapter, paths, settings, cwd } = options
  const env = { ...options.env, CLAUDE_MEM_DATA_DIR: paths.dataDir }
  const translated = adapter.translate(withEventName(sent, options.event), env, raw)
  const [first] = translated
  if (first !== undefined) {
    const reason = sessionDirectoryReason(paths.dataDir, workingTreeRoot(workingDirectory(first, cwd)))
    if (reason !== null) return { type: 'refused', event: stringOrEmpty(first.hook_event_name), reason }
  }
  const payloads = translated.map((payload) => withDerivedTurn(payload, raw, adapter.traits, paths.clientSessions))
  const [only] = payloads
  if (only?.hook_event_name === FILE_EVENT) {
    const question = readFileContextQuery(only, settings, cwd)
    const isAsked = question !== null && !isPrivateTurn(question.session, eventOwner(only), paths.privateTurns)
    return isAsked ? { type: 'file', question } : NOTHING
  }
  // Several events of one payload must not get one id, and a large payload is hashed once for all of them.
  const others = payloads.length > 1 ? payloadHash(raw) : ''
  const deliveries = payloads.flatMap((payload, index) => {
    const text = index === 0 ? raw : `${others}#${index}`
    const reading = readPayloadFields(payload, text, { ...options, client: adapter.name })
    if (reading.type === 'ignored' || !mayReport(reading.event, paths.privateTurns)) return []
    const { event } = reading
    return [{ name: String(payload.hook_event_name), event, startContext: asksForStartContext(event, options) }]
  })
  return { type: 'events', deliveries }
}

/** The event before a file is read, which asks and reports nothing. */
export const FILE_EVENT = 'PreToolUse'
const NOTHING: HookReading = { type: 'events', deliveries: [] }

/** Where a client takes the context of a start only with a prompt, the next prompt asks for it. */
function asksForStartContext(event: MemoryEvent, { adapter, paths }: ReadingOptions): boolean {
  const starts = event.kind === 'session_start'
  if (adapter.traits.startContext === 'start') return starts
  if (starts) deferStartContext(event.session, paths.clientSessions)
  return event.kind === 'prompt' && takeStartContext(event.session, paths.clientSessions)
}

function withEventName(payload: HookPayload, event: string | undefined): HookPayload {
  return event === undefined || payload.hook_event_name !== undefined ? payload : { ...payload, hook_event_name: event }
}

/** What the client reads, without a line break: a line of JSON, or nothing. */
export function answerLine(adapter: ClientAdapter, outcome: HookOutcome = EMPTY_OUTCOME, colors = true): string {
  const message = colors ? outcome.message : stripColors(outcome.message)
  const context = fitContext(outcome.context, adapter.traits.contextChars)
  const answer = adapter.answer({ ...outcome, context, message })
  return answer === null ? '' : JSON.stringify(answer)
}

/**
 * The environment may come from the project, and concerns only its own sessions. It can exclude more than the settings file
 * does, never less.
 */
export function loadHookSettings(dataDir: string, env: NodeJS.ProcessEnv): HookSettings {
  const { values, sources } = loadSettings(dataDir, env)
  const lists = ['CLAUDE_MEM_EXCLUDED_PROJECTS', 'CLAUDE_MEM_SKIP_TOOLS'] as const
  if (lists.every((name) => sources[name] !== 'environment')) return values
  const stored = loadSettings(dataDir, {}).values
  const both = lists.map((name) => [name, [...new Set([...stored[name], ...values[name]])]])
  return { ...values, ...Object.fromEntries(both) }
}
