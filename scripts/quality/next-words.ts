/**
 * The specific words of sessions: what a session uses in prompts, edits and commands of what earlier sessions knew. No label
 * is needed to see whether a start has them, so nothing can be fitted to the labels.
 */
import type { MemoryEvent } from '../../src/domain/event.ts'
import { fieldsOrEmpty } from '../../src/domain/transcript-entry.ts'

const MIN_WORD_CHARS = 4
/** Longer ones are data, such as base64. */
const MAX_WORD_CHARS = 100

/**
 * Paths and identifiers, in lower case: at least four characters, with a letter, and with a digit, an inner capital or one
 * of `/ . _ -`. A path counts as those of its parts that are such words, because it may be written from any directory; if
 * none is, as its last two parts.
 */
export function specificWords(text: string): Set<string> {
  const words = new Set<string>()
  for (const [run] of text.matchAll(/[\p{L}\p{N}_./-]+/gu)) {
    const parts = run
      .split('/')
      .map(withoutEdges)
      .filter((part) => part !== '')
    const specific = parts.filter(isSpecific)
    const found = specific.length > 0 ? specific : [parts.slice(-2).join('/')].filter(isSpecific)
    for (const word of found) words.add(word.toLowerCase())
  }
  return words
}

function isSpecific(word: string): boolean {
  if (word.length < MIN_WORD_CHARS || word.length > MAX_WORD_CHARS) return false
  return /\p{L}/u.test(word) && /[/._\-\d]|\p{Ll}\p{Lu}/u.test(word)
}

/** Without the full stop of a sentence and the dashes of an option. */
function withoutEdges(part: string): string {
  let from = 0
  let to = part.length
  while (from < to && isEdge(part[from])) from += 1
  while (to > from && isEdge(part[to - 1])) to -= 1
  return part.slice(from, to)
}

const isEdge = (char: string | undefined): boolean => char === '.' || char === '-'

/** Every specific word of a session, also in what its tools put out. */
export function knownWords(events: readonly MemoryEvent[]): Set<string> {
  return specificWords(events.flatMap(({ project: _project, cwd: _cwd, ...event }) => stringsIn(event)).join('\n'))
}

function stringsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap(stringsIn)
}

/** The specific words of a session's prompts, edits (paths and changed lines) and commands. */
export function usedWords(events: readonly MemoryEvent[]): Set<string> {
  return specificWords(events.flatMap(usedTexts).join('\n'))
}

function usedTexts(event: MemoryEvent): string[] {
  if (event.kind === 'prompt') return [event.text]
  if (event.kind !== 'tool_use' && event.kind !== 'tool_failure') return []
  const input = fieldsOrEmpty(event.input)
  const edits = [input, ...(Array.isArray(input.edits) ? input.edits.map(fieldsOrEmpty) : [])]
  const changed = edits.flatMap((edit) => changedLines(edit.old_string, edit.new_string ?? edit.content))
  const path = changed.length > 0 ? stringsIn([input.file_path, input.notebook_path]) : []
  return [...stringsIn(input.command), ...path, ...changed]
}

/** The lines that only one of two texts has. */
function changedLines(before: unknown, after: unknown): string[] {
  const [old, fresh] = [before, after].map((text) => new Set(typeof text === 'string' ? text.split('\n') : []))
  if (old === undefined || fresh === undefined) return []
  return [...[...old].filter((line) => !fresh.has(line)), ...[...fresh].filter((line) => !old.has(line))]
}

/** Words in more than half of the sessions belong to the project or the client, not to a piece of work. */
export function commonWords(sessions: readonly ReadonlySet<string>[]): Set<string> {
  const counts = new Map<string, number>()
  for (const word of sessions.flatMap((words) => [...words])) counts.set(word, (counts.get(word) ?? 0) + 1)
  return new Set([...counts].filter(([, count]) => count > sessions.length / 2).map(([word]) => word))
}
