/** The generated pages are current, and every path that the documentation names exists. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { referencePages } from '../../scripts/reference-pages.ts'
import { ROOT } from '../support/paths.ts'
import { documentedFiles } from './documented-commands.ts'

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
/** Folders at the root of the repository: inline code that begins with one of them is a path in it. */
const FOLDERS = readdirSync(ROOT, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !/^(?:\.git|node_modules|dist)$/.test(entry.name))
  .map(({ name }) => name)
/** A path is complete: no pattern, no placeholder in capitals or angle brackets, no ellipsis. */
const NAMED_PATH = new RegExp(String.raw`^(?:${FOLDERS.join('|').replaceAll('.', '\\.')})(?:/[\w.@-]+)+/?$`)

describe('docs.pages', () => {
  test('the generated pages are what npm run docs writes', () => {
    for (const [path, text] of Object.entries(referencePages())) {
      expect(read(path), `${path} is not current; run: npm run docs`).toBe(text)
    }
  })

  test.each(documentedFiles())('every path and link in %s exists', (file) => {
    const text = read(file)
    const inline = [...text.matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code)
    const named = inline.filter((code) => NAMED_PATH.test(code) && !/[A-Z]{2,}$|\/[A-Z]{2,}\b/.test(code))
    const blocks = [...text.matchAll(/^```\n([\s\S]*?)^```/gm)].flatMap(([, block = '']) => pathsInTree(block))
    const links = [...text.matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)|(?:src|srcset)="([^"]+)"/g)]
      .map(([, target, source]) => target ?? source ?? '')
      .filter((target) => !/^[a-z]+:/.test(target))
      .map((target) => join(dirname(file), target))
    expect([...named, ...blocks, ...links].filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
  })

  const pages = readdirSync(join(ROOT, 'docs')).filter((name) => name.endsWith('.md') && name !== 'README.md')

  test('docs/README.md lists every page once', () => {
    const listed = pagesLinkedIn(read('docs/README.md'))
    expect(listed.toSorted()).toEqual(pages.toSorted())
  })

  test.each(pages)('%s leads to the list of pages and to a related one', (page) => {
    const linked = pagesLinkedIn(read(`docs/${page}`))
    expect(linked).toContain('README.md')
    expect(linked.filter((name) => name !== 'README.md' && name !== page)).not.toEqual([])
  })
})

function pagesLinkedIn(markdown: string): string[] {
  return [...markdown.matchAll(/\]\(([\w-]+\.md)(?:#[^)]*)?\)/g)].map(([, page = '']) => page)
}

/** Paths at the start of the lines of a block that shows folders. */
function pathsInTree(block: string): string[] {
  return block.split('\n').flatMap((line) => {
    const [path = ''] = line.trim().split(/\s/, 1)
    return NAMED_PATH.test(path) ? [path] : []
  })
}
