/**
 * `npm run bench -- tokens [--json]`: the cost of the observer with a model. A session of 300 tool uses in 12 turns goes
 * through the real actors and the `anthropic` provider to a Messages API on loopback, which counts tokens and caches
 * prompts as the real one does, with the clock of the session.
 *
 * - input_per_observation: billed-equivalent input tokens (cache reads at a tenth, writes at 1.25) per observation
 * - input_per_tool_use: the same per tool use
 * - uncached_input_per_observation: every input token at its full price, as if nothing were cached
 * - facts_in_prompts: share of the planted facts that are in what was sent during their turn
 * - largest_context: most tokens of one call, answer included
 * - single_…: the same session with one call per tool use, nothing folded, nothing compacted
 *
 * The simulated model reads the prompt and writes one observation per changed file, one per failed command, and a summary
 * on request. Its answers are as long as a model's, because they become part of the conversation.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { parseArgs } from 'node:util'
import { isInboxEvent, type MemoryEvent, type ToolUseEvent } from '../../src/domain/event.ts'
import { dataPaths } from '../../src/lib/paths.ts'
import { makeObserver } from '../../src/observer/make-observer.ts'
import { loadSettings } from '../../src/settings/settings.ts'
import { readTranscriptEvents } from '../../src/transfer/transcripts/index.ts'
import type { ModelRequest } from '../../test/observer/servers/fault.ts'
import { MessagesServer } from '../../test/observer/servers/messages-server.ts'
import { Random } from '../lib/random.ts'
import { type Figures, Progress, printNote, report, rounded } from '../lib/report.ts'
import { makeSandbox, ROOT } from '../lib/sandbox.ts'
import { type Observed, observedEvents } from '../quality/observed.ts'
import { type Fact, factsFileOf } from '../quality/sessions.ts'

interface ToolUse {
  n: string
  tool: string
  /** Text of its block. */
  text: string
}

const BLOCK = /<tool_use n="(\d+)" tool="([^"]+)"[^>]*>\n([\s\S]*?)<\/tool_use>/g
const CHANGING = new Set(['Edit', 'MultiEdit', 'Write', 'NotebookEdit'])
const NARRATIVE_CHARS = 500
const FACT_CHARS = 140
const FACTS = 4

function answerOf({ messages }: Pick<ModelRequest, 'messages'>): string {
  const last = messages.at(-1)?.content ?? ''
  if (last.includes('exactly one <summary>')) return summaryOf(last)
  const uses = [...last.matchAll(BLOCK)].map(([, n, tool, text]) => ({
    n: n ?? '',
    tool: tool ?? '',
    text: text ?? '',
  }))
  const observations = [...changes(uses), ...failures(uses)]
  return observations.length > 0 ? observations.join('\n') : '<skip reason="nothing was changed, nothing failed"/>'
}

