/** The figures of the quality benchmark, computed from what was stored, and the same as Markdown for a reader. */
import type { MemoryEvent } from '../../src/domain/event.ts'
import type { Observation, Summary } from '../../src/domain/observation.ts'
import type { Observed } from './observed.ts'
import { answers, type Fact } from './sessions.ts'

/**
 * Noise is an observation that says only that a tool ran: it names no changed function, and its title, subtitle,
 * narrative and facts contain nothing but
 *
 * - the tool's name and words for running it (`TOOL_WORDS`),
 * - the input of the tool: file names and paths, the command and its description, the pattern, the URL,
 * - fewer than three other words, none of them a number or an identifier.
 *
 * "Bash npm test. Bash ran on npm test." is noise, also with "passed" or "failed"; "npm test: 14 passed" is not.
 */
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

function isNoise(observation: Observation, sources: readonly MemoryEvent[]): boolean {
  if (observation.functionsChanged.length > 0) return false
  const { title, subtitle, narrative, facts, filesRead, filesModified } = observation
  const given = new Set([...filesRead, ...filesModified, ...sources.flatMap(givenTo)].flatMap(wordsOf))
  const rest = new Set(
    [title, subtitle, narrative, ...facts]
      .flatMap((text) => (text === null ? [] : wordsOf(text)))
      .filter((word) => !TOOL_WORDS.has(word.toLowerCase()) && !given.has(word)),
  )
  return rest.size < PADDING_WORDS && ![...rest].some(isSpecific)
}

/** A number, or an identifier: camelCase, snake_case, CAPITALS. */
function isSpecific(word: string): boolean {
  return /\d|[a-z][A-Z]|_|^[A-Z]{2,}$/.test(word)
}

function givenTo(event: MemoryEvent): string[] {
  if (event.kind !== 'tool_use' && event.kind !== 'tool_failure') return []
  return [event.tool, event.project.name, ...stringsOf(nameFields(event.input))]
}

/** The new content of a file is the result of a tool, not its input. */
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

/** Rules for a title: present, about twelve words, more than a name, without raw data. */
const MOST_WORDS = 16
const MOST_CHARS = 100
/** Fewer words are the name of a file or a function. */
const FEWEST_WORDS = 3

/** The rule that the title breaks; null if none. */
function titleProblem(title: string | null): string | null {
  if (title === null || title.trim() === '') return 'it is empty'
  if (title.length > MOST_CHARS) return `${title.length} characters`
  const words = title.trim().split(/\s+/)
  if (words.length > MOST_WORDS) return `${words.length} words`
  if (/\.$/.test(title) && !/\.\.\.$/.test(title)) return 'it ends in a period'
  if (GARBAGE.test(title)) return 'it contains escapes or raw data'
  if (words.some((word) => ABSOLUTE_PATH.test(word) || word.split(/[/\\]/).length > MOST_PATH_PARTS))
    return 'it contains a path'
  return words.length < FEWEST_WORDS ? 'it is a bare name' : null
}

