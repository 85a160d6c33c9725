/** docs/platforms.md names the calls that `npm run lint` knows. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { PLATFORM_CALLS } from '../../scripts/platform-calls.mjs'
import { ROOT } from '../support/paths.ts'

test('docs.platforms: the page has each call with its twin on Windows', () => {
  const page = readFileSync(join(ROOT, 'docs', 'platforms.md'), 'utf8')
  for (const { name, windows } of PLATFORM_CALLS) expect(page).toContain(`| ${name} | ${windows} |\n`)
})

test('docs.platforms: each exception has a reason', () => {
  const reasons = PLATFORM_CALLS.flatMap(({ files }) => Object.values(files))
  expect(reasons.filter((reason) => reason.length < 10)).toEqual([])
})
