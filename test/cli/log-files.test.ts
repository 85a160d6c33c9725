import { appendFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { followLogLines, lastLoggedError, logLine, parseLogLine, readLastLogLines } from '../../src/cli/log-files.ts'
import { createStyle } from '../../src/cli/style.ts'
import { temporaryDirectory } from '../support/directories.ts'

let directory: string
const path = (suffix = '') => join(directory, `daemon.log${suffix}`)

beforeEach(() => {
  directory = temporaryDirectory('logs')
})
describe('logs.last lines', () => {
  it('include rotated files, oldest first', () => {
    writeFileSync(path('.2'), '1\n2\n')
    writeFileSync(path('.1'), '3\n4\n')
    writeFileSync(path(), '5\n')
    expect(readLastLogLines(directory, 2)).toEqual(['4', '5'])
    expect(readLastLogLines(directory, 4)).toEqual(['2', '3', '4', '5'])
    expect(readLastLogLines(directory, 100)).toEqual(['1', '2', '3', '4', '5'])
    expect(readLastLogLines(directory, 0)).toEqual([])
  })

  it('are empty before the first start', () => {
    expect(readLastLogLines(join(directory, 'missing'), 5)).toEqual([])
  })

  it('contain the error with which a process exited', () => {
    const line = (pid: number, level: number, msg: string) => `${JSON.stringify({ pid, level, msg })}\n`
    writeFileSync(path(), line(1, 50, 'other') + line(2, 50, 'could not start: disk full') + line(2, 30, 'bye'))
    expect(lastLoggedError(directory, 2)).toBe('could not start: disk full')
    expect(lastLoggedError(directory, 3)).toBeNull()
  })
})

describe('logs.follow', () => {
  it('continues across a rotation without lost, split or repeated lines', async () => {
    writeFileSync(path(), 'before\n')
    const seen: string[] = []
    const controller = new AbortController()
    const done = followLogLines(directory, controller.signal, (line) => seen.push(line))
    appendFileSync(path(), 'one\nhalf ')
    await vi.waitFor(() => expect(seen).toEqual(['one']))
    appendFileSync(path(), 'a line é\n')
    renameSync(path(), path('.1'))
    appendFileSync(path(), 'two\n')
    await vi.waitFor(() => expect(seen).toEqual(['one', 'half a line é', 'two']), { timeout: 5_000 })
    controller.abort()
    await done
  })

  it('waits for a log file that does not exist yet', async () => {
    const seen: string[] = []
    const controller = new AbortController()
    const done = followLogLines(directory, controller.signal, (line) => seen.push(line))
    appendFileSync(path(), 'first\n')
    await vi.waitFor(() => expect(seen).toEqual(['first']), { timeout: 5_000 })
    controller.abort()
    await done
  })
})

describe('logs.line', () => {
  const now = Date.parse('2026-05-17T10:00:00.000Z')
  const display = { style: createStyle(false), columns: null, now }
  const at = '2026-05-17T10:00:00.000Z'

  it('has time, level, message and details', () => {
    const line = logLine({ level: 40, time: at, pid: 1, msg: 'slow', session: 's', error: { message: 'no' } }, display)
    expect(line).toMatch(/^\d\d:00:00 warn {2}slow session=s error=no$/)
  })

  it('does not repeat the message of an error', () => {
    const line = logLine(
      { level: 50, time: at, msg: 'could not start: disk full', error: { message: 'disk full' } },
      display,
    )
    expect(line).toMatch(/error could not start: disk full$/)
  })

  it('is sanitised', () => {
    expect(logLine({ level: 30, time: at, msg: 'x\x1b[2J', tool: '\x1b]0;t\x07' }, display)).not.toMatch(/\p{Cc}/u)
  })

  it('may be text that is not JSON', () => {
    expect(logLine(parseLogLine('Segmentation fault'), display)).toBe('Segmentation fault')
  })
})
