import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Store } from '../../../src/store/port.ts'
import { openLocalStore } from '../../../src/store/sqlite/store.ts'
import { autoMemorySource, readNote } from '../../../src/transfer/exchange/auto-memory.ts'
import { temporaryDirectory } from '../../support/directories.ts'
import { importInto, NOTHING } from './exchange.ts'

let config: string
let shop: string
let store: Store
beforeEach(async () => {
  config = temporaryDirectory('auto-memory')
  shop = temporaryDirectory('shop')
  const own = temporaryDirectory('imported')
  store = await openLocalStore({ databaseFile: join(own, 'db.sqlite'), backupsDir: join(own, 'backups') })
})
afterEach(() => store.close())

const directory = () => join(config, 'projects', shop.replaceAll(/[^A-Za-z0-9]/g, '-'))

function note(name: string, text: string): string {
  const file = join(directory(), 'memory', name)
  mkdirSync(join(directory(), 'memory'), { recursive: true })
  writeFileSync(file, text)
  return file
}

async function imported() {
  const source = autoMemorySource(config)
  if (source === null) throw new Error('there are no notes')
  return await importInto(store, source, {})
}

const FEEDBACK = '---\nname: No mocks\ndescription: how to test\ntype: feedback\n---\n\nNever mock the database.\n'

describe('auto-memory', () => {
  test('is imported once, with its file as origin, and the files stay as they are', async () => {
    const file = note('feedback_mocks.md', FEEDBACK)
    note('MEMORY.md', '# Index\n\n- [No mocks](feedback_mocks.md)\n')
    writeFileSync(join(directory(), 's1.jsonl'), `{"type":"summary"}\n${JSON.stringify({ type: 'user', cwd: shop })}\n`)
    const before = [readFileSync(file, 'utf8'), statSync(file).mtimeMs]
    const report = await imported()
    expect(report.problems).toEqual([])
    expect(report.added).toEqual({ ...NOTHING, observation: 2 })
    const found = (await store.observations({ project: `dir:${shop}` })).find(({ title }) => title === 'No mocks')
    expect(found).toMatchObject({
      type: 'decision',
      subtitle: 'how to test',
      narrative: 'Never mock the database.',
      concepts: ['auto-memory'],
      filesRead: [file],
    })
    expect(await store.session(found?.session ?? '')).toMatchObject({ client: 'claude-code', cwd: shop })
    expect([readFileSync(file, 'utf8'), statSync(file).mtimeMs]).toEqual(before)
    const again = await imported()
    expect(again.added).toEqual(NOTHING)
    expect(again.known.observation).toBe(2)
  })

  test('adds a note that changed, and not the others', async () => {
    note('a.md', 'The limit is 10.')
    note('b.md', 'The port is 80.')
    await imported()
    note('a.md', 'The limit is 20.')
    const report = await imported()
    expect([report.added.observation, report.known.observation]).toEqual([1, 1])
  })

  test('without a transcript that names the directory it becomes a project of its own', async () => {
    note('a.md', 'The limit is 10.')
    const gone = join(config, 'projects', '-home-nobody-gone')
    mkdirSync(join(gone, 'memory'), { recursive: true })
    writeFileSync(join(gone, 'memory', 'b.md'), 'The port is 80.')
    await imported()
    expect(await store.observations({ project: 'import:gone' })).toMatchObject([{ title: 'b' }])
  })

  test('there may be none, and what cannot be used is reported', async () => {
    expect(autoMemorySource(config)).toBeNull()
    mkdirSync(join(directory(), 'memory', 'a.md'), { recursive: true })
    note('empty.md', '')
    note('front.md', '---\nname: x\n---\n')
    note('fine.md', 'Fine.')
    const report = await imported()
    expect(report.added.observation).toBe(1)
    expect(report.problems).toMatchObject([{ at: join(directory(), 'memory', 'a.md') }])
  })

  test('a long note is read by its sections', () => {
    const section = (name: string) => `## ${name}\n\n${`${name} is described here. `.repeat(60)}\n`
    const notes = readNote(`# Shop\n\n${section('Limits')}\n${section('Ports')}`, 'MEMORY')
    expect(notes.map(({ title }) => title)).toEqual(['Shop: Limits', 'Shop: Ports'])
    expect(readNote('\uFEFFshort', 'x')).toMatchObject([{ title: 'x', text: 'short', type: 'discovery' }])
  })
})