const GARBAGE =
  /\p{Cc}|\ufffd|\\(?:n|r|t|x[0-9a-f]{2}|u[0-9a-f]{4}|033)|\[\d+(?:;\d+)*m|\{\s*"|"\s*:\s*[{["]|<\/?\w+>|```/iu
const ABSOLUTE_PATH = /^["'`(]*(?:\/[\w.@-]+\/|~\/|[A-Za-z]:\\)/
/** `src/cart/total.ts` is accepted as a name; more parts are a path. */
const MOST_PATH_PARTS = 3

export interface Measured {
  tools: number
  observations: number
  summaries: number
  facts: number
  missing: Fact[]
  noise: Observation[]
  badTitles: { title: string; problem: string }[]
  charsIn: number
  charsOut: number
}

export function measure(observed: Observed, facts: readonly Fact[]): Measured {
  const { events, observations, summaries } = observed
  const memories = memoryTexts(observed)
  const holds = (fact: Fact) => memories.some((text) => answers(text, fact))
  const sources = new Map(events.map((event) => [event.id, event]))
  return {
    tools: events.filter(isTool).length,
    observations: observations.length,
    summaries: summaries.length,
    facts: facts.length,
    missing: facts.filter((fact) => !holds(fact)),
    noise: observations.filter((observation) =>
      isNoise(
        observation,
        observation.sources.flatMap((id) => sources.get(id) ?? []),
      ),
    ),
    badTitles: observations.flatMap(({ title }) => {
      const problem = titleProblem(title)
      return problem === null ? [] : [{ title: title ?? '', problem }]
    }),
    charsIn: events.reduce((sum, event) => sum + charsOf(event), 0),
    charsOut: memories.reduce((sum, text) => sum + text.length, 0),
  }
}

const isTool = (event: MemoryEvent): boolean => event.kind === 'tool_use' || event.kind === 'tool_failure'

/** Characters of a prompt, or of a tool's input and response. */
function charsOf(event: MemoryEvent): number {
  if (event.kind === 'prompt') return event.text.length
  if (event.kind === 'tool_use') return json(event.input) + json(event.response)
  return event.kind === 'tool_failure' ? json(event.input) + event.error.length : 0
}

const json = (value: unknown): number => (JSON.stringify(value) ?? '').length

/** Everything that each observation and each summary says. */
export function memoryTexts({ observations, summaries }: Pick<Observed, 'observations' | 'summaries'>): string[] {
  return [...observations.map(observationText), ...summaries.map(summaryText)]
}

function observationText(observation: Observation): string {
  const { title, subtitle, narrative, facts, concepts, filesRead, filesModified, functionsChanged } = observation
  const functions = functionsChanged.map(({ name, file, action }) => `${action} ${name} ${file}`)
  const lists = [...facts, ...concepts, ...filesRead, ...filesModified, ...functions]
  return [observation.type, title, subtitle, narrative, ...lists].filter((part) => part !== null).join('\n')
}

function summaryText(summary: Summary): string {
  const { request, investigated, learned, completed, nextSteps, notes, filesRead, filesEdited } = summary
  return [request, investigated, learned, completed, nextSteps, notes, ...filesRead, ...filesEdited]
    .filter((part) => part !== null)
    .join('\n')
}

export function sessionMarkdown(name: string, { observations, summaries }: Observed, measured: Measured): string {
  const noise = new Set(measured.noise.map(({ id }) => id))
  const turns = [...new Set([...observations, ...summaries].map(({ promptNumber }) => promptNumber))].sort(
    (a, b) => a - b,
  )
  const parts = turns.flatMap((turn) => [
    `## Turn ${turn}`,
    ...observations
      .filter(({ promptNumber }) => promptNumber === turn)
      .map((o) =>
        section(`${o.type}: ${o.title ?? '(no title)'}${noise.has(o.id) ? ' [noise]' : ''}`, [
          ['subtitle', o.subtitle],
          ['narrative', o.narrative],
          ['facts', list(o.facts)],
          ['concepts', o.concepts.join(', ')],
          ['read', o.filesRead.join(', ')],
          ['modified', o.filesModified.join(', ')],
          ['functions', o.functionsChanged.map((f) => `${f.action} ${f.name} (${f.file})`).join(', ')],
          ['agent', o.agent],
          ['sources', String(o.sources.length)],
        ]),
      ),
    ...summaries
      .filter(({ promptNumber }) => promptNumber === turn)
      .map((s) =>
        section('Summary', [
          ['request', s.request],
          ['investigated', s.investigated],
          ['learned', s.learned],
          ['completed', s.completed],
          ['next steps', s.nextSteps],
          ['notes', s.notes],
          ['read', s.filesRead.join(', ')],
          ['edited', s.filesEdited.join(', ')],
        ]),
      ),
  ])
  const missing = measured.missing.map(({ ask, expect }) => `- missing: ${ask} (${expect.join(' + ')})`)
  return [`# ${name}`, ...missing, ...parts].join('\n\n')
}

function section(heading: string, fields: readonly (readonly [string, string | null])[]): string {
  const filled = fields.filter(([, value]) => value !== null && value !== '')
  return [`### ${heading}`, ...filled.map(([name, value]) => `- **${name}**: ${value}`)].join('\n')
}

const list = (items: readonly string[]): string => items.map((item) => `\n  - ${item}`).join('')
