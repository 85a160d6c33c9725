/** `claude-mem show` for people: everything that is known about an observation. */
import type { ObservationView } from '../../channel/memory.ts'
import { ICONS, titleOf } from '../../context/lines.ts'
import type { FunctionChange } from '../../memory/observation.ts'
import { tokens } from '../amounts.ts'
import type { Look } from '../style.ts'
import { fields } from '../table.ts'
import { clean, counted, wrap } from '../text.ts'
import { ago, minute } from '../times.ts'

/** Longer lines are hard to read however wide the terminal is. */
const MAX_COLUMNS = 100
const SHOWN_SOURCES = 3
/** The session of what people wrote down themselves. */
const BY_HAND = /^remember:/

export function observationLines(observation: ObservationView, look: Look): string[] {
  const { style } = look
  const { id, type, title, subtitle, narrative, facts } = observation
  const said = [title, subtitle].map((text) => clean(text ?? '').trim())
  const heading = said[0] || clean(titleOf(observation))
  return [
    `${style.cyan(`#${id}`)}  ${ICONS[type]} ${type}  ${style.bold(heading)}`,
    ...paragraph(said[1] ?? '', '  ', look).map(style.dim),
    ...paragraph(narrative ?? '', '  ', look),
    ...facts.flatMap((fact) => item(fact, look)),
    '',
    ...fields([...subjects(observation), ...provenance(observation, look)], look),
  ]
}

function paragraph(text: string, indent: string, { columns }: Look): string[] {
  const width = Math.min(MAX_COLUMNS, columns ?? MAX_COLUMNS) - indent.length
  return text
    .split(/\r\n|[\r\n]/)
    .map((line) => clean(line).trim())
    .filter((line) => line !== '')
    .flatMap((line) => wrap(line, Math.max(width, 1)))
    .map((line) => indent + line)
}

function item(text: string, look: Look): string[] {
  return paragraph(text, '    ', look).map((line, i) => (i === 0 ? `  - ${line.slice(4)}` : line))
}

function subjects(observation: ObservationView): [string, string][] {
  const { concepts, filesRead, filesModified, functionsChanged } = observation
  const lists: [string, string[]][] = [
    ['concepts', concepts],
    ['read', filesRead],
    ['changed', filesModified],
    ['functions', functionsChanged.map(functionText)],
  ]
  return lists.flatMap(([label, list]): [string, string][] =>
    list.length === 0 ? [] : [[label, list.map(clean).join(', ')]],
  )
}

function functionText({ name, file, action }: FunctionChange): string {
  return `${name} in ${file} (${action})`
}

function provenance(observation: ObservationView, look: Look): [string, string][] {
  const { project, projectName, createdAt, session, promptNumber, discoveryTokens, discoveryEstimated } = observation
  const links = linksOf(observation)
  const about = discoveryEstimated ? 'about ' : ''
  const byHand = BY_HAND.test(session)
  const where = byHand ? 'written by hand' : `session ${clean(session)}, prompt ${promptNumber}`
  return [
    ['project', projectName === '' ? clean(project) : `${clean(projectName)} ${look.style.dim(clean(project))}`],
    ['learned', `${minute(createdAt)} (${ago(createdAt, look.now)}), ${where}`],
    ...optional('by', byHand ? '' : byText(observation)),
    ...optional('links', look.style.yellow(links)),
    ['cost', `~${tokens(observation.tokens)} tokens to read; ${about}${tokens(discoveryTokens)} to learn`],
  ]
}

function optional(label: string, value: string): [string, string][] {
  return value === '' ? [] : [[label, value]]
}

function byText({ model, promptVersion, agent, sources }: ObservationView): string {
  const some = sources.slice(0, SHOWN_SOURCES).map(clean).join(', ')
  const more = sources.length > SHOWN_SOURCES ? ', …' : ''
  return [
    model === null ? 'no model' : clean(model),
    ...(promptVersion === null ? [] : [`prompts ${clean(promptVersion)}`]),
    ...(agent === null ? [] : [`subagent ${clean(agent)}`]),
    ...(sources.length === 0 ? [] : [`from ${counted(sources.length, 'event')}: ${some}${more}`]),
  ].join(', ')
}

function linksOf({ pinned, supersededBy, supersedes, repeats }: ObservationView): string {
  const list = (ids: readonly number[]) => ids.map((id) => `#${id}`).join(', ')
  return [
    ...(pinned ? ['pinned'] : []),
    ...(supersededBy === null ? [] : [`replaced by #${supersededBy}`]),
    ...(supersedes.length === 0 ? [] : [`replaces ${list(supersedes)}`]),
    ...(repeats.length === 0 ? [] : [`repeats ${list(repeats)}`]),
  ].join('; ')
}
