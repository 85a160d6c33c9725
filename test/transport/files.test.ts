import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { InputOf } from '../../src/api/index.ts'
import { changeFiles, projectOperations } from '../../src/api/operations/projects.ts'
import { parseInput } from '../../src/api/schemas.ts'
import { FileSections } from '../../src/context/files/file-sections.ts'
import type { Store } from '../../src/store/port.ts'
import { openLocalStore } from '../../src/store/sqlite/store.ts'
import { commitOf, observationOf, stateOf } from '../store/samples.ts'
import { temporaryDirectory } from '../support/directories.ts'

let directory: string
let shop: string
let store: Store
let sections: FileSections

beforeEach(async () => {
  directory = temporaryDirectory('files')
  shop = join(directory, 'shop')
  mkdirSync(join(shop, '.git'), { recursive: true })
  writeFileSync(join(shop, '.git', 'HEAD'), 'ref: refs/heads/main\n')
  mkdirSync(join(shop, 'src'))
  store = await openLocalStore({ databaseFile: join(directory, 'db.sqlite'), backupsDir: join(directory, 'backups') })
  const notice = () => undefined
  sections = new FileSections({ store, limits: () => ({ rows: 8, folders: 10 }), notice })
  const project = { key: `git:${join(shop, '.git')}`, name: 'shop' }
  await store.commit([commitOf('s', 1, { state: stateOf({ project }), observations: [observationOf([])] })])
})
afterEach(async () => {
  await store.close()
})

const parse = (input: object) => parseInput(projectOperations.files.input, { action: 'status', ...input })
const ask = (over: Partial<InputOf<'files'>>) => changeFiles(parse(over), sections, store)

describe('files', () => {
  test('files.on by any directory of the working tree, off by its name', async () => {
    const on = await ask({ action: 'on', root: join(shop, 'src') })
    expect(on).toMatchObject({
      project: { key: `git:${join(shop, '.git')}`, name: 'shop' },
      root: shop,
      parts: ['project'],
      files: [{ file: join(shop, 'CLAUDE.md'), what: 'made', why: null }],
    })
    expect(await ask({ project: 'shop' })).toMatchObject({ root: shop, files: [{ what: 'unchanged' }] })
    expect(await ask({ action: 'off', project: 'shop' })).toMatchObject({ root: null, parts: [] })
    expect(existsSync(join(shop, 'CLAUDE.md'))).toBe(false)
  })

  test('files.on by name where the project lies in its own place', async () => {
    expect(await ask({ action: 'on', project: 'shop' })).toMatchObject({ root: shop })
    expect(readFileSync(join(shop, 'CLAUDE.md'), 'utf8')).toContain('## Recent Memory')
    expect(await ask({ action: 'clean', project: 'shop' })).toMatchObject({ root: null, files: [{ what: 'deleted' }] })
  })

  test('files.on of a project that is not known yet waits for its memory', async () => {
    const notes = join(directory, 'notes')
    mkdirSync(notes)
    expect(await ask({ action: 'on', root: notes })).toMatchObject({
      project: { name: 'notes' },
      root: notes,
      files: [],
    })
    expect(await ask({ root: notes })).toMatchObject({ root: notes, parts: ['project'] })
  })

  test('files.places that are none', async () => {
    await expect(ask({ action: 'on', root: join(directory, 'gone') })).rejects.toThrow('is not a directory')
    await expect(ask({ action: 'on', root: '/' })).rejects.toThrow('cannot have a section')
    await expect(ask({ action: 'on', project: 'git:/gone/.git' })).rejects.toThrow('--path')
    await expect(ask({ action: 'on' })).rejects.toThrow('name the project')
    await expect(ask({ action: 'off', project: 'shpo' })).rejects.toThrow('no project is called')
  })

  test('files.requests are checked at the door', () => {
    expect(parse({ action: 'on', parts: ['cursor'] })).toMatchObject({ parts: ['cursor'] })
    for (const wrong of [{ action: 'of' }, { parts: [] }, { parts: ['folder'] }, { root: '' }, { dryRun: 'no' }]) {
      expect(() => parse(wrong)).toThrow('not valid')
    }
  })
})
