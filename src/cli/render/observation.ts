/** Prints one observation in full (`claude-mem show`). */

import { observationTitle, TYPE_ICONS } from '../../context/lines.ts'
import { byline, receivedFromText } from '../../domain/authorship.ts'
import { formatDateTime } from '../../domain/dates.ts'
import { isHandWritten, observationNotFound } from '../../domain/observation.ts'
import { formatCount, pluralize } from '../../lib/format.ts'
import type { LinkedObservation } from '../../store/search-port.ts'
import type { Cli } from '../cli.ts'
import { EXIT_FAILED } from '../command.ts'
import { formatAgo } from '../format.ts'
import type { Display } from '../style.ts'
import { type Field, fieldLines } from '../table.ts'
import { paragraphLines, paragraphWidth, terminalSafe } from '../text.ts'

const SHOWN_SOURCES = 3

export function observationLines(observation: LinkedObservation, display: Display): string[] {
  const { style } = display
  const { id, type, title, subtitle, narrative, facts } = observation
  const heading = terminalSafe(title ?? '').trim() || terminalSafe(observationTitle(observation))
  return [
    `${style.cyan(`#${id}`)}  ${TYPE_ICONS[type]} ${type}  ${style.bold(heading)}`,
    ...paragraph(subtitle ?? '', '  ', display).map(style.dim),
    ...paragraph(narrative ?? '', '  ', display),
    ...facts.flatMap((fact) => listItem(fact, display)),
    '',
    ...fieldLines([...subjectFields(observation), ...sourceFields(observation, display)], display),
  ]
}

function paragraph(text: string, indent: string, { columns }: Display): string[] {
  const width = paragraphWidth(columns, indent.length)
  return paragraphLines(text.replace(/^[ \t]+/gm, ''), width).map((line) => indent + line)
}

function listItem(text: string, display: Display): string[] {
  return paragraph(text, '    ', display).map((line, i) => (i === 0 ? `  - ${line.slice(4)}` : line))
}

function subjectFields({ concepts, filesRead, filesModified, functionsChanged }: LinkedObservation): Field[] {
  const list = (items: readonly string[]) => items.map(terminalSafe).join(', ') || null
  return [
    ['concepts', list(concepts)],
    ['read', list(filesRead)],
    ['changed', list(filesModified)],
    ['functions', list(functionsChanged.map(({ name, file, action }) => `${name} in ${file} (${action})`))],
  ]
}

function sourceFields(observation: LinkedObservation, display: Display): Field[] {
  const { project, projectName, createdAt, session, promptNumber, discoveryTokens, discoveryEstimated } = observation
  const { style, now } = display
  const isManual = isHandWritten({ session })
  const where = isManual ? 'written by hand' : `session ${terminalSafe(session)}, prompt ${promptNumber}`
  const learnTokens = `${discoveryEstimated ? 'about ' : ''}${formatCount(discoveryTokens)}`
  return [
    [
      'project',
      projectName === '' ? terminalSafe(project) : `${terminalSafe(projectName)} ${style.dim(terminalSafe(project))}`,
    ],
    ['learned', `${formatDateTime(createdAt)} (${formatAgo(createdAt, now)}), ${where}`],
    ['author', originText(observation, now)],
    ['status', observation.status ?? null],
    ['said by', speakerText(observation)],
    ['by', isManual ? null : observerText(observation) || null],
    ['links', style.yellow(linksText(observation)) || null],
    ['cost', `~${formatCount(observation.tokens)} tokens to read; ${learnTokens} to learn`],
  ]
}

/** `by alice, Nov 16, received from alice's machine laptop`; null for what was learned here. */
function originText(observation: LinkedObservation, now: number): string | null {
  const received = receivedFromText(observation, null)
  const by = byline(observation, observation.createdAt, now)
  return received === null ? null : terminalSafe([by, received].filter((text) => text !== '').join('; '))
}

function speakerText({ saidBy, saidIn }: LinkedObservation): string | null {
  if (saidBy === null || saidBy === undefined) return null
  return saidIn === null || saidIn === undefined ? saidBy : `${saidBy} (${terminalSafe(saidIn)})`
}

function observerText({ model, promptVersion, agent, sources }: LinkedObservation): string {
  const some = sources.slice(0, SHOWN_SOURCES).map(terminalSafe).join(', ')
  const more = sources.length > SHOWN_SOURCES ? ', …' : ''
  return [
    model === null ? 'no model' : terminalSafe(model),
    ...(promptVersion === null ? [] : [`prompts ${terminalSafe(promptVersion)}`]),
    ...(agent === null ? [] : [`subagent ${terminalSafe(agent)}`]),
    ...(sources.length === 0 ? [] : [`from ${pluralize(sources.length, 'event')}: ${some}${more}`]),
  ].join(', ')
}

function linksText({ pinned, supersededBy, amendedBy, supersedes, amends, repeats }: LinkedObservation): string {
  return [
    ...(pinned ? ['pinned'] : []),
    ...(supersededBy === null ? [] : [`replaced by #${supersededBy}`]),
    ...(amendedBy.length === 0 ? [] : [`amended by ${idList(amendedBy)}`]),
    ...(supersedes.length === 0 ? [] : [`replaces ${idList(supersedes)}`]),
    ...(amends.length === 0 ? [] : [`amends ${idList(amends)}`]),
    ...(repeats.length === 0 ? [] : [`repeats ${idList(repeats)}`]),
  ].join('; ')
}

function idList(ids: readonly number[]): string {
  return ids.map((id) => `#${id}`).join(', ')
}

/** Names the observations that do not exist, and returns the exit code. */
export function reportMissing(ids: readonly number[], cli: Cli): number {
  if (ids.length === 0) return 0
  cli.printStderr(`claude-mem: ${observationNotFound(...ids).message}`)
  return EXIT_FAILED
}
