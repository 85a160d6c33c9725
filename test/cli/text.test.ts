import { describe, expect, it } from 'vitest'
import { displayWidth, jsonLine, padEnd, terminalSafe, truncate, wrapText } from '../../src/cli/text.ts'

describe('terminalSafe', () => {
  it('escapes control sequences', () => {
    expect(terminalSafe('\x1b]52;c;aGk=\x07 and \x1b[2J')).toBe('\\x1b]52;c;aGk=\\x07 and \\x1b[2J')
    expect(terminalSafe('\u009b31mred')).toBe('\\x9b31mred')
    expect(terminalSafe('del\x7f')).toBe('del\\x7f')
  })

  it('replaces line breaks and escapes bidirectional marks', () => {
    expect(terminalSafe('one\r\ntwo\tthree\u2028four')).toBe('one two three four')
    expect(terminalSafe('abc\u202egnp.exe')).toBe('abc\\u202egnp.exe')
  })

  it('escapes what nobody sees, and a model reads', () => {
    expect(terminalSafe('a\u200b\u{e0072}\u{e0172}b')).toBe('a\\u200b\\u{e0072}\\u{e0172}b')
  })

  it('keeps ordinary text', () => {
    expect(terminalSafe('Größe 東京 👩‍💻 e\u0301')).toBe('Größe 東京 👩‍💻 e\u0301')
  })

  it('JSON has no control characters and is the same after parsing', () => {
    const value = { text: '\x1b[2J \u009b31m \x7f \u202e \u{e0072} end' }
    const line = jsonLine(value)
    expect(line).toMatch(/^[\x20-\x7e]*$/)
    expect(JSON.parse(line)).toEqual(value)
  })
})

describe('displayWidth', () => {
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
    expect(displayWidth(text)).toBe(width)
  })

  it('is never exceeded by truncation, and a wide character is not split', () => {
    expect(truncate('東京都庁', 5)).toBe('東京…')
    expect(truncate('abcdef', 4)).toBe('abc…')
    expect(truncate('abc', 3)).toBe('abc')
    expect(truncate('abc', 0)).toBe('')
  })

  it('is reached by padding', () => {
    expect(padEnd('東', 4)).toBe('東  ')
  })

  it('wraps between words, and within words that are too long', () => {
    expect(wrapText('one two three', 7)).toEqual(['one two', 'three'])
    expect(wrapText('abcdefghij x', 4)).toEqual(['abcd', 'efgh', 'ij x'])
    expect(wrapText('東京都', 4)).toEqual(['東京', '都'])
    expect(wrapText('', 4)).toEqual([''])
  })
})
