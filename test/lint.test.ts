/** `node scripts/measure-tree.mjs --check` reports code that breaks a rule of the tree. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { temporaryDirectory } from './support/directories.ts'
import { ROOT } from './support/paths.ts'
import { type Finished, runProgram } from './support/programs.ts'

/** Checks a small tree of the given files. */
function check(files: Record<string, string>): Promise<Finished> {
  const tree = temporaryDirectory('lint')
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(tree, file)), { recursive: true })
    writeFileSync(join(tree, file), text)
  }
  return runProgram(process.execPath, [join(ROOT, 'scripts/measure-tree.mjs'), '--root', tree, '--check'])
}

const importing = (specifier: string) => `import * as other from '${specifier}'\n\nexport const used = other\n`

describe('lint.arrows', () => {
  test.each([
    ['machines/session/new.ts', '../../src/store/port.ts', 'machines must not import store'],
    ['machines/session/new.ts', 'node:fs', 'machines are pure and do not import node:fs'],
    ['src/domain/new.ts', '../store/port.ts', 'domain must not import store'],
    ['src/store/new.ts', '../search/engine.ts', 'store must not import search'],
    ['src/daemon/new.ts', '../transport/server.ts', 'daemon must not import transport'],
    ['src/transport/new.ts', '../cli/table.ts', 'transport must not import cli'],
    ['src/hook/new.ts', '../store/port.ts', 'hook must not import store'],
    ['src/cli/new.ts', '../store/sqlite/inbox.ts', 'src/store/sqlite/inbox.ts is private to store'],
  ])('%s may not import %s', async (file, specifier, message) => {
    const { code, stderr } = await check({ [file]: importing(specifier) })
    expect(stderr).toContain(`${file}:1: ${message}`)
    expect(code).toBe(1)
  })

  test('an import in the allowed direction is accepted', async () => {
    const files = {
      'machines/session/new.ts': importing('../../src/domain/event.ts'),
      'src/domain/event.ts': 'export type EventKind = string\n',
    }
    expect(await check(files)).toMatchObject({ code: 0, stderr: 'measure-tree: all rules hold\n' })
  })

  test('the composition root may import the transport', async () => {
    expect((await check({ 'src/daemon/main.ts': importing('../transport/server.ts') })).code).toBe(0)
  })
})

describe('lint.words', () => {
  const LIST = 'const OPENING = /^(?:okay|sure|great|perfect|certainly|absolutely|of course|understood)\\b[!.,]/i\n'

  test.each(['src/observer/new.ts', 'src/context/new.ts', 'src/search/new.ts', 'src/daemon/new.ts'])(
    'a list of words in %s is reported',
    async (file) => {
      const { code, stderr } = await check({ [file]: LIST })
      expect(stderr).toContain(`${file}:1: a regular expression with a list of words; read them in src/reading`)
      expect(code).toBe(1)
    },
  )

  test('in the room that reads, in replies of models and in a comment it is accepted, and so is a form', async () => {
    const files = {
      'src/reading/new.ts': LIST,
      'src/observer/model/reply/new.ts': LIST,
      'src/context/new.ts': `// ${LIST}const TABLE_ROW = /^\\s{0,3}\\|(?:[^|\\n]{1,200}\\|){1,40}\\s{0,8}$|^\\s{0,3}[-:|]{3,80}$/\n`,
    }
    expect(await check(files)).toMatchObject({ code: 0 })
  })
})

describe('lint.platforms', () => {
  test.each([
    ["import { chmodSync } from 'node:fs'", 'chmod, chown'],
    ["import { rename } from 'node:fs/promises'", 'rename'],
    ["import {\n  existsSync,\n  symlinkSync as link,\n} from 'node:fs'", 'links'],
    ["import { userInfo } from 'node:os'", 'getuid'],
    ['const user = process.getuid?.()', 'getuid'],
    ["process.kill(12, 'SIGTERM')", 'signals to other processes'],
    ["process.on('SIGUSR1', () => undefined)", 'signal handlers'],
    ["spawn('mkfifo', ['x'])", 'links'],
    ["const log = '/tmp/log'", 'POSIX paths'],
    ["const address = 'ws+unix:' + path", 'socket addresses'],
  ])('%j needs a reason', async (line, call) => {
    const { code, stderr } = await check({ 'src/lib/new.ts': `${line}\n` })
    expect(stderr).toMatch(
      new RegExp(`^src/lib/new\\.ts:\\d+: ${call} \\(Windows: .+add the file with its reason`, 'm'),
    )
    expect(code).toBe(1)
  })

  test('a call in a comment is none, and a listed file may use what it is listed for', async () => {
    const files = {
      'src/lib/new.ts': '/** Not `process.kill(1)`. */\nexport const one = 1 // chmodSync(file)\n',
      'src/lib/temporary.ts': 'process.kill(pid, 0)\n',
    }
    expect(await check(files)).toMatchObject({ code: 0 })
  })

  test('a listed file that no longer uses the call is reported', async () => {
    const { code, stderr } = await check({ 'src/lib/exit.ts': 'export const nothing = 0\n' })
    expect(stderr).toContain('src/lib/exit.ts: no longer uses signals to other processes; remove it')
    expect(code).toBe(1)
  })
})

describe('lint.names', () => {
  test('a name that two files export is reported with both files', async () => {
    const { code, stderr } = await check({
      'src/lib/a.ts': 'export const twice = 1\n',
      'src/domain/b.ts': 'export function twice() {}\n',
    })
    expect(stderr).toContain('"twice" is exported by src/domain/b.ts and src/lib/a.ts')
    expect(code).toBe(1)
  })

  test('a file in the root of src and a folder that is not a room are reported', async () => {
    const { stderr } = await check({ 'src/loose.ts': '', 'src/attic/old.ts': '' })
    expect(stderr).toContain('src/loose.ts: the root of src/ holds no code')
    expect(stderr).toContain('src/attic/old.ts: "attic" is not a room')
  })
})
