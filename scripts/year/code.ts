/** Generated source files, changes and tool output, combined from the words of `words.json` with a seeded random. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Random } from '../lib/random.ts'
import { ROOT } from '../lib/sandbox.ts'

export interface YearProject {
  name: string
  language: 'typescript' | 'python' | 'go'
  /** Folders of its sources. */
  folders: readonly [string, ...string[]]
  /** What its code is about. */
  nouns: readonly [string, ...string[]]
}

interface Words {
  projects: readonly [YearProject, ...YearProject[]]
  verbs: readonly [string, ...string[]]
  qualities: readonly [string, ...string[]]
  causes: readonly [string, ...string[]]
}

const WORDS: Words = JSON.parse(readFileSync(join(ROOT, 'scripts', 'year', 'words.json'), 'utf8'))
export const PROJECTS = WORDS.projects
export const CAUSES = WORDS.causes

const EXTENSIONS = { typescript: 'ts', python: 'py', go: 'go' } as const

export interface Subject {
  file: string
  /** `expireBasket` */
  name: string
  noun: string
  verb: string
  quality: string
}

export function subjectOf(project: YearProject, random: Random): Subject {
  const noun = random.pick(project.nouns)
  const verb = random.pick(WORDS.verbs)
  const quality = random.pick(WORDS.qualities)
  const joined = `${verb}${noun[0]?.toUpperCase()}${noun.slice(1)}`
  const name = project.language === 'python' ? `${verb}_${noun}` : joined
  return { file: `${random.pick(project.folders)}/${noun}.${EXTENSIONS[project.language]}`, name, noun, verb, quality }
}

export function functionOf(project: YearProject, { name, noun, quality }: Subject, limit: number): string {
  switch (project.language) {
    case 'typescript':
      return [
        `export function ${name}(${noun}s: readonly ${noun}[], limit = ${limit}): ${noun}[] {`,
        `  const kept = ${noun}s.filter((one) => !is${quality}(one))`,
        `  if (kept.length > limit) throw new RangeError('too many ${noun}s')`,
        '  return kept.slice(0, limit)',
        '}',
      ].join('\n')
    case 'python':
      return [
        `def ${name}(${noun}s, limit=${limit}):`,
        `    kept = [one for one in ${noun}s if not is_${quality}(one)]`,
        '    if len(kept) > limit:',
        `        raise ValueError("too many ${noun}s")`,
        '    return kept[:limit]',
      ].join('\n')
    case 'go':
      return [
        `func ${name}(${noun}s []${noun}, limit int) ([]${noun}, error) {`,
        `\tif len(${noun}s) > ${limit} {`,
        `\t\treturn nil, errors.New("too many ${noun}s")`,
        '\t}',
        `\treturn without${quality}(${noun}s), nil`,
        '}',
      ].join('\n')
  }
}

/** A file of several functions, one of them of the subject. */
export function sourceOf(project: YearProject, subject: Subject, random: Random): string {
  const others = Array.from({ length: random.between(2, 6) }, () =>
    functionOf(project, { ...subjectOf(project, random), file: subject.file }, random.between(10, 900)),
  )
  const parts = [...others, functionOf(project, subject, random.between(10, 900))]
  return `${random.shuffled(parts).join('\n\n')}\n`
}

export function testRun(
  project: YearProject,
  subject: Subject,
  failing: boolean,
  random: Random,
): { command: string; output: string } {
  const passed = random.between(20, 400)
  const { name, noun, quality } = subject
  switch (project.language) {
    case 'typescript':
      return {
        command: `npx vitest run ${subject.file.replace('.ts', '.test.ts')}`,
        output: failing
          ? ` FAIL  ${subject.file.replace('.ts', '.test.ts')} > ${name} > drops ${quality} ${noun}s\nAssertionError: expected 3 to be 2\n ❯ ${subject.file}:${random.between(5, 90)}:11\n\n Test Files  1 failed (1)\n      Tests  1 failed | ${passed} passed (${passed + 1})\n`
          : ` ✓ ${subject.file.replace('.ts', '.test.ts')} (${passed} tests) 412ms\n\n Test Files  1 passed (1)\n      Tests  ${passed} passed (${passed})\n`,
      }
    case 'python':
      return {
        command: `pytest -q tests/test_${noun}.py`,
        output: failing
          ? `F${'.'.repeat(30)}\n=== FAILURES ===\n___ test_${name}_${quality} ___\n    def test_${name}_${quality}():\n>       assert len(${name}(rows)) == 2\nE       assert 3 == 2\ntests/test_${noun}.py:${random.between(5, 90)}: AssertionError\nFAILED tests/test_${noun}.py::test_${name}_${quality} - assert 3 == 2\n1 failed, ${passed} passed in 1.92s\n`
          : `${'.'.repeat(40)}\n${passed} passed in 1.71s\n`,
      }
    case 'go':
      return {
        command: `go test ./${subject.file.slice(0, subject.file.lastIndexOf('/'))}/...`,
        output: failing
          ? `--- FAIL: Test${name}${quality} (0.00s)\n    ${noun}_test.go:${random.between(5, 90)}: got 3, want 2\nFAIL\nFAIL\tex.example/${project.name}/${subject.file.slice(0, subject.file.lastIndexOf('/'))}\t0.04s\n`
          : `ok  \tex.example/${project.name}/${subject.file.slice(0, subject.file.lastIndexOf('/'))}\t0.21s\n`,
      }
  }
}
