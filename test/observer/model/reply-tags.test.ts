/** Tags as models write them, and tags that are never closed. */
import { describe, expect, test } from 'vitest'
import { isAnswer, parseReply } from '../../../src/observer/model/reply/index.ts'
import { type Example, nothing, observed, summed, within } from './parsed.ts'

const TAGS: Example[] = [
  [
    'upper case',
    '<OBSERVATION><TYPE>Feature</TYPE><Title>A</tITLE></OBSERVATION>',
    observed({ type: 'feature', title: 'A' }),
  ],
  ['spaces in tags', '< observation >< title >A</ title ></observation\n>', observed({ title: 'A' })],
  [
    'a namespace',
    '<mem:observation xmlns:mem="x"><mem:title>A</mem:title></mem:observation>',
    observed({ title: 'A' }),
  ],
  [
    'hyphens',
    '<summary><next-steps>A</next-steps><files-edited><file>a</file></files-edited></summary>',
    summed({ nextSteps: 'A', filesEdited: ['a'] }),
  ],
  [
    'camel case',
    '<summary><nextSteps>A</nextSteps><filesRead><file>a</file></filesRead></summary>',
    summed({ nextSteps: 'A', filesRead: ['a'] }),
  ],
  [
    'attributes for fields',
    '<observation type="decision" title="A &amp; B" subtitle=\'C\'/>',
    observed({ type: 'decision', title: 'A & B', subtitle: 'C' }),
  ],
  ['single quotes', '<skip reason=\'it is "routine"\'/>', { ...nothing, skip: 'it is "routine"' }],
  ['no quotes', '<skip reason=routine/>', { ...nothing, skip: 'routine' }],
  ['a reason as text', '<skip>only <b>listings</b></skip>', { ...nothing, skip: 'only listings' }],
  ['a reason as a child', '<skip><reason>routine</reason></skip>', { ...nothing, skip: 'routine' }],
  ['a skip that is not closed', 'Nothing here.\n<skip reason="routine">', { ...nothing, skip: 'routine' }],
  ['a skip without a reason', '<skip/>', { ...nothing, skip: 'no reason given' }],
  ['a skip in backticks', '`<skip reason="routine"/>`', { ...nothing, skip: 'routine' }],
  ['a skip that is only mentioned', 'I could <skip> this but I will not', nothing],
  ['a skip inside an observation', within('<skip reason="routine"/>'), { ...nothing, skip: 'routine' }],
  ['two skips', '<skip reason="a"/><skip reason="b"/><skip reason="a"/>', { ...nothing, skip: 'a; b' }],
  [
    'fields without a root',
    '<type>feature</type><title>A</title><facts><fact>b</fact></facts>',
    observed({ type: 'feature', title: 'A', facts: ['b'] }),
  ],
  [
    'observations without roots',
    '<type>feature</type><title>A</title>\n<type>bugfix</type><title>B</title>',
    observed({ type: 'feature', title: 'A' }, { type: 'bugfix', title: 'B' }),
  ],
  [
    'a root that only ends',
    '<type>feature</type><title>A</title></observation>',
    observed({ type: 'feature', title: 'A' }),
  ],
  ['HTML in prose', 'The page has <title>Shop</title> and <li>one</li>.', nothing],
  ['words without fields', within('The login was fixed.'), observed({ narrative: 'The login was fixed.' })],
  ['a summary of words', '<summary>Fixed the login.</summary>', summed({ completed: 'Fixed the login.' })],
  [
    'a summary inside an observation',
    within('<title>A</title><summary>It is b.</summary><facts><fact>c</fact></facts>'),
    observed({ title: 'A', narrative: 'It is b.', facts: ['c'] }),
  ],
  [
    'an observation in an observation',
    `<observation>${within('<title>A</title>')}</observation>`,
    observed({ title: 'A' }),
  ],
  [
    'a summary in pieces',
    '<summary><request>A</request></summary><summary><request>B</request><notes>C</notes></summary>',
    summed({ request: 'A', notes: 'C' }),
  ],
  [
    'a field twice',
    within('<title>A</title><title>B</title><narrative>C</narrative><narrative>D</narrative>'),
    observed({ title: 'A', narrative: 'C\n\nD' }),
  ],
  [
    'a list twice',
    within('<facts><fact>a</fact></facts><facts><fact>b</fact><fact>a</fact></facts>'),
    observed({ facts: ['a', 'b'] }),
  ],
  ['an empty title, then a title', within('<title></title><title>A</title>'), observed({ title: 'A' })],
  [
    'items without a list',
    within('<title>A</title><fact>b</fact><fact>c</fact><concept>d</concept>'),
    observed({ title: 'A', facts: ['b', 'c'], concepts: ['d'] }),
  ],
]

