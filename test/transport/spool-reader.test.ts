import { execFileSync } from 'node:child_process'
import {
  closeSync,
  existsSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import type { MemoryEvent } from '../../src/domain/event.ts'
import { writeSpool } from '../../src/hook/spool.ts'
import { MemError } from '../../src/lib/errors.ts'
import { SpoolReader } from '../../src/transport/spool-reader.ts'
import { events } from '../daemon/actors/harness.ts'
import { temporaryDirectory } from '../support/directories.ts'

let directory: string
let notices: string[]
let clock: number
let reader: SpoolReader
let complete: (event: MemoryEvent) => Promise<MemoryEvent>
beforeEach(() => {
  directory = join(temporaryDirectory('spool'), 'spool')
  mkdirSync(directory)
  notices = []
  clock = 0
  complete = async (event) => event
  reader = new SpoolReader(
    directory,
    () => undefined,
    (text) => notices.push(text),
    (event) => complete(event),
    () => clock,
  )
})

const path = (name: string) => join(directory, name)
const bad = () => (existsSync(path('bad')) ? readdirSync(path('bad')).sort() : [])
const waiting = () => readdirSync(directory).filter((name) => name !== 'bad')

/** Delivers once; the ids of what was accepted. */
async function deliver(refuse: (event: MemoryEvent) => Error | null = () => null): Promise<string[]> {
  const accepted: string[] = []
  await reader.deliver(async (event) => {
    const error = refuse(event)
    if (error !== null) throw error
    accepted.push(event.id)
  })
  return accepted
}

describe('spool.unreadable', () => {
  test('a directory, a FIFO, a link, a huge file and half a file are set aside; the others are delivered', async () => {
    mkdirSync(path('000.json'))
    writeFileSync(path('outside'), 'secret')
    symlinkSync(path('outside'), path('001.json'))
    const huge = openSync(path('002.json'), 'w')
    ftruncateSync(huge, 65 * 1024 * 1024)
    closeSync(huge)
    writeFileSync(path('003.json'), '{"v":1')
    const names = ['000.json', '001.json', '002.json', '003.json']
    if (process.platform !== 'win32') {
      execFileSync('mkfifo', [path('004.json')])
      names.push('004.json')
    }
    writeSpool(directory, events.prompt('s', 'good'))
    expect(await deliver()).toEqual(['good'])
    expect(bad()).toEqual(names)
    expect(notices).toHaveLength(names.length)
    expect(notices[0]).toContain('it is not a regular file')
    expect(await deliver()).toEqual([])
    expect(notices).toHaveLength(names.length)
    expect(existsSync(path('outside'))).toBe(true)
  })

  test('a file that cannot be moved either is noticed once and not tried again', async () => {
    mkdirSync(path('000.json'))
    // `bad` is a file: nothing can be moved into it, whoever runs this.
    writeFileSync(path('bad'), '')
    writeSpool(directory, events.prompt('s', 'good'))
    expect(await deliver()).toEqual(['good'])
    expect(notices).toHaveLength(1)
    expect(notices[0]).toContain('ignored until the next start')
    expect(reader.size).toBe(0)
    expect(await reader.deliver(async () => undefined)).toBe(0)
    expect(notices).toHaveLength(1)
  })

  test('the file of a writer that died is delivered if it is complete, else set aside', async () => {
    const then = new Date(Date.now() - 120_000)
    for (const [name, text] of [
      ['1.tmp', JSON.stringify({ v: 1, event: events.prompt('s', 'adopted') })],
      ['2.tmp', '{"v":1,"event":{"half'],
    ] as const) {
      writeFileSync(path(name), text)
      utimesSync(path(name), then, then)
    }
    writeFileSync(path('3.tmp'), 'being written')
    expect(await deliver()).toEqual(['adopted'])
    expect(bad()).toEqual(['2.tmp'])
    expect(waiting()).toEqual(['3.tmp'])
  })
})

describe('spool.complete', () => {
  test('events keep their order, though one of them takes longer to complete', async () => {
    for (const id of ['first', 'second', 'third']) writeSpool(directory, events.prompt('s', id))
    complete = async (event) => {
      if (event.id === 'first') await new Promise((resolve) => setImmediate(resolve))
      return event
    }
    expect(await deliver()).toEqual(['first', 'second', 'third'])
  })
})

describe('spool.refused', () => {
  test('an event that can never be stored is set aside with its reason after some attempts, with growing pauses', async () => {
    writeSpool(directory, events.prompt('s', 'never'))
    let attempts = 0
    const refuse = () => {
      attempts += 1
      return new MemError('storage', 'Invalid time value')
    }
    const attemptsAt: number[] = []
    for (clock = 0; clock < 3_600_000 && waiting().length > 0; clock += 1_000) {
      const before = attempts
      await deliver(refuse)
      if (attempts > before) attemptsAt.push(clock / 1_000)
    }
    expect(attemptsAt).toEqual([0, 1, 3, 7, 15])
    expect(bad()).toHaveLength(1)
    expect(notices).toHaveLength(1)
    expect(notices[0]).toMatch(/cannot be stored and was set aside.*Invalid time value/)
  })

  test('an invalid event is set aside at once', async () => {
    writeSpool(directory, { ...events.prompt('s', 'odd'), at: -1 })
    writeSpool(directory, events.prompt('s', 'refused'))
    expect(await deliver(() => new MemError('bad_request', 'no'))).toEqual([])
    expect(bad()).toHaveLength(2)
  })

  test('while the disk is full events stay, however long, and are stored once there is space', async () => {
    writeSpool(directory, events.prompt('s', 'kept'))
    let attempts = 0
    for (clock = 0; clock < 3_600_000; clock += 1_000) {
      await deliver(() => {
        attempts += 1
        return new MemError('storage', 'the disk is full', { retryable: true })
      })
    }
    expect(attempts).toBeLessThan(150)
    expect(notices).toEqual([])
    clock += 60_000
    expect(await deliver()).toEqual(['kept'])
    expect(waiting()).toEqual([])
  })
})