function changes(uses: readonly ToolUse[]): string[] {
  const files = new Map<string, ToolUse[]>()
  for (const use of uses) {
    if (!CHANGING.has(use.tool)) continue
    const file = /[^\s"'<>]+\.\w+/.exec(use.text)?.[0] ?? use.tool
    files.set(file, [...(files.get(file) ?? []), use])
  }
  return [...files].map(([file, of]) => observation('change', `Change ${file}`, of, file))
}

function failures(uses: readonly ToolUse[]): string[] {
  const commands = new Map<string, ToolUse[]>()
  for (const use of uses) {
    if (!use.text.includes('<outcome failed="yes">')) continue
    const [command = use.tool] = use.text.split('\n', 1)
    commands.set(command, [...(commands.get(command) ?? []), use])
  }
  return [...commands].map(([command, of]) => observation('discovery', `Failing: ${command.slice(0, 60)}`, of, null))
}

function observation(type: string, title: string, of: readonly ToolUse[], file: string | null): string {
  const text = of.map((use) => use.text).join('\n')
  const lines = text.split('\n').filter((line) => line.trim().length > 20)
  const facts = lines.slice(-FACTS).map((line) => `<fact>${plain(line, FACT_CHARS)}</fact>`)
  return [
    `<observation from="${of.map((use) => use.n).join(' ')}">`,
    `<type>${type}</type>`,
    `<title>${plain(title, 80)}</title>`,
    `<subtitle>${plain(lines[0] ?? title, FACT_CHARS)}</subtitle>`,
    `<narrative>${plain(text, NARRATIVE_CHARS)}</narrative>`,
    `<facts>${facts.join('')}</facts>`,
    '<concepts><concept>what-changed</concept></concepts>',
    file === null ? '' : `<files_modified><file>${plain(file, 200)}</file></files_modified>`,
    '</observation>',
  ].join('\n')
}

function summaryOf(asked: string): string {
  const words = /<last_message>([\s\S]*?)<\/last_message>/.exec(asked)?.[1] ?? ''
  const request = /<user_request>([\s\S]*?)<\/user_request>/.exec(asked)?.[1] ?? ''
  return `<summary><request>${plain(request, 200)}</request><completed>${plain(words, 600)}</completed></summary>`
}

function plain(text: string, most: number): string {
  return text.replace(/\s+/g, ' ').trim().slice(0, most).replace(/[<>&]/g, ' ')
}

const RECORDINGS = join(ROOT, 'test', 'quality', 'dev')
const HOME = '/home/dev'
const PROJECT = { key: `dir:${HOME}/platform`, name: 'platform' }
const SESSION = 'tokens'
const TURNS = 12
const TOOL_USES = 300
/** Pause between two recorded sessions, longer than the lifetime of a prompt cache, in ms. */
const PAUSE_MS = 20 * 60_000

interface PlantedFact extends Fact {
  turn: number
}

interface LongSession {
  events: MemoryEvent[]
  /** Start time of each turn. */
  turnStarts: number[]
  facts: PlantedFact[]
}

async function longSession(): Promise<LongSession> {
  const turns = (await recordedTurns()).slice(0, TURNS)
  const recorded = turns.flatMap((turn) => turn.events.filter(isToolUse)).length
  const again = spread(TOOL_USES - recorded, turns.length)
  const random = new Random(1)
  const seen: ToolUseEvent[] = []
  const events: MemoryEvent[] = []
  const turnStarts: number[] = []
  let shift = 0
  for (const [n, turn] of turns.entries()) {
    const [first] = turn.events
    if (first === undefined) continue
    const last = events.at(-1)
    // The recordings are of different days: each one is moved to follow the one before.
    if (last !== undefined && turn.startsSession) shift = last.at + PAUSE_MS - first.at
    turnStarts.push(first.at + shift)
    const moved = turn.events.map((event) => ({ ...event, at: event.at + shift }))
    events.push(...withLooksAgain(moved, again[n] ?? 0, n, seen, random))
  }
  return { events, turnStarts, facts: turns.flatMap((turn, n) => turn.facts.map((fact) => ({ ...fact, turn: n }))) }
}

interface RecordedTurn {
  events: MemoryEvent[]
  facts: Fact[]
  startsSession: boolean
}

/** A third turn is short and is joined with the second: twelve in all. */
async function recordedTurns(): Promise<RecordedTurn[]> {
  const settings = loadSettings('', {}).values
  const turns: RecordedTurn[] = []
  for (const file of readdirSync(RECORDINGS)
    .filter((name) => name.endsWith('.jsonl'))
    .sort()) {
    const own: RecordedTurn[] = []
    for await (const event of readTranscriptEvents(join(RECORDINGS, file), { settings, skipped: () => undefined })) {
      if (event.kind === 'session_start' || event.kind === 'session_end') continue
      if (event.kind === 'prompt' && own.length < 2)
        own.push({ events: [], facts: [], startsSession: own.length === 0 })
      own.at(-1)?.events.push(inPlatform(event))
    }
    placeFacts(own, file)
    turns.push(...own)
  }
  return turns
}

/** `/home/dev/shop` becomes `/home/dev/platform/shop`: one session in one project. */
function inPlatform(event: MemoryEvent): MemoryEvent {
  const text = JSON.stringify(event).replaceAll(`${HOME}/`, `${HOME}/platform/`)
  const moved: MemoryEvent = JSON.parse(text)
  return { ...moved, id: `${event.session}-${event.id}`, session: SESSION, project: PROJECT, promptId: null }
}

/** A fact belongs to the first turn that contains all of it. */
function placeFacts(turns: readonly RecordedTurn[], file: string): void {
  const facts: Fact[] = JSON.parse(readFileSync(factsFileOf(RECORDINGS, basename(file, '.jsonl')), 'utf8'))
  for (const fact of facts) turns.find((turn) => holds(textOf(turn.events), fact))?.facts.push(fact)
}

function holds(text: string, fact: Fact): boolean {
  const folded = text.toLowerCase()
  return fact.expect.every((part) => folded.includes(part.toLowerCase()))
}

/** The text as it is in the events, without JSON escapes. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  if (Array.isArray(value)) return value.map(textOf).join('\n')
  return typeof value === 'object' && value !== null ? textOf(Object.values(value)) : String(value)
}

function isToolUse(event: MemoryEvent): boolean {
  return event.kind === 'tool_use' || event.kind === 'tool_failure'
}

function spread(total: number, parts: number): number[] {
  return Array.from(
    { length: parts },
    (_, i) => Math.floor((total * (i + 1)) / parts) - Math.floor((total * i) / parts),
  )
}

function withLooksAgain(
  turn: readonly MemoryEvent[],
  count: number,
  n: number,
  seen: ToolUseEvent[],
  random: Random,
): MemoryEvent[] {
  const places = new Set<number>()
  const possible = turn.map((event, i) => ({ event, i })).filter(({ event }) => isInboxEvent(event))
  for (const { i } of random.shuffled(possible).slice(0, count)) places.add(i)
  return turn.flatMap((event, i) => {
    if (event.kind === 'tool_use' && (event.tool === 'Read' || event.tool === 'Bash')) seen.push(event)
    if (!places.has(i)) return [event]
    return [event, lookAgain(event, `again-${n}-${i}`, seen, random)]
  })
}

const ROUTINE: readonly [command: string, stdout: string][] = [
  ['git status --short', ' M src/main.ts\n'],
  ['ls', 'README.md\npackage.json\nsrc\ntest\n'],
  ['pwd', '/home/dev/platform\n'],
]

/** Two of three repeat an earlier tool use, the others are a status or a listing. */
function lookAgain(after: MemoryEvent, id: string, seen: readonly ToolUseEvent[], random: Random): MemoryEvent {
  const at = after.at + 1
  const [earlier] = random.shuffled([...seen])
  if (earlier !== undefined && random.chance(2 / 3)) return { ...earlier, id, at }
  const [command, stdout] = random.shuffled([...ROUTINE])[0] ?? ['pwd', '']
  const response = { stdout, stderr: '', interrupted: false }
  const { session, client, project, cwd, transcriptPath } = after
  const base = { id, session, at, client, project, cwd, transcriptPath, promptId: null, agent: null }
  return { ...base, kind: 'tool_use', tool: 'Bash', input: { command }, response, durationMs: 5 }
}

const KEY = 'sk-bench-0123456789'
/** The comparison: no batches, nothing folded, no compaction. */
const SINGLE = {
  CLAUDE_MEM_BATCHING_ENABLED: 'false',
  CLAUDE_MEM_NOVELTY_ENABLED: 'false',
  CLAUDE_MEM_COMPACT_TOKENS: '1000000',
}

async function run(session: LongSession, settings: NodeJS.ProcessEnv, progress: Progress): Promise<Observed> {
  let now = 0
  const server = await MessagesServer.listen(answerOf, { apiKey: KEY, clock: () => now })
  const sandbox = makeSandbox('tokens')
  try {
    const loaded = loadSettings('', {
      ...settings,
      CLAUDE_MEM_ANTHROPIC_API_KEY: KEY,
      CLAUDE_MEM_ANTHROPIC_BASE_URL: server.url,
    })
    const { observer } = await makeObserver(loaded, dataPaths(sandbox.paths.dataDir), {})
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
    sandbox.remove()
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
    const isSent = holds(sent.get(fact.turn) ?? '', fact)
    if (!isSent) missing(`turn ${fact.turn + 1}: ${fact.ask} (${fact.expect.join(' + ')})`)
    return isSent
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
  for (const complaint of [...ours.complaints, ...single.complaints]) printNote(complaint)
  const missing = options['show-missing'] ? (text: string) => printNote(`not sent: ${text}`) : () => undefined
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
