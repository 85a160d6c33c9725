/** A reply as it should be, and what models put around it. */
import { describe, expect, test } from 'vitest'
import { isAnswer, parseReply } from '../../../src/observer/model/reply/index.ts'
import { type Example, nothing, observed, summed, within } from './parsed.ts'

const WELL_FORMED: Example[] = [
  [
    'an observation with every field',
    `<observation from="1 3">
  <type>bugfix</type>
  <title>Login survives a clock that runs ahead</title>
  <subtitle>The token's age is compared with a leeway</subtitle>
  <narrative>The server was 3 s ahead.\n\nTokens looked expired.</narrative>
  <facts><fact>Leeway is 5 s</fact><fact>iat is in seconds</fact></facts>
  <concepts><concept>problem-solution</concept><concept>gotcha</concept></concepts>
  <files_read><file>src/clock.ts</file></files_read>
  <files_modified><file>src/login.ts</file></files_modified>
  <functions_changed><function file="src/login.ts" action="modified">verify</function></functions_changed>
</observation>`,
    observed({
      type: 'bugfix',
      title: 'Login survives a clock that runs ahead',
      subtitle: "The token's age is compared with a leeway",
      narrative: 'The server was 3 s ahead.\n\nTokens looked expired.',
      facts: ['Leeway is 5 s', 'iat is in seconds'],
      concepts: ['problem-solution', 'gotcha'],
      filesRead: ['src/clock.ts'],
      filesModified: ['src/login.ts'],
      functionsChanged: [{ name: 'verify', file: 'src/login.ts', action: 'modified' }],
      from: [1, 3],
    }),
  ],
  [
    'a summary with every field',
    `<summary><request>Fix login</request><investigated>The clock</investigated><learned>It drifts</learned>
<completed>A leeway</completed><next_steps>Watch it</next_steps><files_read><file>a.ts</file></files_read>
<files_edited><file>b.ts</file></files_edited><notes>Tests pass</notes></summary>`,
    summed({
      request: 'Fix login',
      investigated: 'The clock',
      learned: 'It drifts',
      completed: 'A leeway',
      nextSteps: 'Watch it',
      notes: 'Tests pass',
      filesRead: ['a.ts'],
      filesEdited: ['b.ts'],
    }),
  ],
  ['a skip', '<skip reason="only listings"/>', { ...nothing, skip: 'only listings' }],
  ['a skipped summary', '<skip_summary reason="a greeting"/>', { ...nothing, skipSummary: 'a greeting' }],
  [
    'two observations and a summary',
    `${within('<title>A</title>')}\n${within('<title>B</title>')}<summary><learned>C</learned></summary>`,
    { ...observed({ title: 'A' }, { title: 'B' }), summary: summed({ learned: 'C' }).summary },
  ],
  [
    'numbers with a range',
    '<observation from="1,3-5"><title>A</title></observation>',
    observed({ title: 'A', from: [1, 3, 4, 5] }),
  ],
  [
    'numbers with signs',
    '<observation from="#2, #1, #2"><title>A</title></observation>',
    observed({ title: 'A', from: [2, 1] }),
  ],
  ['numbers in a field', within('<from>2</from><title>A</title>'), observed({ title: 'A', from: [2] })],
  ['numbers that are none', '<observation from="all, 0, 9-1"><title>A</title></observation>', observed({ title: 'A' })],
]

