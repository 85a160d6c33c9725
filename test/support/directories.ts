/** Temporary directories. All of them are removed after the last test of the file that made them. */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'

const directories: string[] = []

/** A new directory as a real path: on macOS the system's temporary directory is a symbolic link. */
export function temporaryDirectory(name = 'test', parent = tmpdir()): string {
  const directory = realpathSync.native(mkdtempSync(join(parent, `claude-mem-${name}-`)))
  directories.push(directory)
  return directory
}

// Registered when a test file imports this one, so it runs after that file's own hooks, which stop its processes.
afterAll(() => {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true, force: true, maxRetries: 5 })
})
