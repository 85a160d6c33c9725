/**
 * What must never be sent to a model: uses of certain tools, and everything that contains lines of certain files. Tools
 * and files come from the user's settings; files that hold keys by convention are always on the list.
 */
import { homedir } from 'node:os'
import type { InboxEvent } from '../../domain/event.ts'
import {
  nestedShellLine,
  parseShellLine,
  programName,
  type ShellWord,
  type SimpleCommand,
  stripCommandPrefixes,
  stripRunnerPrograms,
} from '../../reading/shell-syntax.ts'

/** The user's list comes after these and can remove them: `!.env`. */
const DEFAULT_PATHS = [
  ...['.env', '.env.*', '*.pem', '*.key', '*.p12', '*.pfx', 'id_rsa*', 'id_ed25519*', '.ssh/', '.aws/', '.gnupg/'],
  ...['.netrc', '.pgpass', '.pypirc', '.npmrc', '*.keystore', '*.jks', '.kube/'],
  ...['!.env.example', '!.env.sample', '!.env.template', '!.env.dist'],
]

export interface WithheldLists {
  /** Names, or patterns with `*`. */
  tools: readonly string[]
  /** Patterns in addition to `DEFAULT_PATHS`. */
  paths: readonly string[]
}

export interface WithheldFilter {
  /** Why an event is not sent; null if it may be sent. */
  reasonFor(event: InboxEvent): string | null
  /** Whether one of these files is on the list. Relative paths are resolved against `cwd`. */
  mentions(files: readonly string[], cwd: string): boolean
}

/** `builtIn`: the paths that are on the list whatever the user's settings are. */
export function makeWithheldFilter(
  { tools, paths }: WithheldLists,
  builtIn: readonly string[] = DEFAULT_PATHS,
): WithheldFilter {
  const toolPatterns = tools.map((tool) => tool.trim()).filter((tool) => tool !== '')
  const pathPatterns = [...builtIn, ...paths].flatMap(parsePathPattern)
  const firstMatch = (files: readonly string[], cwd: string): string | null => {
    for (const file of new Set(files)) {
      const pattern = matchPath(pathPatterns, file, cwd)
      if (pattern !== null) return pattern
    }
    return null
  }
  const reason = (entry: string, setting: string) => `not sent: ${entry} is on your list (${setting})`
  return {
    reasonFor(event) {
      if (event.kind === 'subagent_end') return null
      const name = event.tool.toLowerCase()
      const tool = toolPatterns.find((pattern) => globMatches(pattern.toLowerCase(), name))
      if (tool !== undefined) return reason(tool, 'CLAUDE_MEM_NEVER_SEND_TOOLS')
      const path = firstMatch(namedFiles(event), event.cwd) ?? firstMatch(quotedFiles(event), event.cwd)
      return path === null ? null : reason(path, 'CLAUDE_MEM_NEVER_SEND_PATHS')
    },
    mentions: (files, cwd) => firstMatch(files, cwd) !== null,
  }
}

// Path patterns: a small part of gitignore's syntax, matched in linear time.

interface PathPattern {
  /** As the user wrote it. */
  written: string
  negated: boolean
  /** Begins with `**` if it may match anywhere, ends with `**` if everything below matches too. */
  segments: string[]
}

