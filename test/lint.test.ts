/** The import rule bites: a file that points the wrong way is refused by the linter. */
import { spawnSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'

const root = join(import.meta.dirname, '..')
const made: string[] = []
afterEach(() => {
  for (const file of made.splice(0)) rmSync(file, { force: true })
})

test.each([
  ['machines/session/wrong-way.ts', '../../src/store/port.ts'],
  ['machines/session/wrong-way.ts', 'node:fs'],
  ['src/memory/wrong-way.ts', '../store/port.ts'],
  ['src/store/wrong-way.ts', '../actors/registry.ts'],
  ['src/actors/wrong-way.ts', '../channel/server.ts'],
  ['src/channel/wrong-way.ts', '../cli/table.ts'],
  ['src/hook/wrong-way.ts', '../store/port.ts'],
])('lint.arrows: %s may not import %s', (file, imported) => {
  const path = join(root, file)
  made.push(path)
  writeFileSync(path, `import * as wrong from '${imported}'\n\nexport { wrong }\n`)
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['node_modules/@biomejs/biome/bin/biome', 'lint', '--vcs-use-ignore-file=false', file],
    { cwd: root, encoding: 'utf8' },
  )
  expect(status).toBe(1)
  expect(stdout + stderr).toContain('Arrows point one way')
})
