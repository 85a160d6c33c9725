/** The benchmarks `asof` and `next` on a small history of their own, of two clients and two directories. */
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { isStale, isStaleFirst } from '../scripts/quality/asof.ts'
import { historiesIn, type Question } from '../scripts/quality/histories.ts'
import { naiveStart } from '../scripts/quality/naive-start.ts'
import { commonWords, specificWords, usedWords } from '../scripts/quality/next-words.ts'
import { withMemory } from '../scripts/quality/observed.ts'
import type { MemoryEvent } from '../src/domain/event.ts'
import { offlineObserver } from '../src/observer/offline/index.ts'
import { temporaryDirectory } from './support/directories.ts'
import { expectLinearTime } from './support/linear-time.ts'
import { ROOT } from './support/paths.ts'
import { type Finished, runProgram } from './support/programs.ts'
import { TranscriptLines } from './support/transcript-lines.ts'

const histories = join(temporaryDirectory('histories'), 'histories')
const folder = join(histories, 'parcels')
const FIRST_AT = Date.UTC(2026, 2, 2, 10)
const HOUR = 3_600_000

const session = (number: number, cwd: string) =>
  new TranscriptLines({ session: `s-${number}`, cwd, at: FIRST_AT + number * HOUR })

const PORT = { ask: 'Which port does the print server use?', kind: 'current' }
const QUESTIONS = [
  { ...PORT, after: 0, expect: ['port 9917'] },
  { ...PORT, after: 2, expect: ['port 4404'], must_not: ['port 9917'] },
]

beforeAll(() => {
  mkdirSync(folder, { recursive: true })
  const first = session(0, '/w/parcels')
    .prompt('Start the print server, see src/print-server.ts.')
    .tool('Bash', { command: 'node src/print-server.ts' }, 'listening')
    .says('The print server listens on port 9917 now, as src/print-server.ts says.')
  const last = session(2, '/w/worktrees/parcels-2')
    .prompt('Another program has this port. Take another one.')
    .tool(
      'Edit',
      {
        file_path: '/w/worktrees/parcels-2/src/print-server.ts',
        old_string: 'listen(9917)',
        new_string: 'listen(4404)',
      },
      'The file has been updated.',
    )
    .tool('Bash', { command: 'node scripts/check_label.ts --queue-size 10 && git log label_width tray_count' }, 'ok')
    .says('The print server listens on port 4404 now.')
  writeFileSync(join(folder, '000-claude-a.jsonl'), first.text)
  writeFileSync(join(folder, '001-codex-b.jsonl'), codexSession())
  writeFileSync(join(folder, '002-claude-c.jsonl'), last.text)
  for (const number of [3, 4]) {
    const plain = session(number, '/w/parcels').prompt('What is new?').says('Nothing is new.')
    writeFileSync(join(folder, `00${number}-claude-d.jsonl`), plain.text)
  }
  writeFileSync(join(folder, 'questions.json'), JSON.stringify(QUESTIONS))
})

/** It is in a repository of another name. */
function codexSession(): string {
  const at = (second: number) => new Date(FIRST_AT + HOUR + second * 1_000).toISOString()
  const git = { repository_url: 'https://example.com/dev/parcels.git', branch: 'main', commit_hash: 'abc' }
  const line = (second: number, type: string, payload: object) =>
    `${JSON.stringify({ timestamp: at(second), type, payload })}\n`
  return [
    line(0, 'session_meta', {
      id: 'codex-1',
      timestamp: at(0),
      cwd: '/home/other/parcels',
      cli_version: '0.147.0',
      git,
    }),
    line(1, 'event_msg', {
      type: 'user_message',
      message: 'Review scripts/check_label.ts: label_width and tray_count.',
    }),
    line(2, 'event_msg', {
      type: 'agent_message',
      message: 'check_label.ts ignores label_width; --queue-size is fine.',
    }),
  ].join('')
}

const bench = async (name: string, ...args: string[]): Promise<Finished> =>
  await runProgram(process.execPath, [join(ROOT, 'scripts/run.mjs'), `bench/${name}`, '--json', ...args])
const lastLine = ({ stdout }: Finished): unknown => JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '')

