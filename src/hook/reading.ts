/**
 * From the bytes of a client's payload to what the daemon is asked, and from its answer to the line that the client reads. The
 * hook's process uses it, and the daemon for payloads that the fast hook (fast-hook.sh) posts to it: one definition, so that
 * both have the same events, the same ids and the same answers.
 */
import type { FileContextQuery, MemoryEvent } from '../domain/event.ts'
import { stripColors } from '../lib/format.ts'
import type { Paths } from '../lib/paths.ts'
import { loadSettings, type Settings } from '../settings/settings.ts'
import { type ClientAdapter, EMPTY_OUTCOME, type HookOutcome, type HookPayload } from './clients/adapter.ts'
import { eventOwner, type PayloadOptions, parseJsonObject, readFileContextQuery, readPayloadFields } from './payload.ts'
import { isPrivateTurn, mayReport } from './private-turn.ts'

/** The settings that a hook uses. As environment variables they concern only the hook's own process (fast-hook.sh). */
export const HOOK_SETTINGS = [
  'CLAUDE_MEM_CONTEXT_MESSAGE',
  'CLAUDE_MEM_CONTEXT_TOKENS',
  'CLAUDE_MEM_EXCLUDED_PROJECTS',
  'CLAUDE_MEM_FILE_CONTEXT',
  'CLAUDE_MEM_MAX_FIELD_KB',
  'CLAUDE_MEM_MAX_MESSAGE_KB',
  'CLAUDE_MEM_SKIP_TOOLS',
  'CLAUDE_MEM_TEAM_START_WAIT_MS',
] as const satisfies readonly (keyof Settings)[]

export type HookSettings = Pick<Settings, (typeof HOOK_SETTINGS)[number]>

/** A seed made by the fast hook: part of an event's id. */
export function isSeed(text: string): boolean {
  return /^[0-9A-Za-z-]{1,64}$/.test(text)
}

export type HookReading =
  /** Nothing is asked: the payload is not a JSON object, or it is ignored, excluded or private. */
  | { type: 'nothing' }
  /** `name`: Claude Code's name of the event. */
  | { type: 'event'; name: string; event: MemoryEvent }
  | { type: 'file'; name: string; question: FileContextQuery }

interface ReadingOptions extends Pick<PayloadOptions, 'at' | 'seed' | 'cwd'> {
  adapter: ClientAdapter
  paths: Paths
  settings: HookSettings
  /** Event name for a payload without `hook_event_name`. */
  event?: string | undefined
}

/** Records private turns (P3) in the data directory. */
export function readHook(raw: string, options: ReadingOptions): HookReading {
  const { adapter, paths, settings, cwd } = options
  const sent = parseJsonObject(raw)
  const payload = sent === null ? null : adapter.translate(withEventName(sent, options.event))
  if (payload === null) return { type: 'nothing' }
  const name = String(payload.hook_event_name)
  if (name === 'PreToolUse') {
    const question = readFileContextQuery(payload, settings, cwd)
    if (question === null || isPrivateTurn(question.session, eventOwner(payload), paths.privateTurns)) {
      return { type: 'nothing' }
    }
    return { type: 'file', name, question }
  }
  const reading = readPayloadFields(payload, raw, { ...options, client: adapter.name })
  if (reading.type === 'ignored' || !mayReport(reading.event, paths.privateTurns)) return { type: 'nothing' }
  return { type: 'event', name, event: reading.event }
}

function withEventName(payload: HookPayload, event: string | undefined): HookPayload {
  return event === undefined || payload.hook_event_name !== undefined ? payload : { ...payload, hook_event_name: event }
}

/** The line of JSON for the client, without its line break. */
export function answerLine(adapter: ClientAdapter, outcome: HookOutcome = EMPTY_OUTCOME, colors = true): string {
  const { message } = outcome
  return JSON.stringify(adapter.answer({ ...outcome, message: colors ? message : stripColors(message) }))
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
