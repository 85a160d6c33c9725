import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readWords } from '../../src/reading/words.ts'

const told = (text: string) => readWords(text).map(({ kind, text: said }) => [kind, said])

describe('words as blocks', () => {
  test('words.markdown: headings, sentences, items with their heading, rows with their header, code', () => {
    const blocks = readWords(
      '## Changes\n- `a.ts` is new\n- b.ts is gone\n\n| file | lines |\n|---|---|\n| c.ts | 7 |\n\n```\nx = 1\n```\nDone. 终于好了。',
    )
    expect(blocks.map(({ kind }) => kind)).toEqual(['heading', 'item', 'item', 'row', 'code', 'sentence', 'sentence'])
    expect(blocks[1]).toMatchObject({ text: '`a.ts` is new', heading: 'Changes' })
    expect(blocks[3]).toMatchObject({ text: '| c.ts | 7 |', header: '| file | lines |' })
  })

  test('words.json: the texts of a report in JSON, each after its key; without texts it is code', () => {
    const report = { verdict: 'expand', summary: 'Adds a script. It measures tokens.', notes: [{ why: 'no lib yet' }] }
    const items = [
      ['item', 'summary: Adds a script.'],
      ['item', 'It measures tokens.'],
      ['item', 'why: no lib yet'],
    ]
    expect(told(JSON.stringify(report))).toEqual(items)
    expect(told(JSON.stringify(report, null, 2))).toEqual(items)
    expect(told('{"ok":true,"count":3}')).toEqual([['code', '{"ok":true,"count":3}']])
    // Cut off in the middle.
    expect(told('{"summary": "Adds a')).toEqual([['code', '{"summary": "Adds a']])
    expect(told('{ braces of prose }')).toEqual([['sentence', '{ braces of prose }']])
  })

  test('words.anyText: nothing is said that is not in the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), (text) => {
        const flat = text.replace(/\s+/g, ' ')
        for (const block of readWords(text))
          for (const line of block.text.split('\n')) expect(flat).toContain(line.replace(/\s+/g, ' ').trim())
      }),
      { numRuns: 300 },
    )
  })
})
