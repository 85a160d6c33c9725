import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { splitTokens, splitWords } from '../../src/lib/words.ts'

describe('words', () => {
  it.each([
    ['getUserById', 'get user by id'],
    ['HTTPServer', 'http server'],
    ['parseURLsFromHTML', 'parse urls from html'],
    ['IDs', 'ids'],
    ['PascalCase', 'pascal case'],
    ['snake_case_name', 'snake case name'],
    ['kebab-case-name', 'kebab case name'],
    ['ERR_MODULE_NOT_FOUND', 'err module not found'],
    ['src/auth/jwt.ts', 'src auth jwt ts'],
    ['C:\\Users\\me\\App.tsx', 'c users me app tsx'],
    ['v1.2.3-beta4', 'v 1 2 3 beta 4'],
    ['utf8 sha256sum', 'utf 8 sha 256 sum'],
    ['obj?.field[0]!.call(x)', 'obj field 0 call x'],
    ['$HOME/.config', 'home config'],
    ['<button onClick={save}>', 'button on click save'],
    ["it's the user's fault", 'it the user fault'],
    ["don't can’t won't", 'do not can not will not'],
    ['naïve Größe ÜBER', 'naïve größe über'],
    ['ＦＵＬＬ ｗｉｄｔｈ', 'full width'],
    ['cafe\u0301', 'café'],
    ['登录失败 ログイン', '登录失败 ログイン'],
    ['🚀 ship it', 'ship it'],
    ['', ''],
    [' \n\t--- ... ', ''],
    ["' '' ’", ''],
  ])('of %j are %j', (text, words) => {
    expect(splitWords(text).join(' ')).toBe(words)
  })

  it('contain the whole word in addition to its parts', () => {
    expect(splitTokens('JavaScript code')).toEqual([
      { whole: 'javascript', parts: ['java', 'script'] },
      { whole: 'code', parts: ['code'] },
    ])
  })

  it('of arbitrary text are lower-case letters or digits, and splitting is idempotent', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
        for (const word of splitWords(text)) {
          expect(word).toMatch(/^(?:[\p{L}\p{M}]+|\p{N}+)$/u)
          expect(word).toBe(word.toLowerCase())
        }
      }),
    )
  })

  it('of a megabyte without spaces are split', () => {
    expect(splitWords('a'.repeat(1_000_000))).toHaveLength(1)
    expect(splitWords('aB'.repeat(100_000))).toHaveLength(100_001)
    expect(splitWords("'".repeat(1_000_000))).toEqual([])
  })
})
