/** Spellings of tags, and tags that are never closed. */
import { describe, expect, test } from 'vitest'
import { isAnswer, parseReply } from '../../../src/observer/model/reply/index.ts'
import { emptyReply, inObservation, type ReplyExample, withObservations, withSummary } from './expected-reply.ts'

const TAGS: ReplyExample[] = [
  [
    'upper case',
    '<OBSERVATION><TYPE>Feature</TYPE><Title>A</tITLE></OBSERVATION>',
    withObservations({ type: 'feature', title: 'A' }),
  ],
  ['spaces in tags', '< observation >< title >A</ title ></observation\n>', withObservations({ title: 'A' })],
  [
    'a namespace',
    '<mem:observation xmlns:mem="x"><mem:title>A</mem:title></mem:observation>',
    withObservations({ title: 'A' }),
  ],
  [
    'hyphens',
    '<summary><next-steps>A</next-steps><files-edited><file>a</file></files-edited></summary>',
    withSummary({ nextSteps: 'A', filesEdited: ['a'] }),
  ],
  [
    'camel case',
    '<summary><nextSteps>A</nextSteps><filesRead><file>a</file></filesRead></summary>',
    withSummary({ nextSteps: 'A', filesRead: ['a'] }),
  ],
  [
    'attributes for fields',
    '<observation type="decision" title="A &amp; B" subtitle=\'C\'/>',
    withObservations({ type: 'decision', title: 'A & B', subtitle: 'C' }),
  ],
  ['single quotes', '<skip reason=\'it is "routine"\'/>', { ...emptyReply, skip: 'it is "routine"' }],
  ['no quotes', '<skip reason=routine/>', { ...emptyReply, skip: 'routine' }],
  ['a reason as text', '<skip>only <b>listings</b></skip>', { ...emptyReply, skip: 'only listings' }],
  ['a reason as a child', '<skip><reason>routine</reason></skip>', { ...emptyReply, skip: 'routine' }],
  ['a skip that is not closed', 'Nothing here.\n<skip reason="routine">', { ...emptyReply, skip: 'routine' }],
  ['a skip without a reason', '<skip/>', { ...emptyReply, skip: 'no reason given' }],
  ['a skip in backticks', '`<skip reason="routine"/>`', { ...emptyReply, skip: 'routine' }],
  ['a skip that is only mentioned', 'I could <skip> this but I will not', emptyReply],
  ['a skip inside an observation', inObservation('<skip reason="routine"/>'), { ...emptyReply, skip: 'routine' }],
  ['two skips', '<skip reason="a"/><skip reason="b"/><skip reason="a"/>', { ...emptyReply, skip: 'a; b' }],
  [
    'fields without a root',
    '<type>feature</type><title>A</title><facts><fact>b</fact></facts>',
    withObservations({ type: 'feature', title: 'A', facts: ['b'] }),
  ],
  [
    'observations without roots',
    '<type>feature</type><title>A</title>\n<type>bugfix</type><title>B</title>',
    withObservations({ type: 'feature', title: 'A' }, { type: 'bugfix', title: 'B' }),
  ],
  [
    'a root that only ends',
    '<type>feature</type><title>A</title></observation>',
    withObservations({ type: 'feature', title: 'A' }),
  ],
  ['HTML in prose', 'The page has <title>Shop</title> and <li>one</li>.', emptyReply],
  [
    'words without fields',
    inObservation('The login was fixed.'),
    withObservations({ narrative: 'The login was fixed.' }),
  ],
  ['a summary of words', '<summary>Fixed the login.</summary>', withSummary({ completed: 'Fixed the login.' })],
  [
    'a summary inside an observation',
    inObservation('<title>A</title><summary>It is b.</summary><facts><fact>c</fact></facts>'),
    withObservations({ title: 'A', narrative: 'It is b.', facts: ['c'] }),
  ],
  [
    'an observation in an observation',
    `<observation>${inObservation('<title>A</title>')}</observation>`,
    withObservations({ title: 'A' }),
  ],
  [
    'a summary in pieces',
    '<summary><request>A</request></summary><summary><request>B</request><notes>C</notes></summary>',
    withSummary({ request: 'A', notes: 'C' }),
  ],
  [
    'a field twice',
    inObservation('<title>A</title><title>B</title><narrative>C</narrative><narrative>D</narrative>'),
    withObservations({ title: 'A', narrative: 'C\n\nD' }),
  ],
  [
    'a list twice',
    inObservation('<facts><fact>a</fact></facts><facts><fact>b</fact><fact>a</fact></facts>'),
    withObservations({ facts: ['a', 'b'] }),
  ],
  ['an empty title, then a title', inObservation('<title></title><title>A</title>'), withObservations({ title: 'A' })],
  [
    'items without a list',
    inObservation('<title>A</title><fact>b</fact><fact>c</fact><concept>d</concept>'),
    withObservations({ title: 'A', facts: ['b', 'c'], concepts: ['d'] }),
  ],
]

