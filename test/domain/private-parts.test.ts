import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isEntirelyPrivate, removePrivateParts, removePrivatePartsDeep } from '../../src/domain/private-parts.ts'
import { expectLinearTime } from '../support/linear-time.ts'

const CASES: [what: string, text: string, left: string][] = [
  ['plain text', 'nothing to hide, private or not', 'nothing to hide, private or not'],
  ['one part', 'a <private>s</private> b', 'a [private] b'],
  ['several parts', '<private>s</private>a<private>s</private>b', '[private]a[private]b'],
  ['nested parts', 'a<private>s<private>s</private>s</private>b', 'a[private]b'],
  ['an unclosed part', 'a <private>s and s', 'a [private]'],
  ['an unclosed inner part', 'a<private>s<private>s</private>s', 'a[private]'],
  ['a stray closing tag', 'a</private>b', 'a[private]b'],
  ['attributes', 'a<private reason="x > y" id=1>s</private>b', 'a[private]b'],
  ['an opening tag cut in its attributes', 'a<private reason="s', 'a[private]'],
  ['any case', 'a<PRIVATE>s</Private>b', 'a[private]b'],
  ['spaces in the tags', 'a< private >s</ private >b', 'a[private]b'],
  ['several lines', 'a\n<private\n>\ns\ns\n</private\n>\nb', 'a\n[private]\nb'],
  ['JSON with escaped tags', '{"a":"\\u003cprivate\\u003es\\u003c/private\\u003e b"}', '{"a":"[private] b"}'],
  ['JSON in JSON', '"\\\\u003Cprivate\\\\u003Es\\\\u003C\\\\/private\\\\u003Eb"', '"\\[private]b"'],
  ['an escaped slash', 'a<private>s<\\/private>b', 'a[private]b'],
  [
    'other tags',
    '<private-key>a</private-key> <privates> i < private && j',
    '<private-key>a</private-key> <privates> i < private && j',
  ],
  ['injected context', 'a<claude-mem-context>s\ns</claude-mem-context>b', 'ab'],
  ['injected context, unclosed', 'a<claude-mem-context project="x">s', 'a'],
  ['a section of ours in a file', 'a\n<!-- claude-mem:begin (x) -->\ns\n<!-- claude-mem:end -->\nb', 'a\n\nb'],
  ['a section, unclosed', 'a <!-- claude-mem:begin (x', 'a '],
  ['a section in JSON', '"\\u003c!-- claude-mem:begin (x) --\\u003es\\u003c!-- claude-mem:end --\\u003eb"', '"b"'],
  ['a stray end of a section', 'a<!-- claude-mem:end -->b', 'ab'],
  [
    'other comments',
    '<!-- claude-mem: see docs --> claude-mem:begin',
    '<!-- claude-mem: see docs --> claude-mem:begin',
  ],
  ['a tag around injected context', '<pri<claude-mem-context>s</claude-mem-context>vate>s', '[private]'],
]

describe('removePrivateParts', () => {
  it.each(CASES)('%s', (_what, text, left) => {
    expect(removePrivateParts(text)).toBe(left)
    expect(removePrivateParts(left)).toBe(left)
  })

  it('leaves nothing of a private part', () => {
    const secret = fc.constantFrom('S1', 'S\nS', 'SS <b>')
    const shown = fc.constantFrom('a', 'b\n', '<i>', '')
    const open = fc.constantFrom('<private>', '<PRIVATE x="1">', '\\u003cprivate\\u003e', '<private\n>')
    const close = fc.constantFrom('</private>', '</Private >', '\\u003c/private\\u003e', '<\\/private>')
    const part = fc.letrec<{ part: string }>((tie) => ({
      part: fc
        .tuple(open, secret, fc.option(tie('part'), { nil: '', maxDepth: 3 }), secret, close)
        .map((pieces) => pieces.join('')),
    })).part
    fc.assert(
      fc.property(fc.array(fc.oneof(part, shown)), fc.boolean(), (pieces, cut) => {
        const text = pieces.join('')
        const left = removePrivateParts(cut ? `${text}<private>S` : text)
        expect(left).not.toContain('S')
        expect(removePrivateParts(left)).toBe(left)
      }),
    )
  })

  it('takes linear time', () => {
    for (const piece of [
      '<private ',
      '</private ',
      '<',
      '\\',
      '< ',
      '</',
      'x'.repeat(64),
      '<private></private>',
      '<!-- claude-mem:begin-',
    ]) {
      expectLinearTime((size) => removePrivateParts(piece.repeat(Math.ceil(size / piece.length))), 125_000, piece)
    }
    expectLinearTime((lines) => removePrivateParts('a line of plain output\n'.repeat(lines)), 100_000)
  })
})

