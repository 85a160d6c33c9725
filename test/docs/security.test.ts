/** SECURITY.md names a test for each claim: the files and names must exist. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ROOT } from '../support/paths.ts'

const page = readFileSync(join(ROOT, 'SECURITY.md'), 'utf8')

/** `test/a.test.ts` "a name", "another name" */
const CLAIM = /`(test\/[^`]+)`((?:,? "[^"]+")*)/g

const claims = [...page.matchAll(CLAIM)].map(([, file = '', names = '']) => ({
  file,
  names: [...names.matchAll(/"([^"]+)"/g)].map(([, name = '']) => name),
}))

test('SECURITY.md names many tests', () => {
  expect(claims.length).toBeGreaterThan(20)
})

test.each(claims)('SECURITY.md: $file $names', ({ file, names }) => {
  const path = join(ROOT, file)
  expect(existsSync(path), file).toBe(true)
  const source = readFileSync(path, 'utf8').replaceAll("\\'", "'")
  for (const name of names) expect(source).toContain(name)
})
