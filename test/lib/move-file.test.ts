/** A rename that another program delays, as virus scanners do on Windows. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { moveFile, moveFileSync } from '../../src/lib/files.ts'
import { temporaryDirectory } from '../support/directories.ts'

/** Fails with these codes first, then succeeds. */
function failing(...codes: string[]) {
  const calls: string[] = []
  const attempt = (from: string, to: string): void => {
    calls.push(`${from} ${to}`)
    const code = codes.shift()
    if (code !== undefined) throw Object.assign(new Error(code), { code })
  }
  return { calls, attempt, attemptLater: async (from: string, to: string) => attempt(from, to) }
}

describe('files.move', () => {
  test('replaces an existing file', async () => {
    const directory = temporaryDirectory('move')
    const [a, b, c] = [join(directory, 'a'), join(directory, 'b'), join(directory, 'c')]
    writeFileSync(a, 'new')
    writeFileSync(b, 'old')
    moveFileSync(a, b)
    expect([existsSync(a), readFileSync(b, 'utf8')]).toEqual([false, 'new'])
    await moveFile(b, c)
    expect([existsSync(b), readFileSync(c, 'utf8')]).toEqual([false, 'new'])
  })

  test.each(['EPERM', 'EACCES', 'EBUSY'])('on Windows is tried again after %s', async (code) => {
    const sync = failing(code, code)
    moveFileSync('a', 'b', sync.attempt, 'win32')
    expect(sync.calls).toEqual(['a b', 'a b', 'a b'])
    const later = failing(code, code)
    await moveFile('a', 'b', later.attemptLater, 'win32')
    expect(later.calls).toEqual(['a b', 'a b', 'a b'])
  })

  test('on Windows fails at last with the error of the system', async () => {
    const codes = Array.from({ length: 20 }, () => 'EPERM')
    expect(() => moveFileSync('a', 'b', failing(...codes).attempt, 'win32')).toThrow('EPERM')
    await expect(moveFile('a', 'b', failing(...codes).attemptLater, 'win32')).rejects.toThrow('EPERM')
  })

  test.each([
    ['win32', 'ENOENT'],
    ['win32', 'ENOSPC'],
    ['linux', 'EPERM'],
    ['darwin', 'EACCES'],
  ] as const)('on %s %s is reported at once', async (platform, code) => {
    const sync = failing(code)
    expect(() => moveFileSync('a', 'b', sync.attempt, platform)).toThrow(code)
    expect(sync.calls).toHaveLength(1)
    const later = failing(code)
    await expect(moveFile('a', 'b', later.attemptLater, platform)).rejects.toThrow(code)
    expect(later.calls).toHaveLength(1)
  })
})
