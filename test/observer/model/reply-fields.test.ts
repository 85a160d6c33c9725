/** What models write inside the fields. */
import { describe, expect, test } from 'vitest'
import { isAnswer, parseReply } from '../../../src/observer/model/reply/index.ts'
import { type Example, nothing, observed, within } from './parsed.ts'

const TEXT: Example[] = [
  [
    'comparisons',
    within('<narrative>a < b && c > d, x <= y, 1 <2</narrative>'),
    observed({ narrative: 'a < b && c > d, x <= y, 1 <2' }),
  ],
  [
    'generics',
    within('<title>Map<string, number> for Set<T></title>'),
    observed({ title: 'Map<string, number> for Set<T>' }),
  ],
  [
    'JSX',
    within('<narrative>Renders <App title={x} /> in <Suspense></narrative>'),
    observed({ narrative: 'Renders <App title={x} /> in <Suspense>' }),
  ],
  [
    'HTML with the names of fields',
    within(
      '<narrative>Set <title>Shop</title>, a <summary> in <details> and <file name="x"/>.</narrative><facts><fact>The <type> and </title> tags</fact></facts>',
    ),
    observed({
      narrative: 'Set <title>Shop</title>, a <summary> in <details> and <file name="x"/>.',
      facts: ['The <type> and </title> tags'],
    }),
  ],
  [
    'the grammar itself',
    within('<narrative>The parser reads <observation><title>x</title></observation> now</narrative><title>A</title>'),
    observed({ title: 'A', narrative: 'The parser reads <observation><title>x</title></observation> now' }),
  ],
  [
    'its own tag',
    within('<narrative>The <narrative> tag</narrative><title>The <title></title> pair</title>'),
    observed({ title: 'The <title></title> pair', narrative: 'The <narrative> tag' }),
  ],
  [
    'its own tag in backticks',
    within('<narrative>From `<narrative>` to `</narrative>` it is text</narrative>'),
    observed({ narrative: 'From `<narrative>` to `</narrative>` it is text' }),
  ],
  [
    'a mention in a text that was cut off',
    '<observation><title>A</title><narrative>Puts <title> into the he',
    observed({ title: 'A', narrative: 'Puts <title> into the he' }),
  ],
  [
    'entities',
    within('<title>&lt;a&gt; &amp; &quot;b&quot; &apos;c&apos; &#39;d&#39; &#x1F600;</title>'),
    observed({ title: "<a> & \"b\" 'c' 'd' 😀" }),
  ],
  [
    'entities that are none',
    within('<title>&foo; &#xZZ; &#99999999; &#xD800; &amp a&b &#0;</title>'),
    observed({ title: '&foo; &#xZZ; &#99999999; &#xD800; &amp a&b &#0;' }),
  ],
  ['entities of entities', within('<title>&amp;lt; and &amp;amp;</title>'), observed({ title: '&lt; and &amp;' })],
  [
    'CDATA',
    within('<narrative><![CDATA[a </narrative> <title>x</title> &amp; b]]></narrative><title>A</title>'),
    observed({ title: 'A', narrative: 'a </narrative> <title>x</title> &amp; b' }),
  ],
  ['CDATA in pieces', within('<title><![CDATA[a ]]]]><![CDATA[> b]]></title>'), observed({ title: 'a ]]> b' })],
  [
    'CDATA without its end',
    within('<title><![CDATA[a</title><narrative><![CDATA[b]]></narrative>'),
    observed({ title: 'a', narrative: 'b' }),
  ],
  [
    'control characters',
    within('<title>\u001b[31mred\u001b[0m\u0000 \u0007bell&#27;</title><narrative>a\r\nb\rc</narrative>'),
    observed({ title: 'red bell', narrative: 'a\nb\nc' }),
  ],
  ['half a character', within('<title>a\ud83d</title>'), observed({ title: 'a\ufffd' })],
  ['a title over lines', within('<title>\n  A\n  b\t c\n</title>'), observed({ title: 'A b c' })],
  [
    'a template in a narrative',
    within('<narrative>see $& $1 \\1 %s {{y}}</narrative>'),
    observed({ narrative: 'see $& $1 \\1 %s {{y}}' }),
  ],
  [
    'placeholders',
    within(
      '<title>A</title><subtitle>N/A</subtitle><narrative>None.</narrative><facts><fact>none</fact><fact>-</fact><fact>null</fact><fact>(none)</fact></facts><files_read>[none]</files_read>',
    ),
    observed({ title: 'A' }),
  ],
]

