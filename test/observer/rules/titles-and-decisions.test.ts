import { describe, expect, test } from 'vitest'
import { findDecisions, findUserRules } from '../../../src/observer/rules/decisions.ts'
import { formatTitle, requestTitle, stripCommitPrefix } from '../../../src/observer/rules/titles.ts'

describe('rules.decisions', () => {
  test.each([
    'We use PostgreSQL instead of MySQL because of JSONB.',
    'I chose a mutex rather than a channel.',
    "Let's keep the old endpoint, since the app still calls it.",
    'Decided to drop IE support.',
    'Switched from moment to date-fns because it is smaller.',
    'Do not cache tokens, otherwise logout breaks.',
  ])('"%s" is a decision', (sentence) => {
    expect(findDecisions(sentence)).toEqual([sentence])
  })
  test.each([
    'Should I use Redis instead of a map?',
    'All tests pass.',
    'If you prefer, I can use Redis instead.',
    'I fixed the login.',
  ])('"%s" is not a decision', (sentence) => {
    expect(findDecisions(sentence)).toEqual([])
  })
  test.each([
    'Stay with three box blurs, they are cheap.',
    'No regex crate please: the tool is vendored.',
    'I want it small because it ships to phones.',
  ])('"%s" is a rule of the user', (sentence) => {
    expect(findUserRules(sentence)).toEqual([sentence])
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
  ])('the request of "%s" is %s', (prompt, title) => {
    expect(requestTitle(prompt)).toBe(title)
  })
  test.each([
    ['one two three four five six seven eight nine ten', 'One two three four five six seven eight nine'],
    ['fix it.', 'Fix it'],
    ['add \u001b[31mred\u001b[0m\nthings', 'Add red things'],
    ['change the total of the', 'Change the total'],
  ])('"%s" is formatted as "%s"', (text, title) => {
    expect(formatTitle(text)).toBe(title)
  })
  test('the prefix of a conventional commit is removed', () => {
    expect(stripCommitPrefix('fix(cart)!: round totals')).toBe('round totals')
  })
})
