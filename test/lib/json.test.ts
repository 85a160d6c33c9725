import { describe, expect, it } from 'vitest'
import { isNestedTooDeep } from '../../src/lib/json.ts'
import { expectLinearTime } from '../support/linear-time.ts'

const nested = (depth: number): string => `${'[{"a":'.repeat(depth / 2)}0${'}]'.repeat(depth / 2)}`

describe('the nesting of JSON', () => {
  it('counts lists and objects, not characters in strings', () => {
    expect(isNestedTooDeep(nested(500))).toBe(false)
    expect(isNestedTooDeep(nested(502))).toBe(true)
    expect(isNestedTooDeep(JSON.stringify('['.repeat(1_000)))).toBe(false)
    expect(isNestedTooDeep(JSON.stringify(Array(1_000).fill({ '\\"[': '"\\{' })))).toBe(false)
    expect(isNestedTooDeep(`"${'\\'.repeat(6)}"${'['.repeat(501)}`)).toBe(true)
    expect(isNestedTooDeep(`"never closed ${'['.repeat(1_000)}`)).toBe(false)
  })

  it('is found in linear time', () => {
    for (const part of ['\\', '\\"', '"', '"\\\\', '[]', '{"a":"'])
      expectLinearTime((size) => isNestedTooDeep(`"${part.repeat(size)}`), 100_000, part)
  })
})
