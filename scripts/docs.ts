/** `npm run docs` writes the generated pages of docs/; with `--check` it only reports those that are not current. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './lib/sandbox.ts'
import { referencePages } from './reference-pages.ts'

const isCheck = process.argv.includes('--check')
for (const [name, text] of Object.entries(referencePages())) {
  const file = join(ROOT, name)
  if (!isCheck) writeFileSync(file, text)
  else if (readFileSync(file, 'utf8') !== text) {
    console.error(`${name} is not current; run: npm run docs`)
    process.exitCode = 1
  }
}
