import { expect, test } from 'vitest'
import { markedPieces, safe, safeLine } from '../../src/viewer/parts/safe-text.ts'

test('what would act, hide or reverse is shown as a sign', () => {
  expect(safe('\x1b[31mred\x1b[0m\x07\x7f')).toBe('\\x1b[31mred\\x1b[0m\\x07\\x7f')
  expect(safe('invoice\u202egnp.exe\u2066x\u2069\u200f')).toBe('invoice\\u202egnp.exe\\u2066x\\u2069\\u200f')
  expect(safe('\u0085\u009b\u2028\ufeff\0')).toBe('\\x85\\x9b\\u2028\\ufeff\\x00')
})

test('what people write stays as it is', () => {
  const text = 'Größe 日本語 שלום 👩‍💻 <script>alert(1)</script> & "quotes"\n\tindented'
  expect(safe(text)).toBe(text)
  expect(safe('one\r\ntwo\rthree')).toBe('one\ntwo\\x0dthree')
  expect(safe('')).toBe('')
})

test('half of a character is not left over', () => {
  expect(safe('a\ud83d')).toBe('a\ufffd')
  expect(safe('aaa😀b', 4)).toBe('aaa…')
})

test('a megabyte is cut, and a line is one line', () => {
  expect(safe('x'.repeat(1_000_000), 10)).toBe(`${'x'.repeat(10)}…`)
  const line = safeLine(` a\n\n b\t${'c '.repeat(500_000)}`)
  expect(line.startsWith('a b c c')).toBe(true)
  expect(line.length).toBeLessThanOrEqual(301)
})

const marked = (text: string, ...words: string[]) =>
  markedPieces(text, words)
    .map((piece) => (piece.marked ? `[${piece.text}]` : piece.text))
    .join('')

test('words that were found are marked where words begin', () => {
  expect(marked('The Token of tokens, untoken', 'token')).toBe('The [Token] of [tokens], untoken')
  expect(marked('認証トークンの期限', 'トークン')).toBe('認証[トークン]の期限')
  expect(marked('nothing here')).toBe('nothing here')
  expect(marked('', 'a')).toBe('')
})

test('a word with signs of its own is looked for as it is', () => {
  expect(marked('a+b (c) [d] a.b axb', 'a.b', '(c)', '[d]', '')).toBe('a+b [(c)] [[d]] [a.b] axb')
})
