import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { dataPaths } from '../../src/lib/paths.ts'
import { openLocalStore } from '../../src/store/sqlite/store.ts'
import { commitOf, observationOf, PROJECT, summaryOf } from '../store/samples.ts'
import { temporaryDirectory } from '../support/directories.ts'
import { originalDatabase } from '../transfer/exchange/original-database.ts'
import { Program } from './program.ts'

let program: Program
let directory: string
let other: string
const at = (name: string) => join(directory, name)
/** The same program on another data directory. */
const runOther = (...args: string[]) => program.run(args, { env: { CLAUDE_MEM_DATA_DIR: other } })
const kindsIn = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).kind ?? 'header')

beforeAll(async () => {
  program = await Program.make()
  directory = temporaryDirectory('exchange')
  other = join(directory, 'other')
  mkdirSync(other)
  const paths = dataPaths(program.dataDir)
  const store = await openLocalStore({ databaseFile: paths.database, backupsDir: paths.backups })
  // In the past of the real clock: memories from the future are not imported.
  const createdAt = Date.now() - 60_000
  const first = observationOf([], { title: 'Login \x1b[2Jfixed', createdAt })
  const observations = [first, observationOf([], { createdAt: createdAt + 9 })]
  const summaries = [summaryOf({ createdAt })]
  await store.commit([commitOf('session-one', 1, { at: createdAt, observations, summaries })])
  await store.close()
}, 60_000)
afterAll(async () => {
  await runOther('stop')
  await program.end()
}, 60_000)

describe('export', () => {
  it('writes a private file and replaces an existing one only with --force', async () => {
    const told = await program.json('export', at('memory.jsonl'))
    expect(told).toMatchObject({
      file: at('memory.jsonl'),
      format: 'jsonl',
      exported: { observation: 2, summary: 1, prompt: 0 },
      bytes: statSync(at('memory.jsonl')).size,
    })
    expect(kindsIn(readFileSync(at('memory.jsonl'), 'utf8'))).toEqual([
      'header',
      'project',
      'session',
      'observation',
      'observation',
      'summary',
      'end',
    ])
    const again = await program.run(['export', at('memory.jsonl')])
    expect(again).toMatchObject({ code: 1, stdout: '' })
    expect(again.stderr).toContain('--force replaces it')
    expect(await program.run(['export', at('memory.jsonl'), '--force'])).toMatchObject({ code: 0 })
  })

  it('refuses to replace the database', async () => {
    const database = join(program.dataDir, 'db.sqlite')
    const bytes = readFileSync(database)
    const { code, stderr } = await program.run(['export', database, '--force'])
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining("is claude-mem's data directory") })
    expect(readFileSync(database).equals(bytes)).toBe(true)
  })

  it('writes filtered and sanitised records to standard output', async () => {
    const { stdout, stderr } = await program.run(['export', '--project', 'shop', '--kind', 'observation'])
    expect(kindsIn(stdout)).toEqual(['header', 'project', 'session', 'observation', 'observation', 'end'])
    expect(stderr).toContain('Exported 2 observations')
    const text = await program.run(['export', '-', '--format', 'markdown', '--session', 'session'])
    expect(text.stdout).toContain('🐛 Login \\u001b\\[2Jfixed')
    expect(stdout + text.stdout).not.toContain('\x1b')
  })

  it.each([
    [['export', '--json'], '--json needs a file'],
    [['import', 'x', '--project-map', 'a=b', '--project-map', 'c=d'], 'give --project-map once'],
  ])('refuses %j before anything is read', async (args, told) => {
    const { code, stderr } = await program.run(args)
    expect(stderr).toContain(told)
    expect(code).toBe(2)
  })
})

describe('import', () => {
  it('of an unknown file format starts no daemon', async () => {
    writeFileSync(at('notes.txt'), 'Dear diary\n')
    const { code, stderr } = await runOther('import', at('notes.txt'))
    expect(code).toBe(1)
    expect(stderr).toContain('neither an export of claude-mem')
    expect(statSync(dataPaths(other).database, { throwIfNoEntry: false })).toBeUndefined()
  })

  it('dry run prints what would be added, and a second import adds nothing', async () => {
    const file = at('memory.jsonl')
    const dry = await runOther('import', file, '--dry-run')
    expect(dry).toMatchObject({ code: 0, stdout: 'Would import 2 observations, 1 summary\n' })
    expect((await runOther('import', file)).stdout).toBe('Imported 2 observations, 1 summary\nProjects: shop\n')
    expect((await runOther('import', file)).stdout).toBe(
      'Imported nothing\n2 observations, 1 summary were there already\n',
    )
    const found = JSON.parse((await runOther('search', 'token', '--project', PROJECT.key, '--json')).stdout)
    const kinds = found.hits.flatMap(({ kind, further }: { kind: string; further: { kind: string }[] }) => [
      kind,
      ...further.map((piece) => piece.kind),
    ])
    expect(kinds.sort()).toEqual(['observation', 'summary'])
  })

  it('of a damaged file imports the valid records and fails with the line numbers of the others', async () => {
    const lines = readFileSync(at('memory.jsonl'), 'utf8').split('\n')
    const moved = lines.map((line) => line.replaceAll('session-one', 'session-two'))
    writeFileSync(at('damaged.jsonl'), [...moved.slice(0, 4), '{"kind":"observ', ...moved.slice(5)].join('\n'))
    const { code, stdout } = await runOther('import', at('damaged.jsonl'))
    expect(code).toBe(1)
    expect(stdout).toContain('Imported 1 observation, 1 summary')
    expect(stdout).toContain('line 5: not JSON, or truncated')
  })

  it('reads the database of the original claude-mem while the original has it open', async () => {
    const original = originalDatabase(at('claude-mem.db'))
    const { stdout } = await runOther('import', at('claude-mem.db'), '--project-map', `blog=${directory}`, '--json')
    original.close()
    const report = JSON.parse(stdout)
    expect(report).toMatchObject({ source: 'original', added: { observation: 4, summary: 1, prompt: 2 }, refused: 0 })
    const [shop, blog] = report.projects.map(({ to }: { to: { key: string } }) => to.key)
    expect(shop).toBe(PROJECT.key)
    expect(blog).toMatch(/^dir:/)
  })
})
