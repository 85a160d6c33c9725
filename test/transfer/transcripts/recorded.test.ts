import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import type { MemoryEvent } from '../../../src/domain/event.ts'
import { loadSettings } from '../../../src/settings/settings.ts'
import {
  readTranscriptEvents,
  type ToolUsage,
  type TranscriptOptions,
} from '../../../src/transfer/transcripts/index.ts'

const settings = loadSettings('', {}).values
const DIRECTORY = join(import.meta.dirname, '..', '..', 'quality', 'dev')
const files = readdirSync(DIRECTORY).filter((file) => file.endsWith('.jsonl'))

async function collect(source: string | Readable, options: Partial<TranscriptOptions>): Promise<MemoryEvent[]> {
  const events: MemoryEvent[] = []
  for await (const event of readTranscriptEvents(source, { settings, ...options })) events.push(event)
  return events
}
const read = (file: string, usages: ToolUsage[] = []) =>
  collect(join(DIRECTORY, file), { usage: (usage) => usages.push(usage) })

describe.each(files)('the recorded session %s', (file) => {
  it('gives every tool use once, in order, within its session', async () => {
    const events = await read(file)
    const text = readFileSync(join(DIRECTORY, file), 'utf8')
    const called = [...text.matchAll(/"type":"tool_use","id":"([^"]+)","name":"([^"]+)"/g)].filter(
      ([, , tool]) => tool !== 'TodoWrite' && tool !== 'Agent',
    )
    const tools = events.filter(({ kind }) => kind === 'tool_use' || kind === 'tool_failure')
    const ids = tools.flatMap((event) => ('tool' in event && event.tool === 'Agent' ? [] : [event.id]))
    expect(ids).toEqual(called.map(([, id]) => id))
    expect(new Set(events.map(({ id }) => id)).size).toBe(events.length)
    expect(new Set(events.map(({ session }) => session)).size).toBe(1)
    expect(events.map(({ at }) => at)).toEqual(events.map(({ at }) => at).toSorted((a, b) => a - b))
  })

  it('begins with its start, ends with its end, and closes each turn', async () => {
    const events = await read(file)
    expect(events[0]?.kind).toBe('session_start')
    expect(events.at(-1)?.kind).toBe('session_end')
    const prompts = events.filter(({ kind }) => kind === 'prompt').length
    expect(prompts).toBeGreaterThan(1)
    expect(events.filter((event) => event.kind === 'turn_end' && event.lastMessage !== null)).toHaveLength(prompts)
  })

  it('gives the same events when it is read again, or as one text', async () => {
    const text = readFileSync(join(DIRECTORY, file), 'utf8')
    const transcriptPath = join(DIRECTORY, file)
    expect(await collect(Readable.from([text]), { transcriptPath })).toEqual(await read(file))
  })

  it('says what each tool use cost', async () => {
    const usages: ToolUsage[] = []
    const events = await read(file, usages)
    const known = new Set(usages.map(({ toolUse }) => toolUse))
    for (const event of events) if (event.kind === 'tool_use') expect(known).toContain(event.id)
    expect(usages.every(({ usage }) => usage.output > 0 && usage.input > 0)).toBe(true)
    // Not every client reports a prompt cache.
    const hasCache = readFileSync(join(DIRECTORY, file), 'utf8').includes('"cache_read_input_tokens"')
    expect(usages.every(({ usage }) => usage.cacheRead > 0)).toBe(hasCache)
  })
})
