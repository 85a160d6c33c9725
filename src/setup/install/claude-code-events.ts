/** The hook events of Claude Code that are registered. */
import { MemError } from '../../lib/errors.ts'
import { compareVersions } from '../../lib/version.ts'
import type { Json } from './json-edit.ts'

interface EventSpec {
  /** The first version that knows it, from the published packages. */
  since: string
  timeoutSeconds?: number
  /** Which tools, for events about a tool. */
  matcher?: string
}

/** A hook waits for two seconds at most; the rest is margin for a machine under load. */
const DEFAULT_TIMEOUT_SECONDS = 10
/** Longer: a slow start is better than a session without context. */
const START_TIMEOUT_SECONDS = 15

/** Adds what is known about a file before it is read. Optional: it starts a process before each use of such a tool. */
const FILE_CONTEXT_EVENT = 'PreToolUse'

const EVENTS: Readonly<Record<string, EventSpec>> = {
  SessionStart: { since: '1.0.62', timeoutSeconds: START_TIMEOUT_SECONDS },
  UserPromptSubmit: { since: '1.0.54' },
  // Known since 1.0.38, but its additional context reaches the model only from this version on.
  [FILE_CONTEXT_EVENT]: { since: '2.1.9', matcher: 'Read' },
  PostToolUse: { since: '1.0.38', matcher: '*' },
  PostToolUseFailure: { since: '2.0.56', matcher: '*' },
  SubagentStop: { since: '1.0.41' },
  PreCompact: { since: '1.0.48' },
  Stop: { since: '1.0.38' },
  StopFailure: { since: '2.1.78' },
  SessionEnd: { since: '1.0.85' },
}

/** Assumed if the version is unknown; older versions are no longer in use. */
const ASSUMED_VERSION = '1.0.85'
const FIRST_WITH_HOOKS = '1.0.38'

/**
 * The events that a client supports. An event name that an older client does not know makes it disable all hooks without
 * a message, so a client of unknown version gets only the events that all versions know.
 */
export function supportedEvents(version: string | null, fileContext: boolean): string[] {
  const known = version ?? ASSUMED_VERSION
  if (compareVersions(known, FIRST_WITH_HOOKS) < 0) {
    throw new MemError(
      'unsupported_version',
      `Claude Code ${known} has no hooks; update it to ${FIRST_WITH_HOOKS} or newer, then run: claude-mem install`,
    )
  }
  const supported = Object.entries(EVENTS).filter(([, { since }]) => compareVersions(known, since) >= 0)
  const names = supported.map(([name]) => name)
  return eventsToRegister(fileContext).filter((name) => names.includes(name))
}

/** The events that are registered in the newest client. */
export function eventsToRegister(fileContext = false): string[] {
  return Object.keys(EVENTS).filter((name) => name !== FILE_CONTEXT_EVENT || fileContext)
}

export function hookEntry(event: string, command: string): { readonly [key: string]: Json } {
  return { type: 'command', command, timeout: EVENTS[event]?.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS }
}

export function hookGroup(event: string, command: string): { readonly [key: string]: Json } {
  const matcher = EVENTS[event]?.matcher
  const hooks = [hookEntry(event, command)]
  return matcher === undefined ? { hooks } : { matcher, hooks }
}
