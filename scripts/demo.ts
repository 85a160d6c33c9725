/**
 * The product in twenty seconds: a recorded session goes through the real hook, one process an event, and the real
 * daemon, in a data directory of its own that is gone afterwards.
 */
import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ChannelClient } from '../src/channel/client.ts'
import { estimateTokens } from '../src/memory/observation.ts'
import { projectOf } from '../src/memory/project.ts'
import { shortHash } from '../src/paths.ts'
import { ROOT } from './demo/files.ts'
import { Screen } from './demo/screen.ts'
import { STORY, type StoryTurn } from './demo/story.ts'
import { connect, servingPid, startDaemon, stopServing } from './lib/daemon.ts'
import { runHook } from './lib/hook.ts'
import { type Payload, sessionEnd, sessionStart, stop, type Turn, userPrompt } from './lib/payloads.ts'
import { makePlace, type Place } from './lib/place.ts'
import { until } from './lib/until.ts'

const SETTLE_MS = 15_000
const PROJECT = projectOf(ROOT).key
const screen = new Screen(process.stdout)
const place = makePlace('demo', { CLAUDE_MEM_PROVIDER: 'offline' })
const counts = { tools: 0, observations: 0, summaries: 0 }

async function main(): Promise<void> {
  const begun = performance.now()
  screen.title('claude-mem demo', 'real hooks, a real daemon, a data directory that is gone afterwards')
  const daemon = await startDaemon(place)
  const client = await follow(place)

  screen.step(1, 'You work with Claude Code. A hook reports each tool use and waits until it is safe on disk.')
  const session = randomUUID()
  await report(sessionStart({ session, prompt: '', cwd: ROOT }))
  for (const [index, turn] of STORY.entries())
    await replay(turn, { session, prompt: randomUUID(), cwd: ROOT }, index + 1)
  await report(sessionEnd({ session, prompt: randomUUID(), cwd: ROOT }))

  // On a busy machine a hook may give up on the daemon and deliver the file instead: it is to say the same.
  if (!(await until(async () => renderedFile() === (await currentContext(client)), SETTLE_MS))) {
    throw new Error('the context was not rendered')
  }

  screen.step(2, 'A new session starts. It forgot everything, but the hook tells it this before the first prompt:')
  const context = await contextOfNewSession()
  screen.context(context)
  client.close()
  screen.result(`${count()} became ${estimateTokens(context)} tokens for the next session`)

  daemon.child.kill('SIGKILL')
  await daemon.exited
  const same = (await contextOfNewSession()) === context
  if (!same) throw new Error('without a daemon the context is another one')
  screen.result('kill -9 the daemon: the next session gets the same, and its hook starts a new daemon')
  await servingPid(place, SETTLE_MS)

  const seconds = Math.round((performance.now() - begun) / 100) / 10
  screen.note(`${seconds} s. For your own sessions: node dist/cli.js install`)
  if (process.argv.includes('--json')) process.stdout.write(`${JSON.stringify({ ...counts, seconds })}\n`)
}

/** Commits become visible as they are made. */
async function follow(where: Place): Promise<ChannelClient> {
  const client = await connect(where, SETTLE_MS)
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
  await client.request('subscribed', { type: 'subscribe', since: null })
  return client
}

async function replay({ prompt, steps, lastMessage }: StoryTurn, turn: Turn, number: number): Promise<void> {
  screen.prompt(prompt)
  await report(userPrompt(turn, prompt))
  for (const { tool, input, shown, response, error } of steps) {
    screen.tool(tool, shown, error !== undefined)
    const { prompt: _, ...common } = userPrompt(turn, '')
    const id = `toolu_${String(++counts.tools).padStart(6, '0')}`
    const what = { tool_name: tool, tool_input: input, tool_use_id: id, duration_ms: 40 }
    await report(
      error === undefined
        ? { ...common, ...what, hook_event_name: 'PostToolUse', tool_response: response }
        : { ...common, ...what, hook_event_name: 'PostToolUseFailure', error, is_interrupt: false },
    )
  }
  await report(stop(turn, lastMessage))
  if (!(await until(() => counts.summaries >= number, SETTLE_MS))) throw new Error('the turn was not summarised')
}

async function report(payload: Payload): Promise<string> {
  const run = await runHook(place, payload)
  if (!run.reported) throw new Error(`the hook failed on ${payload.hook_event_name}: ${run.stdout}`)
  return run.stdout
}

async function contextOfNewSession(): Promise<string> {
  const answer = JSON.parse(await report(sessionStart({ session: randomUUID(), prompt: '', cwd: ROOT })))
  return String(answer.hookSpecificOutput?.additionalContext ?? '')
}

async function currentContext(client: ChannelClient): Promise<string> {
  return (await client.request('context', { type: 'context', project: PROJECT })).context
}

function renderedFile(): string | null {
  try {
    return readFileSync(join(place.paths.context, `${shortHash(PROJECT)}.txt`), 'utf8')
  } catch {
    return null
  }
}

function count(): string {
  return `${counts.tools} tool uses, ${counts.observations} observations, ${counts.summaries} summaries`
}

let ending: Promise<void> | null = null

function end(): Promise<void> {
  ending ??= cleanUp()
  return ending
}

async function cleanUp(): Promise<void> {
  // A daemon that a hook is starting would live on in a directory that is gone.
  await until(() => !existsSync(place.paths.starting), SETTLE_MS)
  await stopServing(place)
  place.remove()
}

// A terminal sends Ctrl-C to every process of its group, and the one above passes it on again.
process.on('SIGINT', () => void end().finally(() => process.exit(130)))
try {
  await main()
} finally {
  await end()
}
