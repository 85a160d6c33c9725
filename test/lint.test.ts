/** The import rule bites: code that points the wrong way is refused by the linter. */
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, expect, test } from 'vitest'

const root = join(import.meta.dirname, '..')
/** The same rules in a tree of their own. */
const tree = mkdtempSync(join(tmpdir(), 'claude-mem-lint-'))
afterAll(() => rmSync(tree, { recursive: true, force: true }))
copyFileSync(join(root, 'biome.json'), join(tree, 'biome.json'))

function lint(file: string, imported: string): string {
  const path = join(tree, file)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, `import * as other from '${imported}'\n\nexport { other }\n`)
  const biome = join(root, 'node_modules/@biomejs/biome/bin/biome')
  const args = [biome, 'lint', '--vcs-enabled=false', file]
  const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: tree, encoding: 'utf8' })
  return stdout + stderr
}

test.each([
  ['machines/session/new.ts', '../../src/store/port.ts'],
  ['machines/session/new.ts', 'node:fs'],
  ['src/memory/new.ts', '../store/port.ts'],
  ['src/store/new.ts', '../actors/registry.ts'],
  ['src/actors/new.ts', '../channel/server.ts'],
  ['src/channel/new.ts', '../cli/table.ts'],
  ['src/hook/new.ts', '../store/port.ts'],
])('lint.arrows: %s may not import %s', (file, imported) => {
  expect(lint(file, imported)).toContain('Arrows point one way')
})

test('lint.arrows: the right way is free', () => {
  const said = lint('machines/session/new.ts', '../../src/memory/event.ts')
  expect(said).toContain('Checked 1 file')
  expect(said).not.toContain('Arrows point one way')
})
