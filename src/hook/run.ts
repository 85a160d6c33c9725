/**
 * One run of the hook: read the client's payload, send the event to the daemon, and write one line of JSON for the
 * client. An event that the daemon does not acknowledge is spooled. Whatever fails, the client gets its line and is not
 * blocked. The rules are in docs/hook-protocol.md.
 */
import { existsSync, readSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { MemoryEvent } from '../domain/event.ts'
import { ACK_TIMEOUT_MS, SESSION_START_TIMEOUT_MS } from '../domain/protocol.ts'
import {
  decodeRenderedContext,
  EMPTY_CONTEXT,
  type RenderedContext,
  renderedContextPath,
} from '../domain/rendered-context.ts'
import { withReserve } from '../lib/disk-space.ts'
import { errorMessage, MemError, systemCode } from '../lib/errors.ts'
import { readTextFile } from '../lib/files.ts'
import { foreignDirectoryReason } from '../lib/own-directory.ts'
import { dataPaths, type Paths, registeredDataDirectory, shortHash } from '../lib/paths.ts'
import { readStartFailure } from '../lib/start-failure.ts'
import { pause } from '../lib/timeout.ts'
import { compareVersions, VERSION } from '../lib/version.ts'
import {
  type ClientAdapter,
  EMPTY_OUTCOME,
  type HookOutcome,
  type HookPayload,
  stringOrEmpty,
} from './clients/adapter.ts'
import { adapterFromArgs, adapterOfPayload } from './clients/index.ts'
import { launchDaemon, requestFileContext, sendEvent } from './daemon.ts'
import { isKnownToHang, recordHang } from './hung-daemon.ts'
import { missingDriverMessage } from './missing-driver.ts'
import { parseJsonObject } from './payload.ts'
import {
  answerLine,
  FILE_EVENT,
  type HookDelivery,
  type HookSettings,
  isSeed,
  loadHookSettings,
  readHook,
} from './reading.ts'
import { writeSpool } from './spool.ts'

export interface HookIo {
  /** A descriptor, or the bytes already read from it. */
  stdin: number | Buffer
  stdout: number
  env: NodeJS.ProcessEnv
  /** Directory of `daemon.js`. */
  dist: string
  /** Command line arguments; `--client` names the client. */
  args: readonly string[]
  /** Event name for a payload without `hook_event_name`. */
  event?: string
}

export async function runHook(io: HookIo): Promise<void> {
  let adapter = adapterFromArgs(io.args)
  let outcome = EMPTY_OUTCOME
  try {
    const raw = readInput(io)
    const sent = parseJsonObject(raw)
    const sender = sent === null ? null : adapterOfPayload(adapter, sent, io.env)
    if (sent !== null && sender !== null) {
      adapter = sender
      outcome = await handle(io, adapter, raw, sent)
    }
  } catch (error) {
    // A failing hook must not block its client, and a hook has no log to write to.
    if (error instanceof MemError && error.code === 'too_large') outcome = { ...EMPTY_OUTCOME, message: error.message }
  }
  writeLine(io.stdout, answerLine(adapter, outcome, colorsEnabled(io.env)))
}

/** Empty if nothing is to be reported. */
function readInput({ env, stdin, args }: HookIo): string {
  if (env.CLAUDE_MEM_HOOK_DISABLED === '1') return ''
  if (typeof stdin !== 'number') return stdin.toString('utf8')
  const bytes = readStdin(args.includes('--rest') ? [stdin, REST_OF_INPUT] : [stdin])
  if (bytes === null) throw new MemError('too_large', TOO_LARGE)
  return bytes.toString('utf8')
}

const TOO_LARGE =
  'claude-mem did not store this event: the client reported more than 64 MB at once. Later events are stored as usual'

/** Where the fast hook has what it did not read of its own input, if it says `--rest`. */
const REST_OF_INPUT = 5

/** The answer after an uncaught exception or a signal. */
export function writeEmptyAnswer({ stdout, args }: Pick<HookIo, 'stdout' | 'args'>): void {
  writeLine(stdout, answerLine(adapterFromArgs(args)))
}

async function handle(io: HookIo, adapter: ClientAdapter, raw: string, sent: HookPayload): Promise<HookOutcome> {
  const paths = dataPaths(registeredDataDirectory(io.args))
  const foreign = foreignDirectoryReason(paths)
  if (foreign !== null) {
    // Only for the name of the event: what a subagent reports is kept in files, and no message belongs to it.
    const [event] = adapter.translate({ ...sent, agent_id: undefined }, io.env, raw)
    return refusal(stringOrEmpty(event?.hook_event_name), foreign, adapter)
  }
  const settings = loadHookSettings(paths.dataDir, io.env)
  const { seed, unanswered } = fastHookArguments(io.args)
  const reading = readHook(sent, raw, {
    adapter,
    paths,
    settings,
    env: io.env,
    at: Date.now(),
    event: io.event,
    ...(seed === undefined ? {} : { seed }),
  })
  if (reading.type === 'refused') return refusal(reading.event, reading.reason, adapter)
  if (reading.type === 'file') {
    return { event: FILE_EVENT, context: await requestFileContext(reading.question, paths), message: '' }
  }
  const run: HookRun = { io, paths, settings, unanswered }
  let outcome = EMPTY_OUTCOME
  for (const [index, delivery] of reading.deliveries.entries()) {
    const later = reading.deliveries.slice(index + 1).map(({ event }) => event)
    const { context, message } = await deliver(delivery, later, run)
    outcome = { event: delivery.name, context, message }
  }
  return outcome
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

interface HookRun {
  io: HookIo
  paths: Paths
  settings: HookSettings
  /** The daemon is not asked: see `fastHookArguments`. */
  unanswered: boolean
}

/**
 * What the fast hook (fast-hook.sh) adds when it hands its payload over: the seed that it sent to the daemon, `--rest`, and
 * `--unanswered` if the daemon did not answer in time or a signal arrived: then the event is spooled at once.
 */
function fastHookArguments(args: readonly string[]): { seed: string | undefined; unanswered: boolean } {
  const at = args.indexOf('--seed')
  const seed = at === -1 ? undefined : args[at + 1]
  return { seed: seed !== undefined && isSeed(seed) ? seed : undefined, unanswered: args.includes('--unanswered') }
}

/** https://no-color.org: any non-empty value disables colours. */
function colorsEnabled({ NO_COLOR }: NodeJS.ProcessEnv): boolean {
  return NO_COLOR === undefined || NO_COLOR === ''
}

/** `later`: events of the same payload, which a signal must not lose. */
async function deliver(
  { event, startContext }: HookDelivery,
  later: readonly MemoryEvent[],
  { io, paths, settings, unanswered }: HookRun,
): Promise<RenderedContext> {
  const removeHandlers = spoolOnSignal([event, ...later], paths, io)
  const starts = event.kind === 'session_start'
  const timeoutMs = starts || startContext ? SESSION_START_TIMEOUT_MS : ACK_TIMEOUT_MS
  const hangs = isKnownToHang(paths)
  const sent =
    unanswered || hangs
      ? ({ type: 'timeout' } as const)
      : await sendEvent(event, paths, timeoutMs, startContext && !starts)
  removeHandlers()
  if (sent.type === 'timeout' && !unanswered && !hangs) recordHang(paths)
  if (sent.type === 'ack') {
    // A newer daemon takes the data directory over from an older one.
    if (compareVersions(sent.version, VERSION) < 0) await launchDaemon(paths, io.dist, io.env)
    return starts && !startContext ? { ...sent, context: '' } : sent
  }
  const failure = spool(event, paths)
  // A draining daemon gets a successor.
  const isGone = sent.type === 'no_listener' || sent.type === 'draining' || sent.type === 'disconnected'
  const launchFailure = isGone ? await launchDaemon(paths, io.dist, io.env) : ''
  if (startContext && sent.type === 'no_listener' && isFirstOfMachine(paths, settings)) {
    const answer = await sendToStartingDaemon(event, paths, !starts)
    if (answer !== null) return answer
  }
  if (failure !== null && isTold(event)) return { ...EMPTY_CONTEXT, message: lossMessage(failure, launchFailure) }
  if (!starts && !startContext) return EMPTY_CONTEXT
  const missing = sent.type === 'no_listener' ? missingDriverMessage(paths, io.dist) : ''
  const last = startContext ? readLastRenderedContext(paths.context, event.project.key, settings) : EMPTY_CONTEXT
  if (missing !== '') return { ...last, message: missing }
  const outage = hangs ? HANGS : isGone ? startFailureMessage(launchFailure || readStartFailure(paths), paths) : ''
  if (outage === '') return last
  // The last context would be older than what waits in the spool, so the agent gets none.
  return { ...EMPTY_CONTEXT, message: settings.CLAUDE_MEM_CONTEXT_MESSAGE === 'off' ? '' : outage }
}

/** A daemon starts in less than a second; a hook has ten, of which the acknowledgement may take two. */
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
async function sendToStartingDaemon(
  event: MemoryEvent,
  paths: Paths,
  startContext: boolean,
): Promise<RenderedContext | null> {
  const deadline = performance.now() + DAEMON_START_MS
  while (performance.now() < deadline) {
    pause(DAEMON_POLL_MS)
    const sent = await sendEvent(event, paths, SESSION_START_TIMEOUT_MS, startContext)
    if (sent.type === 'ack') return sent
    if (sent.type !== 'no_listener') return null
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

/** A lost event is reported when a session starts and with each prompt, not with every tool use. */
const isTold = ({ kind }: MemoryEvent): boolean => kind === 'session_start' || kind === 'prompt'

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

/** Sent by a client whose hook timeout expired, and by Ctrl-C in its terminal, while the hook waits for the daemon. */
const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const

function spoolOnSignal(events: readonly MemoryEvent[], paths: Paths, io: HookIo): () => void {
  const onSignal = (): void => {
    for (const event of events) spool(event, paths)
    writeEmptyAnswer(io)
    process.exit(0)
  }
  for (const signal of SIGNALS) process.on(signal, onSignal)
  return () => {
    for (const signal of SIGNALS) process.removeListener(signal, onSignal)
  }
}

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
  const { context, message } = readRenderedFile(directory, projectKey)
  return {
    context: settings.CLAUDE_MEM_CONTEXT_TOKENS === 0 ? '' : context,
    message: settings.CLAUDE_MEM_CONTEXT_MESSAGE === 'off' ? '' : message,
  }
}

function readRenderedFile(directory: string, projectKey: string): RenderedContext {
  const json = readTextFile(renderedContextPath(directory, projectKey))
  if (json !== undefined) return decodeRenderedContext(json) ?? EMPTY_CONTEXT
  // Older daemons wrote the context as a plain text file.
  return { context: readTextFile(join(directory, `${shortHash(projectKey)}.txt`)) ?? '', message: '' }
}

// Standard input and output are used by descriptor: synchronous calls start faster than streams, and the answer is
// written when the call returns.

/** A larger payload is not read, and the user is told: it would only fill memory, tool results are cut to a fraction of it. */
export const MAX_PAYLOAD_BYTES = 64 * 1024 * 1024
const READ_BYTES = 65_536

/** One after the other. Null if there is more than `MAX_PAYLOAD_BYTES`. */
function readStdin(inputs: readonly number[]): Buffer | null {
  const chunks: Buffer[] = []
  let total = 0
  for (let at = 0; at < inputs.length; ) {
    const chunk = Buffer.allocUnsafe(total < READ_BYTES ? READ_BYTES : READ_BYTES * 16)
    let length: number
    try {
      length = readSync(inputs[at] ?? 0, chunk, 0, chunk.length, null)
    } catch (error) {
      if (systemCode(error) === 'EAGAIN') {
        pause(BUSY_WAIT_MS)
        continue
      }
      // Windows reports a closed pipe as an error.
      length = 0
    }
    if (length === 0) {
      at++
      continue
    }
    total += length
    if (total > MAX_PAYLOAD_BYTES) return null
    chunks.push(chunk.subarray(0, length))
  }
  return chunks.length === 1 ? (chunks[0] ?? null) : Buffer.concat(chunks)
}

/** A pipe that the client made non-blocking returns EAGAIN instead of waiting. */
const BUSY_WAIT_MS = 2

/** Nothing, not even a line break, where there is no answer: some clients take any output for one. */
function writeLine(stdout: number, line: string): void {
  if (line === '') return
  const bytes = Buffer.from(`${line}\n`)
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(stdout, bytes, at)
    } catch (error) {
      if (systemCode(error) !== 'EAGAIN') return
      pause(BUSY_WAIT_MS)
    }
  }
}
