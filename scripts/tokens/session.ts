/**
 * One long session for the token bench: twelve turns of the recorded development sessions, as if their projects lay in one
 * repository. Between the recorded tool uses stand looks again at what was seen before: files read again, commands run
 * again with the same result, listings, status. With them there are 300.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { readTranscript } from '../../src/hook/transcript/index.ts'
import { isMessage, type MemoryEvent, type ToolUseEvent } from '../../src/memory/event.ts'
import { loadSettings } from '../../src/settings.ts'
import { Random } from '../lib/random.ts'
import { ROOT } from '../lib/root.ts'
import { factsFileOf } from '../quality/observed.ts'
import type { Fact } from '../quality/scenario.ts'

const RECORDINGS = join(ROOT, 'test', 'quality', 'dev')
const HOME = '/home/dev'
const PROJECT = { key: `dir:${HOME}/platform`, name: 'platform' }
const SESSION = 'tokens'
export const TURNS = 12
export const TOOL_USES = 300
/** Between two sessions of a day, in ms: longer than a prompt cache lives. */
const PAUSE_MS = 20 * 60_000

export interface PlantedFact extends Fact {
  turn: number
}

export interface LongSession {
  events: MemoryEvent[]
  /** When each turn began. */
  turnStarts: number[]
  facts: PlantedFact[]
}

export async function longSession(): Promise<LongSession> {
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
    // Recordings were made on different days: here each goes on where the one before ended.
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

/** A third turn is short and goes with the second: twelve in all. */
async function recordedTurns(): Promise<RecordedTurn[]> {
  const settings = loadSettings('', {}).values
  const turns: RecordedTurn[] = []
  for (const file of readdirSync(RECORDINGS)
    .filter((name) => name.endsWith('.jsonl'))
    .sort()) {
    const own: RecordedTurn[] = []
    for await (const event of readTranscript(join(RECORDINGS, file), { settings, skipped: () => undefined })) {
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

/** `/home/dev/shop` is `/home/dev/platform/shop`; everything is one session of one project. */
function inPlatform(event: MemoryEvent): MemoryEvent {
  const text = JSON.stringify(event).replaceAll(`${HOME}/`, `${HOME}/platform/`)
  const moved: MemoryEvent = JSON.parse(text)
  return { ...moved, id: `${event.session}-${event.id}`, session: SESSION, project: PROJECT, promptId: null }
}

/** A fact belongs to the first turn that holds all of it. */
function placeFacts(turns: readonly RecordedTurn[], file: string): void {
  const facts: Fact[] = JSON.parse(readFileSync(factsFileOf(RECORDINGS, basename(file, '.jsonl')), 'utf8'))
  for (const fact of facts) turns.find((turn) => holds(textOf(turn.events), fact))?.facts.push(fact)
}

export function holds(text: string, fact: Fact): boolean {
  const folded = text.toLowerCase()
  return fact.expect.every((part) => folded.includes(part.toLowerCase()))
}

/** As it stands in the events themselves, without the escapes of JSON. */
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
  const possible = turn.map((event, i) => ({ event, i })).filter(({ event }) => isMessage(event))
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

/** Two of three are a repetition of something seen, the others a status or a listing. */
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
