import { existsSync, mkdirSync } from 'node:fs'
import { beforeEach, expect, test } from 'vitest'
import { readRenderedContext, writeRenderedContext } from '../../src/daemon/rendered-context-cache.ts'
import { renderedContextPath } from '../../src/domain/rendered-context.ts'
import { temporaryDirectory } from '../support/directories.ts'

let directory: string
beforeEach(() => {
  directory = temporaryDirectory('kept')
})
test('contextCache.write: a file that cannot be replaced is removed, because it may contain forgotten memories', async () => {
  await writeRenderedContext(directory, 'git:/shop', { context: 'old', message: '' })
  expect(await readRenderedContext(directory, 'git:/shop')).toEqual({ context: 'old', message: '' })
  const file = renderedContextPath(directory, 'git:/shop')
  mkdirSync(`${file}.new`)
  await expect(writeRenderedContext(directory, 'git:/shop', { context: 'new', message: '' })).rejects.toThrow('EISDIR')
  expect(existsSync(file)).toBe(false)
})
