import { describe, expect, test } from 'vitest'
import type { MemoryRecord } from '../../../src/store/exchange-records.ts'
import {
  exportMarkdown,
  type MarkdownSource,
  markdownCode,
  markdownLine,
  markdownLines,
} from '../../../src/transfer/exchange/markdown.ts'
import { observationRecord, promptRecord, summaryRecord } from '../../store/import-contract.ts'
import { PROJECT } from '../../store/samples.ts'

const at = (day: number, hour: number) => new Date(2026, 10, day, hour).getTime()

function textOf(memories: readonly (MemoryRecord & { at?: number; createdAt?: number })[]): string {
  const source: MarkdownSource = {
    projects: () => [PROJECT],
    moments: () =>
      memories.map((one, row) => ({ row, session: one.session, at: one.kind === 'prompt' ? one.at : one.createdAt })),
    memories: (rows) => rows.flatMap((row) => memories[row] ?? []),
  }
  return [...exportMarkdown(source, at(30, 12))].map(({ text }) => text).join('')
}

describe('exchange.markdown', () => {
  test('names the author of what somebody else learned, as text', () => {
    const author = { author: '<b>alice</b>\n# x', machine: 'laptop' }
    const text = textOf([
      observationRecord('a', { createdAt: at(1, 10), ...author }),
      summaryRecord('a', { createdAt: at(1, 11), ...author }),
    ])
    expect(text.match(/^- By: \\<b>alice\\<\/b> # x on laptop$/gm)).toHaveLength(2)
    expect(textOf([observationRecord('a', { createdAt: at(1, 10) })])).not.toContain('- By:')
  })

  test('is read by project, day and session', () => {
    const text = textOf([
      { ...promptRecord('a', 1), at: at(1, 9) },
      observationRecord('a', { createdAt: at(1, 10), narrative: 'Why:\n\nthe clock.' }),
      observationRecord('b', { createdAt: at(1, 11), title: null, subtitle: null, narrative: null }),
      summaryRecord('a', { createdAt: at(2, 8) }),
    ])
    expect(text).toBe(`# Memory, exported on Nov 30, 2026

## shop

\`git:/home/me/shop\`

### Nov 1, 2026

#### Session \`a\`

**09:00 Prompt 1**

> prompt 1

**10:00 🐛 Login fixed** (#7, bugfix)

Why:

the clock.

- tokens live an hour

- Concepts: auth
- Read: \`a.ts\`
- Functions: \`login\` in \`a.ts\` (modified)
- Observed by: claude-haiku-4-5

#### Session \`b\`

**11:00 🐛 (untitled)** (#7, bugfix)

- tokens live an hour

- Concepts: auth
- Read: \`a.ts\`
- Functions: \`login\` in \`a.ts\` (modified)
- Observed by: claude-haiku-4-5

### Nov 2, 2026

#### Session \`a\`

**08:00 Summary**

*Asked:* fix the login

*Learned:* tokens live an hour

*Done:* fixed

- Read: \`a.ts\`

`)
  })

  test.each([
    ['# heading\n---\n===', ['\\# heading', '\\---', '\\===']],
    ['- item\n1. one\n> quote\n| a |', ['\\- item', '1\\. one', '\\> quote', '\\| a |']],
    ['```js\nx\n```', ['&#96;&#96;&#96;js', 'x', '&#96;&#96;&#96;']],
    ['    indented', ['indented']],
    ['<script>x</script> ![p](http://e/p.png) &lt;', ['\\<script>x\\</script> !\\[p\\](http://e/p.png) \\&lt;']],
    ['a `Map<string, a[0]>` and <b>', ['a `Map<string, a[0]>` and \\<b>']],
    // Where a code span begins and ends is in doubt: nothing is left as it is.
    ['open ` here\na` <b> `c`', ['open ` here', 'a` \\<b> `c`']],
    ['\\`<b>`', ['\\`\\<b>`']],
    ['one\r\n\r\n\r\n\r\ntwo', ['one', '', 'two']],
    ['\x1b[2J\u202e', ['\\u001b\\[2J\\u202e']],
    [' \n ', []],
  ])('%j is text and nothing else', (given, lines) => {
    expect(markdownLines(given)).toEqual(lines)
  })

  test('a title is one line, and a path is what it is', () => {
    expect(markdownLine('# a\nb\t<i>')).toBe('\\# a b \\<i>')
    expect(markdownCode('a`b``c')).toBe('```a`b``c```')
    expect(markdownCode('`')).toBe('`` ` ``')
    expect(markdownLine('`'.repeat(60_000))).toHaveLength(60_000 + 4 * 60_000)
  })
})
