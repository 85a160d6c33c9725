import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { makeTemporaryDirectory, removeStaleTemporary } from '../../src/lib/temporary.ts'
import { temporaryDirectory } from '../support/directories.ts'
import { exited } from '../support/programs.ts'

let child: ChildProcess | null = null
afterEach(() => void child?.kill('SIGKILL'))

test('temporary: what a killed process left is removed by the next one, not what a running one uses', async () => {
  const parent = join(temporaryDirectory('temporary'), 'tmp')
  child = spawn(process.execPath, ['-e', 'setInterval(() => undefined, 60_000)'], { stdio: 'ignore' })
  const left = join(parent, `replay-${child.pid}-abc`)
  mkdirSync(left, { recursive: true })
  writeFileSync(join(left, 'db.sqlite'), 'words of a session')
  const own = makeTemporaryDirectory(parent, 'replay')
  expect(existsSync(left)).toBe(true)
  if (process.platform !== 'win32') expect(statSync(own).mode & 0o077).toBe(0)
  child.kill('SIGKILL')
  await exited(child)
  expect(removeStaleTemporary(parent)).toEqual([left])
  expect(readdirSync(parent)).toHaveLength(1)
})
