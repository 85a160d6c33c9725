import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { OBSERVATION_TYPES } from '../../../src/domain/observation.ts'
import { isAnswer, type ParsedObservation, parseReply } from '../../../src/observer/model/reply/index.ts'
import { emptyReply, observation } from './expected-reply.ts'

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
const quoted = (text: string): string => `"${escaped(text).replaceAll('"', '&quot;')}"`

type Escape = (text: string) => string

/** One string per field, so that a reply can be cut after any of them. */
function fieldsOf(o: ParsedObservation, encode: Escape = escaped): string[] {
  const text = (name: string, value: string | null) => (value === null ? [] : [`<${name}>${encode(value)}</${name}>`])
  const list = (name: string, item: string, values: readonly string[]) =>
    values.length === 0 ? [] : [`<${name}>${values.map((value) => text(item, value).join('')).join('\n')}</${name}>`]
  const functions = o.functionsChanged.map(
    ({ name, file, action }) => `<function file=${quoted(file)} action="${action}">${encode(name)}</function>`,
  )
  return [
    ...text('type', o.type),
    ...text('title', o.title),
    ...text('subtitle', o.subtitle),
    ...text('narrative', o.narrative),
    ...list('facts', 'fact', o.facts),
    ...list('concepts', 'concept', o.concepts),
    ...list('files_read', 'file', o.filesRead),
    ...list('files_modified', 'file', o.filesModified),
    ...(functions.length === 0 ? [] : [`<functions_changed>${functions.join('')}</functions_changed>`]),
  ]
}

function rendered(o: ParsedObservation, encode: Escape = escaped): string {
  const numbers = (name: string, list: readonly number[]) => (list.length === 0 ? '' : ` ${name}="${list.join(' ')}"`)
  const from = numbers('from', o.from) + numbers('supersedes', o.supersedes) + numbers('amends', o.amends)
  const status = o.status === null ? '' : ` status="${o.status}"`
  return `<observation${from}${status}>\n${fieldsOf(o, encode).join('\n')}\n</observation>`
}

// biome-ignore format: many short parts
const WORDS = [
  'login', 'a < b', 'Map<string, number>', '<App/>', '<div class="x">', 'x && y', '&amp;', '1.', '{}', 'λ', '😀', '—',
  '"q"', "it's", '`code`', ']]>', '<!--', '```', 'é', '<li', '</p>', '<x:y>',
]
// biome-ignore format: many short parts
const GRAMMAR = [
  '<title>', '</title>', '<observation>', '</observation>', '<summary>', '<facts>', '<fact>', '</facts>', '<file>',
  '<think>', '<skip/>', '<![CDATA[',
]

const phrase = (words: readonly string[]) =>
  fc.array(fc.constantFrom(...words), { minLength: 1, maxLength: 8 }).map((parts) => `Say ${parts.join(' ')} now`)

const path = fc
  .array(fc.stringMatching(/^[A-Za-z0-9_@+ ()[\]é-]{0,8}[a-z]$/), { minLength: 1, maxLength: 4 })
  .map((parts) => `src/${parts.map((part) => part.trim()).join('/')}.ts`)
const concept = fc.stringMatching(/^[a-z]{3,8}-[a-z]{3,8}$/)
const some = <T>(value: fc.Arbitrary<T>) => fc.uniqueArray(value, { maxLength: 4 })

const observationFrom = (words: readonly string[]): fc.Arbitrary<ParsedObservation> =>
  fc.record({
    type: fc.constantFrom(...OBSERVATION_TYPES),
    title: phrase(words),
    subtitle: fc.option(phrase(words)),
    narrative: fc.option(fc.array(phrase(words), { minLength: 1, maxLength: 4 }).map((lines) => lines.join('\n'))),
    facts: some(phrase(words)),
    concepts: some(concept),
    filesRead: some(path),
    filesModified: some(path),
    functionsChanged: fc.uniqueArray(
      fc.record({
        name: fc.constantFrom('f', 'get<K, V>', 'A.b()', 'operator<', 'x"y'),
        file: path,
        action: fc.constantFrom('new', 'modified', 'deleted'),
      }),
      { maxLength: 3, selector: (change) => JSON.stringify(change) },
    ),
    from: fc.uniqueArray(fc.integer({ min: 1, max: 99 }), { maxLength: 4 }),
    supersedes: fc.uniqueArray(fc.integer({ min: 1, max: 99_999 }), { maxLength: 2 }),
    amends: fc.uniqueArray(fc.integer({ min: 1, max: 99_999 }), { maxLength: 2 }),
    status: fc.constantFrom('open' as const, 'untested' as const, null),
  })

