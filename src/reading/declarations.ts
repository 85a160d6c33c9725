/**
 * Declarations in source code: one small table of patterns per family of languages, as git has for its hunk headings, and
 * nothing more of a language. Each pattern looks at one line of bounded length.
 */
import type { FunctionChange } from '../domain/observation.ts'
import type { PassageDraft } from '../domain/passage.ts'
import { splitTextLines } from './fields.ts'

/** Longer lines are data. */
const MAX_LINE_CHARS = 400

const MODIFIERS =
  '(?:(?:export|default|declare|async|public|private|protected|internal|static|final|abstract|override|virtual|inline|const|constexpr|unsafe|extern|sealed|partial|open|data|suspend|pub(?:\\([a-z]+\\))?)\\s+)*'
const TYPE_WORDS = '(?:class|interface|enum|struct|trait|protocol|record|object|namespace|module|union|extension)'

/** The name of a declaration is the first group that matched. */
const FAMILIES: readonly { extensions: string; patterns: readonly RegExp[] }[] = [
  {
    extensions: 'ts tsx js jsx mjs cjs mts cts vue svelte astro',
    patterns: [
      new RegExp(`^\\s*${MODIFIERS}(?:function\\*?\\s+|${TYPE_WORDS}\\s+|type\\s+(?=[\\w$]+\\s*[=<]))([\\w$]+)`),
      /^\s*(?:export\s+)?(?:const|let|var)\s+([\w$]+)(?::[^=]{1,200})?\s*=\s*(?:async\s*)?(?:function\b|\([^()]{0,200}\)\s*(?::[^=]{1,120})?=>|[\w$]+\s*=>)/,
      /^export\s+const\s+([\w$]+)/,
      /^\s+(?:(?:async|static|get|set|public|private|protected|readonly|override)\s+)*(?!(?:if|for|while|switch|catch|return|with|function)\b)(#?[\w$]+)\s*\([^;]{0,300}\)(?::[^={}]{1,120})?\s*\{\s*$/,
    ],
  },
  { extensions: 'py pyi ipynb', patterns: [/^\s*(?:async\s+)?(?:def|class)\s+(\w+)/] },
  { extensions: 'go', patterns: [/^func\s+(?:\([^)]{0,120}\)\s*)?(\w+)/, /^type\s+(\w+)/] },
  {
    extensions: 'rs',
    patterns: [
      new RegExp(`^\\s*${MODIFIERS}(?:fn|struct|enum|trait|mod|union|type|macro_rules!)\\s+(\\w+)`),
      /^impl(?:<[^>]{0,120}>)?\s+([\w:<>', ]{1,120}?)\s*(?:\{|where|$)/,
    ],
  },
  { extensions: 'rb rake', patterns: [/^\s*(?:def\s+(?:self\.)?|class\s+|module\s+)([\w:]+[?!]?)/] },
  { extensions: 'ex exs', patterns: [/^\s*(?:defmodule|defp?|defmacrop?)\s+([\w.]+[?!]?)/] },
  { extensions: 'sh bash zsh', patterns: [/^\s*(?:function\s+([\w-]+)|([\w-]+)\s*\(\)\s*\{?)/] },
  { extensions: 'lua', patterns: [/^\s*(?:local\s+)?function\s+([\w.:]+)/] },
  {
    extensions: 'sql',
    patterns: [
      /^\s*create\s+(?:or\s+replace\s+)?(?:temp(?:orary)?\s+)?(?:table|view|function|procedure|trigger|type|(?:unique\s+)?index)\s+(?:if\s+not\s+exists\s+)?([\w."]+)/i,
    ],
  },
  {
    extensions: 'c h cc cpp cxx hpp hh java kt kts cs swift php dart scala m mm zig proto groovy',
    patterns: [
      new RegExp(
        `^\\s*${MODIFIERS}(?:(?:enum\\s+)?${TYPE_WORDS}|fun|func|function|def|fn|message|service)\\s+(?:<[^>]{0,80}>\\s*)?([\\w.]+)`,
      ),
      /^\s*(?!(?:if|for|while|switch|catch|return|else|new|throw|await|using|lock)\b)[\w<>[\],.?*&:~\s]{1,160}[\s*&:](~?\w+)\s*\([^;]{0,300}\)?\s*(?:const|throws\s[\w, .]{1,80})?\s*\{?\s*$/,
    ],
  },
]

const PATTERNS = new Map(
  FAMILIES.flatMap(({ extensions, patterns }) => extensions.split(' ').map((one) => [one, patterns] as const)),
)

/** The name that a line of a file declares; null if it declares none. */
export function declaredName(file: string, line: string): string | null {
  const patterns = PATTERNS.get(file.slice(file.lastIndexOf('.') + 1).toLowerCase())
  if (patterns === undefined || line.length > MAX_LINE_CHARS) return null
  for (const pattern of patterns) {
    const name = pattern
      .exec(line)
      ?.slice(1)
      .find((group) => group !== undefined)
    if (name !== undefined) return name.trim()
  }
  return null
}

/** Lines of a file before a change that are searched for the declaration around it. */
const MAX_LINES_BEFORE = 400
const MAX_HEADING_CHARS = 90
const indentOf = (line: string): number => line.length - line.trimStart().length
const isChange = (line: string): boolean => line.startsWith('+') || line.startsWith('-')

/**
 * The declaration that a hunk is in: the nearest one above its first change that is indented less, in the lines around it or
 * in the text of the file before. Null where there is none.
 */
export function enclosingDeclaration(
  file: string,
  lines: readonly string[],
  oldStart: number,
  before: string | null,
): string | null {
  const first = lines.findIndex((line) => isChange(line) && line.slice(1).trim() !== '')
  if (first === -1) return null
  const changed = lines.slice(first, first + 40).filter((line) => isChange(line) && line.slice(1).trim() !== '')
  const indent = Math.min(...changed.map((line) => indentOf(line.slice(1))))
  const around = lines.slice(0, first).map((line) => line.slice(1))
  const earlier =
    before === null
      ? []
      : splitTextLines(before).slice(Math.max(0, oldStart - 1 - MAX_LINES_BEFORE), Math.max(0, oldStart - 1))
  const found = [...earlier, ...around].findLast((line) => indentOf(line) < indent && declaredName(file, line) !== null)
  return found === undefined ? null : found.trim().slice(0, MAX_HEADING_CHARS)
}

const MAX_FUNCTIONS = 40
export const HUNK_HEADING = '@@ '

/** What edits did to declarations: from passages of new files and edits, in their order. */
export function functionsChanged(passages: readonly PassageDraft[]): FunctionChange[] {
  const changes = new Map<string, FunctionChange>()
  for (const { kind, subject, text } of passages) {
    if (subject === null || (kind !== 'edit' && kind !== 'file')) continue
    for (const { name, action } of kind === 'file' ? declaredIn(subject, text) : changedIn(subject, text)) {
      const key = `${subject}\n${name}`
      const known = changes.get(key)
      // What was new in this turn stays new, whatever is changed in it later.
      const merged =
        known === undefined || action === 'deleted' ? action : known.action === 'deleted' ? 'modified' : known.action
      changes.set(key, { name, file: subject, action: merged })
    }
  }
  return [...changes.values()].slice(0, MAX_FUNCTIONS)
}

type NamedAction = Pick<FunctionChange, 'name' | 'action'>

function declaredIn(file: string, text: string): NamedAction[] {
  return splitTextLines(text).flatMap((line) => {
    const name = declaredName(file, line)
    return name === null ? [] : [{ name, action: 'new' as const }]
  })
}

function changedIn(file: string, text: string): NamedAction[] {
  const names = { '+': new Set<string>(), '-': new Set<string>(), inside: new Set<string>() }
  for (const line of splitTextLines(text)) {
    const isHeading = line.startsWith(HUNK_HEADING)
    if (!isHeading && !isChange(line)) continue
    // A method is recognised by its indentation, which a heading does not have.
    const code = isHeading ? line.slice(HUNK_HEADING.length) : line.slice(1)
    const name = declaredName(file, code) ?? (isHeading ? declaredName(file, `  ${code}`) : null)
    if (name !== null) names[isHeading ? 'inside' : line.startsWith('+') ? '+' : '-'].add(name)
  }
  const modified = [...names['+']].filter((name) => names['-'].has(name))
  return [
    ...[...names['+']].filter((name) => !names['-'].has(name)).map((name) => ({ name, action: 'new' as const })),
    ...[...names['-']].filter((name) => !names['+'].has(name)).map((name) => ({ name, action: 'deleted' as const })),
    ...[...names.inside, ...modified].map((name) => ({ name, action: 'modified' as const })),
  ]
}
