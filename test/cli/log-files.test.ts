import { appendFileSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { followLines, lastErrorOf, lastLines, parseLogLine } from '../../src/cli/log-files.ts'
import { logLine } from '../../src/cli/render/log-line.ts'
import { styleOf } from '../../src/cli/style.ts'

let directory: string
const path = (suffix = '') => join(directory, `daemon.log${suffix}`)

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'claude-mem-logs-'))
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

describe('the last lines of the log', () => {
  it('come from rotated files too, oldest first', () => {
    writeFileSync(path('.2'), '1\n2\n')
    writeFileSync(path('.1'), '3\n4\n')
    writeFileSync(path(), '5\n')
    expect(lastLines(directory, 2)).toEqual(['4', '5'])
    expect(lastLines(directory, 4)).toEqual(['2', '3', '4', '5'])
    expect(lastLines(directory, 100)).toEqual(['1', '2', '3', '4', '5'])
    expect(lastLines(directory, 0)).toEqual([])
  })

  it('are none before the first start', () => {
    expect(lastLines(join(directory, 'missing'), 5)).toEqual([])
  })

  it('tell why a process gave up', () => {
    const line = (pid: number, level: number, msg: string) => `${JSON.stringify({ pid, level, msg })}\n`
    writeFileSync(path(), line(1, 50, 'other') + line(2, 50, 'could not start: disk full') + line(2, 30, 'bye'))
    expect(lastErrorOf(directory, 2)).toBe('could not start: disk full')
    expect(lastErrorOf(directory, 3)).toBeNull()
  })
})

describe('following the log', () => {
  it('goes on across a rotation, with no line lost, torn or repeated', async () => {
    writeFileSync(path(), 'before\n')
    const seen: string[] = []
    const controller = new AbortController()
    const done = followLines(directory, controller.signal, (line) => seen.push(line))
    appendFileSync(path(), 'one\nhalf ')
    await vi.waitFor(() => expect(seen).toEqual(['one']))
    appendFileSync(path(), 'a line é\n')
    renameSync(path(), path('.1'))
    appendFileSync(path(), 'two\n')
    await vi.waitFor(() => expect(seen).toEqual(['one', 'half a line é', 'two']), { timeout: 5_000 })
    controller.abort()
    await done
  })

  it('waits for a log that is not there yet', async () => {
    const seen: string[] = []
    const controller = new AbortController()
    const done = followLines(directory, controller.signal, (line) => seen.push(line))
    appendFileSync(path(), 'first\n')
    await vi.waitFor(() => expect(seen).toEqual(['first']), { timeout: 5_000 })
    controller.abort()
    await done
  })
})

describe('a log line for people', () => {
  const now = Date.parse('2026-05-17T10:00:00.000Z')
  const look = { style: styleOf(false), columns: null, now }
  const at = '2026-05-17T10:00:00.000Z'

  it('has its time, level, text and details', () => {
    const line = logLine({ level: 40, time: at, pid: 1, msg: 'slow', session: 's', error: { message: 'no' } }, look)
    expect(line).toMatch(/^\d\d:00:00 warn {2}slow session=s error=no$/)
  })

  it('does not say the words of an error twice', () => {
    const line = logLine(
      { level: 50, time: at, msg: 'could not start: disk full', error: { message: 'disk full' } },
      look,
    )
    expect(line).toMatch(/error could not start: disk full$/)
  })

  it('cannot act on the terminal', () => {
    expect(logLine({ level: 30, time: at, msg: 'x\x1b[2J', tool: '\x1b]0;t\x07' }, look)).not.toMatch(/\p{Cc}/u)
  })

  it('may be any text', () => {
    expect(logLine(parseLogLine('Segmentation fault'), look)).toBe('Segmentation fault')
  })
})
