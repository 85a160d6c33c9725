import { expect, test } from 'vitest'
import { relevance, tellingWords } from '../../src/context/relevance.ts'

test.each([
  'thanks',
  'continue',
  'no',
  'ok, do it',
  'fix the typo in README',
  'please run the failing tests again',
  '',
])('"%s" is about nothing', (prompt) => {
  expect(tellingWords(prompt)).toEqual([])
  expect(relevance(prompt, ['fix', 'README', 'tests', 'no'])).toBe(0)
})

test('the more of a prompt a memory says, the closer it is', () => {
  const prompt = 'Why does Stripe reject the cart amount?'
  expect(relevance(prompt, [])).toBe(0)
  expect(relevance(prompt, ['Stripe'])).toBeLessThan(relevance(prompt, ['Stripe', 'cart']))
  expect(relevance(prompt, ['Stripe', 'reject', 'cart', 'amount'])).toBeGreaterThan(0.6)
})

test('one ordinary word is chance, a name is not', () => {
  expect(relevance('mailing', ['mailing'])).toBeLessThan(0.4)
  expect(relevance('rememberKey', ['rememberKey'])).toBeGreaterThanOrEqual(0.4)
  expect(relevance('look at src/cart/total.ts', ['src/cart/total.ts'])).toBeGreaterThanOrEqual(0.4)
})

test('of a long prompt it is enough to share a good deal', () => {
  const words = Array.from({ length: 60 }, (_, i) => `word${String.fromCharCode(97 + (i % 26), 97 + (i % 7))}`)
  expect(relevance(words.join(' '), words.slice(0, 6))).toBeGreaterThan(0.4)
  expect(relevance(words.join(' '), words.slice(0, 3))).toBeLessThan(0.4)
})

test('what only the search added to the prompt does not count', () => {
  expect(relevance('sumarise the ledger', ['summer'])).toBe(0)
})
