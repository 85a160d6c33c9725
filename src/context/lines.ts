/** The lines of the timeline, one function a line. What a line costs is its length: selection and rendering agree. */
import { type Observation, type ObservationType, type Summary, tokensOf } from '../memory/observation.ts'
import { CONTEXT_TAG } from '../memory/privacy.ts'
import type { Project } from '../memory/project.ts'
import type { ProjectRow } from '../store/port.ts'
import { line, plain, shorten } from './text.ts'
import { dayOf, timeOf } from './times.ts'

export const ICONS: Record<ObservationType, string> = {
  bugfix: '🐛',
  feature: '✨',
  refactor: '🔄',
  decision: '🏛️',
  discovery: '🔍',
  change: '📝',
}

const NAME_CHARS = 80
const TITLE_CHARS = 100
const FILE_CHARS = 80
/** About 90 tokens: as much as five rows. */
const DETAIL_CHARS = 360
const WHY_CHARS = 180
const DETAIL_FACTS = 5
const FACT_CHARS = 160
export const GENERAL = 'General'

export const OPEN = `<${CONTEXT_TAG}>`
export const CLOSE = `</${CONTEXT_TAG}>`
export const MORE = 'More: the tool `search_memory`, or in a shell `claude-mem search "…"` and `claude-mem show ID`.'

export function titleLine({ name, key, observations, since }: ProjectRow, now: number): string {
  const count = `${observations} observation${observations === 1 ? '' : 's'}`
  const from = since === null || dayOf(since) === dayOf(now) ? '' : ` since ${dayOf(since)}`
  return `# ${line(name, NAME_CHARS) || line(key, NAME_CHARS)}: memory of earlier sessions, as of ${dayOf(now)}: ${count}${from}`
}

export function legendLine(): string {
  const icons = Object.entries(ICONS).map(([type, icon]) => `${icon} ${type}`)
  return `${icons.join(' ')}; rows: #id, time, type, title, ~tokens in full`
}

export function dayLine(day: string): string {
  return `### ${day}`
}

export function rowLine(observation: Observation): string {
  const { id, type, createdAt } = observation
  return `| #${id} | ${timeOf(createdAt)} | ${ICONS[type]} | ${titleOf(observation)} | ~${fullTokens(observation)} |`
}

export function titleOf({ title, subtitle, narrative }: Observation): string {
  return (
    [title, subtitle, narrative].map((text) => line(text ?? '', TITLE_CHARS)).find((text) => text !== '') ??
    '(untitled)'
  )
}

function fullTokens({
  title,
  subtitle,
  narrative,
  facts,
  filesRead,
  filesModified,
  functionsChanged,
}: Observation): number {
  const functions = functionsChanged.flatMap(({ name, file }) => [name, file])
  const texts = [title, subtitle, narrative, ...facts, ...filesRead, ...filesModified, ...functions]
  return tokensOf(texts.reduce((chars, text) => chars + (text === null ? 0 : text.length + 1), 0))
}

/** What one would want to know without asking: causes, numbers, reasons. Null where the title says it all. */
export function detailLine(observation: Observation): string | null {
  const { type, title, narrative, subtitle } = observation
  const story = plain(narrative ?? '') || plain(subtitle ?? '')
  const facts = factsOf(observation)
  // Of a fix the cause counts, of a decision its reason: the narrative has them.
  const why = type === 'bugfix' || type === 'decision'
  const told = facts.length === 0 ? [story] : why ? [shorten(story, WHY_CHARS).replace(/\.$/, ''), ...facts] : facts
  const text = told.filter((part) => part !== '').join('; ')
  return plain(title ?? '')
    .toLowerCase()
    .includes(text.toLowerCase())
    ? null
    : `  ${line(text, DETAIL_CHARS)}`
}

function factsOf({ title, facts }: Observation): string[] {
  const said = plain(title ?? '').toLowerCase()
  const all = facts.map(plain).filter((fact) => fact !== '' && !said.includes(fact.toLowerCase()))
  // Two sources often say the same, one of them with more around it.
  const different = all.filter((fact, i) => !all.some((other, j) => other.includes(fact) && (other !== fact || j < i)))
  return different.slice(0, DETAIL_FACTS).map((fact) => shorten(fact, FACT_CHARS).replace(/\.$/, ''))
}

/** The file an observation is filed under, as seen from the project: of those it modified, the one its title names. */
export function groupOf({ filesModified, title }: Observation, project: Project): string {
  const paths = filesModified.map((file) => file.replaceAll('\\', '/'))
  const named = paths.find((path) => title?.includes(path.slice(path.lastIndexOf('/') + 1)))
  return line(seenFrom(rootOf(project), named ?? paths[0] ?? ''), FILE_CHARS) || GENERAL
}

/** The working tree of a key like `git:/home/me/shop/.git` or `dir:/home/me/notes`. */
function rootOf({ key }: Project): string {
  return key
    .replace(/^(?:git|dir):/, '')
    .replaceAll('\\', '/')
    .replace(/\/\.(?:git|bare)$/, '')
    .replace(/\/$/, '')
}

function seenFrom(root: string, file: string): string {
  if (root !== '' && file.startsWith(`${root}/`)) return file.slice(root.length + 1)
  if (file.length <= FILE_CHARS) return file
  return `…${file.slice(file.indexOf('/', file.length - FILE_CHARS + 1))}`
}

const SUMMARY_FIELDS = [
  ['Request', 'request', 160],
  ['Learned', 'learned', 420],
  ['Completed', 'completed', 420],
  ['Next', 'nextSteps', 320],
] as const
/** Shorter than this a field says nothing. */
const LEAST_CHARS = 24

/** At most about `chars` characters, shared among the fields by what they may have at most. */
export function summaryLines(summary: Summary, chars: number): string[] {
  const given = SUMMARY_FIELDS.map(([label, field, most]) => ({
    label,
    most,
    text: plain(summary[field] ?? ''),
  })).filter(({ text }) => text !== '')
  const heading = `## Last turn, ${dayOf(summary.createdAt)} ${timeOf(summary.createdAt)}`
  const scale = Math.min(1, (chars - heading.length) / given.reduce((sum, { most }) => sum + most, 1))
  const lines = given
    .map(({ label, most, text }) => ({ label, text, max: Math.floor(most * scale) - label.length - 3 }))
    .filter(({ max }) => max >= LEAST_CHARS)
    .map(({ label, text, max }) => `${label}: ${line(text, max)}`)
  return lines.length === 0 ? [] : ['', heading, ...lines]
}

const EARLIER_REQUEST_CHARS = 100
const EARLIER_OUTCOME_CHARS = 240
export const EARLIER = '## Before that'

/** An earlier turn in one line: what was asked and what came of it. */
export function earlierLine({ createdAt, request, completed, learned, nextSteps }: Summary): string {
  const asked = line(request ?? '', EARLIER_REQUEST_CHARS)
  const outcome = line(completed ?? learned ?? nextSteps ?? '', EARLIER_OUTCOME_CHARS)
  return `${dayOf(createdAt)} ${timeOf(createdAt)}: ${asked === '' ? outcome : `${asked} → ${outcome}`}`
}