const anyObservation = observationFrom([...WORDS, ...GRAMMAR])
const plainObservation = observationFrom(WORDS.filter((word) => word !== '```'))

// biome-ignore format: many short parts
const FRAGMENTS = [
  ...WORDS, ...GRAMMAR, '<', '>', '&', '<observation', ' from="1-', '<type>bugfix</type>', '<function name="',
  "' file='", '/>', '</', '<narrative>', '</narrative>', '<files_read>', '["a",', '"]', '- a\n', '</think>', '-->',
  ']]>', '<skip reason="x"/>', '<summary>', '</summary>', '<request>', '&#x', '&#60;', '\u0000', '\ud800',
  '\u001b[31m',
]
const soup = fc
  .array(fc.oneof(fc.constantFrom(...FRAGMENTS), fc.string({ unit: 'binary', maxLength: 6 })), { maxLength: 40 })
  .map((parts) => parts.join(''))

describe('reply.any text', () => {
  it('is parsed without an error, into bounded fields', () => {
    fc.assert(
      fc.property(soup, (text) => {
        const reply = parseReply(text)
        expect(reply.observations.length).toBeLessThanOrEqual(50)
        for (const o of reply.observations) {
          expect(OBSERVATION_TYPES).toContain(o.type)
          expect(o.title ?? 'x').toMatch(/^\S(?:[^\n]{0,198}\S)?$/)
          for (const file of [...o.filesRead, ...o.filesModified]) expect(file).toMatch(/^\S(?:[^\n]{0,1022}\S)?$/)
          for (const word of o.concepts) expect(word).toBe(word.trim().toLowerCase())
          expect(new Set(o.facts).size).toBe(o.facts.length)
          expect(isAnswer({ ...emptyReply, observations: [o] })).toBe(true)
        }
      }),
      { numRuns: 2_000 },
    )
  })

  it('keeps a complete observation before it', () => {
    fc.assert(
      fc.property(plainObservation, soup, (o, text) => {
        // The end of a thought turns everything before it into a thought.
        const behind = text.replaceAll('</think>', '')
        expect(parseReply(`${rendered(o)}\n${behind}`).observations[0]).toEqual(o)
      }),
    )
  })
})

describe('reply.well-formed XML', () => {
  it('is parsed unchanged', () => {
    fc.assert(
      fc.property(anyObservation, (o) => {
        expect(parseReply(rendered(o)).observations).toEqual([o])
      }),
    )
  })

  it('is parsed unchanged in CDATA', () => {
    const cdata = (text: string) => `<![CDATA[${text.replaceAll(']]>', ']]]]><![CDATA[>')}]]>`
    const words = [...WORDS, ...GRAMMAR].filter((word) => word !== '<![CDATA[')
    fc.assert(
      fc.property(observationFrom(words), (o) => {
        expect(parseReply(rendered(o, cdata)).observations).toEqual([o])
      }),
    )
  })
})

