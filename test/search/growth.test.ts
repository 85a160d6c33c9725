/** Reading a query, a text and its Markdown takes time in proportion to their length. */
import { expect, test } from 'vitest'
import { withoutMarkdown } from '../../src/cli/commands/search.ts'
import { namesOfQuery } from '../../src/search/query.ts'
import { bestSentences } from '../../src/search/snippets.ts'
import { expectLinearTime } from '../support/linear-time.ts'

const HOSTILE = ['. ', '"', '`x', '_', 'a.', '| -', '\n', ' ', '。', '**', '#']

test.each(HOSTILE)('growth of %j', (piece) => {
  const work = (size: number) => {
    const text = piece.repeat(size)
    namesOfQuery(text)
    bestSentences([text], 400, (sentence) => sentence.length)
    withoutMarkdown(text)
  }
  expectLinearTime(work, 20_000)
  expect(namesOfQuery(piece.repeat(100)).length).toBeLessThan(9)
})
