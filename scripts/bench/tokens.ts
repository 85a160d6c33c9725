/**
 * `npm run bench -- tokens [--json]`: what the observer with a model costs. A session of 300 tool uses in 12 turns (scripts/
 * tokens/session.ts) goes through the real actors and the `anthropic` provider to a Messages API on loopback, which counts
 * tokens and caches prompts as the real one does, with the session's own clock.
 *
 * - input_per_observation: billed-equivalent input tokens (cache reads at a tenth, writes at 1.25) for each observation
 * - input_per_tool_use: the same for each tool use
 * - uncached_input_per_observation: every input token at its full price, as if nothing were ever cached
 * - facts_in_prompts: share of the planted facts that still stand in what was sent during their turn
 * - largest_context: most tokens that one call had, answer included
 * - single_…: the same session with every tool use a call of its own, nothing folded, nothing compacted
 */
import { parseArgs } from 'node:util'
import { makeObserver } from '../../src/observer/make.ts'
import { pathsOf } from '../../src/paths.ts'
import { loadSettings } from '../../src/settings.ts'
import { MessagesServer } from '../../test/observer/servers/messages-server.ts'
import { type Figures, Progress, report, say } from '../lib/output.ts'
import { makePlace } from '../lib/place.ts'
import { rounded } from '../lib/stats.ts'
import { type Observed, observedEvents } from '../quality/observed.ts'
import { answerOf } from '../tokens/model.ts'
import { holds, type LongSession, longSession, TOOL_USES } from '../tokens/session.ts'

const KEY = 'sk-bench-0123456789'
/** What is saved is told apart from what it would be without: no batches, nothing folded, no compaction. */
const SINGLE = {
  CLAUDE_MEM_BATCHING_ENABLED: 'false',
  CLAUDE_MEM_NOVELTY_ENABLED: 'false',
  CLAUDE_MEM_COMPACT_TOKENS: '1000000',
}

async function run(session: LongSession, settings: NodeJS.ProcessEnv, progress: Progress): Promise<Observed> {
  let now = 0
  const server = await MessagesServer.listen(answerOf, { apiKey: KEY, clock: () => now })
  const place = makePlace('tokens')
  try {
    const loaded = loadSettings('', {
      ...settings,
      CLAUDE_MEM_ANTHROPIC_API_KEY: KEY,
      CLAUDE_MEM_ANTHROPIC_BASE_URL: server.url,
    })
    const { observer } = await makeObserver(loaded, pathsOf(place.paths.dataDir), {})
    const told = async function* () {
      for (const [i, event] of session.events.entries()) {
        now = event.at
        progress.show(`event ${i + 1} of ${session.events.length}`)
        yield event
      }
    }
    return await observedEvents(told(), { observer, loaded })
  } finally {
    await server.close()
    place.remove()
  }
}

function figuresOf({ observations, calls }: Observed) {
  const sum = (count: (usage: (typeof calls)[number]['usage']) => number) =>
    calls.reduce((total, { usage }) => total + count(usage), 0)
  const billed = sum(({ input, cacheRead, cacheWrite }) => input + 0.1 * cacheRead + 1.25 * cacheWrite)
  const whole = sum(({ input, cacheRead, cacheWrite }) => input + cacheRead + cacheWrite)
  const sizes = calls.map(({ usage }) => usage.input + usage.output + usage.cacheRead + usage.cacheWrite)
  return {
    input_per_observation: rounded(billed / observations.length, 0),
    input_per_tool_use: rounded(billed / TOOL_USES, 0),
    uncached_input_per_observation: rounded(whole / observations.length, 0),
    largest_context: Math.max(...sizes),
    calls: calls.length,
    observations: observations.length,
    cost_usd: rounded(
      calls.reduce((total, call) => total + (call.cost ?? 0), 0),
      4,
    ),
  }
}

function factsInPrompts(
  { facts, turnStarts }: LongSession,
  { calls }: Observed,
  missing: (text: string) => void,
): number {
  const turnOf = (at: number) => turnStarts.filter((start) => start <= at).length - 1
  const sent = new Map<number, string>()
  for (const call of calls) sent.set(turnOf(call.at), `${sent.get(turnOf(call.at)) ?? ''}\n${call.sent ?? ''}`)
  const held = facts.filter((fact) => {
    const stands = holds(sent.get(fact.turn) ?? '', fact)
    if (!stands) missing(`turn ${fact.turn + 1}: ${fact.ask} (${fact.expect.join(' + ')})`)
    return stands
  })
  return held.length / facts.length
}

async function main(): Promise<number> {
  const { values: options } = parseArgs({
    options: { json: { type: 'boolean', default: false }, 'show-missing': { type: 'boolean', default: false } },
  })
  const progress = new Progress()
  const session = await longSession()
  const ours = await run(session, {}, progress)
  const single = await run(session, SINGLE, progress)
  progress.clear()
  for (const complaint of [...ours.complaints, ...single.complaints]) say(complaint)
  const missing = options['show-missing'] ? (text: string) => say(`not sent: ${text}`) : () => undefined
  const baseline = Object.entries(figuresOf(single)).map(([name, value]) => [`single_${name}`, value])
  const figures: Figures = {
    ...figuresOf(ours),
    facts_in_prompts: rounded(factsInPrompts(session, ours, missing), 3),
    facts: session.facts.length,
    tool_uses: TOOL_USES,
    ...Object.fromEntries(baseline),
  }
  report(figures, options.json)
  return ours.complaints.length === 0 ? 0 : 1
}

process.exitCode = await main()
