/**
 * The product in twenty seconds: a recorded session goes through the real hook, one process per event, and the real
 * daemon, in a temporary data directory that is removed afterwards.
 */
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { estimateTokens } from '../src/domain/observation.ts'
import { projectOfDirectory } from '../src/domain/project.ts'
import { readLastRenderedContext } from '../src/hook/local.ts'
import { loadSettings } from '../src/settings/settings.ts'
import type { DaemonClient } from '../src/transport/client.ts'
import { Screen } from './demo/screen.ts'
import { readDemoSession, toolSubject } from './demo/session.ts'
import { type Payload, sessionStart } from './lib/payloads.ts'
import { connect, makeSandbox, runHook, servingPid, startDaemon, stopServing, until } from './lib/sandbox.ts'

const TIMEOUT_MS = 15_000
const SESSION = readDemoSession()
const CWD = SESSION[0]?.cwd ?? ''
const PROJECT = projectOfDirectory(CWD).key
const screen = new Screen(process.stdout)
const sandbox = makeSandbox('demo', { CLAUDE_MEM_PROVIDER: 'offline' })
const counts = { tools: 0, turns: 0, observations: 0, summaries: 0 }

async function main(): Promise<void> {
  const startedAt = performance.now()
  screen.title('claude-mem demo', 'real hooks, a real daemon, a temporary data directory')
  const daemon = await startDaemon(sandbox)
  const client = await followCommits()

  screen.step(1, 'You work with Claude Code. A hook reports each tool use and waits until it is on disk.')
  for (const payload of SESSION) await replay(payload)

  screen.step(2, 'A new session starts without any memory. The hook gives it this context before the first prompt:')
  const context = await contextFromHook(client)
  screen.context(context)
  client.close()
  const { tools, observations, summaries } = counts
  const tokens = estimateTokens(context)
  screen.result(
    `${tools} tool uses, ${observations} observations, ${summaries} summaries became ${tokens} tokens for the next session`,
  )

  // The daemon writes the context for hooks to disk after a short delay; wait for it with the function the hook uses.
  if (!(await until(() => contextOnDisk() === context, TIMEOUT_MS))) {
    throw new Error(`the daemon did not write the context to ${sandbox.paths.context} within ${TIMEOUT_MS / 1000} s`)
  }
  daemon.child.kill('SIGKILL')
  await daemon.exited
  if ((await startSession()) !== context) throw new Error('without a daemon the hook returned another context')
  screen.result('kill -9 the daemon: the next session gets the same context, and its hook starts a new daemon')
  await servingPid(sandbox, TIMEOUT_MS)

  const seconds = Math.round((performance.now() - startedAt) / 100) / 10
  screen.note(`${seconds} s. For your own sessions: node dist/cli.js install`)
  if (process.argv.includes('--json')) {
    process.stdout.write(`${JSON.stringify({ tools, observations, summaries, seconds })}\n`)
  }
}

/** Prints observations, summaries and states as the daemon commits them. */
async function followCommits(): Promise<DaemonClient> {
  const client = await connect(sandbox, TIMEOUT_MS)
  if (client === null) throw new Error('the daemon does not answer')
  client.onStream = (item) => {
    if (item.type !== 'commit') return
    const { state, observations, summaries } = item
    for (const observation of observations) screen.observation(observation)
    for (const summary of summaries) screen.summary(summary)
    screen.state(state)
    counts.observations += observations.length
    counts.summaries += summaries.length
  }
  await client.call('subscribe', { since: null })
  return client
}

async function replay(payload: Payload): Promise<void> {
  const { prompt, tool_name, error, hook_event_name } = payload
  if (typeof prompt === 'string') screen.prompt(prompt)
  if (typeof tool_name === 'string') {
    counts.tools++
    screen.tool(tool_name, toolSubject(payload), error !== undefined)
  }
  await report(payload)
  if (hook_event_name !== 'Stop') return
  counts.turns++
  if (!(await until(() => counts.summaries >= counts.turns, TIMEOUT_MS))) {
    throw new Error(`turn ${counts.turns} has no summary after ${TIMEOUT_MS / 1000} s`)
  }
}

async function report(payload: Payload): Promise<string> {
  const run = await runHook(sandbox, payload)
  if (!run.reported) throw new Error(`the hook failed on ${payload.hook_event_name}: ${run.stdout}`)
  return run.stdout
}

/** Starts another session; returns the context that its hook gives to the client. */
async function startSession(): Promise<string> {
  const answer = JSON.parse(await report(sessionStart({ session: randomUUID(), prompt: '', cwd: CWD })))
  return String(answer.hookSpecificOutput?.additionalContext ?? '')
}

/** Retries: on a busy machine a hook may reach its timeout and deliver an older context from disk. */
async function contextFromHook(client: DaemonClient): Promise<string> {
  let context = ''
  const isCurrent = async () => {
    context = await startSession()
    return context === (await client.call('context', { project: PROJECT })).context
  }
  if (!(await until(isCurrent, TIMEOUT_MS))) throw new Error('the hook and the daemon return different contexts')
  return context
}

/** What a hook delivers while no daemon runs. */
function contextOnDisk(): string {
  const settings = loadSettings(sandbox.paths.dataDir, sandbox.env).values
  return readLastRenderedContext(sandbox.paths.context, PROJECT, settings).context
}

let cleaned: Promise<void> | null = null

/** Runs once: a terminal sends Ctrl-C to every process of its group, and the parent process forwards it again. */
function cleanUp(): Promise<void> {
  cleaned ??= (async () => {
    // A daemon that a hook is starting would outlive its data directory.
    await until(() => !existsSync(sandbox.paths.starting), TIMEOUT_MS)
    await stopServing(sandbox)
    sandbox.remove()
  })()
  return cleaned
}

process.on('SIGINT', () => void cleanUp().finally(() => process.exit(130)))
try {
  await main()
} finally {
  await cleanUp()
}
