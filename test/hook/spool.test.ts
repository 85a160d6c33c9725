import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { MemoryEvent } from '../../src/domain/event.ts'
import { listSpool, readSpool, removeSpooled, setAside, writeSpool } from '../../src/hook/spool.ts'
import { temporaryDirectory } from '../support/directories.ts'

let directory: string
beforeEach(() => {
  directory = join(temporaryDirectory('spool'), 'spool')
})
afterEach(() => rmSync(join(directory, '..'), { recursive: true, force: true }))

const event = (id: string, at: number): MemoryEvent => ({
  kind: 'session_end',
  id,
  session: 's',
  at,
  client: 'claude-code',
  project: { key: 'dir:/x', name: 'x' },
  cwd: '/x',
  transcriptPath: null,
  promptId: null,
  agent: null,
  reason: 'other',
})
const put = (name: string, content: string, ageMs = 0): string => {
  mkdirSync(directory, { recursive: true })
  const file = join(directory, name)
  writeFileSync(file, content)
  const then = new Date(Date.now() - ageMs)
  utimesSync(file, then, then)
  return file
}
const whole = JSON.stringify({ v: 1, event: event('a', 1) })

describe('the spool', () => {
  it('gives back what it got, oldest first', () => {
    for (const at of [30, 4, 2_000]) writeSpool(directory, event(`e${at}`, at))
    const events = listSpool(directory).map(readSpool)
    expect(events).toEqual([event('e4', 4), event('e30', 30), event('e2000', 2_000)])
  })

  it('holds the same event twice when it comes twice', () => {
    writeSpool(directory, event('a', 1))
    writeSpool(directory, event('a', 1))
    expect(listSpool(directory)).toHaveLength(2)
  })

  it('is empty where there is none', () => expect(listSpool(directory)).toEqual([]))

  it('forgets what is removed, even twice', () => {
    const file = writeSpool(directory, event('a', 1))
    removeSpooled(file)
    removeSpooled(file)
    expect(listSpool(directory)).toEqual([])
    expect(readSpool(file)).toBeNull()
  })

  it('leaves a file alone that is still being written', () => {
    put('1-1-0-x.tmp', whole)
    expect(listSpool(directory)).toEqual([])
    expect(readdirSync(directory)).toEqual(['1-1-0-x.tmp'])
  })

  it('lists the file of a writer that died, whole or not', () => {
    const file = put('1-1-0-x.tmp', whole, 120_000)
    const half = put('2-1-0-x.tmp', whole.slice(0, 40), 120_000)
    expect(listSpool(directory)).toEqual([file, half])
    expect(readSpool(file)).toEqual(event('a', 1))
    expect(readSpool(half)).toEqual({ bad: 'it is not JSON', because: 'content' })
  })

  it('keeps every bad file, also of the same name', () => {
    for (const content of ['one', 'two']) setAside(put('1-1-0-x.json', content))
    expect(readdirSync(join(directory, 'bad')).sort()).toEqual(['1-1-0-x.json', '1-1-0-x.json.1'])
    expect(readFileSync(join(directory, 'bad', '1-1-0-x.json.1'), 'utf8')).toBe('two')
  })

  it.each([
    ['nothing', ''],
    ['no JSON', '{'],
    ['no envelope', '7'],
    ['null', 'null'],
    ['no event', '{"v":1}'],
    ['an event without an id', JSON.stringify({ v: 1, event: { ...event('a', 1), id: '' } })],
    ['an unknown kind', JSON.stringify({ v: 1, event: { ...event('a', 1), kind: 'x' } })],
  ])('says that a file with %s is bad', (_what, content) => {
    const file = put('1-1-0-x.json', content)
    expect(readSpool(file)).toEqual({ bad: expect.any(String), because: 'content' })
    const aside = setAside(file)
    expect(aside).toBe(join(directory, 'bad', '1-1-0-x.json'))
    expect(existsSync(file)).toBe(false)
    expect(setAside(file)).toBeNull()
    expect(listSpool(directory)).toEqual([])
  })

  it('knows a file of a newer program', () => {
    const file = put('1-1-0-x.json', JSON.stringify({ v: 99, event: {} }))
    expect(readSpool(file)).toMatchObject({ because: 'newer' })
  })
})
