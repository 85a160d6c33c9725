/** A copy of a database with its log, for what cannot be read where it lies: SQLite has to write beside a file to read it. */
import { chmodSync, constants, copyFileSync, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MemError } from '../../errors.ts'

export interface PrivateCopy {
  readable: string
  dispose(): void
}

/** In a directory that only its owner can look into. */
export function privateCopy(file: string): PrivateCopy {
  const directory = mkdtempSync(join(tmpdir(), 'claude-mem-copy-'))
  const dispose = () => rmSync(directory, { recursive: true, force: true })
  try {
    const readable = join(directory, 'copy.sqlite')
    copyWhole(file, readable)
    return { readable, dispose }
  } catch (error) {
    dispose()
    throw error
  }
}

const COPY_TRIES = 5

/** A program that opens it meanwhile may write between two reads of ours: then it is copied again. */
function copyWhole(file: string, copy: string): void {
  for (let tries = 1; ; tries += 1) {
    const before = stateOf(file)
    for (const part of ['', '-wal', '-journal']) {
      if (!existsSync(file + part)) continue
      copyFileSync(file + part, copy + part, constants.COPYFILE_FICLONE)
      // A file that nobody may write stays so when it is copied.
      chmodSync(copy + part, 0o600)
    }
    if (stateOf(file) === before) return
    if (tries === COPY_TRIES)
      throw new MemError('storage', `${file} is being written all the time. Try again.`, { retryable: true })
  }
}

function stateOf(file: string): string {
  return ['', '-wal', '-journal']
    .map((part) => statSync(file + part, { throwIfNoEntry: false }))
    .map((stat) => (stat === undefined ? '' : `${stat.size} ${stat.mtimeMs}`))
    .join('; ')
}
