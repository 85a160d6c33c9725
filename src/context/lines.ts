/** The lines of the timeline, one function a line. What a line costs is its length: selection and rendering agree. */
import { shortCount } from '../memory/amounts.ts'
import { type Observation, type ObservationType, type Summary, tokensOf } from '../memory/observation.ts'
import { CONTEXT_TAG } from '../memory/privacy.ts'
import { type Project, treeOf } from '../memory/project.ts'
import type { ProjectTotals } from '../store/context-port.ts'
import { line, plain, shorten } from './text.ts'
import { dayIn, dayOf, timeOf } from './times.ts'

export const ICONS: Record<ObservationType, string> = {
  bugfix: '🐛',
  feature: '✨',
  refactor: '🔄',
  decision: '🏛️',
  discovery: '🔍',
  change: '📝',
}
export const PIN = '📌'

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
export const MORE =
  'More: the tools `search_memory`, `timeline` (around an #id), `get_observations` (#ids in full), or in a shell ' +
  '`claude-mem search "…"`, `claude-mem show ID`.'
export const PINNED = '### Pinned'

/** For people to read in a list or a sentence: as they called it, or where it is. */
export function projectName({ name, key }: Project): string {
  return line(name, NAME_CHARS) || line(key, NAME_CHARS)
}

export function titleLine(project: Project, now: number): string {
  return `# ${projectName(project)}: memory of earlier sessions, as of ${dayOf(now)}`
}

/** `cost`: the tokens of the whole text. */
export function totalsLine({ observations, discoveryTokens, since }: ProjectTotals, now: number, cost: number): string {
  const count = `${observations} observation${observations === 1 ? '' : 's'}`
  const from = since === null || dayOf(since) === dayOf(now) ? '' : ` since ${dayIn(since, now)}`
  const learned = discoveryTokens === 0 ? '' : `, learned with ~${shortCount(discoveryTokens)} tokens`
  return `${count}${from}${learned}; this text: ~${shortCount(cost)} tokens`
}

/** Only what is used has to be explained. */
export function legendLine(types: readonly ObservationType[], pinned: boolean): string {
  const icons = types.map((type) => `${ICONS[type]} ${type}`)
  return `${[...icons, ...(pinned ? [`${PIN} pinned`] : [])].join(' ')}; rows: #id, time, type, title, ~tokens in full`
}

export function dayLine(day: string): string {
  return `### ${day}`
}

export function rowLine(observation: Observation): string {
  const { id, type, createdAt } = observation
  return `| #${id} | ${timeOf(createdAt)} | ${ICONS[type]} | ${titleOf(observation)} | ~${fullTokens(observation)} |`
}

/** Apart from the days: it says its own. */
export function pinnedLine(observation: Observation, now: number): string {
  const { id, type, createdAt } = observation
  const cells = [`#${id}`, dayIn(createdAt, now), `${PIN}${ICONS[type]}`, titleOf(observation)]
  return `| ${cells.join(' | ')} | ~${fullTokens(observation)} |`
}

export function titleOf({ title, subtitle, narrative }: Observation): string {
  for (const text of [title, subtitle, narrative]) {
    const shown = line(text ?? '', TITLE_CHARS)
    if (shown !== '') return shown
  }
  return '(untitled)'
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
  return (treeOf(key.replaceAll('\\', '/')) ?? '').replace(/\/$/, '')
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
export function summaryLines(summary: Summary, chars: number, now: number): string[] {
  const given = SUMMARY_FIELDS.map(([label, field, most]) => ({
    label,
    most,
    text: plain(summary[field] ?? ''),
  })).filter(({ text }) => text !== '')
  const heading = `## Last turn, ${dayIn(summary.createdAt, now)} ${timeOf(summary.createdAt)}`
  const scale = Math.min(1, (chars - heading.length) / given.reduce((sum, { most }) => sum + most, 1))
  const lines = given
    .map(({ label, most, text }) => ({ label, text, max: Math.floor(most * scale) - label.length - 3 }))
    .filter(({ max }) => max >= LEAST_CHARS)
    .map(({ label, text, max }) => `${label}: ${line(text, max)}`)
  return lines.length === 0 ? [] : ['', heading, ...lines]
}

const EARLIER_REQUEST_CHARS = 100
const EARLIER_OUTCOME_CHARS = 240
export const EARLIER = '## Earlier turns'

/** An earlier turn in one line: what was asked and what came of it. */
export function earlierLine({ createdAt, request, completed, learned, nextSteps }: Summary, now: number): string {
  const asked = line(request ?? '', EARLIER_REQUEST_CHARS)
  const outcome = line(completed ?? learned ?? nextSteps ?? '', EARLIER_OUTCOME_CHARS)
  return `${dayIn(createdAt, now)} ${timeOf(createdAt)}: ${asked === '' ? outcome : `${asked} → ${outcome}`}`
}
