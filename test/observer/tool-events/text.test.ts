import { describe, expect, test } from 'vitest'
import { readCommitMessage } from '../../../src/observer/tool-events/commands/git.ts'
import { significantLines } from '../../../src/observer/tool-events/file-edit.ts'
import {
  clipAtWord,
  isTestFile,
  joinList,
  shortPath,
  splitSentences,
  statedReason,
} from '../../../src/observer/tool-events/text.ts'

describe('git.commit message', () => {
  test.each([
    ['git commit -m "Fix it"', 'Fix it'],
    ["git add -A && git commit -am 'Fix it'", 'Fix it'],
    ['git commit -m "Subject" -m "Body, because."', 'Subject\n\nBody, because.'],
    ["git commit -F - <<'EOF'\nSubject\n\nBody.\nEOF", 'Subject\n\nBody.'],
    ['git commit -m "$(cat <<\'EOF\'\nSubject\n\nBody.\nEOF\n)"', 'Subject\n\nBody.'],
    ['git commit -m "say \\"hi\\""', 'say "hi"'],
    ['git commit --amend --no-edit', null],
    ['echo -m "no"', null],
  ])('%s', (command, message) => {
    expect(readCommitMessage(command)).toBe(message)
  })
})

describe('file-edit.significant lines', () => {
  const quoted = (...lines: string[]) =>
    significantLines([{ oldStart: 1, newStart: 1, lines }]).map((line) => line.text)
  test('a small edit is shown as before and after', () => {
    expect(quoted('-  const retries = 3', '+  const retries = 5')).toEqual([
      '`const retries = 3` → `const retries = 5`',
    ])
  })
  test('a comment with a reason comes first in a large edit', () => {
    const lines = Array.from({ length: 6 }, (_, i) => `+  step${i}()`)
    expect(
      quoted('+  // The gateway rejects fractions of a cent.', '+  throw new RangeError("amount")', ...lines)[0],
    ).toBe('The gateway rejects fractions of a cent.')
  })
  test('imports, braces and blank lines are not significant', () => {
    expect(quoted('+import x from "y"', '+}', '+', '+  return')).toEqual([])
  })
})

describe('text', () => {
  test('sentences and list items are split, without Markdown and code blocks', () => {
    expect(
      splitSentences('## Done\n\n- **Fixed** the `total`. It was `NaN`.\n1. Next: [docs](x)\n```js\ncode()\n```'),
    ).toEqual(['Done', 'Fixed the `total`.', 'It was `NaN`.', 'Next: docs'])
  })
  test('paths are relative to the project', () => {
    expect(shortPath('/w/shop/src/a.ts', '/w/shop')).toBe('src/a.ts')
    expect(shortPath('C:\\w\\shop\\a.ts', 'C:\\w\\shop')).toBe('a.ts')
    expect(shortPath('/etc/nginx/sites/shop.conf', '/w/shop')).toBe('nginx/sites/shop.conf')
  })
  test('lists and truncated texts', () => {
    expect(joinList(['a', 'b', 'c'])).toBe('a, b and c')
    expect(joinList(['a', 'b', 'c', 'd', 'e', 'f'])).toBe('a, b, c, d and 2 more')
    expect(clipAtWord('one two three', 9)).toBe('one two…')
  })
  test.each([
    ['test/a.ts', true],
    ['src/cart_test.go', true],
    ['src/CartTests.cs', true],
    ['src/latest.ts', false],
    ['src/contest/a.ts', false],
  ])('%s is a test file: %s', (file, is) => {
    expect(isTestFile(file)).toBe(is)
  })
  test('the reason is quoted from the sentence', () => {
    expect(statedReason('Keep it, because the app needs it.')).toBe('because the app needs it')
    expect(statedReason('Keep it.')).toBeNull()
  })
})
