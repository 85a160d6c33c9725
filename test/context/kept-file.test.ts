import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { keptFile, readKept, writeKept } from '../../src/context/kept-file.ts'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'claude-mem-kept-'))
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

test('a text that cannot be replaced is removed: it may hold what was forgotten', async () => {
  await writeKept(directory, 'git:/shop', { context: 'old', message: '' })
  expect(await readKept(directory, 'git:/shop')).toEqual({ context: 'old', message: '' })
  const file = keptFile(directory, 'git:/shop')
  mkdirSync(`${file}.new`)
  await expect(writeKept(directory, 'git:/shop', { context: 'new', message: '' })).rejects.toThrow('EISDIR')
  expect(existsSync(file)).toBe(false)
})
