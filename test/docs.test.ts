import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { renderMachines } from '../scripts/mermaid.ts'
import { withSettingsTable } from '../scripts/settings-table.ts'

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')

test('docs.machines: the diagrams are those of the machines', () => {
  expect(read('docs/machines.md')).toBe(renderMachines())
})

test('docs.settings: the README lists every setting as it is', () => {
  expect(read('README.md')).toBe(withSettingsTable(read('README.md')))
})
