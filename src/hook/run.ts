/**
 * One run of the hook: read the client's payload, post it to the daemon, and write the line that it answers for the client.
 * A payload that the daemon does not take is read here and spooled (local.ts, which is loaded only then). Whatever fails,
 * the client gets its line and is not blocked. The rules are in docs/hook-protocol.md.
 */
import { prepareSocketDirectory, sessionDirectoryReason } from '../lib/own-directory.ts'
import { dataPaths, type Paths, registeredDataDirectory } from '../lib/paths.ts'
import { isKnownToHang, recordHang } from './hung-daemon.ts'
import { colorsEnabled, type HookIo, readInput, writeLine } from './io.ts'
import type * as Local from './local.ts'
import { isSeed, type Post, type Posted, postPayload } from './post.ts'
import { hookVariables } from './variables.ts'

/** Everything that takes more than a posted payload. */
export type LocalHook = typeof Local

/** `local` is called when it is needed. */
export async function runHook(io: HookIo, local: () => LocalHook): Promise<void> {
  let line: string
  try {
    line = await answer(io, local)
  } catch {
    // A failing hook must not block its client, and a hook has no log to write to.
    line = local().emptyAnswer(io)
  }
  writeLine(io.stdout, line)
}

async function answer(io: HookIo, local: () => LocalHook): Promise<string> {
  if (io.env.CLAUDE_MEM_HOOK_DISABLED === '1') return local().emptyAnswer(io)
  const bytes = readInput(io)
  if (bytes === null) return local().tooLargeAnswer(io)
  if (bytes.length === 0) return local().emptyAnswer(io)
  const post: Post = {
    client: argument(io.args, '--client') ?? 'claude-code',
    seed: seedOf(io.args),
    colors: colorsEnabled(io.env),
    cwd: workingDirectory(),
    event: io.event ?? '',
    variables: hookVariables(io.env),
  }
  const paths = dataPaths(registeredDataDirectory(io.args))
  const removeHandlers = spoolOnSignal(io, local, () => local().spoolEvents(io, bytes, post, paths))
  const posted = await tryToPost(io, bytes, post, paths)
  removeHandlers()
  return 'line' in posted ? posted.line : await local().answerWithoutDaemon(io, bytes, post, paths, posted.failure)
}

async function tryToPost({ args }: HookIo, bytes: Buffer, post: Post, paths: Paths): Promise<Posted> {
  if (isKnownToHang(paths)) return { failure: 'hangs' }
  // The fast hook has waited already.
  if (args.includes('--unanswered')) return { failure: 'timeout' }
  try {
    prepareSocketDirectory(paths)
  } catch {
    return { failure: 'refused' }
  }
  // Not of the session, mostly: local.ts looks at the payload before a byte is sent.
  if (sessionDirectoryReason(paths.dataDir, post.cwd) !== null) return { failure: 'unasked' }
  const posted = await postPayload(bytes, paths, post)
  if ('failure' in posted && posted.failure === 'timeout') recordHang(paths)
  return posted
}

/** What follows a name, or is joined to it by `=`. */
function argument(args: readonly string[], name: string): string | undefined {
  const at = args.findIndex((arg) => arg === name || arg.startsWith(`${name}=`))
  return args[at] === name ? args[at + 1] : args[at]?.slice(name.length + 1)
}

/** The one that the fast hook sent with the payload, or a new one. */
function seedOf(args: readonly string[]): string {
  const given = argument(args, '--seed') ?? ''
  return isSeed(given) ? given : `${process.pid}-${Date.now()}-${process.hrtime()[1]}`
}

function workingDirectory(): string {
  try {
    return process.cwd()
  } catch {
    // It was removed.
    return '/'
  }
}

/** Sent by a client whose hook timeout expired, and by Ctrl-C in its terminal, while the hook waits for the daemon. */
const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const

function spoolOnSignal(io: HookIo, local: () => LocalHook, spool: () => void): () => void {
  const onSignal = (): void => {
    try {
      spool()
    } finally {
      writeLine(io.stdout, local().emptyAnswer(io))
      process.exit(0)
    }
  }
  for (const signal of SIGNALS) process.on(signal, onSignal)
  return () => {
    for (const signal of SIGNALS) process.removeListener(signal, onSignal)
  }
}
