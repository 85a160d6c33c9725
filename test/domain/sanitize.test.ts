import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  boundValue,
  CUT_MARGIN,
  cutText,
  DEFAULT_BOUNDS,
  sanitizeText,
  sanitizeToolFields,
  toWellFormed,
} from '../../src/domain/sanitize.ts'

describe('cutText', () => {
  it('leaves what fits', () => expect(cutText('abc', 3)).toBe('abc'))

  it('keeps head and tail and the number of omitted characters', () => {
    const text = `${'h'.repeat(50_000)}${'t'.repeat(50_000)}`
    const cut = cutText(text, 1_000)
    expect(cut).toMatch(/^h+\[… 99,0\d\d characters left out …\]t+$/)
    expect(cut.length).toBeLessThanOrEqual(1_000)
    const said = Number(/… ([\d,]+) characters/.exec(cut)?.[1]?.replace(/,/g, ''))
    expect(said).toBe(100_000 - cut.replace(/\[.*\]/, '').length)
  })

  it('never splits a surrogate pair and is never too long', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 40_000 }),
        fc.integer({ min: 0, max: 3 }),
        fc.integer({ min: 1, max: 500 }),
        (n, shift, max) => {
          const cut = cutText('x'.repeat(shift) + '😀'.repeat(n), max)
          expect(cut.length).toBeLessThanOrEqual(max)
          expect(toWellFormed(cut)).toBe(cut)
          expect(cut).not.toContain('\ufffd')
        },
      ),
    )
  })

  it('replaces half characters', () => expect(cutText('a\ud800b\udc00', 10)).toBe('a\ufffdb\ufffd'))
})

describe('boundValue', () => {
  const limited = { ...DEFAULT_BOUNDS, text: 100, members: 3, depth: 3 }

  it('marks what it leaves out', () => {
    expect(boundValue([1, 2, 3, 4, 5], limited)).toEqual([1, 2, '[… 3 items left out …]'])
    expect(boundValue({ a: 1, b: 2, c: 3, d: 4 }, limited)).toEqual({ a: 1, b: 2, '…': '[… 2 keys left out …]' })
    expect(boundValue([[[[1]]]], limited)).toEqual([[['[… nested too deep …]']]])
  })

  it('gives a value within its bounds for any input', () => {
    const value = fc.jsonValue({ maxDepth: 6 })
    fc.assert(
      fc.property(value, fc.integer({ min: 4, max: 3_000 }), fc.integer({ min: 1, max: 300 }), (json, total, text) => {
        const bounded = boundValue(json, { ...DEFAULT_BOUNDS, total, text })
        expect(Buffer.byteLength(JSON.stringify(bounded))).toBeLessThanOrEqual(total)
      }),
    )
  })

  it('shares a budget among many long texts', () => {
    const texts = Array.from({ length: 40 }, (_, i) => `${i}:${'x'.repeat(60_000)}`)
    const bounded = boundValue(texts)
    expect(JSON.stringify(bounded).length).toBeLessThanOrEqual(DEFAULT_BOUNDS.total)
    expect(bounded).toHaveLength(40)
  })
})

describe('sanitizing', () => {
  const token = `ghp_${'a1B2'.repeat(9)}`

  it('masks a secret wherever a cut may fall', () => {
    const max = 4_096
    const length = 100_000
    for (let at = 0; at < length - token.length; at += at % 20_000 < 3_000 ? 7 : 501) {
      const text = `${' '.repeat(at)}${token}`.padEnd(length)
      const cleaned = sanitizeText(text, max)
      expect(cleaned).not.toMatch(/a1B2/)
      expect(cleaned.length).toBeLessThanOrEqual(max)
    }
  })

  it('masks where masking itself shortens the text', () => {
    const text = `${`${token}\n`.repeat(200)}${'A_TOKEN='}${'k1'.repeat(CUT_MARGIN)}\n${`${token}\n`.repeat(4_000)}`
    expect(sanitizeText(text, 2_000)).not.toMatch(/a1B2|k1k1/)
  })

  it('handles 50 MB', () => {
    const huge = 'a line of output, again and again\n'.repeat(1_500_000)
    const { response } = sanitizeToolFields({
      input: { command: 'x' },
      response: { stdout: `${huge}<private>s</private>` },
    })
    expect(JSON.stringify(response).length).toBeLessThan(70_000)
    expect(JSON.stringify(response)).toContain('characters left out')
    expect(JSON.stringify(response)).toContain('[private]')
  })

  it('masks values by their key', () => {
    const { input } = sanitizeToolFields({
      input: { api_key: 'abc', auth: [{ password: ['hunter'] }], max_tokens: 5, key: 'a.b' },
    })
    expect(input).toEqual({
      api_key: '[secret:key]',
      auth: [{ password: ['[secret:password]'] }],
      max_tokens: 5,
      key: 'a.b',
    })
  })

  it('keeps only the names of an .env file', () => {
    const { input, response } = sanitizeToolFields({
      input: { file_path: '/srv/app/.env' },
      response: {
        type: 'text',
        file: { filePath: '/srv/app/.env', content: 'HOST=example.org\n# note\nexport X="a\nb"\nY=\n' },
      },
    })
    expect(input).toEqual({ file_path: '/srv/app/.env' })
    expect(response).toEqual({
      type: 'text',
      file: {
        filePath: '/srv/app/.env',
        content: 'HOST=[secret:env]\n# note\nexport X=[secret:env]\n[secret:env]\nY=\n',
      },
    })
  })

  it('keeps no line of a diff of an .env file', () => {
    const lines = [' HOST=example.org', '-PORT=1', '+PORT=2', ' # note']
    const { response } = sanitizeToolFields({
      input: { file_path: '.env.local', old_string: 'example' },
      response: { structuredPatch: [{ lines }] },
    })
    expect(response).toEqual({
      structuredPatch: [{ lines: [' HOST=[secret:env]', '-PORT=[secret:env]', '+PORT=[secret:env]', ' # note'] }],
    })
  })

  it('masks what a command prints of an .env file', () => {
    const { response } = sanitizeToolFields({
      input: { command: 'cat ./.env | head' },
      response: { stdout: 'HOST=example.org\nok' },
    })
    expect(response).toEqual({ stdout: 'HOST=[secret:env]\nok' })
  })

  it('leaves an example file alone', () => {
    const { response } = sanitizeToolFields({
      input: { file_path: '.env.example' },
      response: { content: 'HOST=example.org' },
    })
    expect(response).toEqual({ content: 'HOST=example.org' })
  })

  it('hides a private key that is split over lines of a diff', () => {
    const lines = ['+-----BEGIN RSA PRIVATE KEY-----', '+MIIEow', '+abcd', '+-----END RSA PRIVATE KEY-----', '+x']
    const { response } = sanitizeToolFields({ input: {}, response: { lines } })
    const marker = '[secret:private-key]'
    expect(response).toEqual({ lines: [`+${marker}`, marker, marker, marker, '+x'] })
  })
})
