/** Files that others write are opened in one way: regular files only, never waiting, never more than a bound. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  openRegularFile,
  openRegularFileSync,
  readFileChunks,
  readFileEnd,
  readFileIfExists,
  readFileStart,
  readRegularFile,
  readRegularFileSync,
  readTextFile,
} from '../../src/lib/files.ts'
import { temporaryDirectory } from '../support/directories.ts'
import { ROOT } from '../support/paths.ts'

const HUGE_BYTES = 20 * 1024 ** 3

function specialFiles(): [string, string][] {
  const directory = temporaryDirectory('special')
  const at = (name: string) => join(directory, name)
  execFileSync('mkfifo', [at('pipe')])
  mkdirSync(at('directory'))
  symlinkSync('/dev/zero', at('zero'))
  symlinkSync(at('pipe'), at('link'))
  return [
    ['a pipe', at('pipe')],
    ['a directory', at('directory')],
    ['a link to a device', at('zero')],
    ['a link to a pipe', at('link')],
  ]
}

describe.skipIf(process.platform === 'win32')('a special file is refused at once', () => {
  test.each(specialFiles())('%s', async (_, file) => {
    const refusal = `${file} cannot be read: it is not a regular file`
    expect(() => openRegularFileSync(file)).toThrow(refusal)
    expect(() => readRegularFileSync(file)).toThrow(refusal)
    expect(() => readFileIfExists(file)).toThrow(refusal)
    expect(readTextFile(file)).toBeUndefined()
    expect(readFileEnd(file, 100)).toBe('')
    await expect(openRegularFile(file)).rejects.toThrow(refusal)
    await expect(readRegularFile(file)).rejects.toThrow(refusal)
    await expect(readFileStart(file, 100)).rejects.toThrow(refusal)
    await expect(readFileChunks(file).next()).rejects.toThrow(refusal)
  })
})

test('a file larger than the bound is refused, its start and end are read', async () => {
  const file = join(temporaryDirectory('special'), 'huge')
  writeFileSync(file, 'start')
  truncateSync(file, HUGE_BYTES)
  expect(() => readRegularFileSync(file)).toThrow('it is larger than')
  expect(() => readFileIfExists(file)).toThrow('it is larger than')
  expect(readTextFile(file)).toBeUndefined()
  await expect(readRegularFile(file, 1_000)).rejects.toThrow('it is larger than 1000 bytes')
  expect((await readFileStart(file, 5)).toString()).toBe('start')
  expect(readFileEnd(file, 3)).toBe('\0\0\0')
})

test('a regular file is read whole, in chunks, and through a link', async () => {
  const directory = temporaryDirectory('special')
  const text = 'ä line\n'.repeat(400_000)
  writeFileSync(join(directory, 'file'), text)
  symlinkSync(join(directory, 'file'), join(directory, 'link'))
  expect(readTextFile(join(directory, 'link'))).toBe(text)
  expect((await readRegularFile(join(directory, 'file'))).toString()).toBe(text)
  let chunks = ''
  for await (const chunk of readFileChunks(join(directory, 'file'))) chunks += chunk
  expect(chunks).toBe(text)
  writeFileSync(join(directory, 'empty'), '')
  expect(readTextFile(join(directory, 'empty'))).toBe('')
  expect(await readFileChunks(join(directory, 'empty')).next()).toEqual({ value: undefined, done: true })
})

/** Files that may open others themselves, with what they open. */
const OPENERS: Record<string, string> = {
  'src/lib/files.ts': 'here foreign files are opened',
  'src/lib/log.ts': 'writes its own log',
  'src/lib/processes.ts': 'files of /proc',
  'src/cli/log-files.ts': 'the log of the data directory',
  'src/context/files/edit-file.ts': 'creates a temporary file',
  'src/daemon/disk-reserve.ts': 'writes its own file',
  'src/daemon/rendered-context-cache.ts': 'what it wrote itself',
  'src/observer/model/prompts.ts': 'the prompts of the program',
  'src/search/embedders/static.ts': 'word vectors of the program',
  'src/search/embedders/transformers-worker.ts': 'model files it downloaded',
  'src/search/vectors/hnsw-index.ts': 'the vectors of the data directory',
  'src/setup/install/change.ts': 'its records in the data directory',
  'src/setup/plugin/hook.ts': 'standard input',
  'src/store/recovery/database-files.ts': 'the database',
  'src/store/recovery/database-pages.ts': 'a copy of the database',
  'src/store/recovery/write-ahead-log.ts': 'the log of the database',
  'src/transport/client.ts': 'the token of the data directory',
  'src/transport/viewer-access.ts': 'the page of the program',
}

test('every other file of the source opens files through src/lib/files.ts', () => {
  const files = ['src', 'machines'].flatMap((room) =>
    readdirSync(join(ROOT, room), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => join(ROOT, room, name)),
  )
  const opening = files.filter((file) => {
    const imports = [
      ...readFileSync(file, 'utf8').matchAll(/^import ([^;'"]*?) from ['"](?:node:)?fs(?:\/promises)?['"]/gm),
    ]
    return imports.some(([, names = '']) =>
      /\b(?:readFile|readFileSync|createReadStream|open|openSync)\b|\*|^(?!type\b)\w/.test(names),
    )
  })
  const names = opening.map((file) => relative(ROOT, file).split(sep).join('/')).sort()
  expect(names).toEqual(Object.keys(OPENERS).sort())
})
