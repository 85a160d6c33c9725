import { z } from 'zod'
import type { ForgetReport, ObservationView } from '../../channel/memory.ts'
import { MemError } from '../../errors.ts'
import { filterFields, filtersOf, memoryId, project } from '../inputs.ts'
import { ALL_PROJECTS } from '../place.ts'
import { rowOf, rowSchema, rowText } from '../rows.ts'
import { count, unlessEmpty, when } from '../text.ts'
import { type Desk, type Reply, tool } from '../tool.ts'

/** More at a time is for a person at a terminal. */
const MAX_IDS = 200
/** Titles in a dry run: enough to see a mistake. */
const ROWS_SHOWN = 20

const input = z.strictObject({
  ids: z.array(memoryId).min(1).max(MAX_IDS).optional(),
  project,
  ...filterFields,
  confirm: z.boolean().default(false).describe('true only with exactly the ids of a dry run, after the user agreed'),
})
type Input = z.output<typeof input>

const output = z.object({
  dry_run: z.boolean(),
  observations: z.int().describe('How many go, or have gone'),
  ids: z.array(z.int()).optional().describe('To confirm'),
  rows: z.array(rowSchema).optional(),
  summaries: z.int().optional(),
  prompts: z.int().optional(),
  missing: z.array(z.int()).optional(),
  backups_until: z.string().optional().describe('Backups still hold it until then'),
  next: z.string().optional(),
})
type Output = z.input<typeof output>

export const forget = tool({
  name: 'forget',
  title: 'Forget memories',
  description:
    'Erases observations everywhere they are kept; it cannot be undone. First call it with ids, or with filters, and ' +
    'without confirm: nothing goes, it answers with what would. Show that to the user; if they agree, call it again ' +
    'with exactly those ids and confirm: true.',
  input,
  output,
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  run: (args, desk) => (args.confirm ? erase(args, desk) : preview(args, desk)),
})

async function preview(args: Input, { memory, here, dryRuns }: Desk): Promise<Reply<Output>> {
  const byIds = args.ids !== undefined
  if (byIds === narrows(args)) {
    throw new MemError(
      'bad_request',
      byIds ? 'give ids or filters, not both' : 'say what: ids from search_memory, or a filter',
    )
  }
  const filters = byIds ? null : filtersOf(args, ['observation'], here)
  const report = await memory.forget({ ids: args.ids ?? [], filters, confirm: false })
  const tooMany = report.ids.length > MAX_IDS
  const { observations } =
    report.ids.length === 0 ? { observations: [] } : await memory.observations(report.ids.slice(0, ROWS_SHOWN))
  if (!tooMany && report.ids.length > 0) dryRuns.offer(report.ids)
  const data = {
    ...reported(report),
    ids: tooMany ? undefined : unlessEmpty(report.ids),
    rows: unlessEmpty(observations.map((view) => rowOf(listed(view), { project: true, session: false }))),
    next: nextStep(report, tooMany),
  }
  const rest = report.ids.length - observations.length
  const lines = [
    `Dry run: ${inWords(report)} would go.`,
    ...(data.rows ?? []).map(rowText),
    rest > 0 && observations.length > 0 ? `… ${count(rest)} more` : '',
    data.ids === undefined ? '' : `ids: [${data.ids.join(', ')}]`,
    ...remarks(data),
    data.next,
  ]
  return { data, text: lines.filter((line) => line !== '').join('\n') }
}

async function erase(args: Input, { memory, dryRuns }: Desk): Promise<Reply<Output>> {
  const { ids } = args
  if (ids === undefined || narrows(args)) {
    throw new MemError(
      'bad_request',
      'confirm takes the ids of a dry run and no filters; call forget without confirm first',
    )
  }
  if (!dryRuns.has(ids)) {
    throw new MemError(
      'bad_request',
      'these are not exactly the ids of a dry run; call forget without confirm, show the user what would go, then confirm the ids it answers with',
    )
  }
  const report = await memory.forget({ ids, filters: null, confirm: true })
  dryRuns.done(ids)
  const data = reported(report)
  return { data, text: [`Forgotten: ${inWords(report)}.`, ...remarks(data)].join('\n') }
}

/** All projects together, or this one without another word, is no choice. */
function narrows({ ids: _, confirm: __, project: asked, ...filters }: Input): boolean {
  const named = asked !== undefined && asked.trim() !== '' && asked.trim() !== ALL_PROJECTS
  return named || Object.values(filters).some((value) => value !== undefined && value.length > 0)
}

function reported(report: ForgetReport): Output {
  return {
    dry_run: report.dryRun,
    observations: report.observations,
    summaries: report.summaries || undefined,
    prompts: report.prompts || undefined,
    missing: unlessEmpty(report.missing.slice(0, MAX_IDS)),
    backups_until: report.backupsUntil === null ? undefined : when(report.backupsUntil),
  }
}

function nextStep(report: ForgetReport, tooMany: boolean): string {
  if (tooMany) {
    return `That is more than ${MAX_IDS} at once: narrow it, or let the user run \`claude-mem forget\` in a terminal.`
  }
  if (report.ids.length === 0) return 'There is nothing to forget: find ids with search_memory.'
  return 'If the user agrees: forget with exactly these ids and confirm: true.'
}

function inWords({ observations, summaries, prompts }: ForgetReport): string {
  const parts = [
    `${count(observations)} observation${observations === 1 ? '' : 's'}`,
    summaries === 0 ? '' : `${count(summaries)} summar${summaries === 1 ? 'y' : 'ies'}`,
    prompts === 0 ? '' : `${count(prompts)} prompt${prompts === 1 ? '' : 's'}`,
  ]
  return parts.filter((part) => part !== '').join(', ')
}

function remarks({ missing, backups_until: until }: Output): string[] {
  return [
    missing === undefined ? '' : `Not there: ${missing.map((id) => `#${id}`).join(', ')}.`,
    until === undefined ? '' : `Older backups hold it until ${until}.`,
  ].filter((remark) => remark !== '')
}

function listed(view: ObservationView) {
  return { ...view, kind: 'observation' as const, title: view.title ?? view.subtitle ?? view.narrative ?? '' }
}
