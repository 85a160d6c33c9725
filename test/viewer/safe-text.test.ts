import { expect, test } from 'vitest'
import { excerptAround, highlightPieces, safeLine, safeText, titleText } from '../../src/viewer/safe-text.ts'

test('safe text.escapes control and bidirectional characters', () => {
  expect(safeText('\x1b[31mred\x1b[0m\x07\x7f')).toBe('\\x1b[31mred\\x1b[0m\\x07\\x7f')
  expect(safeText('invoice\u202egnp.exe\u2066x\u2069\u200f')).toBe('invoice\\u202egnp.exe\\u2066x\\u2069\\u200f')
  expect(safeText('\u0085\u009b\u2028\ufeff\0')).toBe('\\x85\\x9b\\u2028\\ufeff\\x00')
})

test('safe text.keeps ordinary text of every language', () => {
  const text = 'Größe 日本語 שלום 👩‍💻 <script>alert(1)</script> & "quotes"\n\tindented'
  expect(safeText(text)).toBe(text)
  expect(safeText('one\r\ntwo\rthree')).toBe('one\ntwo\\x0dthree')
  expect(safeText('')).toBe('')
})

test('safe text.replaces lone surrogates', () => {
  expect(safeText('a\ud83d')).toBe('a\ufffd')
  expect(safeText('aaa😀b', 4)).toBe('aaa…')
})

test('safe text.truncates long text and collapses lines', () => {
  expect(safeText('x'.repeat(1_000_000), 10)).toBe(`${'x'.repeat(10)}…`)
  const line = safeLine(` a\n\n b\t${'c '.repeat(500_000)}`)
  expect(line.startsWith('a b c c')).toBe(true)
  expect(line.length).toBeLessThanOrEqual(301)
})

const marked = (text: string, ...words: string[]) =>
  highlightPieces(text, words)
    .map((piece) => (piece.marked ? `[${piece.text}]` : piece.text))
    .join('')

test('highlight.matches at the beginning of words', () => {
  expect(marked('The Token of tokens, untoken', 'token')).toBe('The [Token] of [tokens], untoken')
  expect(marked('認証トークンの期限', 'トークン')).toBe('認証[トークン]の期限')
  expect(marked('nothing here')).toBe('nothing here')
  expect(marked('', 'a')).toBe('')
})

test('highlight.treats special characters literally', () => {
  expect(marked('a+b (c) [d] a.b axb', 'a.b', '(c)', '[d]', '')).toBe('a+b [(c)] [[d]] [a.b] axb')
})

test('safe text.an excerpt starts shortly before the first marked word', () => {
  const text = `${'filler '.repeat(60)}\n  the port was taken, so the server stopped`
  const excerpt = excerptAround(text, ['port'])
  expect(excerpt).toMatch(/^…[\w ]{20,60}the port was taken, so the server stopped$/)
  expect(excerptAround('the port was taken', ['port'])).toBe('the port was taken')
  expect(excerptAround('nothing here', ['port'])).toBe('nothing here')
  expect(excerptAround('x'.repeat(200_000), ['x'])).toHaveLength(701)
})

test('title.is without the marks of Markdown, and never empty', () => {
  expect(titleText('## **Fix** the `parse()` of [the list](src/list.ts)')).toBe('Fix the parse() of the list')
  expect(titleText('- 1. one\n- two')).toBe('1. one - two')
  expect(titleText('snake_case and 2 * 3 * 4 and __init__')).toBe('snake_case and 2 * 3 * 4 and init')
  for (const empty of [null, '', '``', '  ']) expect(titleText(empty)).toBe('(no title)')
})
