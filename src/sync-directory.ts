/** Read by the hook too, so nothing here may import a package. */
import { closeSync, fsyncSync, openSync } from 'node:fs'

/** A rename is on disk once its directory is. Windows has no such call and needs none. */
export function syncDirectory(directory: string): void {
  if (process.platform === 'win32') return
  const descriptor = openSync(directory, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
