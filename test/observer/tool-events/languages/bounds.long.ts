import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { describeChange } from '../../../../src/observer/tool-events/languages/index.ts'
import type { CodeChange, FileEdit } from '../../../../src/observer/tool-events/types.ts'
import { expectLinearTime } from '../../../support/linear-time.ts'
import { created, edited, patched } from './edit.ts'

const FILES =
  'a.ts a.jsx a.py a.go a.rs a.java a.kt a.c a.cpp a.rb a.php a.cs a.swift a.sql a.sh a.yml a.json a.toml a.ini .env a.md Dockerfile Makefile a.tf a.css a.vue a.svelte a.html go.mod requirements.txt a.xml a.prisma a.proto a.graphql a.xyz'.split(
    ' ',
  )

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/

function check(change: CodeChange): void {
  expect(change.symbols.length).toBeLessThanOrEqual(40)
  expect(change.values.length).toBeLessThanOrEqual(30)
  expect(change.notable.length).toBeLessThanOrEqual(30)
  const texts = [
    ...change.symbols.map((symbol) => symbol.name),
    ...change.renamed.flatMap((pair) => [pair.from, pair.to]),
    ...change.values.flatMap((value) => [value.name, value.from ?? '-', value.to ?? '-']),
    ...change.imports.added,
    ...change.imports.removed,
    ...change.notable,
  ]
  for (const text of texts) {
    expect(text.length).toBeLessThanOrEqual(120)
    expect(text).not.toMatch(CONTROL)
  }
}

const snippets = fc.constantFrom(
  'class A {',
  'def f(x):',
  'func (s *S) M() {',
  '}',
  '  ',
  'const X = 1',
  'key: value',
  '[a.b]',
  '"k": {',
  '```',
  '"""',
  '`',
  'it("x", () => {',
  '@Get("/x")',
  '#[test]',
  'FROM a AS b',
  'end',
  '<script>',
  '</script>',
  '---',
  '- a: b',
  '\t',
  '\r',
  '/* TODO: x',
  'CREATE TABLE t (',
  'a'.repeat(600),
  '\0',
  '\u001b[31m',
)
const line = fc.oneof(
  { weight: 3, arbitrary: snippets },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 60 }) },
)
const text = fc
  .array(line, { maxLength: 25 })
  .chain((lines) => fc.constantFrom('\n', '\r\n', '\r').map((end) => lines.join(end)))
const whole = fc.oneof(fc.constant(null), fc.constant(undefined), text)
const hunk = fc.record({
  oldStart: fc.integer({ min: -2, max: 40 }),
  newStart: fc.integer({ min: -2, max: 40 }),
  lines: fc.array(
    fc.tuple(fc.constantFrom('+', '-', ' ', ''), line).map(([mark, rest]) => mark + rest),
    { maxLength: 15 },
  ),
})

describe('languages.bounds', () => {
  test('any edit is described within the limits', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...FILES),
        whole,
        whole,
        fc.array(hunk, { maxLength: 4 }),
        (file, before, after, hunks) => {
          check(describeChange({ file, before, after, hunks }))
        },
      ),
      { numRuns: 3_000 },
    )
  })

  const patch = (length: number, line: (i: number) => string): Pick<FileEdit, 'before' | 'after' | 'hunks'> => ({
    before: undefined,
    after: undefined,
    hunks: [{ oldStart: 1, newStart: 1, lines: Array.from({ length }, (_, i) => `${i % 2 ? '+' : '-'}${line(i)}`) }],
  })

  test.each(FILES)('a patch of 20,000 lines in %s', (file) => {
    for (const shape of [
      (i: number) => `  const value${i} = compute(${i}, 'text', other.name)`,
      (i: number) => `def f${i}(a, b):`,
      (i: number) => `key${i}: value${i}`,
    ]) {
      const change = describeChange({ file, ...patch(20_000, shape) })
      check(change)
      expect(change.linesAdded).toBe(10_000)
      expectLinearTime((lines) => describeChange({ file, ...patch(lines, shape) }), 2_500)
    }
  })

  test.each(FILES)('minified code in %s', (file) => {
    for (const edit of [
      (blob: string) => created(file, blob),
      (blob: string) => patched(file, `-${blob}`, `+${blob}x`),
      (blob: string) => ({ file, before: blob, after: `${blob};`, hunks: [] }),
    ]) {
      const describeTimes = (times: number) =>
        describeChange(edit('function a(b,c){return b(c,"x")+1};var d={e:[1,2]};'.repeat(times)))
      check(describeTimes(20_000))
      expectLinearTime(describeTimes, 2_500)
    }
  })

  test.each(FILES)('lines that make patterns slow in %s', (file) => {
    for (const piece of [
      'a ',
      '(',
      'a.',
      '"',
      "'",
      '<a',
      'a:',
      '- ',
      ' \t',
      'a<b, ',
      '::a',
      'public ',
      'a = ',
      '/*',
      '[',
      'export ',
      '-- ',
      'ALTER TABLE a ',
    ]) {
      const describeLines = (chars: number) => {
        const line = piece.repeat(chars / piece.length)
        const lines = Array.from({ length: 400 }, (_, i) => (i % 2 ? '+' : '-') + line + i)
        return describeChange(patched(file, ...lines))
      }
      expectLinearTime(describeLines, 62, piece)
    }
  })

  test('an ordinary edit names the method that it changes', () => {
    const method = (i: number): string =>
      `  method${i}(a: number): number {\n    const x = a * ${i}\n    if (x > 10) {\n      return x\n    }\n    return 0\n  }\n`
    const before = `import a from 'a'\n\nexport class Big {\n${Array.from({ length: 40 }, (_, i) => method(i)).join('\n')}}\n`
    const edit = edited('big.ts', before, before.replace('a * 30', 'a * 31'))
    expect(describeChange(edit).symbols).toEqual([{ name: 'Big.method30', file: 'big.ts', action: 'modified' }])
  })
})

describe('languages.unusual files', () => {
  test('binary content has no language', () => {
    expect(describeChange(created('a.ts', 'class A\0{}'))).toMatchObject({ language: null, symbols: [] })
  })

  test('the lines of an unknown kind of file are counted', () => {
    expect(describeChange(patched('a.xyz', '+one', '+two', '-three'))).toMatchObject({
      language: null,
      kind: 'edited',
      linesAdded: 2,
      linesRemoved: 1,
      symbols: [],
      values: [],
    })
  })

  test('a BOM and CRLF do not hide the first declaration', () => {
    expect(
      describeChange(
        created('a.cs', '\ufeffclass Cart\r\n{\r\n    void Add(int x)\r\n    {\r\n    }\r\n}\r\n'),
      ).symbols.map((it) => it.name),
    ).toEqual(['Cart', 'Cart.Add'])
  })

  test('the parts of a deleted file are deleted', () => {
    expect(describeChange({ file: 'a.py', before: 'def f():\n    pass\n', after: null, hunks: [] })).toMatchObject({
      kind: 'deleted',
      linesRemoved: 2,
      linesAdded: 0,
      symbols: [{ name: 'f', action: 'deleted' }],
    })
  })

  test('hunks that do not fit the text are read without it', () => {
    const change = describeChange({
      file: 'a.py',
      before: 'x = 1\n',
      after: undefined,
      hunks: [{ oldStart: 9, newStart: 9, lines: [' def f():', '-    return 1', '+    return 2'] }],
    })
    expect(change.symbols).toEqual([{ name: 'f', file: 'a.py', action: 'modified' }])
  })
})
