import { expect, test } from 'vitest'
import { relevance, significantWords } from '../../src/context/recall.ts'

test.each([
  'thanks',
  'continue',
  'no',
  'ok, do it',
  'fix the typo in README',
  'please run the failing tests again',
  '',
])('"%s" is about nothing', (prompt) => {
  expect(significantWords(prompt)).toEqual([])
  expect(relevance(prompt, ['fix', 'README', 'tests', 'no'])).toBe(0)
})

test('relevance grows with the share of the prompt that the memory contains', () => {
  const prompt = 'Why does Stripe reject the cart amount?'
  expect(relevance(prompt, [])).toBe(0)
  expect(relevance(prompt, ['Stripe'])).toBeLessThan(relevance(prompt, ['Stripe', 'cart']))
  expect(relevance(prompt, ['Stripe', 'reject', 'cart', 'amount'])).toBeGreaterThan(0.6)
})

test('one common word is not enough, a name is', () => {
  expect(relevance('mailing', ['mailing'])).toBeLessThan(0.4)
  expect(relevance('rememberKey', ['rememberKey'])).toBeGreaterThanOrEqual(0.4)
  expect(relevance('look at src/cart/total.ts', ['src/cart/total.ts'])).toBeGreaterThanOrEqual(0.4)
})

test('a long prompt does not have to match completely', () => {
  const words = Array.from({ length: 60 }, (_, i) => `word${String.fromCharCode(97 + (i % 26), 97 + (i % 7))}`)
  expect(relevance(words.join(' '), words.slice(0, 6))).toBeGreaterThan(0.4)
  expect(relevance(words.join(' '), words.slice(0, 3))).toBeLessThan(0.4)
})

test('words that the search added to the prompt do not count', () => {
  expect(relevance('sumarise the ledger', ['summer'])).toBe(0)
})
