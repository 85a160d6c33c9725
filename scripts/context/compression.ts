/**
 * How much the text stands for: characters of tool input and output behind what it shows, for each of its own. All
 * recorded development sessions are one project here; of the tool uses only those count from which an observation was
 * made that has a row in the text.
 */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { previewOf } from '../../src/context/load.ts'
import { NO_TROUBLE } from '../../src/context/message.ts'
import { contextSettings } from '../../src/context/options.ts'
import { readTranscript } from '../../src/hook/transcript/index.ts'
import type { MemoryEvent } from '../../src/memory/event.ts'
import { offlineObserver } from '../../src/observer/offline/index.ts'
import { loadSettings } from '../../src/settings.ts'
import type { ContextMaterial } from '../../src/store/context-port.ts'
import { ROOT } from '../lib/root.ts'
import { type Observed, observedEvents } from '../quality/observed.ts'

const RECORDINGS = join(ROOT, 'test', 'quality', 'dev')
const PROJECT = { key: 'dir:/home/dev', name: 'dev' }
const settings = loadSettings('', {}).values

export interface Compression {
  /** Of tool input and output. */
  rawChars: number
  contextChars: number
  toolUses: number
  /** Observations with a row, of all. */
  shown: number
  observations: number
}

export async function compression(): Promise<Compression> {
  const observed = await observedEvents(recorded(), { observer: offlineObserver })
  const options = { ...contextSettings(settings), now: observed.events.at(-1)?.at ?? 0 }
  const reader = { contextMaterial: async () => materialOf(observed) }
  const { context } = await previewOf(reader, PROJECT, options, NO_TROUBLE)
  const shown = new Set([...context.matchAll(/^\| #(\d+) \|/gm)].map((match) => Number(match[1])))
  const sources = new Set(observed.observations.flatMap(({ id, sources: made }) => (shown.has(id) ? made : [])))
  return {
    rawChars: observed.events.reduce((sum, event) => sum + (sources.has(event.id) ? rawChars(event) : 0), 0),
    contextChars: context.length,
    toolUses: sources.size,
    shown: shown.size,
    observations: observed.observations.length,
  }
}

async function* recorded(): AsyncGenerator<MemoryEvent> {
  for (const name of readdirSync(RECORDINGS).sort()) {
    if (!name.endsWith('.jsonl')) continue
    for await (const event of readTranscript(join(RECORDINGS, name), { settings, skipped: () => undefined })) {
      yield { ...event, project: PROJECT }
    }
  }
}

/** As they are handed to the observer: what is private is gone, and what is longer than any field may be. */
function rawChars(event: MemoryEvent): number {
  if (event.kind === 'tool_use') return textChars(event.input) + textChars(event.response)
  return event.kind === 'tool_failure' ? textChars(event.input) + event.error.length : 0
}

/** Without the names and signs of JSON. */
function textChars(value: unknown): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return String(value).length
  return Object.values(value).reduce((sum: number, part) => sum + textChars(part), 0)
}

function materialOf({ observations, summaries }: Observed): ContextMaterial {
  const newestFirst = <T extends { createdAt: number; id: number }>(rows: readonly T[]): T[] =>
    [...rows].sort((a, b) => b.createdAt - a.createdAt || b.id - a.id)
  return {
    project: PROJECT,
    totals: {
      observations: observations.length,
      discoveryTokens: observations.reduce((sum, { discoveryTokens }) => sum + discoveryTokens, 0),
      since: Math.min(...observations.map(({ createdAt }) => createdAt)),
    },
    observations: newestFirst(observations),
    pinned: [],
    summaries: newestFirst(summaries),
    repeats: [],
    superseded: 0,
  }
}