const UNCLOSED: Example[] = [
  [
    'an observation',
    '<observation><title>A</title><facts><fact>b</fact></facts>',
    observed({ title: 'A', facts: ['b'] }),
  ],
  [
    'every observation',
    '<observation><title>A</title><observation><title>B</title>',
    observed({ title: 'A' }, { title: 'B' }),
  ],
  ['a title', within('<title>A\n<subtitle>B</subtitle>'), observed({ title: 'A', subtitle: 'B' })],
  [
    'every field',
    within('<type>bugfix<title>A<narrative>B<facts><fact>c<fact>d'),
    observed({ type: 'bugfix', title: 'A', narrative: 'B', facts: ['c', 'd'] }),
  ],
  [
    'a narrative before the next observation',
    `<observation><narrative>A</observation>${within('<narrative>B</narrative>')}`,
    observed({ narrative: 'A' }, { narrative: 'B' }),
  ],
  [
    'a narrative and its observation',
    `<observation><narrative>A ${within('<title>T</title><narrative>B</narrative>')}`,
    observed({ narrative: 'A' }, { title: 'T', narrative: 'B' }),
  ],
  ['a narrative before a wrapper ends', '<response><observation><narrative>A</response>', observed({ narrative: 'A' })],
  ['a narrative before the fence ends', '```xml\n<observation><narrative>A\n```', observed({ narrative: 'A' })],
  [
    'a narrative that ends in a fence of its own',
    '<observation><narrative>Run:\n```\nls\n```',
    observed({ narrative: 'Run:\n```\nls\n```' }),
  ],
  ['an item', within('<facts><fact>a<fact>b</fact></facts>'), observed({ facts: ['a', 'b'] })],
  [
    'the last item',
    within('<facts><fact>a</fact><fact>b</facts><title>T</title>'),
    observed({ title: 'T', facts: ['a', 'b'] }),
  ],
  [
    'a list',
    within('<facts><fact>a</fact><concepts><concept>b</concept></concepts>'),
    observed({ facts: ['a'], concepts: ['b'] }),
  ],
  [
    'a list that is closed too late',
    within('<files_read><file>a</file><files_modified><file>b</file></files_modified></files_read>'),
    observed({ filesRead: ['a'], filesModified: ['b'] }),
  ],
  ['a tag without its slash', within('<title>A<title><subtitle>B<subtitle>'), observed({ title: 'A', subtitle: 'B' })],
  [
    'a tag closed by another',
    within('<title>A</subtitle><narrative>B</narrative>'),
    observed({ title: 'A', narrative: 'B' }),
  ],
  [
    'a closing tag without its bracket',
    within('<title>A</title\n<narrative>B</narrative>'),
    observed({ title: 'A', narrative: 'B' }),
  ],
  [
    'an opening tag without its bracket',
    within('<title\nA</title><narrative>B</narrative>'),
    observed({ title: 'A', narrative: 'B' }),
  ],
  ['an attribute', '<skip reason="routine', nothing],
  ['a tag cut off in its name', '<observation><narrative>A is b</narrat', observed({ narrative: 'A is b' })],
  ['a tag cut off at its bracket', '<observation><facts><fact>a</fact><fact>b<', observed({ facts: ['a', 'b'] })],
  [
    'a function cut off',
    '<observation><title>A</title><functions_changed><function name="f" file="a.ts" action="new"/><function na',
    observed({ title: 'A', functionsChanged: [{ name: 'f', file: 'a.ts', action: 'new' }] }),
  ],
]

describe.each([
  ['tags', TAGS],
  ['unclosed', UNCLOSED],
])('reply.%s', (_, examples) => {
  test.each(examples)('%s', (_name, reply, expected) => {
    const parsed = parseReply(reply)
    expect(parsed).toEqual(expected)
    expect(isAnswer(parsed)).toBe(expected !== nothing)
  })
})
