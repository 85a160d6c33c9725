import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { pathsOf } from '../../src/paths.ts'
import { openLocalStore } from '../../src/store/sqlite/local.ts'
import { originalDatabase } from '../exchange/original-database.ts'
import { commitOf, observationOf, PROJECT, summaryOf } from '../store/samples.ts'
import { Program } from './program.ts'

let program: Program
let directory: string
let other: string
const at = (name: string) => join(directory, name)
/** The same program on another data directory. */
const elsewhere = (...args: string[]) => program.run(args, { env: { CLAUDE_MEM_DATA_DIR: other } })
const kindsIn = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).kind ?? 'header')

beforeAll(async () => {
  program = await Program.make()
  directory = mkdtempSync(join(tmpdir(), 'claude-mem-exchange-'))
  other = join(directory, 'other')
  mkdirSync(other)
  const paths = pathsOf(program.dataDir)
  const store = await openLocalStore({ databaseFile: paths.database, backupsDir: paths.backups })
  const { draft, ...rest } = observationOf([])
  const title = 'Login \x1b[2Jfixed'
  const observations = [{ ...rest, draft: { ...draft, title } }, observationOf([], { createdAt: rest.createdAt + 9 })]
  await store.commit([commitOf('session-one', 1, { observations, summaries: [summaryOf()] })])
  await store.close()
}, 60_000)
afterAll(async () => {
  await elsewhere('stop')
  await program.end()
  rmSync(directory, { recursive: true, force: true })
}, 60_000)

describe('export', () => {
  it('writes a private file, and does not replace one unless it is told to', async () => {
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

  it('does not take the memory itself for a file to replace', async () => {
    const database = join(program.dataDir, 'db.sqlite')
    const bytes = readFileSync(database)
    const { code, stderr } = await program.run(['export', database, '--force'])
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('keeps its own files') })
    expect(readFileSync(database).equals(bytes)).toBe(true)
  })

  it('goes to the standard output, filtered, and nothing in it acts on a terminal', async () => {
    const { stdout, stderr } = await program.run(['export', '--project', 'shop', '--kind', 'observation'])
    expect(kindsIn(stdout)).toEqual(['header', 'project', 'session', 'observation', 'observation', 'end'])
    expect(stderr).toContain('Exported 2 observations')
    const text = await program.run(['export', '-', '--format', 'markdown', '--session', 'session'])
    expect(text.stdout).toContain('🐛 Login \\u001b\\[2Jfixed')
    expect(stdout + text.stdout).not.toContain('\x1b')
  })

  it.each([
    [['export', '--json'], '--json tells about a file'],
    [['import', 'x', '--project-map', 'a=b', '--project-map', 'c=d'], 'give --project-map once'],
  ])('%j is refused before anything is read', async (args, told) => {
    const { code, stderr } = await program.run(args)
    expect(stderr).toContain(told)
    expect(code).toBe(2)
  })
})

describe('import', () => {
  it('of a file that is nothing of ours starts nothing', async () => {
    writeFileSync(at('notes.txt'), 'Dear diary\n')
    const { code, stderr } = await elsewhere('import', at('notes.txt'))
    expect(code).toBe(1)
    expect(stderr).toContain('neither an export of claude-mem')
    expect(statSync(pathsOf(other).database, { throwIfNoEntry: false })).toBeUndefined()
  })

  it('says what it would do, does it, and does it once', async () => {
    const file = at('memory.jsonl')
    const dry = await elsewhere('import', file, '--dry-run')
    expect(dry).toMatchObject({ code: 0, stdout: 'Would import 2 observations, 1 summary\n' })
    expect((await elsewhere('import', file)).stdout).toBe('Imported 2 observations, 1 summary\n')
    expect((await elsewhere('import', file)).stdout).toBe(
      'Imported nothing\n2 observations, 1 summary were there already\n',
    )
    const found = JSON.parse((await elsewhere('search', 'token', '--project', PROJECT.key, '--json')).stdout)
    expect(found.hits).toHaveLength(2)
  })

  it('takes in a damaged file as far as it goes, and fails with its lines', async () => {
    const lines = readFileSync(at('memory.jsonl'), 'utf8').split('\n')
    const moved = lines.map((line) => line.replaceAll('session-one', 'session-two'))
    writeFileSync(at('damaged.jsonl'), [...moved.slice(0, 4), '{"kind":"observ', ...moved.slice(5)].join('\n'))
    const { code, stdout } = await elsewhere('import', at('damaged.jsonl'))
    expect(code).toBe(1)
    expect(stdout).toContain('Imported 1 observation, 1 summary')
    expect(stdout).toContain('line 5: not JSON, or only half of it')
  })

  it("takes in the original's database while the original has it open", async () => {
    const original = originalDatabase(at('claude-mem.db'))
    const { stdout } = await elsewhere('import', at('claude-mem.db'), '--project-map', `blog=${directory}`, '--json')
    original.close()
    const report = JSON.parse(stdout)
    expect(report).toMatchObject({ source: 'original', added: { observation: 4, summary: 1, prompt: 2 }, refused: 0 })
    const [shop, blog] = report.projects.map(({ to }: { to: { key: string } }) => to.key)
    expect(shop).toBe(PROJECT.key)
    expect(blog).toMatch(/^dir:/)
  })
})
