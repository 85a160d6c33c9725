import { closeSync, fstatSync, openSync, readSync } from 'node:fs'

/** The last `bytes` of a file; empty where it cannot be opened. Read by the hook too, so nothing here may import a package. */
export function endOf(file: string, bytes: number): string {
  let descriptor: number
  try {
    descriptor = openSync(file, 'r')
  } catch {
    return ''
  }
  try {
    const { size } = fstatSync(descriptor)
    const buffer = Buffer.alloc(Math.min(size, bytes))
    const length = readSync(descriptor, buffer, 0, buffer.length, size - buffer.length)
    return buffer.toString('utf8', 0, length)
  } finally {
    closeSync(descriptor)
  }
}
