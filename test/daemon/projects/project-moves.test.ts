import { expect, test } from 'vitest'
import { repairMerges } from '../../../src/daemon/project-updates.ts'
import type { ProjectSettings } from '../../../src/store/port.ts'

const settingsWith = (merges: Record<string, string | null>) =>
  new Map<string, ProjectSettings>(
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
])('merges that a recovery left as %j are repaired by %j', (before, expected) => {
  const updates = repairMerges(settingsWith(before))
  expect(Object.fromEntries(updates.map(({ key, mergedInto }) => [key, mergedInto]))).toEqual(expected)
})
