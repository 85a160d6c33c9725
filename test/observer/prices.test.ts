import { describe, expect, test } from 'vitest'
import { NO_USAGE } from '../../src/domain/observation.ts'
import { modelPrice, usageCost } from '../../src/observer/prices.ts'
import { API_PROVIDERS } from '../../src/observer/provider-choice.ts'

const haiku = { input: 1, output: 5, cacheRead: 0.1, cacheWrite: 1.25 }

describe('prices.lookup', () => {
  test.each([
    'claude-haiku-4-5',
    'claude-haiku-4-5-20251001',
    'claude-haiku-4-5@20251001',
    'claude-haiku-4-5-latest',
    'anthropic/claude-haiku-4.5',
    'Claude-Haiku-4-5',
  ])('%s has the price of its model', (model) => {
    expect(modelPrice(model, [])).toEqual(haiku)
  })

  test.each([
    ['gpt-4o-mini-2024-07-18', 0.15],
    ['openai/gpt-5.4-mini', 0.75],
    ['models/gemini-2.5-flash-lite', 0.1],
    ['gemini-2.5-flash', 0.3],
    ['gemini-2.5-flash-001', 0.3],
  ])('%s costs %d', (model, input) => {
    expect(modelPrice(model, [])?.input).toBe(input)
  })

  test.each(['', '/', 'claude', 'claude-haiku', 'claude-haiku-4-5-turbo', 'llama3.2:3b', 'haiku', '__proto__', '='])(
    '%j has none: a near name may cost ten times as much',
    (model) => {
      expect(modelPrice(model, [])).toBeNull()
    },
  )

  test('the default model of each provider has one', () => {
    for (const { model } of Object.values(API_PROVIDERS)) expect(modelPrice(model, [])).not.toBeNull()
  })

  test("OpenRouter's free variants are free, whatever the model", () => {
    expect(modelPrice('some/model:free', [])).toEqual({ input: 0, output: 0, cacheRead: 0, cacheWrite: 0 })
  })
})

describe('prices.overrides', () => {
  test('win, with default cache prices', () => {
    expect(modelPrice('claude-haiku-4-5', ['claude-haiku-4-5=2/8'])).toEqual({
      input: 2,
      output: 8,
      cacheRead: 0.2,
      cacheWrite: 2.5,
    })
    expect(modelPrice('qwen3:8b', ['qwen3:8b=0/0'])).toEqual({ input: 0, output: 0, cacheRead: 0, cacheWrite: 0 })
    expect(modelPrice('my-model', ['my-model=1/2/0.5'])).toMatchObject({ cacheRead: 0.5, cacheWrite: 1.25 })
    expect(modelPrice('my-model', ['my-model=1/2/0.5/0.75'])).toMatchObject({ cacheRead: 0.5, cacheWrite: 0.75 })
  })

  test('apply to all builds of a model; the exact name wins, then the last one', () => {
    const overrides = ['gpt-4o=1/1', 'gpt-4o-2024-07-18=7/7', 'gpt-4o=2/2']
    expect(modelPrice('gpt-4o-2024-07-18', overrides)?.input).toBe(7)
    expect(modelPrice('openai/gpt-4o-2024-11-20', overrides)?.input).toBe(2)
  })

  test.each([
    '',
    'x',
    '=1/2',
    'claude-haiku-4-5=',
    'claude-haiku-4-5=1',
    'claude-haiku-4-5=a/b',
    'claude-haiku-4-5=-1/2',
  ])('%j is ignored', (item) => {
    expect(modelPrice('claude-haiku-4-5', [item])).toEqual(haiku)
  })
})

describe('prices.cost', () => {
  test('is the sum over the four kinds of tokens', () => {
    expect(
      usageCost({ input: 1_000_000, output: 100_000, cacheRead: 2_000_000, cacheWrite: 80_000 }, haiku),
    ).toBeCloseTo(1 + 0.5 + 0.2 + 0.1, 10)
    expect(usageCost(NO_USAGE, haiku)).toBe(0)
  })
})