describe('reply.damage', () => {
  const unescaped = (text: string) => text.replaceAll('&amp;', 'amp')
  const DAMAGES: Record<string, (xml: string) => string> = {
    'a fence': (xml) => `\`\`\`xml\n${xml}\n\`\`\``,
    'prose around': (xml) => `Sure! 1 < 2, so here is <b>the</b> observation:\n\n${xml}\n\nAnything else?`,
    wrappers: (xml) => `<response><observations>${xml}</observations></response>`,
    'a thought before': (xml) => `<think>Say <observation><title>X</title></observation>?</think>\n${xml}`,
    'upper case': (xml) => xml.replace(/<\/?[a-z_]+/g, (tag) => tag.toUpperCase()),
    'an unclosed observation': (xml) => xml.replaceAll('</observation>', ''),
    'spaces in tags': (xml) => xml.replace(/<(\/?)([a-z_]+)>/g, '<$1 $2 >'),
    'Windows line ends': (xml) => xml.replaceAll('\n', '\r\n'),
  }

  it.each(Object.entries(DAMAGES))('%s loses nothing', (_name, damage) => {
    fc.assert(
      fc.property(fc.array(anyObservation, { minLength: 1, maxLength: 3 }), (all) => {
        expect(parseReply(damage(all.map((o) => rendered(o)).join('\n'))).observations).toEqual(all)
      }),
      { numRuns: 50 },
    )
  })

  it('unescaped text loses nothing', () => {
    fc.assert(
      fc.property(fc.array(plainObservation, { minLength: 1, maxLength: 3 }), (all) => {
        const raw = (o: ParsedObservation) => rendered(o, unescaped)
        const meant = JSON.parse(JSON.stringify(all).replaceAll('&amp;', 'amp'))
        expect(parseReply(all.map(raw).join('\n')).observations).toEqual(meant)
      }),
    )
  })

  it('an unclosed last tag keeps its text', () => {
    fc.assert(
      fc.property(anyObservation, phrase(WORDS.filter((word) => word !== '```')), (o, words) => {
        const xml = `<observation>${fieldsOf({ ...o, narrative: null }).join('')}<narrative>${escaped(words)}`
        expect(parseReply(xml).observations).toEqual([
          { ...o, narrative: words, from: [], supersedes: [], amends: [], status: null },
        ])
      }),
    )
  })

  it('a cut after any field keeps the fields before it', () => {
    fc.assert(
      fc.property(anyObservation, fc.nat(), (o, cut) => {
        const fields = fieldsOf(o)
        const kept = 2 + (cut % (fields.length - 1))
        const [parsed] = parseReply(`<observation>${fields.slice(0, kept).join('')}`).observations
        expect(parsed).toBeDefined()
        if (parsed !== undefined) expect(fieldsOf(parsed)).toEqual(fields.slice(0, kept))
      }),
    )
  })
})

describe('reply.cut at every character', () => {
  const all: ParsedObservation[] = [
    observation({
      type: 'bugfix',
      title: 'Fix a < b in Map<K, V>',
      narrative: 'It was <title>.\nNow it is not.',
      facts: ['x & y', 'z'],
      from: [1],
    }),
    observation({
      type: 'feature',
      title: 'Add it',
      concepts: ['how-it-works', 'gotcha'],
      filesRead: ['a.ts', 'b.ts'],
      functionsChanged: [{ name: 'f<T>', file: 'a.ts', action: 'new' }],
    }),
    observation({ title: 'Last', subtitle: 'of all', filesModified: ['c.ts'] }),
  ]
  const parts = all.map((o) => rendered(o))
  const ends = parts.map((_, index) => parts.slice(0, index + 1).join('\n').length)
  const text = parts.join('\n')

  it('keeps complete parts, and a longer reply never loses content', () => {
    let before = 0
    let facts = 0
    for (let cut = 0; cut <= text.length; cut++) {
      const { observations } = parseReply(text.slice(0, cut))
      const whole = ends.filter((end) => end <= cut).length
      expect(observations.slice(0, whole)).toEqual(all.slice(0, whole))
      expect(observations.length).toBeGreaterThanOrEqual(before)
      expect(observations.length).toBeLessThanOrEqual(whole + 1)
      before = observations.length
      const known = observations.reduce((count, o) => count + contents(o), 0)
      expect(known, text.slice(0, cut)).toBeGreaterThanOrEqual(facts)
      facts = known
    }
    expect(before).toBe(all.length)
  })

  /** Number of values. */
  function contents(o: ParsedObservation): number {
    const texts = [o.title, o.subtitle, o.narrative].filter((value) => value !== null).length
    const lists = [o.facts, o.concepts, o.filesRead, o.filesModified, o.functionsChanged]
    return lists.reduce((count, values) => count + values.length, texts)
  }
})
