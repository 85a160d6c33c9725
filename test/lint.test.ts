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
