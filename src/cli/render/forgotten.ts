/** `claude-mem forget` for people: what would go, what is gone, and where it still stands. */
import type { ForgetReport, ObservationView } from '../../channel/memory.ts'
import { ICONS, titleOf } from '../../context/lines.ts'
import type { Look } from '../style.ts'
import { table } from '../table.ts'
import { clean, counted } from '../text.ts'
import { minute } from '../times.ts'

export interface WouldForget {
  report: ForgetReport
  /** Some of its observations, to be recognised by. */
  some: readonly ObservationView[]
  /** Summaries and prompts were not asked for. */
  observationsOnly: boolean
}

export function wouldForgetLines({ report, some, observationsOnly }: WouldForget, look: Look): string[] {
  const { style } = look
  const left = report.observations - some.length
  const rows = some.map((observation) => [
    { text: `#${observation.id}`, paint: style.cyan },
    { text: minute(observation.createdAt), paint: style.dim },
    ICONS[observation.type],
    clean(titleOf(observation)),
    observation.projectName || observation.project,
  ])
  const columns = [
    { title: 'ID', align: 'right' },
    { title: 'WHEN' },
    { title: '' },
    { title: 'TITLE', narrow: 'cut' },
    { title: 'PROJECT', narrow: 'cut' },
  ] as const
  return [
    style.bold(`To be forgotten: ${amountText(report)}`),
    ...(rows.length === 0 ? [] : table(columns, rows, look)),
    ...(left > 0 ? [style.dim(`and ${counted(left, 'more observation')}`)] : []),
    ...(observationsOnly ? [style.dim('Summaries and prompts stay: --kind all takes them too.')] : []),
  ]
}

export function forgottenLines(report: ForgetReport, look: Look): string[] {
  return [
    `Forgotten: ${amountText(report)}.`,
    report.backupsUntil === null
      ? look.style.dim('No backup holds it.')
      : look.style.yellow(
          `Backups still hold it until ${minute(report.backupsUntil)}; claude-mem backup list shows them.`,
        ),
  ]
}

export function amountText({ observations, summaries, prompts }: ForgetReport): string {
  const parts = [
    ...(observations === 0 ? [] : [counted(observations, 'observation')]),
    ...(summaries === 0 ? [] : [summaries === 1 ? '1 summary' : `${summaries} summaries`]),
    ...(prompts === 0 ? [] : [counted(prompts, 'prompt')]),
  ]
  return parts.length === 0 ? 'nothing' : parts.join(', ')
}

export function missingText(ids: readonly number[]): string {
  const list = ids.map((id) => `#${id}`).join(', ')
  return ids.length === 1 ? `there is no observation ${list}` : `there are no observations ${list}`
}
