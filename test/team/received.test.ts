import { describe, expect, test } from 'vitest'
import type { ReceivedRecord } from '../../src/domain/team-record.ts'
import { checkReceived, MAX_RECEIVED_BYTES } from '../../src/team/received.ts'
import { expectLinearTime } from '../support/linear-time.ts'
import { type ObservationOfTeam, observationRecord, SHOP } from './records.ts'

const ME = { author: 'ana', machine: 'laptop' }
const BEN = { author: 'ben', machine: 'desktop' }
const shared = { repositories: new Set([SHOP]), own: ME }

function received(title: string, body: Partial<ObservationOfTeam['body']> = {}, origin = BEN): ReceivedRecord {
  return { ...observationRecord(title, body), ...origin }
}

function only(record: unknown) {
  const { valid, refused } = checkReceived([record], shared)
  return { record: valid[0] as Extract<ReceivedRecord, { kind: 'observation' }> | undefined, refused: refused[0] }
}

describe('received records', () => {
  test('a valid record is passed on with its author and machine', () => {
    const given = received('Tokens live 15 minutes', { narrative: 'two\nlines\tand a tab' })
    expect(only(given).record).toEqual(given)
  })

  test('control characters and terminal codes are removed', () => {
    const { record } = only(received('red \u001b[31malert\u0007\u0000', { narrative: 'a\r\nb' }))
    expect(record?.body).toMatchObject({ title: 'red [31malert', narrative: 'a\nb' })
  })

  test.each([
    ['\u00a0', 'ana\u00a0'],
    ['\u180e', 'ana\u180e'],
    ['\u2003', '\u2003ana'],
    ['\u200b', 'a\u200bna'],
    ['a tag character', 'ana\u{e0061}'],
    ['a bidirectional override', '\u202eana'],
    ['a combining grapheme joiner', 'an\u034fa'],
    ['an uncomposed letter', 'Zoe\u0308'],
    ['a line end', 'ana\n'],
    ['a blank', ' ana'],
    ['two blanks', 'ana  b'],
    ['an emoji', 'ana😀'],
    ['more than 60 characters', 'a'.repeat(61)],
    ['nothing', ''],
  ])('a name with %s is nobody, as member, machine and project: the record is refused as it is', (_, name) => {
    expect(only(received('x', {}, { ...BEN, author: name })).refused?.reason).toMatch(/^author: .*normal form/)
    expect(only(received('x', {}, { ...BEN, machine: name })).refused?.reason).toMatch(/^machine: .*normal form/)
    const { author, machine, ...head } = received('x')
    const project = { ...head, author, machine, kind: 'project', body: { name, version: 1 } }
    if (name !== '') expect(only(project).refused?.reason).toMatch(/^body.name: /)
  })

  test('secrets are masked and long texts are cut', () => {
    const { record } = only(
      received('key', { narrative: 'AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' }),
    )
    expect(record?.body?.narrative).not.toContain('wJalrXUtnFEMI')
  })

  test("another author cannot speak for this machine's user; another machine of the same author can", () => {
    const note = { saidBy: 'person' } as const
    expect(only(received('rule', note)).record?.body?.saidBy).toBe('agent')
    expect(only(received('rule', note, { author: 'ana', machine: 'desktop' })).record?.body?.saidBy).toBe('person')
    const reported = { saidBy: 'web', type: 'decision' } as const
    expect(only(received('order', reported)).record?.body?.type).toBe('discovery')
  })

  test.each([
    ['another repository', { ...received('x'), repository: 'repo:github.com/acme/other' }],
    ['a key that does not travel', { ...received('x'), repository: 'git:/home/ana/shop' }],
    ['an id that is none', { ...received('x'), id: '../../etc/passwd' }],
    ['an unknown kind', { ...received('x'), kind: 'order' }],
    ['a body of another kind', { ...received('x'), kind: 'tombstone' }],
    ['a type that does not exist', received('x', { type: 'order' as never })],
    ['a time that is none', { ...received('x'), at: Number.NaN }],
    ['a time before the epoch', received('x', { createdAt: -1 })],
    ['a text as long as memory', received('x', { narrative: 'a'.repeat(100_000) })],
    ['thousands of facts', received('x', { facts: Array.from({ length: 3_000 }, () => 'f') })],
    [
      'a session id with control characters',
      received('x', { session: { id: 'a\u0000b', client: 'c', prompts: 1, startedAt: 1 } }),
    ],
    ['no object at all', 'DROP TABLE observations'],
    ['null', null],
    ['a list', [received('x')]],
    ['a record without an author', { ...received('x'), author: '' }],
  ])('%s is refused, and the reason does not quote it', (_, given) => {
    const { record, refused } = only(given)
    expect(record).toBeUndefined()
    expect(refused?.reason).toBeTruthy()
    expect(refused?.reason.length).toBeLessThan(200)
  })

  test('a record larger than the limit is refused by its size alone', () => {
    const facts = Array.from({ length: 40 }, () => 'f'.repeat(60_000))
    expect(only(received('x', { facts })).refused?.reason).toContain(String(MAX_RECEIVED_BYTES))
    const deep = JSON.parse(`${'['.repeat(5_000)}${']'.repeat(5_000)}`)
    expect(only({ ...received('x'), body: deep }).refused).toBeDefined()
  })

  test('an erased record has no body and is valid', () => {
    const given = { ...received('x'), body: null }
    expect(only(given).record).toEqual(given)
  })

  test('a prototype in the record changes nothing', () => {
    const given = JSON.parse(JSON.stringify(received('x')).replace('{', '{"__proto__":{"polluted":true},'))
    expect(only(given).record).toBeDefined()
    expect(Reflect.get({}, 'polluted')).toBeUndefined()
  })

  test('the time of checking grows with the size of the texts', () => {
    const hostile = (size: number) => {
      const text = `\u001b[${';'.repeat(size / 2)}${'\r\n'.repeat(size / 8)}${'password='.repeat(size / 36)}`
      return received(text, { narrative: text, facts: [text] })
    }
    const records = new Map([8_000, 64_000].map((size) => [size, hostile(size)]))
    expectLinearTime((size) => checkReceived([records.get(size)], shared), 8_000)
  })
})
