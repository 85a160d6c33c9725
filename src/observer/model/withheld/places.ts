/** The files that an event is about, or whose lines it carries. */
import type { MessageEvent } from '../../../memory/event.ts'
import { pathWords } from './shell.ts'

/** Deeper than any tool's payload; below it the stack is safe. */
const MAX_DEPTH = 64

const PATH_FIELD =
  /^(?:.*[_-])?(?:paths?|files?|file_?names?|uris?|globs?|director(?:y|ies)|dirs?)$|^(?:source|destination)$|(?:Path|File|Uri|Dir)s?$/
const COMMAND_FIELD = /^(?:command|cmd|script|args|argv)$/
/** Of a response only what names the file that was read or written: a name in a list of files is no content. */
const NAMED_IN_RESPONSE = /^(?:file_?path|path|notebook_?path)$/i

/** Paths in what a tool was given, and in what it says it did. */
export function namedFiles(event: MessageEvent): string[] {
  if (event.kind === 'subagent_end') return []
  const found: string[] = []
  walk(event.input, '', 0, (field, text) => {
    // A Glob's pattern is a path, a Grep's is not.
    if (PATH_FIELD.test(field) || (field === 'pattern' && event.tool === 'Glob')) found.push(withoutScheme(text))
    else if (COMMAND_FIELD.test(field)) for (const word of pathWords(text)) found.push(word)
  })
  if (event.kind === 'tool_use') {
    walk(event.response, '', 0, (field, text) => {
      if (NAMED_IN_RESPONSE.test(field)) found.push(withoutScheme(text))
    })
  }
  return found
}

/** Files whose lines stand in a result: `path:3:text`, `path-3-text`, `==> path <==`, the heads of a diff. */
export function quotedFiles(event: MessageEvent): string[] {
  if (event.kind === 'subagent_end' || OF_ONE_FILE.has(event.tool)) return []
  const found = new Set<string>()
  const read = (text: string) => {
    let before = ''
    for (const line of text.split(/\r\n|[\n\r]/)) {
      for (const path of quotedBy(line)) found.add(path)
      // `rg --heading`: the path stands alone above its lines.
      if (/^\d+[:-]/.test(line) && before.length <= MAX_PREFIX_CHARS) found.add(before.trim())
      if (!/^\d+[:-]/.test(line)) before = line
    }
  }
  if (event.kind === 'tool_failure') read(event.error)
  else walk(event.response, '', 0, (field, text) => (field === 'filenames' ? null : read(text)))
  return [...found]
}

/** What they show is of the one file they name, whatever it says about others; or it is only names. */
const OF_ONE_FILE = new Set(['Read', 'NotebookRead', 'Write', 'Edit', 'MultiEdit', 'NotebookEdit', 'Glob', 'LS'])
/** Longer than any path that stands before a line's text. */
const MAX_PREFIX_CHARS = 1_024

function quotedBy(whole: string): string[] {
  const line = whole.slice(0, MAX_PREFIX_CHARS).trim()
  const head =
    /^(?:(?:\+\+\+|---) |==> )(?:[abciwo]\/)?(.+?)(?: <==|\t.*)?$/.exec(line) ?? /^diff --git a\/(.+) b\//.exec(line)
  if (head?.[1] !== undefined) return [head[1]]
  // `path:4` alone is a count of matches; a drive's colon stands before its path.
  const colon = line.indexOf(':', /^[A-Za-z]:[\\/]/.test(line) ? 2 : 0)
  const counted = colon > 0 && /^:\s*\d*$/.test(line.slice(colon))
  const dashed = /^(.+?)-\d+-/.exec(line)?.[1]
  return [...(colon > 0 && !counted ? [line.slice(0, colon)] : []), ...(dashed === undefined ? [] : [dashed])]
}

const withoutScheme = (text: string) => text.replace(/^file:\/\//i, '')

/** Every text with the name of the field it stands in; a list's items have the list's. */
function walk(value: unknown, field: string, depth: number, visit: (field: string, text: string) => void): void {
  if (typeof value === 'string') visit(field, value)
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return
  for (const name of Object.keys(value)) {
    walk(Reflect.get(value, name), Array.isArray(value) ? field : name, depth + 1, visit)
  }
}