const WILDCARD = /[*?[]/
const MAX_PATH_CHARS = 4_096

export function parsePathPattern(entry: string): PathPattern[] {
  const written = entry.trim()
  const negated = written.startsWith('!')
  const path = (negated ? written.slice(1) : written).replaceAll('\\', '/')
  const named = pathSegments(path)
  if (named.length === 0) return []
  // A bare word (`secrets`) may be a folder; `.env` and `*.key` are files.
  const isBareWord = named.length === 1 && /^[^.*?]+$/.test(named[0] ?? '')
  const matchesBelow = path.endsWith('/') || named.length > 1 || isBareWord
  const segments = [...(isAbsolute(path) ? [] : ['**']), ...named, ...(matchesBelow ? ['**'] : [])]
  return [{ written: written.replace(/^!/, ''), negated, segments }]
}

/** The pattern that puts a path on the list, or null. A later pattern wins: `.env.*,!.env.example`. */
export function matchPath(patterns: readonly PathPattern[], path: string, cwd: string): string | null {
  if (path === '' || path.length > MAX_PATH_CHARS) return null
  const segments = pathSegments(isAbsolute(path) ? path : `${cwd}/${path}`)
  const isGlob = WILDCARD.test(path)
  let found: string | null = null
  for (const { written, negated, segments: pattern } of patterns) {
    if (negated && found === null) continue
    // A path with wildcards may stand for a listed file, and a negated pattern does not prove the opposite.
    const same = isGlob && !negated ? mayMatch : globMatches
    if (sequenceMatches(pattern, segments, '**', same)) found = negated ? null : written
  }
  return found
}

const isAbsolute = (path: string) => /^(?:[\\/]|[A-Za-z]:[\\/]|~(?:[\\/]|$)|\$\{?HOME\}?(?:[\\/]|$))/.test(path)

/** In lower case, also on case-sensitive file systems: withholding too much is the smaller mistake. */
function pathSegments(path: string): string[] {
  const whole = path.replace(/^(?:~|\$\{?HOME\}?)(?=[\\/]|$)/, () => homedir())
  const segments: string[] = []
  for (const segment of whole.toLowerCase().split(/[\\/]+/)) {
    if (segment === '..') segments.pop()
    else if (segment !== '' && segment !== '.') segments.push(segment)
  }
  return segments
}

/** Whether a name with shell wildcards may stand for a name that the pattern matches. */
function mayMatch(pattern: string, name: string): boolean {
  if (globMatches(pattern, name)) return true
  if (!WILDCARD.test(name)) return false
  const glob = name.replace(/\[[^\][]*\]/g, '?')
  if (globMatches(pattern, glob.replace(/[*?]/g, 'x'))) return true
  // `*` and `*.*` stand for every file and are not withheld.
  const literals = glob.replace(/[*?]/g, '')
  if (literals.length < 2 && !glob.startsWith('.')) return false
  return ['', 'x'].some((filling) => globMatches(glob, pattern.replace(/[*?]/g, filling)))
}

function globMatches(pattern: string, name: string): boolean {
  if (!WILDCARD.test(pattern)) return pattern === name
  return sequenceMatches(pattern, name, '*', (one, char) => one === '?' || one === char)
}

/** `wildcard` matches any number of items. On a mismatch, the last wildcard takes one item more. */
function sequenceMatches(
  pattern: ArrayLike<string>,
  items: ArrayLike<string>,
  wildcard: string,
  same: (one: string, item: string) => boolean,
): boolean {
  let p = 0
  let lastWildcard = -1
  let resume = 0
  for (let i = 0; i < items.length; ) {
    const one = pattern[p]
    if (one === wildcard) {
      lastWildcard = p++
      resume = i
    } else if (one !== undefined && same(one, items[i] ?? '')) {
      p++
      i++
    } else if (lastWildcard >= 0) {
      p = lastWildcard + 1
      i = ++resume
    } else return false
  }
  while (pattern[p] === wildcard) p++
  return p === pattern.length
}

// Files of an event: those that it names, and those whose lines it contains.

/** Deeper than any tool's payload, and safe for the stack. */
const MAX_DEPTH = 64

const PATH_NAMES = ['paths?', 'files?', 'file_?names?', 'uris?', 'globs?', 'director(?:y|ies)', 'dirs?']
const PATH_FIELD = new RegExp(
  `^(?:.*[_-])?(?:${PATH_NAMES.join('|')})$|^(?:source|destination)$|(?:Path|File|Uri|Dir)s?$`,
)
const COMMAND_FIELD = /^(?:command|cmd|script|args|argv)$/
/** The file that was read or written. A name in a list of files is not content. */
const RESPONSE_PATH_FIELD = /^(?:file_?path|path|notebook_?path)$/i

/** Paths in a tool's input, and the file that its response names. */
function namedFiles(event: InboxEvent): string[] {
  if (event.kind === 'subagent_end') return []
  const found: string[] = []
  walkTexts(event.input, '', 0, (field, text) => {
    // The pattern of Glob is a path, that of Grep is not.
    if (PATH_FIELD.test(field) || (field === 'pattern' && event.tool === 'Glob')) found.push(withoutScheme(text))
    else if (COMMAND_FIELD.test(field)) for (const word of pathWords(text)) found.push(word)
  })
  if (event.kind === 'tool_use') {
    walkTexts(event.response, '', 0, (field, text) => {
      if (RESPONSE_PATH_FIELD.test(field)) found.push(withoutScheme(text))
    })
  }
  return found
}

/** Tools whose result contains lines of the named file only, or no lines at all. */
const SINGLE_FILE_TOOLS = new Set(['Read', 'NotebookRead', 'Write', 'Edit', 'MultiEdit', 'NotebookEdit', 'Glob', 'LS'])
/** Longer than any path before a line's text. */
const MAX_PREFIX_CHARS = 1_024

/** Files whose lines are in a result: `path:3:text`, `path-3-text`, `==> path <==`, the headers of a diff. */
function quotedFiles(event: InboxEvent): string[] {
  if (event.kind === 'subagent_end' || SINGLE_FILE_TOOLS.has(event.tool)) return []
  const found = new Set<string>()
  const read = (text: string) => {
    let heading = ''
    for (const line of text.split(/\r\n|[\n\r]/)) {
      for (const path of linePaths(line)) found.add(path)
      // `rg --heading`: the path is on a line of its own above the numbered lines.
      if (!/^\d+[:-]/.test(line)) heading = line
      else if (heading.length <= MAX_PREFIX_CHARS) found.add(heading.trim())
    }
  }
  if (event.kind === 'tool_failure') read(event.error)
  else walkTexts(event.response, '', 0, (field, text) => (field === 'filenames' ? null : read(text)))
  return [...found]
}

function linePaths(whole: string): string[] {
  const line = whole.slice(0, MAX_PREFIX_CHARS).trim()
  const header =
    /^(?:(?:\+\+\+|---) |==> )(?:[abciwo]\/)?(.+?)(?: <==|\t.*)?$/.exec(line) ?? /^diff --git a\/(.+) b\//.exec(line)
  if (header?.[1] !== undefined) return [header[1]]
  // `path:4` alone is a count of matches. The colon of a Windows drive is skipped.
  const colon = line.indexOf(':', /^[A-Za-z]:[\\/]/.test(line) ? 2 : 0)
  const isCount = colon > 0 && /^:\s*\d*$/.test(line.slice(colon))
  const dashed = /^(.+?)-\d+-/.exec(line)?.[1]
  return [...(colon > 0 && !isCount ? [line.slice(0, colon)] : []), ...(dashed === undefined ? [] : [dashed])]
}

const withoutScheme = (text: string) => text.replace(/^file:\/\//i, '')

/** Visits every text with the name of its field; items of a list have the list's name. */
function walkTexts(value: unknown, field: string, depth: number, visit: (field: string, text: string) => void): void {
  if (typeof value === 'string') visit(field, value)
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return
  for (const name of Object.keys(value)) {
    walkTexts(Reflect.get(value, name), Array.isArray(value) ? field : name, depth + 1, visit)
  }
}

// Words of a shell line that may be paths, without messages and search patterns.

/** `sudo bash -c "sh -c '…'"`. Below this depth every word counts as a path. */
const MAX_SHELL_DEPTH = 3
/** After this many characters every word counts as a path. */
const MAX_LINE_CHARS = 20_000

/** Programs whose long arguments are messages. */
const MESSAGE_PROGRAMS = new Set(['echo', 'printf', 'gh', 'glab'])
const MESSAGE_GIT_COMMANDS = new Set(['commit', 'tag', 'merge', 'notes', 'stash'])
/** Programs whose first argument is a pattern. */
const SEARCH_PROGRAMS = new Set(['grep', 'egrep', 'fgrep', 'rg', 'ag', 'ack', 'jq', 'yq'])
/** Programs that do not run a heredoc: they pass it on or store it. */
const TEXT_PROGRAMS = new Set(['cat', 'tee', 'git', 'gh', 'glab', 'patch'])

function pathWords(line: string): string[] {
  return [...lineWords(line.slice(0, MAX_LINE_CHARS), 0), ...splitPieces(line.slice(MAX_LINE_CHARS))]
}

function lineWords(line: string, depth: number): string[] {
  if (depth > MAX_SHELL_DEPTH) return splitPieces(line)
  return [...redirectionTargets(line), ...parseShellLine(line).flatMap((command) => commandWords(command, depth))]
}

function commandWords(command: SimpleCommand, depth: number): string[] {
  const run = stripRunnerPrograms(stripCommandPrefixes(command.words))
  const nested = nestedShellLine(run)
  if (nested !== null) {
    const around = command.words.filter((word) => word.text !== nested)
    return [...lineWords(nested, depth + 1), ...around.flatMap((word) => wordPaths(word, false))]
  }
  const program = programName(run[0]?.text ?? '')
  const takesMessage =
    MESSAGE_PROGRAMS.has(program) || (program === 'git' && run.some((word) => MESSAGE_GIT_COMMANDS.has(word.text)))
  const pattern = SEARCH_PROGRAMS.has(program) ? searchPattern(run) : null
  const heredoc = command.body !== null && !TEXT_PROGRAMS.has(program) ? splitPieces(command.body) : []
  const words = command.words.filter((word) => word !== pattern)
  return [...words.flatMap((word) => wordPaths(word, takesMessage)), ...heredoc]
}

/** Null if an option gives the pattern or a file with patterns. */
function searchPattern(run: readonly ShellWord[]): ShellWord | null {
  if (run.some((word) => /^(?:-[a-zA-Z]*[ef]|--regexp|--file|--from-file)(?:=|$)/.test(word.text))) return null
  return run.slice(1).find((word) => !word.text.startsWith('-')) ?? null
}

function wordPaths(word: ShellWord, takesMessage: boolean): string[] {
  const isText = /\s/.test(word.text)
  const hasSubstitution = !word.raw.startsWith("'") && /(?<!\\)(?:`|\$\()/.test(word.raw)
  if (isText && takesMessage && !hasSubstitution) return []
  // On Windows a backslash is not an escape.
  return [word.text, ...splitPieces(word.text), ...(word.raw.includes('\\') ? splitPieces(word.raw) : [])]
}

/** Splits at everything that may be next to a path: `--env-file=.env`, `@.env`, `a:.env`, `open('.env')`. */
function splitPieces(text: string): string[] {
  return text.split(/[\s"'`=<>|&;(){},@:]+/).filter((piece) => piece !== '')
}

const HEREDOC = /(?<!<)<<-?[ \t]*(['"]?)(\w{1,60})\1/
/** Quoted text is bounded: a line of unclosed quotes would be read again from each of them. */
const REDIRECTION_OR_TEXT =
  /[<>]&?[ \t]{0,40}(?:"((?:[^"\\]|\\.){0,1000})"|'([^']{0,1000})'|([^\s"'<>|&;()]+))|"(?:[^"\\]|\\.){0,1000}"|'[^']{0,1000}'/g

function redirectionTargets(line: string): string[] {
  return [...withoutHeredocs(line).matchAll(REDIRECTION_OR_TEXT)].flatMap(
    (found) => found[1] ?? found[2] ?? found[3] ?? [],
  )
}

function withoutHeredocs(line: string): string {
  let end: string | null = null
  const typed = line.split('\n').filter((row) => {
    if (end === null) {
      end = HEREDOC.exec(row)?.[2] ?? null
      return true
    }
    if (row.trim() === end) end = null
    return false
  })
  return typed.join('\n')
}
