/**
 * `node scripts/run.mjs quality/record TRANSCRIPT NAME [--set dev|check]`: turns a transcript of Claude Code
 * (`~/.claude/projects/…/SESSION.jsonl`) into a fixture of the quality benchmark: test/quality/SET/NAME.jsonl, with the
 * facts to fill in beside it.
 *
 * What could identify a person is replaced: the project directory becomes /home/dev/NAME, other paths of the home
 * directory /home/dev, the user's name "dev"; secrets in known formats are masked as in a hook. Read the result before you
 * commit it.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { homedir, userInfo } from 'node:os'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { maskSecrets } from '../../src/domain/secrets.ts'
import { printNote } from '../lib/report.ts'
import { ROOT } from '../lib/sandbox.ts'
import type { Fact } from './sessions.ts'

const SETS = ['dev', 'check']
const HOME = '/home/dev'
/** Lines that the benchmark does not read: they only make a fixture larger. */
const SKIPPED_TYPES = new Set(['file-history-snapshot', 'queue-operation', 'summary'])

interface TranscriptLine {
  type?: string
  cwd?: string
  [field: string]: unknown
}

function readLines(file: string): TranscriptLine[] {
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n')
  return lines.map((line, index) => {
    try {
      return JSON.parse(line)
    } catch (cause) {
      throw new Error(`${file}:${index + 1} is not JSON; is it a transcript of Claude Code?`, { cause })
    }
  })
}

/** Longest first: a project directory is inside the home directory. */
function replacements(name: string, cwd: string): [RegExp, string][] {
  return [
    [pattern(cwd), `${HOME}/${name}`],
    // The folder of a project under ~/.claude/projects.
    [pattern(cwd.replaceAll(/[^A-Za-z0-9]/g, '-')), `${HOME}/${name}`.replaceAll('/', '-')],
    [pattern(homedir()), HOME],
    [new RegExp(`\\b${escaped(userInfo().username)}\\b`, 'g'), 'dev'],
  ]
}

const escaped = (text: string) => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')
const pattern = (text: string) => new RegExp(escaped(text), 'g')

/** Replaces and masks in every string: inside JSON text a secret could end at an escaped quote. */
function anonymised(value: unknown, replace: (text: string) => string): unknown {
  if (typeof value === 'string') return replace(value)
  if (Array.isArray(value)) return value.map((item) => anonymised(item, replace))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, anonymised(item, replace)]))
}

function main(): void {
  const { values: options, positionals } = parseArgs({
    allowPositionals: true,
    options: { set: { type: 'string', default: 'dev' } },
  })
  const [transcript, name] = positionals
  if (transcript === undefined || name === undefined || !SETS.includes(options.set)) {
    printNote('usage: node scripts/run.mjs quality/record TRANSCRIPT NAME [--set dev|check]')
    process.exitCode = 2
    return
  }
  const lines = readLines(transcript).filter(({ type = '' }) => !SKIPPED_TYPES.has(type))
  const cwd = lines.find((line) => typeof line.cwd === 'string')?.cwd
  if (cwd === undefined) throw new Error(`${transcript} names no working directory; is it a transcript of Claude Code?`)
  const rules = replacements(name, cwd)
  const replace = (text: string) =>
    maskSecrets(rules.reduce((result, [from, to]) => result.replaceAll(from, () => to), text))
  const file = join(ROOT, 'test', 'quality', options.set, `${name}.jsonl`)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, lines.map((line) => `${JSON.stringify(anonymised(line, replace))}\n`).join(''))
  const factsFile = file.replace(/\.jsonl$/, '.facts.json')
  const template: Fact[] = [{ ask: 'Why did … fail?', expect: ['substring', 'another one'] }]
  if (!existsSync(factsFile)) writeFileSync(factsFile, `${JSON.stringify(template, null, 2)}\n`)
  printNote(`${file}: ${lines.length} lines. Read it for private data, then write the facts: ${factsFile}`)
}

main()
