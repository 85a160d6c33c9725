/** The benchmarks `answers` and `rows` on a small session of their own. `test/histories.test.ts` has those of histories. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { answeredSession, withinTokens } from '../scripts/quality/answers.ts'
import { judgedRows, marksFigures, readMarks } from '../scripts/quality/judged-rows.ts'
import { offlineObserver } from '../src/observer/offline/index.ts'
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
      naive_start: 0.5,
      over_sessions: { start_over_naive: { mean: 0, spread: null } },
      by_session: { parcels: { captured: 0.5, facts: 2 } },
    })
    expect(run.stderr).toContain('parcels: not captured, not in the start, not in 1,200 tokens: Which port')
  })

  it('writes what a start was made of, with its facts', async () => {
    const dump = join(directory, '..', 'dump')
    await bench('answers', '--sessions', directory, '--json', '--dump', dump)
    const dumped = JSON.parse(readFileSync(join(dump, 'parcels.json'), 'utf8'))
    expect(dumped).toMatchObject({ name: 'parcels', project: { name: 'parcels' }, questions: FACTS })
    expect(dumped.reads[0]).toMatchObject({ method: 'contextMaterial', result: { project: { name: 'parcels' } } })
    expect(dumped.now).toBe(dumped.options.now)
  })

  it('counts only what fits, with the last hit cut', () => {
    expect(withinTokens(['a'.repeat(30), 'b'.repeat(30)], 10)).toEqual(['a'.repeat(30), 'b'.repeat(9)])
  })
})

describe('the sheets of rows', () => {
  it('have every line of the start with its evidence, the start itself, and a form for the marks', async () => {
    const out = join(directory, '..', 'rows')
    const run = await bench('rows', '--sessions', directory, '--out', out, '--json')
    const { rows } = lastLine(run) as { rows: number }
    expect(rows).toBeGreaterThan(0)
    const sheet = readFileSync(join(out, 'sheets', 'parcels.md'), 'utf8')
    expect(sheet).toContain('### parcels-1\n')
    expect(sheet).toContain('labelWidthMm = 102')
    expect(sheet).toContain('> The parcel label is printed in the wrong size.')
    expect(readFileSync(join(out, 'starts', 'parcels.md'), 'utf8')).toMatch(/millimetres/)
    expect(readFileSync(join(out, 'marks.csv'), 'utf8').trimEnd().split('\n')).toHaveLength(rows + 1)
  })

  it('leave out the frame: tags, headings, and lines that every start has', () => {
    const start = (name: string, line: string) => ({
      name,
      text: `<memory>\n# shop\nHow to read this.\n\n## Done\n- ${line}\n  It was rounded twice.\n> quoted\n</memory>`,
    })
    expect(judgedRows([start('shop', 'Fixed the total.'), start('bank', 'Next.')])).toEqual([
      [{ id: 'shop-1', text: '- Fixed the total.\n  It was rounded twice.\n> quoted' }],
      [{ id: 'bank-1', text: '- Next.\n  It was rounded twice.\n> quoted' }],
    ])
  })

  it('pair the starts of two versions, and count which one is preferred whatever its place', async () => {
    const names = ['bank', 'mill', 'parcels', 'shop', 'tower']
    const folders = ['one', 'other'].map((version) => {
      const folder = join(directory, '..', version)
      mkdirSync(folder)
      for (const name of names) writeFileSync(join(folder, `${name}.md`), `start of version ${version}\n`)
      return folder
    })
    const out = join(directory, '..', 'pairs')
    const paired = await bench('rows', '--compare', ...folders, '--out', out, '--json')
    expect(lastLine(paired)).toMatchObject({ pairs: 5 })
    const firsts = names.map((name) => /version (\w+)/.exec(readFileSync(join(out, `${name}.md`), 'utf8'))?.[1])
    expect(new Set(firsts)).toEqual(new Set(['one', 'other']))
    const form = join(out, 'preferences.csv')
    const marks = names.map((name, i) => `${name},${firsts[i] === 'one' ? 'first' : 'second'},`)
    writeFileSync(form, `start,preferred,reason\n${marks.slice(1).join('\n')}\nbank,neither,equal\n`)
    expect(lastLine(await bench('rows', '--preferences', form, '--json'))).toEqual({
      one: 0.8,
      other: 0,
      neither: 0.2,
      pairs: 5,
    })
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
      by_start: { bank: { false: 0.5 } },
    })
  })

  it('refuses a form with a line that has no mark', () => {
    expect(() => readMarks('form.csv', 'line,mark,reason\nshop-1,,\n')).toThrow('form.csv:2')
    expect(marksFigures([readMarks('form.csv', 'shop-1,weak,')])).toMatchObject({ weak: 1, lines: 1 })
  })
})
