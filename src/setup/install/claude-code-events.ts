/** The hook events of Claude Code that are registered. */
import { MemError } from '../../lib/errors.ts'
import { compareVersions } from '../../lib/version.ts'
import type { Json } from './json-edit.ts'

interface EventSpec {
  /** The first version that knows it, from the published packages. */
  since: string
  timeoutSeconds: number
  /** Which tools, for events about a tool. */
  matcher?: string
  /** Registered only if the user enabled it: it starts a process before each use of such a tool. */
  optional?: true
}

/** A hook waits for two seconds at most; the rest is margin for a machine under load. */
const DEFAULT_TIMEOUT_SECONDS = 10
/** Longer: a slow start is better than a session without context. */
const START_TIMEOUT_SECONDS = 15
const withDefaultTimeout = (since: string): EventSpec => ({ since, timeoutSeconds: DEFAULT_TIMEOUT_SECONDS })

export const CLAUDE_CODE_EVENTS = {
  SessionStart: { since: '1.0.62', timeoutSeconds: START_TIMEOUT_SECONDS },
  UserPromptSubmit: withDefaultTimeout('1.0.54'),
  // Known since 1.0.38, but its additional context reaches the model only from this version on.
  PreToolUse: { ...withDefaultTimeout('2.1.9'), matcher: 'Read', optional: true },
  PostToolUse: { ...withDefaultTimeout('1.0.38'), matcher: '*' },
  PostToolUseFailure: { ...withDefaultTimeout('2.0.56'), matcher: '*' },
  SubagentStop: withDefaultTimeout('1.0.41'),
  PreCompact: withDefaultTimeout('1.0.48'),
  Stop: withDefaultTimeout('1.0.38'),
  StopFailure: withDefaultTimeout('2.1.78'),
  SessionEnd: withDefaultTimeout('1.0.85'),
} as const satisfies Record<string, EventSpec>

export type HookEventName = keyof typeof CLAUDE_CODE_EVENTS
export const HOOK_EVENT_NAMES = Object.keys(CLAUDE_CODE_EVENTS) as HookEventName[]

/** Assumed if the version is unknown; older versions are no longer in use. */
const ASSUMED_VERSION = '1.0.85'
const FIRST_WITH_HOOKS = '1.0.38'

/** Runs before a file is read, to add what is known about it. */
export const FILE_CONTEXT_EVENT: HookEventName = 'PreToolUse'

/**
 * The events that a client supports. An event name that an older client does not know makes it disable all hooks without
 * a message, so a client of unknown version gets only the events that all versions know.
 */
export function supportedEvents(version: string | null, optional: readonly HookEventName[] = []): HookEventName[] {
  const known = version ?? ASSUMED_VERSION
  if (compareVersions(known, FIRST_WITH_HOOKS) < 0) {
    throw new MemError(
      'unsupported_version',
      `Claude Code ${known} has no hooks; update it to ${FIRST_WITH_HOOKS} or newer, then run: claude-mem install`,
    )
  }
  return eventsToRegister(optional).filter((name) => compareVersions(known, CLAUDE_CODE_EVENTS[name].since) >= 0)
}

/** The events that are registered in the newest client. */
export function eventsToRegister(optional: readonly HookEventName[] = []): HookEventName[] {
  const isOptional = (spec: EventSpec) => spec.optional === true
  return HOOK_EVENT_NAMES.filter((name) => !isOptional(CLAUDE_CODE_EVENTS[name]) || optional.includes(name))
}

export function hookEntry(event: HookEventName, command: string): { readonly [key: string]: Json } {
  return { type: 'command', command, timeout: CLAUDE_CODE_EVENTS[event].timeoutSeconds }
}

export function hookGroup(event: HookEventName, command: string): { readonly [key: string]: Json } {
  const spec: EventSpec = CLAUDE_CODE_EVENTS[event]
  const hooks = [hookEntry(event, command)]
  return spec.matcher === undefined ? { hooks } : { matcher: spec.matcher, hooks }
}