const AROUND: Example[] = [
  ['nothing at all', '', nothing],
  ['blank', ' \n\t ', nothing],
  ['prose alone', 'I cannot help with that, a < b and c > d.', nothing],
  ['prose around', `Here it is:\n${within('<title>A</title>')}\nHope this helps!`, observed({ title: 'A' })],
  ['a code fence', `\`\`\`xml\n${within('<title>A</title>')}\n\`\`\``, observed({ title: 'A' })],
  [
    'two fences',
    `\`\`\`\n${within('<title>A</title>')}\n\`\`\`\nand\n~~~xml\n${within('<title>B</title>')}\n~~~`,
    observed({ title: 'A' }, { title: 'B' }),
  ],
  [
    'wrappers',
    `<?xml version="1.0"?><response><observations>${within('<title>A</title>')}</observations></response>`,
    observed({ title: 'A' }),
  ],
  ['a byte order mark', `\ufeff${within('<title>A</title>')}`, observed({ title: 'A' })],
  [
    'a closed thought that quotes',
    `<think>maybe ${within('<title>X</title>')}</think>${within('<title>A</title>')}`,
    observed({ title: 'A' }),
  ],
  [
    'a thought closed by its other name',
    `<thinking>${within('<title>X</title>')}</think>${within('<title>A</title>')}`,
    observed({ title: 'A' }),
  ],
  [
    'a thought without its beginning',
    `maybe ${within('<title>X</title>')}</think>${within('<title>A</title>')}`,
    observed({ title: 'A' }),
  ],
  ['the end of a thought behind everything', `${within('<title>A</title>')}</think>`, observed({ title: 'A' })],
  ['a thought that was cut off', `<think>I could say ${within('<title>X</title>')} or rat`, nothing],
  [
    'a thought that was never closed',
    `<think>I say\n${within('<title>X</title>')} or rather:\n${within('<title>A</title>')}\n${within('<title>B</title>')}\n`,
    observed({ title: 'A' }, { title: 'B' }),
  ],
  [
    'a thought inside an observation',
    within('<title>A</title><thinking><facts><fact>x</fact></facts></thinking><facts><fact>b</fact></facts>'),
    observed({ title: 'A', facts: ['b'] }),
  ],
  [
    'a thought that was cut off behind an answer',
    `${within('<title>A</title>')}<think>or ${within('<title>X</title>')} and`,
    observed({ title: 'A' }),
  ],
  [
    'a comment that quotes',
    `<!-- ${within('<title>X</title>')} -->${within('<title>A</title>')}`,
    observed({ title: 'A' }),
  ],
  ['a comment without its end', `<!-- ${within('<title>A</title>')}`, observed({ title: 'A' })],
  [
    'the grammar mentioned in backticks',
    `I use \`<observation>\` and \`<title>\`.\n${within('<title>A</title>')}`,
    observed({ title: 'A' }),
  ],
  [
    'the grammar mentioned without',
    `An <observation> has a <title>.\n${within('<title>A</title>')}`,
    observed({ title: 'A' }),
  ],
  [
    'the whole reply escaped',
    '&lt;observation&gt;&lt;title&gt;A &amp;lt; B&lt;/title&gt;&lt;/observation&gt;',
    observed({ title: 'A < B' }),
  ],
  [
    'an example repeated',
    within(
      '<type>bugfix|feature</type><title>…</title><subtitle>...</subtitle><narrative></narrative><facts><fact>…</fact></facts><concepts><concept>gotcha</concept></concepts><files_read><file/></files_read>',
    ),
    nothing,
  ],
  ['an example of a summary', '<summary><request>…</request><notes/></summary>', nothing],
]

describe.each([
  ['well formed', WELL_FORMED],
  ['what stands around', AROUND],
])('reply.%s', (_, examples) => {
  test.each(examples)('%s', (_name, reply, expected) => {
    const parsed = parseReply(reply)
    expect(parsed).toEqual(expected)
    expect(isAnswer(parsed)).toBe(expected !== nothing)
  })
})

describe('reply.type', () => {
  test.each([
    ['bugfix', 'bugfix'],
    [' Bug fix ', 'bugfix'],
    ['bug-fix', 'bugfix'],
    ['FEATURES', 'feature'],
    ['refactoring', 'refactor'],
    ['🏛️ decision', 'decision'],
    ['discoveries', 'discovery'],
    ['discovery, change', 'discovery'],
    ['docs', 'change'],
    ['bugfix|feature|refactor', 'change'],
    ['', 'change'],
  ])('"%s" is %s', (written, type) => {
    expect(parseReply(within(`<type>${written}</type><title>A</title>`))).toEqual({
      ...observed({ title: 'A' }),
      observations: [{ ...observed({ title: 'A' }).observations[0], type }],
    })
  })
})