describe('removePrivatePartsDeep', () => {
  it('cleans every string and key', () => {
    const value = { 'a <private>s</private>': ['<private>s</private>', { b: 'c <private>s' }], n: 1, t: true, z: null }
    expect(removePrivatePartsDeep(value)).toEqual({
      'a [private]': ['[private]', { b: 'c [private]' }],
      n: 1,
      t: true,
      z: null,
    })
  })

  it('searches an array of lines as one text', () => {
    const hunks = [
      { newStart: 1, lines: [' a', '+<private>', '+s1', ' s2'] },
      { newStart: 9, lines: [' s3', ' </private>', ' b'] },
    ]
    expect(removePrivatePartsDeep({ structuredPatch: hunks })).toEqual({
      structuredPatch: [
        { newStart: 1, lines: [' a', '+[private]', '[private]', '[private]'] },
        { newStart: 9, lines: ['[private]', '[private]', ' b'] },
      ],
    })
  })

  it('finds a tag whose beginning and name are in two lines', () => {
    expect(removePrivatePartsDeep(['a <', 'private> b', 'c</private> d'])).toEqual([
      'a [private]',
      '[private]',
      '[private] d',
    ])
  })

  it('removes sections that claude-mem wrote into a file', () => {
    const part = { content: '#12 Fix the login\n```\n<!-- claude-mem:end -->\nmine' }
    expect(removePrivatePartsDeep(part)).toEqual({ content: '\nmine' })
    const lines = ['+mine', '+<!-- claude-mem:begin (x) -->', '+#12 Fix the login', '+<!-- claude-mem:end -->', ' b']
    expect(removePrivatePartsDeep({ lines })).toEqual({ lines: ['+mine', '+', '', '', ' b'] })
  })

  it('removes the beginning of a fragment that starts inside a private part', () => {
    expect(removePrivatePartsDeep({ content: 's1\ns2\n</private>\nb' })).toEqual({ content: '[private]\nb' })
    expect(removePrivatePartsDeep(['s1', 's2', '</private>', 'b'])).toEqual([
      '[private]',
      '[private]',
      '[private]',
      'b',
    ])
  })

  it('keeps values whose keys become equal, and odd keys', () => {
    const value = JSON.parse('{"<private>1":1,"<private>2":2,"__proto__":"<private>s"}')
    const cleaned = JSON.stringify(removePrivatePartsDeep(value))
    expect(cleaned).toBe('{"[private]":1,"[private] (2)":2,"__proto__":"[private]"}')
  })

  it('survives any depth', () => {
    const deep = JSON.parse(`${'['.repeat(100_000)}"<private>S"${']'.repeat(100_000)}`)
    expect(JSON.stringify(removePrivatePartsDeep(deep))).not.toContain('S')
  })

  it('does not copy values without private parts', () => {
    const value = { a: ['b', { c: 'd' }] }
    expect(removePrivatePartsDeep(value)).toBe(value)
  })
})

describe('isEntirelyPrivate', () => {
  it.each([
    ['<private>s</private>', true],
    [' \n<private>s</private>\t<private>s', true],
    ['<private>s</private>\u200b', true],
    ['<private>s</private><claude-mem-context>x</claude-mem-context>', true],
    ['<private>s</private>.', false],
    ['', false],
    ['  ', false],
    ['[private]', false],
    ['<claude-mem-context>x</claude-mem-context>', false],
  ])('%j: %s', (text, wholly) => expect(isEntirelyPrivate(text)).toBe(wholly))
})
