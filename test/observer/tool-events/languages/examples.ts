/** What a row of a table may expect, and how it is compared. */
import { expect, test } from 'vitest'
import { describeChange } from '../../../../src/observer/tool-events/languages/index.ts'
import type { FileEdit } from '../../../../src/observer/tool-events/types.ts'

export interface Expected {
  /** All of them: `new Cart.add`, `modified f`, `deleted g`. */
  symbols?: string[]
  renamed?: string[]
  /** All of them: `limit: 3 -> 5`; a dash for what is not there. */
  values?: string[]
  imports?: string[]
  /** All of them. */
  notable?: string[]
  /** Some of them. */
  includes?: string[]
}

export type Example = [name: string, edit: FileEdit, expected: Expected]

export function examples(rows: Example[]): void {
  test.each(rows)('%s', (_, edit, expected) => {
    const change = describeChange(edit)
    const symbols = change.symbols.map((symbol) => `${symbol.action} ${symbol.name}`)
    const values = change.values.map((value) => `${value.name}: ${value.from ?? '-'} -> ${value.to ?? '-'}`)
    const imports = [...change.imports.added.map((it) => `+${it}`), ...change.imports.removed.map((it) => `-${it}`)]
    const renamed = change.renamed.map((pair) => `${pair.from} -> ${pair.to}`)
    if (expected.symbols) expect(symbols).toEqual(expected.symbols)
    if (expected.renamed) expect(renamed).toEqual(expected.renamed)
    if (expected.values) expect(values).toEqual(expected.values)
    if (expected.imports) expect(imports).toEqual(expected.imports)
    if (expected.notable) expect(change.notable).toEqual(expected.notable)
    if (expected.includes) expect(change.notable).toEqual(expect.arrayContaining(expected.includes))
  })
}

/** The text with each pair's first part replaced by its second. */
export function swap(text: string, ...pairs: [string, string][]): string {
  return pairs.reduce((result, [from, to]) => {
    if (!result.includes(from)) throw new Error(`the example has no ${from}`)
    return result.replace(from, () => to)
  }, text)
}
