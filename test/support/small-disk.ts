/** A real file system of some megabytes. Only root may mount one: elsewhere `canMount` is false and its tests are skipped. */
import { execFileSync } from 'node:child_process'
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { systemCode } from '../../src/lib/errors.ts'
import { temporaryDirectory } from './directories.ts'

const mounted: string[] = []

export const canMount = process.platform === 'linux' && process.getuid?.() === 0 && tryMount()

function tryMount(): boolean {
  try {
    unmount(smallDisk(1))
    return true
  } catch {
    return false
  }
}

/** Mounts a tmpfs that is private, as a data directory must be; it is unmounted after the last test of the file. */
export function smallDisk(megabytes: number): string {
  const directory = join(temporaryDirectory('disk'), 'disk')
  mkdirSync(directory)
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=700`, 'tmpfs', directory], { stdio: 'ignore' })
  mounted.push(directory)
  return directory
}

function unmount(directory: string): void {
  mounted.splice(mounted.indexOf(directory), 1)
  // Lazily: a process that a test left behind may still use it.
  execFileSync('umount', ['--lazy', directory], { stdio: 'ignore' })
}

/** Takes all space that is left. The returned function gives it back. */
export function fillDisk(directory: string): () => void {
  const file = join(directory, 'filler')
  const descriptor = openSync(file, 'a')
  try {
    for (let bytes = 1024 * 1024; bytes >= 512; ) {
      try {
        if (writeSync(descriptor, Buffer.alloc(bytes, 1)) < bytes) bytes /= 2
      } catch (error) {
        if (systemCode(error) !== 'ENOSPC') throw error
        bytes /= 2
      }
    }
  } finally {
    closeSync(descriptor)
  }
  return () => rmSync(file)
}

afterAll(() => {
  for (const directory of [...mounted]) unmount(directory)
})
