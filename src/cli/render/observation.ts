/** Prints one observation in full (`claude-mem show`). */

import { TYPE_ICONS } from '../../context/lines.ts'
import { byline, receivedFromText } from '../../domain/authorship.ts'
import { formatDateTime } from '../../domain/dates.ts'
import { isHandWritten, observationNotFound } from '../../domain/observation.ts'
import { plainText } from '../../domain/plain-text.ts'
import { nameSpan, quotation, quoted, speakerName } from '../../domain/quotation.ts'
import { formatCount, pluralize } from '../../lib/format.ts'
import type { LinkedObservation } from '../../store/search-port.ts'
import type { Cli } from '../cli.ts'
import { EXIT_FAILED } from '../command.ts'
import { formatAgo } from '../format.ts'
import type { Display } from '../style.ts'
import { type Field, fieldLines } from '../table.ts'
import { paragraphWidth, quoteBlock, terminalSafe } from '../text.ts'

const SHOWN_SOURCES = 3

export function observationLines(observation: LinkedObservation, display: Display): string[] {
  const { style } = display
  const { id, type, title, subtitle, narrative, facts } = observation
  const heading = [title, subtitle, narrative].find((text) => plainText(text ?? '') !== '')
  const said = heading == null ? '(untitled)' : terminalSafe(quoted(speakerName(observation), heading))
  return [
    `${style.cyan(`#${id}`)}  ${TYPE_ICONS[type]} ${type}  ${style.bold(said)}`,
    ...paragraph(subtitle ?? '', display).map(style.dim),
    ...paragraph(narrative ?? '', display),
    ...facts.flatMap((fact) => paragraph(`- ${fact}`, display)),
    '',
    ...fieldLines([...subjectFields(observation), ...sourceFields(observation, display)], display),
  ]
}

function paragraph(text: string, { columns }: Display): string[] {
  return quoteBlock(text.replace(/^[ \t]+/gm, ''), paragraphWidth(columns, INDENT.length)).map((line) => INDENT + line)
}
const INDENT = '  '

function subjectFields({ concepts, filesRead, filesModified, functionsChanged }: LinkedObservation): Field[] {
  const list = (items: readonly string[]) => items.map(nameText).join(', ') || null
  return [
    ['concepts', concepts.map(conceptText).join(', ') || null],
    ['read', list(filesRead)],
    ['changed', list(filesModified)],
    [
      'functions',
      functionsChanged
        .map(({ name, file, action }) => `${nameText(name)} in ${nameText(file)} (${action})`)
        .join(', ') || null,
    ],
  ]
}

/** Whoever chose a name may have chosen any text. */
const nameText = (name: string): string => (/^[\w./\\:@+~%-]+$/.test(name) ? name : terminalSafe(nameSpan(name, 200)))
const conceptText = (concept: string): string => (/^[\w-]+$/.test(concept) ? concept : terminalSafe(quotation(concept)))

function sourceFields(observation: LinkedObservation, display: Display): Field[] {
  const { project, projectName, createdAt, session, promptNumber, discoveryTokens, discoveryEstimated } = observation
  const { style, now } = display
  const isManual = isHandWritten({ session })
  const where = isManual ? 'written by hand' : `session ${nameText(session)}, prompt ${promptNumber}`
  const learnTokens = `${discoveryEstimated ? 'about ' : ''}${formatCount(discoveryTokens)}`
  return [
    ['project', projectName === '' ? nameText(project) : `${nameText(projectName)} ${style.dim(nameText(project))}`],
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
  const some = sources.slice(0, SHOWN_SOURCES).map(nameText).join(', ')
  const more = sources.length > SHOWN_SOURCES ? ', …' : ''
  return [
    model === null ? 'no model' : nameText(model),
    ...(promptVersion === null ? [] : [`prompts ${nameText(promptVersion)}`]),
    ...(agent === null ? [] : [`subagent ${nameText(agent)}`]),
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
