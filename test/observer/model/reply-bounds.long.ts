import { describe, expect, it } from 'vitest'
import { parseReply } from '../../../src/observer/model/reply/index.ts'
import { observation } from './expected-reply.ts'

describe('reply.limits', () => {
  const long = (length: number) => 'word '.repeat(length / 5).trim()
  const many = (tag: string, count: number) =>
    Array.from({ length: count }, (_, n) => `<${tag}>x${n}</${tag}>`).join('')

  it('too much content is cut, not rejected', () => {
    const text = `<observation from="1-999999"><title>${long(10_000)}</title><subtitle>${long(10_000)}</subtitle>
<narrative>${long(100_000)}</narrative><facts>${many('fact', 100)}<fact>${long(5_000)}</fact></facts>
<concepts>${many('concept', 100)}</concepts><files_read>${many('file', 1_000)}</files_read>
<files_modified><file>${'d/'.repeat(5_000)}</file></files_modified>
<functions_changed>${many('function', 500)}</functions_changed></observation>`
    const [o = observation({}), ...others] = parseReply(text.repeat(60)).observations
    expect(others).toHaveLength(49)
    expect([o.title?.length, o.subtitle?.length, o.narrative?.length]).toEqual([295, 295, 7_995])
    expect([o.facts.length, o.concepts.length, o.filesRead.length]).toEqual([40, 20, 200])
    expect([o.functionsChanged.length, o.from.length]).toEqual([100, 200])
    expect(o.filesModified[0]).toHaveLength(1_024)
    expect(o.narrative).toMatch(/^word word .*…$/)
  })

  it('a surrogate pair is not cut', () => {
    const [o] = parseReply(`<observation><title>x${'😀'.repeat(200)}</title></observation>`).observations
    expect(o?.title).toBe(`x${'😀'.repeat(149)}…`)
  })

  // A reader with quadratic time would time out.
  it.each([
    '<observation>',
    '<observation',
    '<',
    '</',
    '<title>',
    '</title>',
    '<fact>',
    '<facts>',
    '<facts><fact>',
    '<title><narrative>',
    '<observation><title>a',
    '<function name="',
    '<file a=\'b="',
    '<file a="\' <file b=\'" ',
    '<![CDATA[',
    '<title><![CDATA[',
    '<!--',
    '<!-- <title>',
    '<think>',
    '</think>',
    '<think></think><observation>x</observation>',
    '&lt;observation',
    '&#',
    '<skip>',
    '<skip reason="x"/>',
    '<resolved>',
    '<resolved ids="1"/>',
    '<observation><resolved>1</resolved>',
    '```\n',
    '\n',
    ' ',
    '[',
    '"',
    '\\',
    '<facts>["',
    '<type>a</type><title>b</title>',
    '<observation><facts>- a\n',
    '< title',
    '\u001b[',
    '<a></a>',
  ])('half a megabyte of %j takes linear time', (part) => {
    const flood = part.repeat(500_000 / part.length)
    expect(parseReply(flood).observations.length).toBeLessThanOrEqual(50)
    const inside = parseReply(`<observation><title>A</title><facts>${flood}`)
    expect(inside.observations.length).toBeLessThanOrEqual(50)
  })
})
