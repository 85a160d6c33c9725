/** Well-formed replies, and what models put around them. */
import { describe, expect, test } from 'vitest'
import { isAnswer, parseReply } from '../../../src/observer/model/reply/index.ts'
import { emptyReply, inObservation, type ReplyExample, withObservations, withSummary } from './expected-reply.ts'

const WELL_FORMED: ReplyExample[] = [
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
    withObservations({
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
    withSummary({
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
  [
    'an open problem, with a range of sources',
    '<observation from="3-5,8" status="open"><type>discovery</type><title>The build fails</title></observation>',
    withObservations({ type: 'discovery', title: 'The build fails', from: [3, 4, 5, 8], status: 'open' }),
  ],
  [
    'a status in a tag of its own',
    inObservation('<title>The build fails</title><status>Open</status>'),
    withObservations({ title: 'The build fails', status: 'open' }),
  ],
  [
    'a change that was never run',
    '<observation status="untested"><title>Add a retry</title></observation>',
    withObservations({ title: 'Add a retry', status: 'untested' }),
  ],
  [
    'a statement of an earlier observation replaced',
    '<observation><title>Use five retries</title><amends id="12">3 retries → 5 retries</amends></observation>',
    withObservations({ title: 'Use five retries', amends: [12], facts: ['Amends #12: 3 retries → 5 retries'] }),
  ],
  [
    'amended observations in an attribute and in an empty tag',
    '<observation amends="#12, 13"><title>A</title><amends ids="14"/></observation>',
    withObservations({ title: 'A', amends: [14, 12, 13] }),
  ],
  [
    'an amended observation named in the text',
    inObservation('<title>A</title><amends>#12: the port is 80 → it is 8080</amends>'),
    withObservations({ title: 'A', amends: [12], facts: ['Amends #12: the port is 80 → it is 8080'] }),
  ],
  ['another status', '<observation status="done"><title>A</title></observation>', withObservations({ title: 'A' })],
  ['solved problems', '<resolved ids="23, #24"/>', { ...emptyReply, resolved: [23, 24] }],
  ['solved problems between tags', '<resolved>23 1234567</resolved>', { ...emptyReply, resolved: [23, 1_234_567] }],
  [
    'a solved problem inside an observation',
    '<observation from="1"><type>bugfix</type><resolved ids="23"/><title>A</title></observation>',
    { ...withObservations({ type: 'bugfix', title: 'A', from: [1] }), resolved: [23] },
  ],
  [
    'solved problems in a thought are not part of the answer',
    '<think><resolved ids="1"/></think><skip reason="only listings"/>',
    { ...emptyReply, skip: 'only listings' },
  ],
  ['a skip', '<skip reason="only listings"/>', { ...emptyReply, skip: 'only listings' }],
  ['a skipped summary', '<skip_summary reason="a greeting"/>', { ...emptyReply, skipSummary: 'a greeting' }],
  [
    'two observations and a summary',
    `${inObservation('<title>A</title>')}\n${inObservation('<title>B</title>')}<summary><learned>C</learned></summary>`,
    { ...withObservations({ title: 'A' }, { title: 'B' }), summary: withSummary({ learned: 'C' }).summary },
  ],
  [
    'numbers with a range',
    '<observation from="1,3-5"><title>A</title></observation>',
    withObservations({ title: 'A', from: [1, 3, 4, 5] }),
  ],
  [
    'numbers with signs',
    '<observation from="#2, #1, #2"><title>A</title></observation>',
    withObservations({ title: 'A', from: [2, 1] }),
  ],
  ['numbers in a field', inObservation('<from>2</from><title>A</title>'), withObservations({ title: 'A', from: [2] })],
  [
    'numbers that are none',
    '<observation from="all, 0, 9-1"><title>A</title></observation>',
    withObservations({ title: 'A' }),
  ],
]

const AROUND: ReplyExample[] = [
  ['nothing at all', '', emptyReply],
  ['blank', ' \n\t ', emptyReply],
  ['prose alone', 'I cannot help with that, a < b and c > d.', emptyReply],
  [
    'prose around',
    `Here it is:\n${inObservation('<title>A</title>')}\nHope this helps!`,
    withObservations({ title: 'A' }),
  ],
  ['a code fence', `\`\`\`xml\n${inObservation('<title>A</title>')}\n\`\`\``, withObservations({ title: 'A' })],
  [
    'two fences',
    `\`\`\`\n${inObservation('<title>A</title>')}\n\`\`\`\nand\n~~~xml\n${inObservation('<title>B</title>')}\n~~~`,
    withObservations({ title: 'A' }, { title: 'B' }),
  ],
  [
    'wrappers',
    `<?xml version="1.0"?><response><observations>${inObservation('<title>A</title>')}</observations></response>`,
    withObservations({ title: 'A' }),
  ],
  ['a byte order mark', `\ufeff${inObservation('<title>A</title>')}`, withObservations({ title: 'A' })],
  [
    'a closed thought that quotes',
    `<think>maybe ${inObservation('<title>X</title>')}</think>${inObservation('<title>A</title>')}`,
    withObservations({ title: 'A' }),
  ],
  [
    'a thought closed by its other name',
    `<thinking>${inObservation('<title>X</title>')}</think>${inObservation('<title>A</title>')}`,
    withObservations({ title: 'A' }),
  ],
  [
    'a thought without its beginning',
    `maybe ${inObservation('<title>X</title>')}</think>${inObservation('<title>A</title>')}`,
    withObservations({ title: 'A' }),
  ],
  [
    'the end of a thought behind everything',
    `${inObservation('<title>A</title>')}</think>`,
    withObservations({ title: 'A' }),
  ],
  ['a thought that was cut off', `<think>I could say ${inObservation('<title>X</title>')} or rat`, emptyReply],
  [
    'a thought that was never closed',
    `<think>I say\n${inObservation('<title>X</title>')} or rather:\n${inObservation('<title>A</title>')}\n${inObservation('<title>B</title>')}\n`,
    withObservations({ title: 'A' }, { title: 'B' }),
  ],
  [
    'a thought inside an observation',
    inObservation('<title>A</title><thinking><facts><fact>x</fact></facts></thinking><facts><fact>b</fact></facts>'),
    withObservations({ title: 'A', facts: ['b'] }),
  ],
  [
    'a thought that was cut off behind an answer',
    `${inObservation('<title>A</title>')}<think>or ${inObservation('<title>X</title>')} and`,
    withObservations({ title: 'A' }),
  ],
  [
    'a comment that quotes',
    `<!-- ${inObservation('<title>X</title>')} -->${inObservation('<title>A</title>')}`,
    withObservations({ title: 'A' }),
  ],
  ['a comment without its end', `<!-- ${inObservation('<title>A</title>')}`, withObservations({ title: 'A' })],
  [
    'the grammar mentioned in backticks',
    `I use \`<observation>\` and \`<title>\`.\n${inObservation('<title>A</title>')}`,
    withObservations({ title: 'A' }),
  ],
  [
    'the grammar mentioned without',
    `An <observation> has a <title>.\n${inObservation('<title>A</title>')}`,
    withObservations({ title: 'A' }),
  ],
  [
    'the whole reply escaped',
    '&lt;observation&gt;&lt;title&gt;A &amp;lt; B&lt;/title&gt;&lt;/observation&gt;',
    withObservations({ title: 'A < B' }),
  ],
  [
    'an example repeated',
    inObservation(
      '<type>bugfix|feature</type><title>…</title><subtitle>...</subtitle><narrative></narrative><facts><fact>…</fact></facts><concepts><concept>gotcha</concept></concepts><files_read><file/></files_read>',
    ),
    emptyReply,
  ],
  ['an example of a summary', '<summary><request>…</request><notes/></summary>', emptyReply],
]

describe.each([
  ['well formed', WELL_FORMED],
  ['surroundings', AROUND],
])('reply.%s', (_, examples) => {
  test.each(examples)('%s', (_name, reply, expected) => {
    const parsed = parseReply(reply)
    expect(parsed).toEqual(expected)
    expect(isAnswer(parsed)).toBe(expected !== emptyReply)
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
    expect(parseReply(inObservation(`<type>${written}</type><title>A</title>`))).toEqual({
      ...withObservations({ title: 'A' }),
      observations: [{ ...withObservations({ title: 'A' }).observations[0], type }],
    })
  })
})
