/** Which of the client's events are registered, and what for. */
import { MemError } from '../errors.ts'
import { compareVersions } from '../version.ts'
import type { Json } from './json-text.ts'

interface EventSpec {
  /** The first client that knows it, as found in the published packages. */
  since: string
  timeoutSeconds: number
  /** Events about a tool say which tools. The others have nothing to match, or mean everything without it. */
  matcher?: string
  /** Registered only where the user asked for what it does: it costs a process before each such tool. */
  optional?: true
}

/** A hook gives up after two seconds at the most; the rest is for a machine under load. */
const USUAL_TIMEOUT_SECONDS = 10
/** Before the first prompt a slow start is better than a session without its memory. */
const START_TIMEOUT_SECONDS = 15
const usual = (since: string): EventSpec => ({ since, timeoutSeconds: USUAL_TIMEOUT_SECONDS })

export const EVENTS = {
  SessionStart: { since: '1.0.62', timeoutSeconds: START_TIMEOUT_SECONDS },
  UserPromptSubmit: usual('1.0.54'),
  // Known since 1.0.38, but what it answers reaches the model only from here on.
  PreToolUse: { ...usual('2.1.9'), matcher: 'Read', optional: true },
  PostToolUse: { ...usual('1.0.38'), matcher: '*' },
  PostToolUseFailure: { ...usual('2.0.56'), matcher: '*' },
  SubagentStop: usual('1.0.41'),
  PreCompact: usual('1.0.48'),
  Stop: usual('1.0.38'),
  StopFailure: usual('2.1.78'),
  SessionEnd: usual('1.0.85'),
} as const satisfies Record<string, EventSpec>

export type EventName = keyof typeof EVENTS
export const EVENT_NAMES = Object.keys(EVENTS) as EventName[]

/** Every client that people still run is at least this. */
const ASSUMED_VERSION = '1.0.85'
const FIRST_WITH_HOOKS = '1.0.38'

/** Context for a file, before it is read. */
export const FILE_CONTEXT_EVENT: EventName = 'PreToolUse'

/**
 * What a client may be given. An event name that it does not know makes an older one switch off all hooks, without
 * a word, so a client that was not found gets only what all of them know.
 */
export function eventsFor(version: string | null, optional: readonly EventName[] = []): EventName[] {
  const known = version ?? ASSUMED_VERSION
  if (compareVersions(known, FIRST_WITH_HOOKS) < 0) {
    throw new MemError(
      'unsupported_version',
      `Claude Code ${known} has no hooks; update it to ${FIRST_WITH_HOOKS} or newer, then run: claude-mem install`,
    )
  }
  return wantedEvents(optional).filter((name) => compareVersions(known, EVENTS[name].since) >= 0)
}

/** Everything that a client of any version would be given. */
export function wantedEvents(optional: readonly EventName[] = []): EventName[] {
  const isOptional = (spec: EventSpec) => spec.optional === true
  return EVENT_NAMES.filter((name) => !isOptional(EVENTS[name]) || optional.includes(name))
}

export function hookEntry(event: EventName, command: string): { readonly [key: string]: Json } {
  return { type: 'command', command, timeout: EVENTS[event].timeoutSeconds }
}

export function groupFor(event: EventName, command: string): { readonly [key: string]: Json } {
  const spec: EventSpec = EVENTS[event]
  const hooks = [hookEntry(event, command)]
  return spec.matcher === undefined ? { hooks } : { matcher: spec.matcher, hooks }
}
