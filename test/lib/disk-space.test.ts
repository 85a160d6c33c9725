import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { withReserve } from '../../src/lib/disk-space.ts'
import { temporaryDirectory } from '../support/directories.ts'

const reserveFile = () => join(temporaryDirectory('disk-space'), 'reserve')
const full = () => Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })

describe('the reserve', () => {
  test('reserve.isDeletedWhenTheDiskIsFull', () => {
    const file = reserveFile()
    writeFileSync(file, 'x')
    const stored = withReserve(file, () => {
      if (existsSync(file)) throw full()
      return 'stored'
    })
    expect(stored).toBe('stored')
  })

  test('reserve.thatAnotherProcessDeletesMeanwhileIsUsedToo', () => {
    const file = reserveFile()
    writeFileSync(file, 'x')
    const stored = withReserve(file, () => {
      if (!existsSync(file)) return 'stored'
      // Another hook found the disk full at the same moment and was faster.
      rmSync(file)
      throw full()
    })
    expect(stored).toBe('stored')
  })

  test('reserve.isWaitedForWhileItsSpaceIsBeingFreed', () => {
    const file = reserveFile()
    let attempts = 0
    const stored = withReserve(file, () => {
      attempts += 1
      if (attempts < 4) throw full()
      return 'stored'
    })
    expect(stored).toBe('stored')
  })

  test('reserve.isNotWaitedForWithoutEnd', () => {
    let attempts = 0
    const never = () => {
      attempts += 1
      throw full()
    }
    expect(() => withReserve(reserveFile(), never)).toThrow('no space left')
    expect(attempts).toBeLessThan(10)
  })

  test('reserve.doesNotHelpAgainstOtherErrors', () => {
    const file = reserveFile()
    writeFileSync(file, 'x')
    let calls = 0
    const broken = () => {
      calls += 1
      throw Object.assign(new Error('read-only'), { code: 'EROFS' })
    }
    expect(() => withReserve(file, broken)).toThrow('read-only')
    expect(calls).toBe(1)
    expect(existsSync(file)).toBe(true)
  })
})
