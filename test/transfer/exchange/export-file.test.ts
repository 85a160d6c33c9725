import { readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { beforeEach, describe, expect, test } from 'vitest'
import type { ExportRecord } from '../../../src/store/exchange-records.ts'
import { openLocalStore } from '../../../src/store/sqlite/store.ts'
import { checkExport, detectImportFile } from '../../../src/transfer/exchange/export-file.ts'
import { checkOutputFile, writeFileAtomically } from '../../../src/transfer/exchange/output-file.ts'
import { readLines } from '../../../src/transfer/transcripts/lines.ts'
import { observationRecord, promptRecord, sessionOf } from '../../store/import-contract.ts'
import { place } from '../../store/place.ts'
import { NOW, PROJECT } from '../../store/samples.ts'
import { temporaryDirectory } from '../../support/directories.ts'
import { fileText, type Importing, importInto, NOTHING, textSource } from './exchange.ts'

const { project: _, ...session } = sessionOf('s')
const RECORDS: ExportRecord[] = [
  { kind: 'project', ...PROJECT },
  { kind: 'session', ...session, project: PROJECT.key },
  promptRecord('s', 1),
  observationRecord('s'),
  { kind: 'pin', observation: 7, at: NOW },
]
const TEXT = fileText(RECORDS)
const lines = TEXT.trimEnd().split('\n')
const [header = '', project = '', sessionLine = '', prompt = '', observation = '', pin = '', end = ''] = lines

async function imported(text: string, maxChars?: number, options: Importing = {}) {
  const here = place()
  const store = await openLocalStore(here.options)
  try {
    return await importInto(store, textSource(text, maxChars), options)
  } finally {
    await store.close()
    here.dispose()
  }
}
const withLine = (line: string) => [header, project, sessionLine, line, observation, pin, end].join('\n')

describe('exchange.file', () => {
  test('exchange.pinsAreImportedOnlyIfAskedFor_andTheProjectsAreNamed', async () => {
    const { added, pinsLeftOut, writtenTo } = await imported(TEXT, undefined, { pins: false })
    expect({ added, pinsLeftOut }).toEqual({ added: { ...NOTHING, observation: 1, prompt: 1 }, pinsLeftOut: 1 })
    expect(writtenTo).toHaveLength(1)
  })

  test('a complete file is imported with any line ends', async () => {
    const added = { ...NOTHING, observation: 1, prompt: 1, pin: 1 }
    expect(await imported(TEXT)).toMatchObject({ added, refused: 0 })
    expect(await imported(`\ufeff${TEXT.replaceAll('\n', '\r\n\r\n')}`)).toMatchObject({ added, refused: 0 })
  })

  test.each([
    ['half a line', prompt.slice(0, 30), 'line 4: not JSON, or truncated'],
    ['something else', 'null', 'line 4: Invalid input'],
    ['an unknown kind', '{"kind":"dream"}', 'line 4: kind: Invalid'],
    ['a wrong type', prompt.replace('"number":1', '"number":"one"'), 'line 4: number: Invalid input'],
    ['a time that no date can hold', prompt.replace(`"at":${NOW + 1}`, '"at":1e300'), 'line 4: at: '],
    ['a missing field', '{"kind":"prompt","session":"s"}', 'line 4: number: Invalid input'],
    ['too much text', prompt.replace('prompt 1', 'x'.repeat(70_000)), 'line 4: text: Too big'],
    ['a session that is not there', prompt.replace('"s"', '"t"'), 'line 4: its session t is not in the file'],
  ])('%s is reported with its line, and the rest is imported', async (_what, line, told) => {
    const { added, refused, problems } = await imported(withLine(line))
    expect({ added, refused }).toEqual({ added: { ...NOTHING, observation: 1, pin: 1 }, refused: 1 })
    expect(problems.map(({ at, problem }) => `${at}: ${problem}`).join()).toContain(told)
  })

  test('a line too long to be held is passed over', async () => {
    const { problems, added } = await imported(withLine(prompt.replace('prompt 1', 'x'.repeat(6_000))), 4_000)
    expect(problems).toMatchObject([{ at: 'line 4', problem: expect.stringContaining('longer than') }])
    expect(added.observation).toBe(1)
  })

  test('what a damaged observation left behind is not linked to anything', async () => {
    const { problems } = await imported([header, project, sessionLine, observation.slice(0, -9), pin, end].join('\n'))
    expect(problems.map(({ at, problem }) => `${at}: ${problem}`)).toEqual([
      'line 4: not JSON, or truncated',
      'line 5: observation 7 is not in the file',
    ])
  })

  test('a truncated file is imported as far as possible, and reported', async () => {
    const { added, problems } = await imported([header, project, sessionLine, prompt].join('\n'))
    expect(added.prompt).toBe(1)
    expect(problems).toMatchObject([{ at: 'line 4', problem: expect.stringContaining('truncated') }])
  })

  test.each([
    ['', 'neither an export'],
    ['\n\n', 'neither an export'],
    ['# Notes', 'neither an export'],
    ['{"name":"package"}', 'neither an export'],
    ['[1]', 'neither an export'],
    [header.replace('"claude-mem":1', '"claude-mem":2'), 'newer claude-mem (format 2; this one knows up to 1)'],
  ])('%j is refused before anything is done', async (text, told) => {
    await expect(checkExport(readLines(Readable.from([text])), 'file')).rejects.toThrow(told)
    await expect(imported(text)).rejects.toThrow(told)
  })
})

describe('exchange.output', () => {
  let directory: string
  beforeEach(() => {
    directory = temporaryDirectory('output')
  })
  test('a file is private, complete, and replaced only with --force', async () => {
    const file = join(directory, 'memory.jsonl')
    expect(await writeFileAtomically(checkOutputFile(file, false), false, ['one\n', 'zwei ü\n'])).toBe(12)
    expect(readFileSync(file, 'utf8')).toBe('one\nzwei ü\n')
    if (process.platform !== 'win32') expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(() => checkOutputFile(file, false)).toThrow('already exists; --force replaces it')
    await expect(writeFileAtomically(file, false, ['late'])).rejects.toThrow('already exists')
    await writeFileAtomically(checkOutputFile(file, true), true, ['new'])
    expect(readFileSync(file, 'utf8')).toBe('new')
    expect(readdirSync(directory)).toEqual(['memory.jsonl'])
  })

  test('a failed write leaves no file and keeps the old one', async () => {
    const file = join(directory, 'memory.jsonl')
    writeFileSync(file, 'before')
    function* failing() {
      yield 'x'.repeat(100_000)
      throw new Error('the disk is gone')
    }
    await expect(writeFileAtomically(file, true, failing())).rejects.toThrow('could not be written: the disk is gone')
    expect(readdirSync(directory)).toEqual(['memory.jsonl'])
    expect(readFileSync(file, 'utf8')).toBe('before')
  })

  test('refuses a directory, a missing directory and a device', () => {
    expect(() => checkOutputFile(directory, true)).toThrow('is not a file')
    expect(() => checkOutputFile(join(directory, 'nowhere', 'x'), true)).toThrow('does not exist; create it first')
    if (process.platform !== 'win32') expect(() => checkOutputFile('/dev/null', true)).toThrow('is not a file')
  })

  test.skipIf(process.platform === 'win32')('behind a symbolic link the file itself is replaced', () => {
    const file = join(directory, 'memory.jsonl')
    const link = join(directory, 'link')
    writeFileSync(file, 'before')
    symlinkSync(file, link)
    expect(checkOutputFile(link, true)).toBe(checkOutputFile(file, true))
  })

  test('what is to be imported is looked at first', () => {
    const file = join(directory, 'x')
    expect(() => detectImportFile(file)).toThrow('does not exist')
    writeFileSync(file, '')
    expect(() => detectImportFile(file)).toThrow('is empty')
    expect(() => detectImportFile(directory)).toThrow('is not a file')
    writeFileSync(file, 'SQL')
    expect(detectImportFile(file)).toEqual({ is: 'text', bytes: 3 })
  })
})
