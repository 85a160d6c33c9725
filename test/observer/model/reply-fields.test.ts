/** Content of fields and lists. */
import { describe, expect, test } from 'vitest'
import { isAnswer, parseReply } from '../../../src/observer/model/reply/index.ts'
import { emptyReply, inObservation, type ReplyExample, withObservations } from './expected-reply.ts'

const TEXT: ReplyExample[] = [
  [
    'a text instead of a narrative',
    inObservation('<title>A</title><text>The login was fixed.</text>'),
    withObservations({ title: 'A', narrative: 'The login was fixed.' }),
  ],
  [
    'comparisons',
    inObservation('<narrative>a < b && c > d, x <= y, 1 <2</narrative>'),
    withObservations({ narrative: 'a < b && c > d, x <= y, 1 <2' }),
  ],
  [
    'generics',
    inObservation('<title>Map<string, number> for Set<T></title>'),
    withObservations({ title: 'Map<string, number> for Set<T>' }),
  ],
  [
    'JSX',
    inObservation('<narrative>Renders <App title={x} /> in <Suspense></narrative>'),
    withObservations({ narrative: 'Renders <App title={x} /> in <Suspense>' }),
  ],
  [
    'HTML with the names of fields',
    inObservation(
      '<narrative>Set <title>Shop</title>, a <summary> in <details> and <file name="x"/>.</narrative><facts><fact>The <type> and </title> tags</fact></facts>',
    ),
    withObservations({
      narrative: 'Set <title>Shop</title>, a <summary> in <details> and <file name="x"/>.',
      facts: ['The <type> and </title> tags'],
    }),
  ],
  [
    'the grammar itself',
    inObservation(
      '<narrative>The parser reads <observation><title>x</title></observation> now</narrative><title>A</title>',
    ),
    withObservations({ title: 'A', narrative: 'The parser reads <observation><title>x</title></observation> now' }),
  ],
  [
    'its own tag',
    inObservation('<narrative>The <narrative> tag</narrative><title>The <title></title> pair</title>'),
    withObservations({ title: 'The <title></title> pair', narrative: 'The <narrative> tag' }),
  ],
  [
    'its own tag in backticks',
    inObservation('<narrative>From `<narrative>` to `</narrative>` it is text</narrative>'),
    withObservations({ narrative: 'From `<narrative>` to `</narrative>` it is text' }),
  ],
  [
    'a mention in a text that was cut off',
    '<observation><title>A</title><narrative>Puts <title> into the he',
    withObservations({ title: 'A', narrative: 'Puts <title> into the he' }),
  ],
  [
    'entities',
    inObservation('<title>&lt;a&gt; &amp; &quot;b&quot; &apos;c&apos; &#39;d&#39; &#x1F600;</title>'),
    withObservations({ title: "<a> & \"b\" 'c' 'd' 😀" }),
  ],
  [
    'entities that are none',
    inObservation('<title>&foo; &#xZZ; &#99999999; &#xD800; &amp a&b &#0;</title>'),
    withObservations({ title: '&foo; &#xZZ; &#99999999; &#xD800; &amp a&b &#0;' }),
  ],
  [
    'entities of entities',
    inObservation('<title>&amp;lt; and &amp;amp;</title>'),
    withObservations({ title: '&lt; and &amp;' }),
  ],
  [
    'CDATA',
    inObservation('<narrative><![CDATA[a </narrative> <title>x</title> &amp; b]]></narrative><title>A</title>'),
    withObservations({ title: 'A', narrative: 'a </narrative> <title>x</title> &amp; b' }),
  ],
  [
    'CDATA in pieces',
    inObservation('<title><![CDATA[a ]]]]><![CDATA[> b]]></title>'),
    withObservations({ title: 'a ]]> b' }),
  ],
  [
    'the marks of a comment',
    'With `<!--` the <observation><title>Comments begin with <!--</title><facts>They end with --> too</facts></observation>',
    withObservations({ title: 'Comments begin with <!--', facts: ['They end with --> too'] }),
  ],
  [
    'CDATA without a field',
    inObservation('<![CDATA[The <title> & the rest]]>'),
    withObservations({ narrative: 'The <title> & the rest' }),
  ],
  [
    'CDATA without its end',
    inObservation('<title><![CDATA[a</title><narrative><![CDATA[b]]></narrative>'),
    withObservations({ title: 'a', narrative: 'b' }),
  ],
  [
    'control characters',
    inObservation('<title>\u001b[31mred\u001b[0m\u0000 \u0007bell&#27;</title><narrative>a\r\nb\rc</narrative>'),
    withObservations({ title: 'red bell', narrative: 'a\nb\nc' }),
  ],
  ['half a character', inObservation('<title>a\ud83d</title>'), withObservations({ title: 'a\ufffd' })],
  ['a title over lines', inObservation('<title>\n  A\n  b\t c\n</title>'), withObservations({ title: 'A b c' })],
  [
    'a template in a narrative',
    inObservation('<narrative>see $& $1 \\1 %s {{y}}</narrative>'),
    withObservations({ narrative: 'see $& $1 \\1 %s {{y}}' }),
  ],
  [
    'placeholders',
    inObservation(
      '<title>A</title><subtitle>N/A</subtitle><narrative>None.</narrative><facts><fact>none</fact><fact>-</fact><fact>null</fact><fact>(none)</fact></facts><files_read>[none]</files_read>',
    ),
    withObservations({ title: 'A' }),
  ],
]