const LISTS: Example[] = [
  [
    'JSON',
    within('<facts>["a, b", "c \\"d\\""]</facts><concepts>["x","y"]</concepts><files_read>[]</files_read>'),
    observed({ facts: ['a, b', 'c "d"'], concepts: ['x', 'y'] }),
  ],
  ['JSON in a fence', within('<facts>\n```json\n[\n "a",\n "b"\n]\n```\n</facts>'), observed({ facts: ['a', 'b'] })],
  [
    'JSON with escaped quotes',
    within('<facts>[&quot;a&quot;, &quot;b&quot;]</facts>'),
    observed({ facts: ['a', 'b'] }),
  ],
  ['JSON that was cut off', '<observation><facts>["a", "b", "c is', observed({ facts: ['a', 'b', 'c is'] })],
  ['JSON with a comma too many', within('<facts>["a", "b",]</facts>'), observed({ facts: ['a', 'b'] })],
  ["Python's quotes", within("<facts>['a', 'b']</facts>"), observed({ facts: ['a', 'b'] })],
  [
    'JSON of objects',
    within(
      '<files_modified>[{"path":"a.ts"}]</files_modified><functions_changed>[{"name":"f","file":"a.ts","action":"added"}]</functions_changed>',
    ),
    observed({ filesModified: ['a.ts'], functionsChanged: [{ name: 'f', file: 'a.ts', action: 'new' }] }),
  ],
  ['JSON of anything', within('<facts>[1, null, ["b"], {}, "c"]</facts>'), observed({ facts: ['1', 'b', 'c'] })],
  [
    'what only looks like JSON',
    within('<facts>[x] done\n[ ] open</facts>'),
    observed({ facts: ['[x] done', '[ ] open'] }),
  ],
  ['bullets', within('<facts>\n- a\n* b\n• c\n1. d\n2) e\n</facts>'), observed({ facts: ['a', 'b', 'c', 'd', 'e'] })],
  [
    'lines',
    within('<facts>\na, b\n\nc\n</facts><files_read>a.ts\nb.ts</files_read>'),
    observed({ facts: ['a, b', 'c'], filesRead: ['a.ts', 'b.ts'] }),
  ],
  [
    'commas',
    within('<title>A</title><concepts>gotcha, Trade Off,pattern</concepts><files_read>a.ts, b.ts</files_read>'),
    observed({ title: 'A', concepts: ['gotcha', 'trade-off', 'pattern'], filesRead: ['a.ts', 'b.ts'] }),
  ],
  ['lines between items', within('<facts>- a\n<fact>b</fact>\n- c</facts>'), observed({ facts: ['a', 'b', 'c'] })],
  [
    'foreign items',
    within('<facts><item>a</item><li>b</li>\n<entry id="1">c</entry></facts>'),
    observed({ facts: ['a', 'b', 'c'] }),
  ],
  [
    'bullets with tags in them',
    within('<facts>- the <title> element\n- the <file> one</facts>'),
    observed({ facts: ['the <title> element', 'the <file> one'] }),
  ],
  [
    'files as attributes',
    within('<files_read><file path="a.ts"/><file name=\'b.ts\'></file><path>c.ts</path></files_read>'),
    observed({ filesRead: ['a.ts', 'b.ts', 'c.ts'] }),
  ],
  [
    'files with marks around',
    within(
      '<files_read><file>`a.ts`</file><file> "b c.ts" </file><file>- d.ts</file><file>C:\\e\\f.ts</file></files_read>',
    ),
    observed({ filesRead: ['a.ts', 'b c.ts', 'd.ts', 'C:\\e\\f.ts'] }),
  ],
  [
    'several files in one tag',
    within('<files_read><file>a.ts\nb.ts</file></files_read>'),
    observed({ filesRead: ['a.ts', 'b.ts'] }),
  ],
  [
    'functions in every way',
    within(
      '<functions_changed><function name="a" file="x.ts" action="new"/><function file="x.ts" action="Deleted">`b<T>()`</function><function><name>c</name><file>y.ts</file><action>created</action></function><function>d</function></functions_changed>',
    ),
    observed({
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
    within('<functions_changed><function name="get<K, V>" file="a.ts" action="modified"/></functions_changed>'),
    observed({ functionsChanged: [{ name: 'get<K, V>', file: 'a.ts', action: 'modified' }] }),
  ],
  [
    'a function without a name',
    within('<title>A</title><functions_changed><function file="a.ts" action="new"/></functions_changed>'),
    observed({ title: 'A' }),
  ],
  [
    'concepts as they come',
    within(
      '<title>A</title><concepts><concept>How It Works</concept><concept>how-it-works</concept><concept>`why_it_exists`</concept><concept>#gotcha.</concept><concept>my own</concept></concepts>',
    ),
    observed({ title: 'A', concepts: ['how-it-works', 'why-it-exists', 'gotcha', 'my-own'] }),
  ],
  [
    'types among the concepts',
    within('<type>bugfix</type><title>A</title><concepts>bugfix, Bug Fix, discovery, gotcha</concepts>'),
    observed({ type: 'bugfix', title: 'A', concepts: ['gotcha'] }),
  ],
  [
    'empty lists',
    within('<title>A</title><facts/><concepts></concepts><files_read><file></file></files_read>'),
    observed({ title: 'A' }),
  ],
]

describe.each([
  ['text', TEXT],
  ['lists', LISTS],
])('reply.%s', (_, examples) => {
  test.each(examples)('%s', (_name, reply, expected) => {
    const parsed = parseReply(reply)
    expect(parsed).toEqual(expected)
    expect(isAnswer(parsed)).toBe(expected !== nothing)
  })
})
