/**
 * One run of the hook: read what the client says, give it to the daemon, and answer the client. Whatever goes
 * wrong, the client gets its one line and goes on. docs/hook-protocol.md has the rules.
 */
import { mkdirSync } from 'node:fs'
import { ACK_TIMEOUT_MS, SESSION_START_TIMEOUT_MS } from '../channel/protocol.ts'
import { writeSpool } from '../channel/spool.ts'
import { withoutColours } from '../memory/colours.ts'
import type { MemoryEvent } from '../memory/event.ts'
import { dataDirectory, type Paths, pathsOf } from '../paths.ts'
import { loadSettings, type Settings } from '../settings.ts'
import { compareVersions, VERSION } from '../version.ts'
import { type Client, clientIn, NOTHING, type Outcome, type Payload } from './clients/index.ts'
import { askAboutFile, report } from './daemon.ts'
import { fileQuestion } from './file-question.ts'
import { readAll, writeLine } from './io.ts'
import { launchDaemon } from './launch.ts'
import { parsePayload, readFields } from './payload.ts'
import { isPrivateTurn, mayLeave } from './private-turn.ts'
import { renderedContext } from './rendered.ts'
import type { Said } from './said.ts'

export interface HookIo {
  /** A descriptor, or what was read already. */
  stdin: number | Buffer
  stdout: number
  env: NodeJS.ProcessEnv
  /** Where `daemon.js` is. */
  dist: string
  /** Which client runs it is said here. */
  args: readonly string[]
  /** The event of a payload that does not name its own. */
  event?: string
}

export async function runHook(io: HookIo): Promise<void> {
  const client = clientIn(io.args)
  let outcome = NOTHING
  try {
    outcome = await handle(io, client)
  } catch {
    // The client must not be held up by its memory; there is nobody to tell here.
  }
  writeLine(io.stdout, client.answer(outcome))
}

/** For when nothing else can be said any more. */
export function writePlainAnswer({ stdout, args }: Pick<HookIo, 'stdout' | 'args'>): void {
  writeLine(stdout, clientIn(args).answer(NOTHING))
}

async function handle(io: HookIo, client: Client): Promise<Outcome> {
  if (io.env.CLAUDE_MEM_HOOK_DISABLED === '1') return NOTHING
  const bytes = typeof io.stdin === 'number' ? readAll(io.stdin) : io.stdin
  const raw = bytes?.toString('utf8') ?? ''
  const sent = parsePayload(raw)
  const payload = sent === null ? null : client.translate(named(sent, io.event))
  if (payload === null) return NOTHING
  const paths = pathsOf(dataDirectory(io.env))
  const settings = loadSettings(paths.dataDir, io.env).values
  const event = String(payload.hook_event_name)
  if (event === 'PreToolUse') {
    const question = fileQuestion(payload, settings)
    if (question === null || isPrivateTurn(question.session, paths.privateTurns)) return NOTHING
    return { event, context: await askAboutFile(question, paths), message: null }
  }
  const reading = readFields(payload, raw, { settings, at: Date.now(), client: client.name })
  if (reading.type === 'ignored' || !mayLeave(reading.event, paths.privateTurns)) return NOTHING
  const { context, message } = await deliver(reading.event, paths, settings, io)
  return { event, context, message: message === null || coloursWanted(io.env) ? message : withoutColours(message) }
}

/** As https://no-color.org has it: any value but none. */
function coloursWanted({ NO_COLOR }: NodeJS.ProcessEnv): boolean {
  return NO_COLOR === undefined || NO_COLOR === ''
}

function named(payload: Payload, event: string | undefined): Payload {
  return event === undefined || payload.hook_event_name !== undefined ? payload : { ...payload, hook_event_name: event }
}

async function deliver(event: MemoryEvent, paths: Paths, settings: Settings, io: HookIo): Promise<Said> {
  const release = spoolWhenKilled(event, paths, io)
  const starts = event.kind === 'session_start'
  const sent = await report(event, paths, starts ? SESSION_START_TIMEOUT_MS : ACK_TIMEOUT_MS)
  release()
  if (sent.type === 'ack') {
    if (compareVersions(sent.version, VERSION) < 0) await launchDaemon(paths, io.dist, io.env)
    return sent
  }
  spool(event, paths)
  if (sent.type === 'absent' || sent.type === 'lost') {
    mkdirSync(paths.dataDir, { recursive: true, mode: 0o700 })
    await launchDaemon(paths, io.dist, io.env)
  }
  return starts ? renderedContext(paths.context, event.project.key, settings) : { context: null, message: null }
}

/** A read-only or full disk: nothing more can be done, and the client goes on. */
function spool(event: MemoryEvent, paths: Paths): void {
  try {
    writeSpool(paths.spool, event)
  } catch {
    // See above.
  }
}

/** A client that gives up on a hook, or a Ctrl-C in its terminal, ends it while it waits. */
const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const

function spoolWhenKilled(event: MemoryEvent, paths: Paths, io: HookIo): () => void {
  const onSignal = (): void => {
    spool(event, paths)
    writePlainAnswer(io)
    process.exit(0)
  }
  for (const signal of SIGNALS) process.on(signal, onSignal)
  return () => {
    for (const signal of SIGNALS) process.removeListener(signal, onSignal)
  }
}
