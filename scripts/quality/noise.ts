/**
 * Noise is an observation that says nothing beyond "a tool ran": it changed no function it could name, and its title,
 * subtitle, narrative and facts hold nothing except
 *
 * - the tool's name and words for running it (`TOOL_WORDS`),
 * - what the tool was given: file names and paths, the command and its description, the pattern, the URL,
 * - fewer than three other words, none of them a number or an identifier: padding, not information.
 *
 * So "Bash npm test. Bash ran on npm test." is noise, also with "passed" or "failed"; "npm test: 14 passed" is not, nor
 * is an edit that says what changed in the file.
 */
import type { MemoryEvent } from '../../src/memory/event.ts'
import type { Observation } from '../../src/memory/observation.ts'

const TOOL_WORDS = new Set(
  `a an and the of on in at to for from with by it its this that was were is are be been has have had as or no not
  tool tools bash edit edited edits multiedit notebookedit read reads write writes wrote written grep glob webfetch
  websearch agent task todowrite mcp search searched searches find found look looked looking list listed view viewed
  show showed open opened inspect inspected check checked explore explored examine examined use used using run runs
  ran running execute executed executes call called command commands file files folder directory path line lines text
  content output result results response input error code exit status success successful successfully succeed
  succeeded pass passed fail failed failure done finished completed complete ok change changed changes update updated
  updates modify modified create created new add added subagent one several some times time then session project
  project's user`.split(/\s+/),
)
const PADDING_WORDS = 3

export function saysNothing(observation: Observation, sources: readonly MemoryEvent[]): boolean {
  if (observation.functionsChanged.length > 0) return false
  const { title, subtitle, narrative, facts, filesRead, filesModified } = observation
  const given = new Set([...filesRead, ...filesModified, ...sources.flatMap(givenTo)].flatMap(wordsOf))
  const rest = new Set(
    [title, subtitle, narrative, ...facts]
      .flatMap((text) => (text === null ? [] : wordsOf(text)))
      .filter((word) => !TOOL_WORDS.has(word.toLowerCase()) && !given.has(word)),
  )
  return rest.size < PADDING_WORDS && ![...rest].some(tells)
}

/** A number, or a name out of the code: camelCase, snake_case, CAPITALS. */
function tells(word: string): boolean {
  return /\d|[a-z][A-Z]|_|^[A-Z]{2,}$/.test(word)
}

function givenTo(event: MemoryEvent): string[] {
  if (event.kind !== 'tool_use' && event.kind !== 'tool_failure') return []
  return [event.tool, event.project.name, ...stringsOf(nameFields(event.input))]
}

/** The new content of a file is what the tool did, not what it was called with. */
const CONTENT_FIELDS = new Set(['content', 'old_string', 'new_string', 'new_source', 'edits', 'prompt'])

function nameFields(input: unknown): unknown {
  if (typeof input !== 'object' || input === null) return input
  return Object.fromEntries(Object.entries(input).filter(([name]) => !CONTENT_FIELDS.has(name)))
}

function stringsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(stringsOf) : []
}

function wordsOf(text: string): string[] {
  return text.match(/[\p{L}\p{N}_]+/gu) ?? []
}