const UNCLOSED: ReplyExample[] = [
  [
    'an observation',
    '<observation><title>A</title><facts><fact>b</fact></facts>',
    withObservations({ title: 'A', facts: ['b'] }),
  ],
  [
    'every observation',
    '<observation><title>A</title><observation><title>B</title>',
    withObservations({ title: 'A' }, { title: 'B' }),
  ],
  ['a title', inObservation('<title>A\n<subtitle>B</subtitle>'), withObservations({ title: 'A', subtitle: 'B' })],
  [
    'every field',
    inObservation('<type>bugfix<title>A<narrative>B<facts><fact>c<fact>d'),
    withObservations({ type: 'bugfix', title: 'A', narrative: 'B', facts: ['c', 'd'] }),
  ],
  [
    'a narrative before the next observation',
    `<observation><narrative>A</observation>${inObservation('<narrative>B</narrative>')}`,
    withObservations({ narrative: 'A' }, { narrative: 'B' }),
  ],
  [
    'a narrative and its observation',
    `<observation><narrative>A ${inObservation('<title>T</title><narrative>B</narrative>')}`,
    withObservations({ narrative: 'A' }, { title: 'T', narrative: 'B' }),
  ],
  [
    'a narrative before a wrapper ends',
    '<response><observation><narrative>A</response>',
    withObservations({ narrative: 'A' }),
  ],
  ['a narrative before the fence ends', '```xml\n<observation><narrative>A\n```', withObservations({ narrative: 'A' })],
  [
    'a narrative that ends in a fence of its own',
    '<observation><narrative>Run:\n```\nls\n```',
    withObservations({ narrative: 'Run:\n```\nls\n```' }),
  ],
  ['an item', inObservation('<facts><fact>a<fact>b</fact></facts>'), withObservations({ facts: ['a', 'b'] })],
  [
    'the last item',
    inObservation('<facts><fact>a</fact><fact>b</facts><title>T</title>'),
    withObservations({ title: 'T', facts: ['a', 'b'] }),
  ],
  [
    'a list',
    inObservation('<facts><fact>a</fact><concepts><concept>b</concept></concepts>'),
    withObservations({ facts: ['a'], concepts: ['b'] }),
  ],
  [
    'a list that is closed too late',
    inObservation('<files_read><file>a</file><files_modified><file>b</file></files_modified></files_read>'),
    withObservations({ filesRead: ['a'], filesModified: ['b'] }),
  ],
  [
    'a tag without its slash',
    inObservation('<title>A<title><subtitle>B<subtitle>'),
    withObservations({ title: 'A', subtitle: 'B' }),
  ],
  [
    'a tag closed by another',
    inObservation('<title>A</subtitle><narrative>B</narrative>'),
    withObservations({ title: 'A', narrative: 'B' }),
  ],
  [
    'a closing tag without its bracket',
    inObservation('<title>A</title\n<narrative>B</narrative>'),
    withObservations({ title: 'A', narrative: 'B' }),
  ],
  [
    'an opening tag without its bracket',
    inObservation('<title\nA</title><narrative>B</narrative>'),
    withObservations({ title: 'A', narrative: 'B' }),
  ],
  ['an attribute', '<skip reason="routine', emptyReply],
  [
    'a quote',
    `<observation from="1>\n<title>A</title></observation>\n<observation from="2"><title>B</title></observation>`,
    withObservations({ title: 'A', from: [1] }, { title: 'B', from: [2] }),
  ],
  ['a tag cut off in its name', '<observation><narrative>A is b</narrat', withObservations({ narrative: 'A is b' })],
  [
    'a tag cut off at its bracket',
    '<observation><facts><fact>a</fact><fact>b<',
    withObservations({ facts: ['a', 'b'] }),
  ],
  [
    'a function cut off',
    '<observation><title>A</title><functions_changed><function name="f" file="a.ts" action="new"/><function na',
    withObservations({ title: 'A', functionsChanged: [{ name: 'f', file: 'a.ts', action: 'new' }] }),
  ],
]

describe.each([
  ['tags', TAGS],
  ['unclosed', UNCLOSED],
])('reply.%s', (_, examples) => {
  test.each(examples)('%s', (_name, reply, expected) => {
    const parsed = parseReply(reply)
    expect(parsed).toEqual(expected)
    expect(isAnswer(parsed)).toBe(expected !== emptyReply)
  })
})
