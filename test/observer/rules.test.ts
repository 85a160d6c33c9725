/** One table of examples a rule. */
import { describe, expect, test } from 'vitest'
import { commitMessageIn } from '../../src/observer/offline/commit-message.ts'
import { decisionsIn, reasonIn, rulesIn } from '../../src/observer/offline/decisions.ts'
import { tellingLines } from '../../src/observer/offline/telling.ts'
import { cut, isTestFile, listed, sentencesOf, shortPath } from '../../src/observer/offline/text.ts'
import { requestTitle, titleOf, withoutLabel } from '../../src/observer/offline/titles.ts'

describe('rules.decisions', () => {
  test.each([
    'We use PostgreSQL instead of MySQL because of JSONB.',
    'I chose a mutex rather than a channel.',
    "Let's keep the old endpoint, since the app still calls it.",
    'Decided to drop IE support.',
    'Switched from moment to date-fns because it is smaller.',
    'Do not cache tokens, otherwise logout breaks.',
  ])('%s is one', (sentence) => {
    expect(decisionsIn(sentence)).toEqual([sentence])
  })
  test.each([
    'Should I use Redis instead of a map?',
    'All tests pass.',
    'If you prefer, I can use Redis instead.',
    'I fixed the login.',
  ])('%s is none', (sentence) => {
    expect(decisionsIn(sentence)).toEqual([])
  })
  test.each([
    'Stay with three box blurs, they are cheap.',
    'No regex crate please: the tool is vendored.',
    'I want it small because it ships to phones.',
  ])('a user who says "%s" lays it down', (sentence) => {
    expect(rulesIn(sentence)).toEqual([sentence])
  })
  test('the reason is its own words', () => {
    expect(reasonIn('Keep it, because the app needs it.')).toBe('because the app needs it')
    expect(reasonIn('Keep it.')).toBeNull()
  })
})

describe('rules.titles', () => {
  test.each([
    ['please fix the login page', 'Fix the login page'],
    ['Can you add a --dry-run flag to the importer?', 'Add a --dry-run flag to the importer'],
    ["OK, let's rename Cart to Basket everywhere. And commit.", 'Rename Cart to Basket everywhere'],
    ['The login is broken', null],
    ['why?', null],
    ['', null],
  ])('"%s" asks for %s', (prompt, title) => {
    expect(requestTitle(prompt)).toBe(title)
  })
  test.each([
    ['one two three four five six seven eight nine ten', 'One two three four five six seven eight nine'],
    ['fix it.', 'Fix it'],
    ['add \u001b[31mred\u001b[0m\nthings', 'Add red things'],
    ['change the total of the', 'Change the total'],
  ])('"%s" becomes "%s"', (text, title) => {
    expect(titleOf(text)).toBe(title)
  })
  test('a label says nothing', () => {
    expect(withoutLabel('fix(cart)!: round totals')).toBe('round totals')
  })
})

describe('rules.commit message', () => {
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
    expect(commitMessageIn(command)).toBe(message)
  })
})

describe('rules.telling lines', () => {
  const told = (...lines: string[]) => tellingLines([{ oldStart: 1, newStart: 1, lines }]).map((line) => line.text)
  test('a small edit is told as before and after', () => {
    expect(told('-  const retries = 3', '+  const retries = 5')).toEqual(['`const retries = 3` → `const retries = 5`'])
  })
  test('a comment that says why comes first in a large one', () => {
    const lines = Array.from({ length: 6 }, (_, i) => `+  step${i}()`)
    expect(
      told('+  // The gateway rejects fractions of a cent.', '+  throw new RangeError("amount")', ...lines)[0],
    ).toBe('The gateway rejects fractions of a cent.')
  })
  test('imports, braces and blank lines tell nothing', () => {
    expect(told('+import x from "y"', '+}', '+', '+  return')).toEqual([])
  })
})

describe('rules.text', () => {
  test('sentences and list items are taken apart, marks and code left out', () => {
    expect(
      sentencesOf('## Done\n\n- **Fixed** the `total`. It was `NaN`.\n1. Next: [docs](x)\n```js\ncode()\n```'),
    ).toEqual(['Done', 'Fixed the `total`.', 'It was `NaN`.', 'Next: docs'])
  })
  test('paths are those of the project', () => {
    expect(shortPath('/w/shop/src/a.ts', '/w/shop')).toBe('src/a.ts')
    expect(shortPath('C:\\w\\shop\\a.ts', 'C:\\w\\shop')).toBe('a.ts')
    expect(shortPath('/etc/nginx/sites/shop.conf', '/w/shop')).toBe('nginx/sites/shop.conf')
  })
  test('lists and cuts read well', () => {
    expect(listed(['a', 'b', 'c'])).toBe('a, b and c')
    expect(listed(['a', 'b', 'c', 'd', 'e', 'f'])).toBe('a, b, c, d and 2 more')
    expect(cut('one two three', 9)).toBe('one two…')
  })
  test.each([
    ['test/a.ts', true],
    ['src/cart_test.go', true],
    ['src/CartTests.cs', true],
    ['src/latest.ts', false],
    ['src/contest/a.ts', false],
  ])('%s is a test: %s', (file, is) => {
    expect(isTestFile(file)).toBe(is)
  })
})
