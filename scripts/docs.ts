/** What the docs say about the code, from the code. `--check` only says whether it is current. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { renderMachines } from './mermaid.ts'
import { withSettingsTable } from './settings-table.ts'

const pathOf = (name: string) => join(process.cwd(), name)
const readme = readFileSync(pathOf('README.md'), 'utf8')
const pages: Record<string, string> = {
  'docs/machines.md': renderMachines(),
  'README.md': withSettingsTable(readme),
}

for (const [name, text] of Object.entries(pages)) {
  if (!process.argv.includes('--check')) {
    writeFileSync(pathOf(name), text)
  } else if (readFileSync(pathOf(name), 'utf8') !== text) {
    console.error(`${name} is not current; run: npm run docs`)
    process.exitCode = 1
  }
}
