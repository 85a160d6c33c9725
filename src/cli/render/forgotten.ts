/** Prints what `claude-mem forget` would remove, what it removed, and which files may still contain it. */
import { observationTitle, TYPE_ICONS } from '../../context/lines.ts'
import type { ForgetReport, HeldCopy } from '../../daemon/forgetting.ts'
import type { CleanedCopies } from '../../daemon/forgotten-copies.ts'
import { othersForgottenText } from '../../domain/authorship.ts'
import { formatDateTime } from '../../domain/dates.ts'
import { pluralize } from '../../lib/format.ts'
import type { LinkedObservation } from '../../store/search-port.ts'
import { memoryCountsText } from '../format.ts'
import type { Display } from '../style.ts'
import { cutColumn, rightColumn, tableLines } from '../table.ts'
import { terminalSafe } from '../text.ts'

interface ForgetPreview {
  report: ForgetReport
  /** The first observations that would be removed. */
  some: readonly LinkedObservation[]
  /** Summaries and prompts would stay. */
  observationsOnly: boolean
}

export function forgetPreviewLines({ report, some, observationsOnly }: ForgetPreview, display: Display): string[] {
  const { style } = display
  const more = report.observations - some.length
  const rows = some.map((observation) => [
    { text: `#${observation.id}`, paint: style.cyan },
    { text: formatDateTime(observation.createdAt), paint: style.dim },
    TYPE_ICONS[observation.type],
    observationTitle(observation),
    observation.projectName || observation.project,
  ])
  const columns = [rightColumn('ID'), 'WHEN', '', cutColumn('TITLE'), cutColumn('PROJECT')]
  return [
    style.bold(`To be forgotten: ${forgottenText(report)}`),
    ...(rows.length === 0 ? [] : tableLines(columns, rows, display)),
    ...(more > 0 ? [style.dim(`and ${pluralize(more, 'more observation')}`)] : []),
    ...othersLines(report, display),
    ...relatedLines(report, display),
    ...(observationsOnly ? [style.dim('Summaries and prompts stay: --kind all removes them too.')] : []),
  ]
}

export function forgetResultLines(report: ForgetReport, display: Display): string[] {
  return [
    `Forgotten: ${forgottenText(report)}.`,
    ...othersLines(report, display),
    ...relatedLines(report, display),
    ...copyLines(report.copies, display),
  ]
}

/** `2 observations with 9 passages of the same turns and 3 messages that the observer has not read yet`, or `nothing`. */
export function forgottenText(report: ForgetReport): string {
  const memories = withPassages(memoryCountsText({ ...report, passages: 0 }), report.passages)
  if (report.messages === 0) return memories
  const messages = `${pluralize(report.messages, 'message')} that the observer has not read yet`
  return memories === 'nothing' ? messages : `${memories} and ${messages}`
}

function withPassages(memories: string, passages: number): string {
  if (passages === 0) return memories
  const text = pluralize(passages, 'passage')
  return memories === 'nothing' ? text : `${memories} with ${text} of the same turns`
}

function othersLines({ others = [] }: ForgetReport, { style }: Display): string[] {
  return others.length === 0 ? [] : [style.yellow(terminalSafe(othersForgottenText(others)))]
}

function relatedLines({ related }: ForgetReport, { style }: Display): string[] {
  const text = relatedText(related)
  return text === '' ? [] : [style.yellow(`What may say the same stays: ${text}. --with-related removes it too.`)]
}

/** Ids of a kind that are listed. */
const LISTED_IDS = 10

/** `1 summary and 1 prompt of the same turn, observations #4, #9`; empty if there is nothing. */
export function relatedText({ observations, summaries, prompts }: ForgetReport['related']): string {
  const turns = memoryCountsText({ observations: 0, summaries: summaries.length, prompts: prompts.length })
  const ids = observations.slice(0, LISTED_IDS).map((id) => `#${id}`)
  const more = observations.length - ids.length
  return [
    ...(summaries.length + prompts.length === 0 ? [] : [`${turns} of the same turn`]),
    ...(ids.length === 0 ? [] : [`linked observations ${ids.join(', ')}${more > 0 ? ` and ${more} more` : ''}`]),
  ].join(', ')
}

/** Copies that are listed. */
const LISTED_COPIES = 10

function copyLines(copies: readonly HeldCopy[], { style }: Display): string[] {
  if (copies.length === 0) return [style.dim('No backup contains it.')]
  const shown = copies.slice(0, LISTED_COPIES)
  return [
    style.yellow(`${pluralize(copies.length, 'file')} may still contain it:`),
    ...shown.map(({ file, deletedAfter, reason }) => `  ${terminalSafe(file)}: ${fateText(reason, deletedAfter)}`),
    ...(copies.length > shown.length ? [`  and ${copies.length - shown.length} more`] : []),
    'To remove it there now: claude-mem forget --everywhere',
  ]
}

function fateText(reason: string, deletedAfter: number | null): string {
  return deletedAfter === null
    ? 'stays until you delete it'
    : `deleted after ${pluralize(deletedAfter, `more ${terminalSafe(reason)} backup`)}`
}

export function cleanedLines({ rewritten, removed, failed }: CleanedCopies, { style }: Display): string[] {
  return [
    `Removed from every copy: ${pluralize(rewritten.length, 'backup')} rewritten, ${pluralize(removed.length, 'file')} deleted.`,
    ...failed.map(({ file, reason }) => style.yellow(`! ${terminalSafe(file)}: ${terminalSafe(reason)}`)),
    ...(failed.length === 0 ? [] : ['The other files are done; run the same command again for these.']),
  ]
}