const LISTS: ReplyExample[] = [
  [
    'JSON',
    inObservation('<facts>["a, b", "c \\"d\\""]</facts><concepts>["x","y"]</concepts><files_read>[]</files_read>'),
    withObservations({ facts: ['a, b', 'c "d"'], concepts: ['x', 'y'] }),
  ],
  [
    'JSON in a fence',
    inObservation('<facts>\n```json\n[\n "a",\n "b"\n]\n```\n</facts>'),
    withObservations({ facts: ['a', 'b'] }),
  ],
  [
    'JSON with escaped quotes',
    inObservation('<facts>[&quot;a&quot;, &quot;b&quot;]</facts>'),
    withObservations({ facts: ['a', 'b'] }),
  ],
  ['JSON that was cut off', '<observation><facts>["a", "b", "c is', withObservations({ facts: ['a', 'b', 'c is'] })],
  ['JSON with a comma too many', inObservation('<facts>["a", "b",]</facts>'), withObservations({ facts: ['a', 'b'] })],
  ["Python's quotes", inObservation("<facts>['a', 'b']</facts>"), withObservations({ facts: ['a', 'b'] })],
  [
    'JSON of objects',
    inObservation(
      '<files_modified>[{"path":"a.ts"}]</files_modified><functions_changed>[{"name":"f","file":"a.ts","action":"added"}]</functions_changed>',
    ),
    withObservations({ filesModified: ['a.ts'], functionsChanged: [{ name: 'f', file: 'a.ts', action: 'new' }] }),
  ],
  [
    'JSON of anything',
    inObservation('<facts>[1, null, ["b"], {}, "c"]</facts>'),
    withObservations({ facts: ['1', 'b', 'c'] }),
  ],
  [
    'what only looks like JSON',
    inObservation('<facts>[x] done\n[ ] open</facts>'),
    withObservations({ facts: ['[x] done', '[ ] open'] }),
  ],
  [
    'bullets',
    inObservation('<facts>\n- a\n* b\n• c\n1. d\n2) e\n</facts>'),
    withObservations({ facts: ['a', 'b', 'c', 'd', 'e'] }),
  ],
  [
    'lines',
    inObservation('<facts>\na, b\n\nc\n</facts><files_read>a.ts\nb.ts</files_read>'),
    withObservations({ facts: ['a, b', 'c'], filesRead: ['a.ts', 'b.ts'] }),
  ],
  [
    'commas',
    inObservation('<title>A</title><concepts>gotcha, Trade Off,pattern</concepts><files_read>a.ts, b.ts</files_read>'),
    withObservations({ title: 'A', concepts: ['gotcha', 'trade-off', 'pattern'], filesRead: ['a.ts', 'b.ts'] }),
  ],
  [
    'lines between items',
    inObservation('<facts>- a\n<fact>b</fact>\n- c</facts>'),
    withObservations({ facts: ['a', 'b', 'c'] }),
  ],
  [
    'foreign items',
    inObservation('<facts><item>a</item><li>b</li>\n<entry id="1">c</entry></facts>'),
    withObservations({ facts: ['a', 'b', 'c'] }),
  ],
  [
    'bullets with tags in them',
    inObservation('<facts>- the <title> element\n- the <file> one</facts>'),
    withObservations({ facts: ['the <title> element', 'the <file> one'] }),
  ],
  [
    'files as attributes',
    inObservation('<files_read><file path="a.ts"/><file name=\'b.ts\'></file><path>c.ts</path></files_read>'),
    withObservations({ filesRead: ['a.ts', 'b.ts', 'c.ts'] }),
  ],
  [
    'files with marks around',
    inObservation(
      '<files_read><file>`a.ts`</file><file> "b c.ts" </file><file>- d.ts</file><file>C:\\e\\f.ts</file></files_read>',
    ),
    withObservations({ filesRead: ['a.ts', 'b c.ts', 'd.ts', 'C:\\e\\f.ts'] }),
  ],
  [
    'several files in one tag',
    inObservation('<files_read><file>a.ts\nb.ts</file></files_read>'),
    withObservations({ filesRead: ['a.ts', 'b.ts'] }),
  ],
  [
    'functions in every way',
    inObservation(
      '<functions_changed><function name="a" file="x.ts" action="new"/><function file="x.ts" action="Deleted">`b<T>()`</function><function><name>c</name><file>y.ts</file><action>created</action></function><function>d</function></functions_changed>',
    ),
    withObservations({
      functionsChanged: [
        { name: 'a', file: 'x.ts', action: 'new' },
        { name: 'b<T>()', file: 'x.ts', action: 'deleted' },
        { name: 'c', file: 'y.ts', action: 'new' },
        { name: 'd', file: '', action: 'modified' },
      ],
    }),
  ],
  [
    'a function with brackets in its attribute',
    inObservation('<functions_changed><function name="get<K, V>" file="a.ts" action="modified"/></functions_changed>'),
    withObservations({ functionsChanged: [{ name: 'get<K, V>', file: 'a.ts', action: 'modified' }] }),
  ],
  [
    'a function without a name',
    inObservation('<title>A</title><functions_changed><function file="a.ts" action="new"/></functions_changed>'),
    withObservations({ title: 'A' }),
  ],
  [
    'concepts as they come',
    inObservation(
      '<title>A</title><concepts><concept>How It Works</concept><concept>how-it-works</concept><concept>`why_it_exists`</concept><concept>#gotcha.</concept><concept>my own</concept></concepts>',
    ),
    withObservations({ title: 'A', concepts: ['how-it-works', 'why-it-exists', 'gotcha', 'my-own'] }),
  ],
  [
    'types among the concepts',
    inObservation('<type>bugfix</type><title>A</title><concepts>bugfix, Bug Fix, discovery, gotcha</concepts>'),
    withObservations({ type: 'bugfix', title: 'A', concepts: ['gotcha'] }),
  ],
  [
    'empty lists',
    inObservation('<title>A</title><facts/><concepts></concepts><files_read><file></file></files_read>'),
    withObservations({ title: 'A' }),
  ],
]

describe.each([
  ['text', TEXT],
  ['lists', LISTS],
])('reply.%s', (_, examples) => {
  test.each(examples)('%s', (_name, reply, expected) => {
    const parsed = parseReply(reply)
    expect(parsed).toEqual(expected)
    expect(isAnswer(parsed)).toBe(expected !== emptyReply)
  })
})
