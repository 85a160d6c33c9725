import { expect, test } from 'vitest'
import { straightened } from '../../../src/daemon/projects.ts'
import type { ProjectDecision } from '../../../src/store/port.ts'

const decided = (merges: Record<string, string | null>) =>
  new Map<string, ProjectDecision>(
    Object.entries(merges).map(([key, mergedInto]) => [
      key,
      { key, mergedInto, name: null, root: null, fingerprint: null, files: [] },
    ]),
  )

test.each([
  [{ a: 'b', b: null }, {}],
  [{ a: 'b' }, {}],
  [{ a: 'b', b: 'c' }, { a: 'c' }],
  [
    { a: 'b', b: 'a' },
    { a: null, b: null },
  ],
  [
    { x: 'a', a: 'b', b: 'a' },
    { x: null, a: null, b: null },
  ],
])('decisions that a recovery left as %j are put straight by %j', (before, expected) => {
  const changes = straightened(decided(before))
  expect(Object.fromEntries(changes.map(({ key, mergedInto }) => [key, mergedInto]))).toEqual(expected)
})
