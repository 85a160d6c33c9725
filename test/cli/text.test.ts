import { describe, expect, it } from 'vitest'
import { clean, cut, jsonLine, padEnd, widthOf, wrap } from '../../src/cli/text.ts'

describe('stored text on a terminal', () => {
  it('loses its escape sequences', () => {
    expect(clean('\x1b]52;c;aGk=\x07 and \x1b[2J')).toBe('\\x1b]52;c;aGk=\\x07 and \\x1b[2J')
    expect(clean('\u009b31mred')).toBe('\\x9b31mred')
    expect(clean('del\x7f')).toBe('del\\x7f')
  })

  it('stays on one line and keeps its direction', () => {
    expect(clean('one\r\ntwo\tthree\u2028four')).toBe('one two three four')
    expect(clean('abc\u202egnp.exe')).toBe('abc\\u202egnp.exe')
  })

  it('keeps what people write', () => {
    expect(clean('Größe 東京 👩‍💻 e\u0301')).toBe('Größe 東京 👩‍💻 e\u0301')
  })

  it('is neutral in JSON too, and the same after parsing', () => {
    const value = { text: '\x1b[2J \u009b31m \x7f \u202e end' }
    const line = jsonLine(value)
    expect(line).toMatch(/^[\x20-\x7e]*$/)
    expect(JSON.parse(line)).toEqual(value)
  })
})

describe('width', () => {
  it.each([
    ['plain', 5],
    ['東京', 4],
    ['한국', 4],
    ['🐛', 2],
    ['👩‍💻', 2],
    ['🏛️', 2],
    ['e\u0301', 1],
    ['…', 1],
    ['', 0],
  ])('of %j is %i', (text, width) => {
    expect(widthOf(text)).toBe(width)
  })

  it('is never exceeded by a cut, nor is a wide character halved', () => {
    expect(cut('東京都庁', 5)).toBe('東京…')
    expect(cut('abcdef', 4)).toBe('abc…')
    expect(cut('abc', 3)).toBe('abc')
    expect(cut('abc', 0)).toBe('')
  })

  it('is reached by padding', () => {
    expect(padEnd('東', 4)).toBe('東  ')
  })

  it('breaks lines between words, and within those that are too long', () => {
    expect(wrap('one two three', 7)).toEqual(['one two', 'three'])
    expect(wrap('abcdefghij x', 4)).toEqual(['abcd', 'efgh', 'ij x'])
    expect(wrap('東京都', 4)).toEqual(['東京', '都'])
    expect(wrap('', 4)).toEqual([''])
  })
})
