import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const read = (path: string | URL) => readFileSync(new URL(path, import.meta.url), 'utf8')

test('the rules of the session machine are numbered once, and each is cited by a test', () => {
  const [header = ''] = read('../../machines/session/machine.ts').split('*/', 1)
  const rules = [...header.matchAll(/^ \* (\d+)\. /gm)].map(([, number]) => Number(number))
  expect(rules).toEqual(rules.map((_, i) => i + 1))
  const tests = readdirSync(new URL('.', import.meta.url)).filter((name) => name.endsWith('.test.ts'))
  const titles = tests.flatMap((name) => read(name).match(/\(rules? [\d and]+\)/g) ?? [])
  const cited = new Set(titles.flatMap((title) => title.match(/\d+/g) ?? []).map(Number))
  expect([...cited].sort((a, b) => a - b)).toEqual(rules)
})
