/**
 * What a hook does with a payload that no daemon took: it reads and cleans the payload itself, spools its events, starts a daemon,
 * and answers a session that starts with the context that was rendered last. Loaded only then.
 */
import { existsSync } from 'node:fs'
import type { MemoryEvent } from '../domain/event.ts'
import {
  decodeRenderedContext,
  EMPTY_CONTEXT,
  type RenderedContext,
  renderedContextPath,
} from '../domain/rendered-context.ts'
import { withReserve } from '../lib/disk-space.ts'
import { errorMessage } from '../lib/errors.ts'
import { readTextFile } from '../lib/files.ts'
import { foreignDirectoryReason } from '../lib/own-directory.ts'
import type { Paths } from '../lib/paths.ts'
import { readStartFailure } from '../lib/start-failure.ts'
import { pause } from '../lib/timeout.ts'
import { type ClientAdapter, EMPTY_OUTCOME, type HookOutcome, stringOrEmpty } from './clients/adapter.ts'
import { adapterFromArgs, adapterOfPayload } from './clients/index.ts'
import { colorsEnabled, type HookIo, writeLine } from './io.ts'
import { launchDaemon } from './launch.ts'
import { missingDriverMessage } from './missing-driver.ts'
import { parseJsonObject } from './payload.ts'
import { type Post, type PostFailure, postPayload } from './post.ts'
import {
  answerLine,
  FILE_EVENT,
  type HookDelivery,
  type HookReading,
  type HookSettings,
  loadHookSettings,
  readHook,
} from './reading.ts'
import { writeSpool } from './spool.ts'

/** The answer to an event of which nothing is reported. */
export function emptyAnswer({ args }: Pick<HookIo, 'args'>): string {
  return answerLine(adapterFromArgs(args))
}

export function tooLargeAnswer({ args, env }: HookIo): string {
  const message =
    'claude-mem did not store this event: the client reported more than 64 MB at once. Later events are stored as usual'
  return answerLine(adapterFromArgs(args), { ...EMPTY_OUTCOME, message }, colorsEnabled(env))
}

interface LocalReading {
  adapter: ClientAdapter
  settings: HookSettings
  reading: HookReading
}

/** Null if nothing is to be reported. */
function readLocally(io: HookIo, bytes: Buffer, { seed }: Post, paths: Paths): LocalReading | null {
  const raw = bytes.toString('utf8')
  const sent = parseJsonObject(raw)
  const adapter = sent === null ? null : adapterOfPayload(adapterFromArgs(io.args), sent, io.env)
  if (sent === null || adapter === null) return null
  const reason = foreignDirectoryReason(paths)
  if (reason !== null) {
    // Only for the name of the event: what a subagent reports is kept in files, and no message belongs to it.
    const [first] = adapter.translate({ ...sent, agent_id: undefined }, io.env, raw)
    const refused = { type: 'refused', event: stringOrEmpty(first?.hook_event_name), reason } as const
    return { adapter, settings: loadHookSettings('', io.env), reading: refused }
  }
  const settings = loadHookSettings(paths.dataDir, io.env)
  const { env, event } = io
  return {
    adapter,
    settings,
    reading: readHook(sent, raw, { adapter, paths, settings, env, at: Date.now(), event, seed }),
  }
}

/** For a hook that is about to be ended. */
export function spoolEvents(io: HookIo, bytes: Buffer, post: Post, paths: Paths): void {
  const read = readLocally(io, bytes, post, paths)
  if (read?.reading.type !== 'events') return
  for (const { event } of read.reading.deliveries) spool(event, paths)
}

/** The line for the client. */
export async function answerWithoutDaemon(
  io: HookIo,
  bytes: Buffer,
  post: Post,
  paths: Paths,
  reason: PostFailure,
): Promise<string> {
  const read = readLocally(io, bytes, post, paths)
  if (read === null) return emptyAnswer(io)
  const { adapter, settings, reading } = read
  const lineOf = (outcome: HookOutcome) => answerLine(adapter, outcome, post.colors)
  if (reading.type === 'refused') return lineOf(refusal(reading.event, reading.reason, adapter))
  if (reading.type === 'file') return lineOf({ ...EMPTY_OUTCOME, event: FILE_EVENT })
  // The session may use the data directory.
  const posted = reason === 'unasked' ? await postPayload(bytes, paths, post) : { failure: reason }
  if ('line' in posted) return posted.line
  const { failure } = posted
  const failures = reading.deliveries.map(({ event }) => spool(event, paths))
  // A daemon that leaves gets a successor.
  const isGone = failure === 'no_listener' || failure === 'disconnected' || failure === 'leaving'
  const launchFailure = isGone && failures.length > 0 ? await launchDaemon(paths, io.dist, io.env) : ''
  let outcome = EMPTY_OUTCOME
  for (const [i, delivery] of reading.deliveries.entries()) {
    if (delivery.startContext && failure === 'no_listener' && isFirstOfMachine(paths, settings)) {
      const line = await postToStartingDaemon(bytes, paths, post)
      if (line !== null) return line
    }
    const outage = { paths, settings, dist: io.dist, failure, isGone, spoolFailure: failures[i] ?? null, launchFailure }
    outcome = { event: delivery.name, ...answerTo(delivery, outage) }
  }
  return lineOf(outcome)
}

