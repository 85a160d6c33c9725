import { closeSync, fstatSync, mkdirSync, openSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { fileLogger, logTo } from '../../src/lib/log.ts'
import { temporaryDirectory } from '../support/directories.ts'

let directory: string
beforeEach(() => {
  directory = temporaryDirectory('log')
})
test('log.rotation: a full file is put aside, and only so many are kept', () => {
  const log = logTo(fileLogger(directory, 'info', 3), null)
  const filler = 'x'.repeat(1_000_000)
  for (let i = 0; i < 25; i++) log('info', `${i} ${filler}`)
  expect(readdirSync(directory).sort()).toEqual(['daemon.log', 'daemon.log.1', 'daemon.log.2'])
  expect(statSync(join(directory, 'daemon.log.1')).size).toBeLessThan(7_000_000)
  expect(readFileSync(join(directory, 'daemon.log'), 'utf8')).toContain('24 xxx')
  expect(statSync(join(directory, 'daemon.log')).mode & 0o077).toBe(0)
})

test('log.rotation: goes on where a full file cannot be put aside', () => {
  const log = logTo(fileLogger(directory, 'info', 2), null)
  // A directory in its place: neither removed nor replaced.
  mkdirSync(join(directory, 'daemon.log.1', 'inside'), { recursive: true })
  const filler = 'x'.repeat(1_000_000)
  for (let i = 0; i < 15; i++) log('info', `${i} ${filler}`)
  const others = openSync(join(directory, 'other'), 'w')
  for (let i = 15; i < 20; i++) log('info', `${i} ${filler}`)
  log('info', 'the last line')
  expect(readFileSync(join(directory, 'daemon.log'), 'utf8')).toContain('the last line')
  // The number of the closed file belongs to another one now.
  expect(fstatSync(others).size).toBe(0)
  closeSync(others)
})

test('log.lines: one JSON object each, with errors told in full; people get one line without repeats', () => {
  const lines: string[] = []
  const log = logTo(fileLogger(directory, 'info', 2), (line) => lines.push(line))
  log('debug', 'not shown')
  log('error', 'could not start: no room', { error: new Error('no room'), session: 's' })
  const entry = JSON.parse(readFileSync(join(directory, 'daemon.log'), 'utf8'))
  expect(entry).toMatchObject({
    level: 50,
    msg: 'could not start: no room',
    session: 's',
    error: { message: 'no room' },
  })
  expect(lines).toHaveLength(1)
  expect(lines[0]).toMatch(/error could not start: no room \(session=s\)$/)
})
