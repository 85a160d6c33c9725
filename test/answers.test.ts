/** The benchmarks `answers` and `rows` on a small session of their own. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { answeredSession, withinTokens } from '../scripts/quality/answers.ts'
import { marksFigures, readMarks, startRows } from '../scripts/quality/judged-rows.ts'
import { offlineObserver } from '../src/observer/rules/index.ts'
import { temporaryDirectory } from './support/directories.ts'
import { ROOT } from './support/paths.ts'
import { type Finished, runProgram } from './support/programs.ts'
import { TranscriptLines } from './support/transcript-lines.ts'

const directory = join(temporaryDirectory('answers'), 'sessions')
const FACTS = [
  { ask: 'Why did the parcel label come out in the wrong size?', expect: ['label', 'millimetres'] },
  { ask: 'Which port does the print server use?', expect: ['port 9917'] },
]

beforeAll(() => {
  mkdirSync(directory)
  const transcript = new TranscriptLines({ cwd: '/w/parcels' })
    .prompt('The parcel label is printed in the wrong size. Find out why and fix it.')
    .says('I look at the printer settings first.')
    .tool('Read', { file_path: '/w/parcels/src/label.ts' }, 'export const labelWidth = 4 // inches')
    .tool(
      'Edit',
      { file_path: '/w/parcels/src/label.ts', old_string: 'labelWidth = 4', new_string: 'labelWidthMm = 102' },
      'The file /w/parcels/src/label.ts has been updated.',
    )
    .tool(
      'Bash',
      { command: 'git commit -am "Give the label width in millimetres" -m "The printer read 4 inches as 4 mm."' },
      '[main 4f2a91c] Give the label width in millimetres',
    )
    .says('Fixed: the label width was in inches, the printer expects millimetres. The width is now 102 mm.')
  writeFileSync(join(directory, 'parcels.jsonl'), transcript.text)
  writeFileSync(join(directory, 'parcels.facts.json'), JSON.stringify(FACTS))
})

const bench = async (name: string, ...args: string[]): Promise<Finished> =>
  await runProgram(process.execPath, [join(ROOT, 'scripts/run.mjs'), `bench/${name}`, ...args])
const lastLine = ({ stdout }: Finished): unknown => JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '')

describe('the answers benchmark', () => {
  it('asks each fact of the memory, of the start and of the transcript itself', async () => {
    const file = join(directory, 'parcels.jsonl')
    const { facts, start, naive } = await answeredSession('parcels', file, FACTS, { observer: offlineObserver })
    const [known, unknown] = facts
    expect(known?.answered).toMatchObject({ captured: true, context_answers: true, naive_start: true, raw_at_5: true })
    expect(known?.hits[0]).toMatch(/label/i)
    expect(Object.values(unknown?.answered ?? {})).toEqual(Array(10).fill(false))
    expect(start.tokens).toBeGreaterThan(0)
    expect(naive).toMatch(/^> The parcel label is printed .*\nFixed: the label width was in inches/)
  })

  it('ends with one line of JSON: shares of all facts, by session', async () => {
    const run = await bench('answers', '--sessions', directory, '--json', '--show-missing')
    expect(lastLine(run)).toMatchObject({
      captured: 0.5,
      raw_in_1200_tokens: 0.5,
      facts: 2,
      by_session: { parcels: { captured: 0.5, facts: 2 } },
    })
    expect(run.stderr).toContain('parcels: not captured, not in the start, not in 1,200 tokens: Which port')
  })

  it('counts only what fits, with the last hit cut', () => {
    expect(withinTokens(['a'.repeat(30), 'b'.repeat(30)], 10)).toEqual(['a'.repeat(30), 'b'.repeat(9)])
  })
})

describe('the sheet of rows', () => {
  it('lists every line of the start with its sources, and a form for the marks', async () => {
    const out = join(directory, '..', 'rows.md')
    const run = await bench('rows', '--sessions', directory, '--out', out, '--json')
    const { rows } = lastLine(run) as { rows: number }
    expect(rows).toBeGreaterThan(0)
    const sheet = readFileSync(out, 'utf8')
    expect(sheet).toContain('### parcels-1\n')
    expect(sheet).toContain('labelWidthMm = 102')
    expect(sheet).toContain('> The parcel label is printed in the wrong size.')
    expect(readFileSync(`${out}.csv`, 'utf8').trimEnd().split('\n')).toHaveLength(rows + 1)
  })

  it('has the lines of a start without its frame', () => {
    const start =
      '<memory>\n# shop: memory\n\n## Done\n- Fixed the total. #4\n  It was rounded twice.\n- Next #5\n</memory>'
    expect(startRows(start)).toEqual(['- Fixed the total. #4\n  It was rounded twice.', '- Next #5'])
  })

  it('gives the shares of the marks and the agreement of two readers', async () => {
    const forms = ['useful,"a, b"', 'weak,'].map((second, i) => {
      const file = join(directory, '..', `reader-${i}.csv`)
      writeFileSync(file, `line,mark,reason\nshop-1,Useful,\nshop-2,noise,empty\nbank-1,${second}\nbank-2,false,\n`)
      return file
    })
    expect(lastLine(await bench('rows', '--json', '--marks', ...forms))).toMatchObject({
      useful: 0.375,
      weak: 0.125,
      noise: 0.25,
      false: 0.25,
      lines: 4,
      agreement: 0.75,
      disagreed: ['bank-1'],
      by_session: { bank: { false: 0.5 } },
    })
  })

  it('refuses a form with a line that has no mark', () => {
    expect(() => readMarks('form.csv', 'line,mark,reason\nshop-1,,\n')).toThrow('form.csv:2')
    expect(marksFigures([readMarks('form.csv', 'shop-1,weak,')])).toMatchObject({ weak: 1, lines: 1 })
  })
})