describe('the asof benchmark', () => {
  it('asks at each checkpoint what is true then, of sessions of several clients and directories as one project', async () => {
    const dump = join(histories, '..', 'dump')
    const run = await bench('asof', '--histories', histories, '--show-missing', '--dump', dump)
    expect(lastLine(run)).toMatchObject({
      start: 1,
      naive_start: 1,
      stale_in_start: 0,
      search_400: 1,
      search_1200: 1,
      questions: 2,
      with_must_not: 1,
      by_kind: { current: { questions: 2, start: 1 } },
      by_history: { parcels: { start: 1 } },
    })
    expect(run.stderr).toContain('parcels after 2, current: Which port does the print server use? (port 4404): start')
    expect(readdirSync(dump)).toEqual(['parcels-000.json', 'parcels-002.json'])
  })

  it('takes one history as well as a folder of them', () => {
    expect(historiesIn(folder)).toEqual(historiesIn(histories))
    expect(() => historiesIn(temporaryDirectory('empty'))).toThrow('contains no history')
  })

  it('counts an outdated value only where the current one is missing or comes later', () => {
    const question: Question = { ...PORT, after: 0, expect: ['Port 2', 'tcp'], must_not: ['port 1'] }
    expect(['port 1', 'port 1, tcp, port 2', 'port 2 tcp', ''].map((text) => isStale(text, question))).toEqual([
      true,
      false,
      false,
      false,
    ])
    const first = ['port 1', 'port 2, port 1, tcp', 'port 2 tcp port 1', 'port 2 tcp'].map((text) =>
      isStaleFirst(text, question),
    )
    expect(first).toEqual([true, true, false, false])
  })
})

describe('the naive start', () => {
  it('has the newest turns first, the beginning of request and closing words, up to its tokens', () => {
    const turns = [
      { request: 'first', closing: 'done' },
      { request: 'r'.repeat(300), closing: 'c'.repeat(2_000) },
    ]
    expect(naiveStart(turns, 2_000)).toBe(`> ${'r'.repeat(200)}\n${'c'.repeat(1_600)}\n\n> first\ndone\n\n`)
    expect(naiveStart(turns, 100)).toHaveLength(400)
  })
})

describe('the next benchmark', () => {
  it('gives the share of the words that the next session uses and earlier ones knew', async () => {
    const run = await bench('next', '--histories', folder, '--show-missing')
    // print-server.ts, check_label.ts, queue-size, label_width and tray_count; the directory is new.
    expect(lastLine(run)).toMatchObject({ sessions: 1, by_history: { parcels: { sessions: 1, words: 5 } } })
    expect(run.stderr).toMatch(/parcels 2: 5 words, start [\d.]+, naive 1;/)
  })

  it('takes paths and identifiers as specific words, a path by its parts', () => {
    const words = specificWords(
      'See src/cli/hook.py: `labelWidth` and --queue-size are in src/cli. Read it and/or x.y, 1234.',
    )
    expect([...words]).toEqual(['hook.py', 'labelwidth', 'queue-size', 'src/cli', 'and/or'])
  })

  it('takes prompts, commands, and of edits the path and the changed lines', async () => {
    const lines = session(0, '/w/parcels')
      .prompt('Change tray_count.')
      .says('I read unused_word.')
      .tool('Read', { file_path: '/w/parcels/read_only.ts' }, 'output_word')
      .tool('Bash', { command: 'run check_label' }, 'output_word')
      .tool(
        'Edit',
        { file_path: '/w/parcels/tray.ts', old_string: 'kept_line\nold_line', new_string: 'kept_line\nnew_line' },
        '',
      )
    const file = join(histories, '..', 'used.jsonl')
    writeFileSync(file, lines.text)
    const events: MemoryEvent[] = []
    await withMemory({ observer: offlineObserver }, async (memory) => {
      for await (const event of memory.transcript(file)) events.push(event)
    })
    expect([...usedWords(events)]).toEqual(['tray_count', 'check_label', 'tray.ts', 'old_line', 'new_line'])
  })

  it('leaves out words that more than half of the sessions have', () => {
    expect(commonWords([new Set(['a_1', 'b_1']), new Set(['a_1']), new Set(['c_1']), new Set(['a_1'])])).toEqual(
      new Set(['a_1']),
    )
  })

  it('finds the words of any text in linear time', () => {
    for (const unit of ['a/', '.-', 'aB', '/'])
      expectLinearTime((size) => specificWords(unit.repeat(size)), 20_000, unit)
  })
})
