/** Grep and Glob as Claude Code's own search does them: hidden and generated directories are left out. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'

export interface GrepOptions {
  path?: string
  glob?: string
  type?: string
  output_mode?: 'content' | 'files_with_matches' | 'count'
  '-n'?: boolean
  '-i'?: boolean
  '-A'?: number
  '-B'?: number
  '-C'?: number
  head_limit?: number
  multiline?: boolean
}

const LEFT_OUT = new Set(['.git', 'node_modules', 'target', '__pycache__', '.pytest_cache', '.venv'])

const TYPES: Record<string, string[]> = {
  ts: ['ts', 'tsx'],
  js: ['js', 'mjs', 'cjs', 'jsx'],
  py: ['py'],
  rust: ['rs'],
  cpp: ['cpp', 'cc', 'hpp', 'h'],
  java: ['java'],
  go: ['go'],
  sql: ['sql'],
  yaml: ['yml', 'yaml'],
}

export interface Found {
  file: string
  lines: { number: number; text: string; hit: boolean }[]
  hits: number
}

/** Paths relative to `root`, in name order. */
export function filesBelow(root: string, start: string = root): string[] {
  if (statSync(start, { throwIfNoEntry: false })?.isFile() === true) return [relative(root, start)]
  return readdirSync(start, { withFileTypes: true })
    .filter((entry) => !LEFT_OUT.has(entry.name))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) =>
      entry.isDirectory() ? filesBelow(root, join(start, entry.name)) : [relative(root, join(start, entry.name))],
    )
}

export function globbed(root: string, start: string, pattern: string): string[] {
  const matcher = globMatcher(pattern)
  return filesBelow(root, start).filter((file) => matcher.test(relative(start, join(root, file))))
}

export function grepped(root: string, start: string, pattern: string, options: GrepOptions): Found[] {
  const expression = new RegExp(pattern, options['-i'] === true ? 'i' : '')
  const name = options.glob === undefined ? null : globMatcher(options.glob)
  const endings = options.type === undefined ? null : (TYPES[options.type] ?? [options.type])
  const before = options['-C'] ?? options['-B'] ?? 0
  const after = options['-C'] ?? options['-A'] ?? 0
  return filesBelow(root, start)
    .filter((file) => name === null || name.test(file) || name.test(file.slice(file.lastIndexOf('/') + 1)))
    .filter((file) => endings === null || endings.some((ending) => file.endsWith(`.${ending}`)))
    .map((file) => found(file, readFileSync(join(root, file), 'utf8'), expression, before, after))
    .filter(({ hits }) => hits > 0)
}

function found(file: string, content: string, expression: RegExp, before: number, after: number): Found {
  const all = content.includes('\0') ? [] : content.split('\n')
  const hits = all.flatMap((text, index) => (expression.test(text) ? [index] : []))
  const shown = all.flatMap((text, index) =>
    hits.some((hit) => index >= hit - before && index <= hit + after)
      ? [{ number: index + 1, text, hit: hits.includes(index) }]
      : [],
  )
  return { file, lines: shown, hits: hits.length }
}

const GLOB_TOKEN = /\*\*\/|\*\*|\*|\?|\{[^}]*\}|[.+^$()|\\]/g

function globMatcher(pattern: string): RegExp {
  const source = pattern.replace(GLOB_TOKEN, (token) => {
    if (token === '**/') return '(?:.*/)?'
    if (token === '**') return '.*'
    if (token === '*') return '[^/]*'
    if (token === '?') return '[^/]'
    if (token.startsWith('{'))
      return `(?:${token.slice(1, -1).replaceAll('.', '\\.').replaceAll('*', '[^/]*').replaceAll(',', '|')})`
    return `\\${token}`
  })
  return new RegExp(`^${source}$`)
}
