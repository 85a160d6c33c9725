/** What the agent wrote between tool uses, as a backfill reads it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { eventFromBody } from '../../../src/api/event-body.ts'
import { eventSchema, parseInput } from '../../../src/api/schemas.ts'
import { type MemoryEvent, withAddedFields } from '../../../src/domain/event.ts'
import { loadSettings } from '../../../src/settings/settings.ts'
import { readTranscriptEvents } from '../../../src/transfer/transcripts/index.ts'
import { TranscriptLines } from '../../support/transcript-lines.ts'

const defaults = loadSettings('', {}).values

async function wordsIn({ text }: TranscriptLines, settings = defaults): Promise<string[][]> {
  const words: string[][] = []
  for await (const event of readTranscriptEvents(Readable.from([text]), { settings })) {
    if (event.kind === 'turn_end') words.push(event.words)
  }
  return words
}

describe('the transcript reader', () => {
  it('gives each turn end the words of its turn, without the last message', async () => {
    const lines = new TranscriptLines()
      .prompt('Fix the total')
      .says('The tax is added twice.')
      .tool('Bash', { command: 'npm test' }, '14 passed')
      .says('Done.')
      .prompt('Thanks')
      .says('You are welcome.')
    expect(await wordsIn(lines)).toEqual([['The tax is added twice.'], []])
  })

  it('leaves out subagents and turns that were interrupted', async () => {
    const lines = new TranscriptLines()
      .prompt('one')
      .says('Before the interrupt.')
      .tool('Bash', { command: 'ls' }, 'a')
      .prompt('[Request interrupted by user]')
      .prompt('two')
      .says('A subagent says.', { isSidechain: true, agentId: 'a1' })
      .says('Main words.')
      .tool('Bash', { command: 'ls' }, 'a')
      .says('Done.')
    expect(await wordsIn(lines)).toEqual([['Main words.']])
  })

  it('keeps the words of a turn that was cut off, none of which is its closing message', async () => {
    const lines = new TranscriptLines()
      .prompt('one')
      .says('The tax is added twice.')
      .tool('Bash', { command: 'npm test' }, '1 failed')
    const directory = mkdtempSync(join(tmpdir(), 'claude-mem-cut-'))
    const file = join(directory, 'session.jsonl')
    writeFileSync(file, lines.text)
    try {
      const events: MemoryEvent[] = []
      const options = { settings: defaults, transcriptPath: file }
      for await (const event of readTranscriptEvents(Readable.from([lines.text]), options)) events.push(event)
      expect(events.filter(({ kind }) => kind === 'turn_end')).toEqual([
        expect.objectContaining({ lastMessage: null, error: null, words: ['The tax is added twice.'] }),
      ])
    } finally {
      rmSync(directory, { recursive: true })
    }
  })

  it('leaves out what was written in an excluded project', async () => {
    const lines = new TranscriptLines()
      .prompt('one')
      .says('In the shop.')
      .says('About the merger.', { cwd: '/w/hidden/deep' })
      .tool('Bash', { command: 'ls' }, 'a')
      .says('Done.')
    expect(await wordsIn(lines, { ...defaults, CLAUDE_MEM_EXCLUDED_PROJECTS: ['/w/hidden'] })).toEqual([
      ['In the shop.'],
    ])
  })

  it('keeps nothing of private turns and parts, and masks secrets', async () => {
    const lines = new TranscriptLines()
      .prompt('<private>the merger</private>')
      .says('About the merger.')
      .tool('Bash', { command: 'ls' }, 'a')
      .says('Done.')
      .prompt('go')
      .says(`Use ghp_${'a1B2'.repeat(9)} <private>salary</private> here.`)
      .tool('Bash', { command: 'ls' }, 'a')
      .says('Done.')
    const words = await wordsIn(lines)
    expect(words).toHaveLength(1)
    expect(words[0]?.join()).toMatch(/^Use .* here\.$/)
    expect(words[0]?.join()).not.toMatch(/ghp_|salary/)
  })
})

describe('a turn end without words, of an earlier version', () => {
  const base = { id: 'e', session: 's', at: 1, client: 'c', project: { key: 'dir:/w', name: 'w' }, cwd: '/w' }
  const old = {
    ...base,
    transcriptPath: null,
    promptId: null,
    agent: null,
    kind: 'turn_end',
    lastMessage: 'x',
    error: null,
  }

  it('is accepted from hooks and from the spool', () => {
    expect(parseInput(eventSchema, old)).toEqual({ ...old, words: [] })
    expect(() => parseInput(eventSchema, { ...old, words: ['a', 7] })).toThrow('words')
  })

  it('is accepted as a REST body, with or without words', () => {
    const body = { session_id: 's', cwd: '/w', last_assistant_message: 'x' }
    const read = (given: object) => parseInput(eventSchema, eventFromBody(given, '/x', ['turn_end']))
    expect(read(body)).toMatchObject({ kind: 'turn_end', words: [] })
    expect(read({ ...body, words: ['Because.'] })).toMatchObject({ words: ['Because.'] })
  })

  it('is read from the database', () => {
    expect(withAddedFields(old as unknown as MemoryEvent)).toMatchObject({ words: [] })
  })
})