/** Reported when a session starts and with each prompt; on standard error to a client that shows no message of a hook. */
function refusal(event: string, reason: string, adapter: ClientAdapter): HookOutcome {
  if (event !== 'SessionStart' && event !== 'UserPromptSubmit') return { ...EMPTY_OUTCOME, event }
  const message = `claude-mem remembers nothing here: ${reason}. To choose another place: claude-mem install --data-dir DIR`
  const outcome = { ...EMPTY_OUTCOME, event, message }
  const isShown = answerLine(adapter, outcome) !== answerLine(adapter, { ...outcome, message: '' })
  if (!isShown) writeLine(2, message)
  return outcome
}

/** A daemon starts in less than a second; a hook has ten, of which the answer may take two. */
const DAEMON_START_MS = 4_000
const DAEMON_POLL_MS = 50

/**
 * On a machine with an empty disk and a mounted `team.json` only the daemon can get a memory for the session. Once there is a
 * database no hook waits again: a team that cannot be reached delays one session at most.
 */
function isFirstOfMachine(paths: Paths, settings: HookSettings): boolean {
  const mayWait = settings.CLAUDE_MEM_TEAM_START_WAIT_MS > 0 && settings.CLAUDE_MEM_CONTEXT_TOKENS > 0
  return mayWait && existsSync(paths.team) && !existsSync(paths.database)
}

/** The event is spooled already: the daemon counts it once. Null: no daemon answered in time. */
async function postToStartingDaemon(bytes: Buffer, paths: Paths, post: Post): Promise<string | null> {
  const deadline = performance.now() + DAEMON_START_MS
  while (performance.now() < deadline) {
    pause(DAEMON_POLL_MS)
    const posted = await postPayload(bytes, paths, post)
    if ('line' in posted) return posted.line
    if (posted.failure !== 'no_listener') return null
  }
  return null
}

/** Null, or why the event could not be spooled: the disk is full or read-only. The client must not be blocked. */
function spool(event: MemoryEvent, paths: Paths): string | null {
  try {
    withReserve(paths.reserve, () => writeSpool(paths.spool, event))
    return null
  } catch (error) {
    return errorMessage(error)
  }
}

interface Outage {
  paths: Paths
  settings: HookSettings
  dist: string
  failure: PostFailure
  isGone: boolean
  /** Null if the event is spooled. */
  spoolFailure: string | null
  /** Empty: a daemon is starting. */
  launchFailure: string
}

function answerTo({ event, startContext }: HookDelivery, outage: Outage): RenderedContext {
  const { paths, settings, dist, failure, isGone, spoolFailure, launchFailure } = outage
  const starts = event.kind === 'session_start'
  // A lost event is reported when a session starts and with each prompt, not with every tool use.
  if (spoolFailure !== null && (starts || event.kind === 'prompt')) {
    return { ...EMPTY_CONTEXT, message: lossMessage(spoolFailure, launchFailure) }
  }
  if (!starts && !startContext) return EMPTY_CONTEXT
  const missing = failure === 'no_listener' ? missingDriverMessage(paths, dist) : ''
  const last = startContext ? readLastRenderedContext(paths.context, event.project.key, settings) : EMPTY_CONTEXT
  if (missing !== '') return { ...last, message: missing }
  const startFailure = isGone ? startFailureMessage(launchFailure || readStartFailure(paths), paths) : ''
  const message = failure === 'hangs' ? HANGS : startFailure
  if (message === '') return last
  // The last context would be older than what waits in the spool, so the agent gets none.
  return { ...EMPTY_CONTEXT, message: settings.CLAUDE_MEM_CONTEXT_MESSAGE === 'off' ? '' : message }
}

function lossMessage(failure: string, launchFailure: string): string {
  const why = launchFailure === '' ? '' : ` Its daemon cannot start: ${launchFailure}.`
  const next = 'Until this is fixed, nothing of this session is remembered. To see what is wrong: claude-mem doctor'
  return `claude-mem could not store this event: its daemon did not accept it, and the spool cannot be written (${failure}).${why} ${next}`
}

function startFailureMessage(reason: string, { spool }: Paths): string {
  if (reason === '') return ''
  const kept = `What happens meanwhile is kept in ${spool} and stored once it starts.`
  return `claude-mem remembers nothing new: its daemon cannot start: ${reason}. ${kept} When that is fixed: claude-mem start. To see more: claude-mem doctor`
}

const HANGS =
  'claude-mem remembers nothing new: its daemon does not answer. What happens meanwhile is kept and stored later. To end it and start another: claude-mem restart'

type ContextSwitches = Pick<HookSettings, 'CLAUDE_MEM_CONTEXT_TOKENS' | 'CLAUDE_MEM_CONTEXT_MESSAGE'>

/**
 * The context that the daemon rendered last, for a session that starts while no daemon answers. The settings are
 * applied again: they may have changed since the daemon wrote the file.
 */
export function readLastRenderedContext(
  directory: string,
  projectKey: string,
  settings: ContextSwitches,
): RenderedContext {
  const { context, message } =
    decodeRenderedContext(readTextFile(renderedContextPath(directory, projectKey)) ?? '') ?? EMPTY_CONTEXT
  return {
    context: settings.CLAUDE_MEM_CONTEXT_TOKENS === 0 ? '' : context,
    message: settings.CLAUDE_MEM_CONTEXT_MESSAGE === 'off' ? '' : message,
  }
}
